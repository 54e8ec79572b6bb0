// What an inner state says: which of its values belong into one chart, and how they are read.

import type { StateValue } from "./catalogue";
import { type Named, type Series, valueAt } from "./inside";

const SEGMENT = 1448;

/** Values that the page adds to those of the catalogue. */
const ADDED: StateValue[] = [
  { name: "in_flight", unit: "B", doc: "sent, and neither acknowledged nor considered lost" },
  { name: "drop_probability", unit: "", doc: "probability of a drop at the average queue" },
];

/** When a value is due, as the time until then. */
const DUE = new Set(["drop_next"]);

/** What a value is, however it is named. */
export type Kind = "probability" | "time" | "window" | "phase" | "number";

export function kindOf(value: StateValue): Kind {
  if (value.phases) return "phase";
  if (value.name.endsWith("probability")) return "probability";
  if (value.unit === "s") return "time";
  if (value.unit === "segments" || value.unit === "B") return "window";
  return "number";
}

/** The values that an algorithm tells, those of the page included. */
export function valuesOf(listed: readonly StateValue[] | undefined, told: Named): StateValue[] {
  const known = [...(listed ?? []), ...ADDED];
  return [...told.keys()].map((name) => known.find((each) => each.name === name) ?? { name, unit: "", doc: "" });
}

/** A name as it is read. */
export function readable(name: string): string {
  return name.replaceAll("_", " ");
}

/** The factor from a value's unit to that of its chart: percent, milliseconds, segments. */
export function factorOf(value: StateValue): number {
  const kind = kindOf(value);
  return kind === "probability" ? 100 : kind === "time" ? 1000 : value.unit === "B" ? 1 / SEGMENT : 1;
}

export function unitOf(kind: Kind): string {
  return { probability: "%", time: "ms", window: "segments", phase: "", number: "" }[kind];
}

/** The name of a value and its series, in the unit of its chart. A moment that is due is the time until then. */
export function readSeries(value: StateValue, { times, values }: Series): Series & { name: string } {
  const factor = factorOf(value);
  if (DUE.has(value.name)) {
    const left = values.map((due, row) => Math.max(0, due - (times[row] ?? 0)) * factor);
    return { name: "until the next drop", times, values: left };
  }
  return { name: readable(value.name), times, values: values.map((each) => each * factor) };
}

/** A time, in the unit in which it is read. */
const time = (value: number): string =>
  Math.abs(value) >= 1 ? `${Number(value.toPrecision(4))} s` : `${digits(1000 * value)} ms`;

const digits = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

function rate(value: number): string {
  return value >= 1e6 ? `${digits(value / 1e6)} Mbit/s` : `${digits(value / 1e3)} kbit/s`;
}

/** The state at a moment, value by value, in words. */
export function readAt(listed: readonly StateValue[] | undefined, told: Named, moment: number, interval: number): string[] {
  return valuesOf(listed, told).flatMap((value) => {
    const found = valueAt(told.get(value.name), moment, interval);
    if (found === null) return [];
    const name = readable(value.name);
    if (value.phases) return [value.phases[found] ? readable(value.phases[found]) : `${name} ${found}`];
    if (DUE.has(value.name)) return [`next drop in ${time(Math.max(0, found - moment))}`];
    if (value.name.endsWith("probability")) return [`${name} ${digits(100 * found)} %`];
    if (value.unit === "s") return [`${name} ${time(found)}`];
    if (value.unit === "bit/s") return [`${name} ${rate(found)}`];
    if (value.unit === "B") return [`${name} ${digits(found / SEGMENT)} segments`];
    return [`${name} ${digits(found)}${value.unit ? ` ${value.unit}` : ""}`];
  });
}

/** What BBR takes for the bandwidth-delay product, in bytes: its bandwidth and its minimum RTT. */
export function ownBdp(told: Named): Series | null {
  const [bandwidth, rtt] = [told.get("max_bw"), told.get("min_rtt")];
  if (!bandwidth || !rtt) return null;
  const [times, values]: [number[], number[]] = [[], []];
  let row = 0;
  bandwidth.times.forEach((time, at) => {
    while (row < rtt.times.length && (rtt.times[row] ?? 0) < time) row += 1;
    if (rtt.times[row] !== time) return;
    times.push(time);
    values.push(((bandwidth.values[at] ?? 0) * (rtt.values[row] ?? 0)) / 8);
  });
  return { times, values };
}

/** The stretches of time in each phase. */
export function phasesOf(value: StateValue, { times, values }: Series): { from: number; until: number; name: string }[] {
  const found: { from: number; until: number; name: string }[] = [];
  values.forEach((phase, row) => {
    const [time, name] = [times[row] ?? 0, readable(value.phases?.[phase] ?? String(phase))];
    const last = found[found.length - 1];
    if (last) last.until = time;
    if (last?.name !== name) found.push({ from: time, until: time, name });
  });
  return found;
}
