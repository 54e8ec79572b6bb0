// A setting of the page: a dumbbell, its flows, and what is chosen for them. Times are in picoseconds, rates in bit/s.

import type { Algorithm, Values } from "./catalogue";
import type { Limit } from "./units";

/** An algorithm by name, with the parameters that were set. The others have their defaults. */
export interface Choice {
  name: string;
  parameters: Values;
}

export interface Group {
  /** Its name in results. */
  name: string;
  count: number;
  tcp: Choice;
  /** The slow start; null is the usual one. */
  slowStart: string | null;
  /** What differs from the stack of all. */
  stack: Values;
  /** The host that sends. */
  sender: string;
  /** Null: at random within the first second. */
  start: number | null;
  stop: number | null;
}

/** A host and its access link. */
export interface Host {
  name: string;
  rate: number;
  delay: number;
}

export interface Setting {
  seed: number;
  duration: number;
  warmUp: number;
  /** The most that a sender takes over a packet, at random; null: the time of a packet at the bottleneck. */
  overhead: number | null;
  profile: string;
  stack: Values;
  bottleneck: {
    rate: number;
    delay: number;
    queue: Choice;
    limit: Limit;
    loss: number;
    policer: { rate: number; burst: number } | null;
  };
  senders: Host[];
  receiver: Host;
  groups: Group[];
  /** Between samples; null: as many as a picture has room for. */
  probe: { queue: number | null; flow: number | null };
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

export function path(name: string, control: string, count: number, roundTrip: number, more: Partial<Group> = {}): Path {
  return {
    name,
    count,
    tcp: { name: control, parameters: {} },
    slowStart: null,
    stack: {},
    sender: "sender",
    start: null,
    stop: null,
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
    warmUp: 5 * S,
    overhead: null,
    profile: "linux-6",
    stack: {},
    bottleneck: {
      rate: 20e6,
      delay: 0,
      queue: { name: "droptail", parameters: {} },
      limit: { packets: 100 },
      loss: 0,
      policer: null,
      ...bottleneck,
    },
    senders: paths.map(({ roundTrip }, index) => ({ name: name(index), rate: 1e9, delay: roundTrip / 2 })),
    receiver: { name: "receiver", rate: 1e9, delay: 0 },
    groups: paths.map(({ roundTrip: _, ...each }, index) => ({ ...each, sender: name(index) })),
    probe: { queue: null, flow: null },
    ...more,
  };
}

/** The host of a group's senders. */
export function senderOf(of: Setting, each: Group): Host {
  const found = of.senders.find((host) => host.name === each.sender);
  if (!found) throw new Error(`there is no sender called "${each.sender}"`);
  return found;
}

/** The propagation delay there and back. */
export function roundTrip(of: Setting, each: Group): number {
  return 2 * (senderOf(of, each).delay + of.bottleneck.delay + of.receiver.delay);
}

export function flowCount(of: Setting): number {
  return of.groups.reduce((sum, each) => sum + each.count, 0);
}

/** A discipline as it is when it is chosen. One that must be told which flows it drops first is told the first. */
export function chosen(discipline: Algorithm, of: Setting): Choice {
  const asks = discipline.parameters.some((each) => each.name === "hungriest");
  const parameters: Values = asks ? { hungriest: of.groups[0]?.name ?? "" } : {};
  return { name: discipline.name, parameters };
}

/** A copy that shares nothing. */
export function copy<T>(of: T): T {
  return structuredClone(of);
}

/** A round number of picoseconds, at least as much. */
function round(atLeast: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1e3)));
  return [1, 2, 5, 10].map((factor) => Math.round(factor * decade)).find((each) => each >= atLeast) ?? Math.round(10 * decade);
}

/** The time between samples of queues, and of flows: of many flows there are fewer, so that all of them have room. */
export function intervals(of: Setting): { queue: number; flow: number } {
  const flows = Math.max(1, flowCount(of) / 20);
  return {
    queue: of.probe.queue ?? Math.max(MS, round(of.duration / 2000)),
    flow: of.probe.flow ?? Math.max(MS, round((of.duration * flows) / 1000)),
  };
}

/** A name that none of the others has. */
export function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted} ${number}`;
  return name;
}
