// A setting of the page: a dumbbell, its flows, and what is chosen for them. Keys of scenarios have their names; times are in
// picoseconds, rates in bit/s.

import type { Algorithm, Limit, Values } from "./catalogue";
import { delayOf, type Links } from "./links";

/** An algorithm by name, with the parameters that were set. The others have their defaults. */
export interface Choice {
  name: string;
  parameters: Values;
}

export interface Group {
  /** Its name in results. */
  group: string;
  count: number;
  tcp: Choice;
  /** The slow start; null is the usual one. */
  slow_start: string | null;
  /** What differs from the stack of all. */
  stack: Values;
  /** The host that sends. */
  from: string;
  /** The host that receives; null: the receiver. */
  to: string | null;
  /** Null: at random within the first second. */
  start: number | null;
  /** Null: at once, or as `start` says. */
  start_within: number | null;
  stop: number | null;
  /** Bytes of data that each flow sends; null: without end. */
  size: number | null;
  /** Connections arrive by themselves, each with so many bytes; null: there are as many flows as `count` says. */
  arrivals: Arrivals | null;
}

/** How connections arrive: by a part of the bottleneck's rate, or a second. One of them is null. */
export interface Arrivals {
  process: "poisson" | "deterministic";
  load: number | null;
  rate: number | null;
}

/** What the bottleneck is from a moment on, in both directions; null stays as it is. */
export interface Change {
  at: number;
  rate: number | null;
  delay: number | null;
  loss: number | null;
}

/** The frames of a link such as Wi-Fi: their bounds, and the airtime that each takes besides its packets. */
export type Aggregation = Record<"packets" | "size" | "airtime" | "access" | "response" | "response_size" | "header", number>;

/** A host and its access link. */
export interface Host {
  name: string;
  rate: number;
  delay: number;
}

export interface Setting {
  seed: number;
  duration: number;
  warm_up: number;
  /** The most that a sender takes over a packet, at random; null: the time of a packet at the bottleneck. */
  sender_overhead: number | null;
  profile: string;
  stack: Values;
  bottleneck: {
    rate: number;
    delay: number;
    queue: Choice;
    limit: Limit;
    loss: number;
    policer: { rate: number; burst: number } | null;
    /** The rate of the way back; null: the same. */
    reverse: number | null;
    /** The queue of the way back; null: an unlimited FIFO, which is not measured. */
    reverse_queue: { queue: Choice; limit: Limit } | null;
    changes: Change[];
    aggregation: Aggregation | null;
  };
  /** The network if it is no dumbbell: its links, without senders and receiver. */
  links: Links | null;
  senders: Host[];
  receiver: Host;
  groups: Group[];
  /** Between samples; null: as many as a picture has room for. */
  probe: { queue_series: number | null; flow_series: number | null };
}

/** An algorithm that is written in the page. */
export interface Own {
  name: string;
  text: string;
}

/** Everything that the page shows: one setting or two, and the algorithms that they may name. */
export interface State {
  a: Setting;
  b: Setting | null;
  own: Own[];
}

const MS = 1e9;
const S = 1e12;

/** Flows, and the propagation delay of their path there and back. */
export type Path = Group & { roundTrip: number };

export function path(group: string, control: string, count: number, roundTrip: number, more: Partial<Group> = {}): Path {
  return {
    group,
    count,
    tcp: { name: control, parameters: {} },
    slow_start: null,
    stack: {},
    from: "sender",
    to: null,
    start: null,
    start_within: null,
    stop: null,
    size: null,
    arrivals: null,
    ...more,
    roundTrip,
  };
}

/** A setting with a sender for each group of flows, whose access link has all of the delay. */
export function setting(paths: Path[], bottleneck: Partial<Setting["bottleneck"]> = {}, more: Partial<Setting> = {}): Setting {
  const name = (index: number): string => (paths.length > 1 ? `sender${index + 1}` : "sender");
  return {
    seed: 1,
    duration: 30 * S,
    warm_up: 5 * S,
    sender_overhead: null,
    profile: "linux-6",
    stack: {},
    bottleneck: {
      rate: 20e6,
      delay: 0,
      queue: { name: "droptail", parameters: {} },
      limit: { packets: 100 },
      loss: 0,
      policer: null,
      reverse: null,
      reverse_queue: null,
      changes: [],
      aggregation: null,
      ...bottleneck,
    },
    links: null,
    senders: paths.map(({ roundTrip }, index) => ({ name: name(index), rate: 1e9, delay: roundTrip / 2 })),
    receiver: { name: "receiver", rate: 1e9, delay: 0 },
    groups: paths.map(({ roundTrip: _, ...each }, index) => ({ ...each, from: name(index) })),
    probe: { queue_series: null, flow_series: null },
    ...more,
  };
}

