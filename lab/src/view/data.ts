// What the charts show of a run, from samples that come bit by bit.

import type { Packets, Sojourns, Told } from "../engine/protocol";
import type { Values } from "../model/catalogue";
import { type GroupPackets, TIMES } from "../model/groups";
import { Inside } from "../model/inside";
import type { Numbers, Summary } from "../model/numbers";
import type { Seeds } from "../model/seeds";
import { intervals, type Setting } from "../model/setting";

/** Bands of the throughput chart that are flows; with more flows they are groups. */
const MOST_BANDS = 12;
export const SEGMENT = 1448;

export type Line = (number | null)[];

function put(line: (number | null)[] | undefined, at: number, value: number): void {
  if (line) line[at] = value;
}

export interface Shares {
  times: number[];
  /** Mbit/s of each band. */
  bands: { name: string; group: number; flow: number | null; rates: Line }[];
  /** The greatest sum of all bands at one time. */
  most: number;
}

const sum = (bands: Shares["bands"], at: number): number => bands.reduce((all, { rates }) => all + (rates[at] ?? 0), 0);

export class Data {
  readonly setting: Setting;
  readonly times: number[] = [];
  readonly queue: number[] = [];
  /** Of the way back, at the same times; empty if that has no queue. */
  readonly queueBack: number[] = [];
  readonly flowTimes: number[] = [];
  readonly cwnd: Line[] = [];
  readonly received: Line[] = [];
  readonly groupOf: number[];
  numbers: Numbers | null = null;
  summary: Summary | null = null;
  sojourns: Sojourns | null = null;
  packets: Packets | null = null;
  /** What the packets of each group met, once they are there. */
  groups: GroupPackets[] | null = null;
  readonly inside: Inside;
  /** Other seeds of the setting, if they were asked for. */
  seeds: Seeds | null = null;
  /** Between samples, in picoseconds. */
  readonly intervals: ReturnType<typeof intervals>;
  /** Up to when there are samples, in seconds. */
  reached = 0;

  /** `parameters` are those of the discipline, with the defaults. */
  constructor(
    setting: Setting,
    readonly parameters: Values,
  ) {
    this.setting = setting;
    this.intervals = intervals(setting);
    this.inside = new Inside(parameters);
    this.groupOf = setting.groups.flatMap((each, index) => new Array<number>(each.count).fill(index));
    for (let flow = 0; flow < this.groupOf.length; flow += 1) {
      this.cwnd.push([]);
      this.received.push([]);
    }
  }

  get seconds(): number {
    return this.setting.duration / 1e12;
  }

  add(told: Told): void {
    const { samples } = told;
    this.inside.add(told);
    const [times, packets] = [samples["queue_series.time"], samples["queue_series.packets"]];
    for (let row = 0; times && packets && row < times.length; row += 1) {
      this.times.push(times[row] ?? 0);
      this.queue.push(packets[row] ?? 0);
    }
    if (this.setting.bottleneck.reverse_queue) for (const each of samples["queue_back.packets"] ?? []) this.queueBack.push(each);
    const time = samples["flow_series.time"];
    const flow = samples["flow_series.flow"];
    const cwnd = samples["flow_series.cwnd"];
    const received = samples["flow_series.bytes_received"];
    const { [`delivered.time`]: moments, [`delivered.flow`]: others, [`delivered.bytes`]: bytes } = samples;
    const places = this.placesOf(time, moments);
    for (let row = 0; time && flow && cwnd && received && row < time.length; row += 1) {
      const [at, index] = [places.get(time[row] ?? 0) ?? 0, flow[row] ?? 0];
      put(this.cwnd[index], at, (cwnd[row] ?? 0) / SEGMENT);
      put(this.received[index], at, received[row] ?? 0);
    }
    // Of flows without a window, such as a call's or those that arrive.
    for (let row = 0; moments && others && bytes && row < moments.length; row += 1) {
      put(this.received[others[row] ?? 0], places.get(moments[row] ?? 0) ?? 0, bytes[row] ?? 0);
    }
  }

  /** Makes room for the moments of new samples, which follow those there are. */
  private placesOf(...columns: (ArrayLike<number> | undefined)[]): Map<number, number> {
    const moments = [...new Set(columns.flatMap((column) => Array.from(column ?? [])))].sort((a, b) => a - b);
    const first = this.flowTimes.length;
    this.flowTimes.push(...moments);
    for (const line of [...this.cwnd, ...this.received]) for (const _ of moments) line.push(null);
    return new Map(moments.map((moment, place) => [moment, first + place]));
  }

  /** What was received of each flow, or each group if there are many, over time: also above a gap, so that a repair is no peak. */
  shares(): Shares {
    const byFlow = this.groupOf.length <= MOST_BANDS;
    const bands = byFlow
      ? this.groupOf.map((group, flow) => ({ name: this.nameOf(flow), group, flow, rates: [] as Line }))
      : this.setting.groups.map((each, group) => ({ name: each.group, group, flow: null, rates: [] as Line }));
    const count = this.flowTimes.length;
    const stride = Math.max(1, Math.floor(count / 100));
    const times: number[] = [];
    for (let at = stride; at < count; at += stride) {
      const span = (this.flowTimes[at] ?? 0) - (this.flowTimes[at - stride] ?? 0);
      times.push(this.flowTimes[at] ?? 0);
      // A flow that is not sampled has nothing to be shown.
      for (const band of bands) band.rates.push(null);
      this.received.forEach((line, flow) => {
        if (line[at] === null) return;
        const band = bands[byFlow ? flow : (this.groupOf[flow] ?? 0)];
        const bytes = (line[at] ?? 0) - (line[at - stride] ?? 0);
        if (band && span > 0)
          band.rates[band.rates.length - 1] = (band.rates[band.rates.length - 1] ?? 0) + (bytes * 8) / span / 1e6;
      });
    }
    const most = times.reduce((found, _, at) => Math.max(found, sum(bands, at)), 0);
    return { times, bands, most };
  }

  nameOf(flow: number): string {
    const group = this.groupOf[flow] ?? 0;
    const each = this.setting.groups[group];
    if (!each) return "";
    return each.count === 1 ? each.group : `${each.group} ${flow - this.groupOf.indexOf(group) + 1}`;
  }

  /** Of all packets, the share that waited no longer than each of `TIMES`; null before the run is over. */
  within(): number[] | null {
    if (!this.sojourns) return null;
    const { atMost, packets } = this.sojourns;
    const all = packets.reduce((sum, each) => sum + each, 0);
    let [row, sum] = [0, 0];
    return TIMES.map((time) => {
      for (; row < atMost.length && 1000 * (atMost[row] ?? 0) <= time; row += 1) sum += packets[row] ?? 0;
      return all ? sum / all : 0;
    });
  }
}
