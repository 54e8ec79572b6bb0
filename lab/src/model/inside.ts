// The inner states of a run: what its discipline and its congestion controls go by, over time.

import { BOTTLENECK, type Told } from "../engine/protocol";
import type { Values } from "./catalogue";

/** A value over time. */
export interface Series {
  times: number[];
  values: number[];
}

/** Values of one algorithm by their names. */
export type Named = Map<string, Series>;

/** Of a queue's average between its thresholds: the probability of a drop (Floyd and Jacobson 1993; Floyd 2000 for gentle). */
export function redProbability(
  average: number,
  { minimum, maximum }: { minimum: number; maximum: number },
  most: number,
  gentle: boolean,
): number {
  if (average < minimum) return 0;
  if (average < maximum) return (most * (average - minimum)) / (maximum - minimum);
  if (gentle && average < 2 * maximum) return most + ((1 - most) * (average - maximum)) / maximum;
  return 1;
}

export class Inside {
  readonly discipline: Named = new Map();
  readonly flows = new Map<number, Named>();
  /** The thresholds of RED, in the unit of its average. */
  red: Told["red"] = null;

  /** `parameters` are those of the discipline, with the defaults. */
  constructor(private readonly parameters: Values) {}

  add({ samples, names, red }: Told): void {
    this.red = red;
    const { [`state.time`]: times, [`state.flow`]: flows, [`state.name`]: places, [`state.value`]: values } = samples;
    for (let row = 0; times && flows && places && values && row < times.length; row += 1) {
      const [time, value] = [times[row] ?? 0, values[row] ?? 0];
      const name = names[places[row] ?? 0] ?? "";
      const flow = flows[row] ?? 0;
      if (flow !== BOTTLENECK) {
        push(this.ofFlow(flow), name, time, value);
        continue;
      }
      push(this.discipline, name, time, value);
      if (red && name === "average") {
        const most = Number(this.parameters["maximum_probability"]);
        push(this.discipline, "drop_probability", time, redProbability(value, red, most, this.parameters["gentle"] === true));
      }
    }
    const { [`in_flight.time`]: moments, [`in_flight.flow`]: whose, [`in_flight.bytes`]: bytes } = samples;
    for (let row = 0; moments && whose && bytes && row < moments.length; row += 1) {
      push(this.ofFlow(whose[row] ?? 0), "in_flight", moments[row] ?? 0, bytes[row] ?? 0);
    }
  }

  ofFlow(flow: number): Named {
    let found = this.flows.get(flow);
    if (!found) {
      found = new Map();
      this.flows.set(flow, found);
    }
    return found;
  }
}

function push(values: Named, name: string, time: number, value: number): void {
  let series = values.get(name);
  if (!series) {
    series = { times: [], values: [] };
    values.set(name, series);
  }
  series.times.push(time);
  series.values.push(value);
}

/** The latest value at a moment; null before the first, and where it was no longer told at the latest sample before the moment. */
export function valueAt(series: Series | undefined, moment: number, interval: number): number | null {
  if (!series) return null;
  let [low, high] = [0, series.times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((series.times[middle] ?? 0) > moment) high = middle;
    else low = middle + 1;
  }
  const time = series.times[low - 1];
  return time === undefined || moment - time > 1.5 * interval ? null : (series.values[low - 1] ?? null);
}