/** A state from a link, with what older pages did not have as it was then. */
export function completed(of: State): State {
  const usual = setting([path("flows", "cubic", 1, 0)]);
  const whole = (each: Setting): Setting =>
    each?.bottleneck && Array.isArray(each.groups)
      ? {
          ...each,
          links: each.links ?? null,
          bottleneck: { ...usual.bottleneck, ...each.bottleneck },
          groups: each.groups.map((group) => ({
            ...group,
            size: group?.size ?? null,
            arrivals: group?.arrivals ?? null,
            to: group?.to ?? null,
          })),
        }
      : each;
  return { ...of, a: whole(of.a), b: of.b && whole(of.b) };
}

/** Whether data of a dumbbell go from the receiver to one of the hosts that usually send. */
export function isUpward({ links, receiver }: Pick<Setting, "links" | "receiver">, { from }: Pick<Group, "from">): boolean {
  return links === null && from === receiver.name;
}

/** The host of a group of flows, at the end that is not the receiver's. */
export function senderOf(of: Setting, each: Group): Host {
  const name = isUpward(of, each) ? each.to : each.from;
  const found = of.senders.find((host) => host.name === name);
  if (!found) throw new Error(`there is no sender called "${each.from}"`);
  return found;
}

/** The propagation delay there and back. */
export function roundTrip(of: Setting, each: Group): number {
  if (of.links) return 2 * (delayOf(of, of.links, each) ?? 0);
  return 2 * (senderOf(of, each).delay + of.bottleneck.delay + of.receiver.delay);
}

export function flowCount(of: Setting): number {
  return of.groups.reduce((sum, each) => sum + each.count, 0);
}

/** The rate of the bottleneck at a moment, in seconds. */
export function rateAt(of: Setting, moment: number): number {
  const made = of.bottleneck.changes.filter((each) => each.rate !== null && each.at <= moment * 1e12);
  return made.at(-1)?.rate ?? of.bottleneck.rate;
}

/** A discipline as it is when it is chosen. One that must be told which flows it drops first is told the first. */
export function chosen(discipline: Algorithm, of: Setting): Choice {
  const asks = discipline.parameters.some((each) => each.name === "hungriest");
  const parameters: Values = asks ? { hungriest: of.groups[0]?.group ?? "" } : {};
  return { name: discipline.name, parameters };
}

/** A round number of picoseconds, at least as much. */
function round(atLeast: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1e3)));
  return [1, 2, 5, 10].map((factor) => Math.round(factor * decade)).find((each) => each >= atLeast) ?? Math.round(10 * decade);
}

/** The time between samples of queues, and of flows: of many flows there are fewer, so that all of them have room. */
export function intervals(of: Setting): { queue_series: number; flow_series: number } {
  const flows = Math.max(1, flowCount(of) / 20);
  return {
    queue_series: of.probe.queue_series ?? Math.max(MS, round(of.duration / 2000)),
    flow_series: of.probe.flow_series ?? Math.max(MS, round((of.duration * flows) / 1000)),
  };
}

/** A name that none of the others has. */
export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted} ${number}`;
  return name;
}

/** Whether it can be the name of a host or of flows. */
export function isName(value: string): boolean {
  return /^[^\s"\\\p{C}](?:[^"\\\p{C}]{0,58}[^\s"\\\p{C}])?$/u.test(value);
}

/** Flows without a start begin at random within this time, or this share of the time they have if that is shorter. */
const START_WITHIN = 1e12;
const START_SHARE = 10;

/** Within which time the flows of a group start. */
export function startWithin(of: Setting, each: Group): number {
  if (each.start_within !== null) return each.start_within;
  if (each.arrivals !== null) return 0;
  return each.start === null ? Math.min(START_WITHIN, Math.floor((each.stop ?? of.duration) / START_SHARE)) : 0;
}
