// What the packets of each group of flows met at the bottleneck, from its packets one by one.

import { FATES, type Packets } from "../engine/protocol";
import type { Specification } from "./specification";

/** The groups of a run: of each flow its group, and the measuring window in seconds. */
export interface Groups {
  names: string[];
  of: (flow: number) => number;
  from: number;
  until: number;
}

/** Of one group, in the measuring window. */
export interface GroupPackets {
  name: string;
  /** Packets that came to the bottleneck, its policer included. */
  arrived: number;
  dropped: number;
  marked: number;
  /** Seconds in the queue, of the packets that were sent; null without any. */
  mean: number | null;
  p99: number | null;
  /** The share of them that waited no longer than each of `TIMES`. */
  within: number[];
}

/** Milliseconds at which distributions are drawn: forty a decade, from a tenth of a millisecond to ten seconds. */
export const TIMES: readonly number[] = Array.from({ length: 201 }, (_, place) => 0.1 * 10 ** (place / 40));

/** The groups of a specification, as text. */
export function groupsOf(specification: string): Groups {
  const { flows, warm_up, duration } = JSON.parse(specification) as Specification;
  const places = flows.flatMap((each, place) => new Array<number>(each.count).fill(place));
  return {
    names: flows.map((each) => each.group),
    of: (flow) => places[flow] ?? -1,
    from: warm_up / 1e12,
    until: duration / 1e12,
  };
}

/** The share of sorted values that are at most each of the bounds, which rise. */
export function sharesWithin(sorted: Float64Array, bounds: readonly number[]): number[] {
  let place = 0;
  return bounds.map((bound) => {
    while (place < sorted.length && (sorted[place] ?? 0) <= bound) place += 1;
    return sorted.length ? place / sorted.length : 0;
  });
}

/** Null if not all packets are there: of the first ones alone they would be numbers of another run. */
export function packetsByGroup(packets: Packets, groups: Groups): GroupPackets[] | null {
  if (!packets.isWhole) return null;
  const isWithin = (moment: number): boolean => moment >= groups.from && moment < groups.until;
  const found = groups.names.map(() => ({ arrived: 0, dropped: 0, marked: 0, sent: 0 }));
  const { flow, fate, arrived, left } = packets;
  const count = arrived.length;
  for (let row = 0; row < count; row += 1) {
    const each = found[groups.of(flow[row] ?? 0)];
    if (!each) continue;
    if (isWithin(arrived[row] ?? 0)) each.arrived += 1;
    if (fate[row] === FATES.queued || !isWithin(left[row] ?? 0)) continue;
    if (fate[row] === FATES.dropped) each.dropped += 1;
    else each.sent += 1;
    if (fate[row] === FATES.marked) each.marked += 1;
  }
  const waits = found.map((each) => new Float64Array(each.sent));
  const filled = found.map(() => 0);
  for (let row = 0; row < count; row += 1) {
    const group = groups.of(flow[row] ?? 0);
    const mine = waits[group];
    if (!mine || fate[row] === FATES.queued || fate[row] === FATES.dropped || !isWithin(left[row] ?? 0)) continue;
    mine[filled[group] ?? 0] = (left[row] ?? 0) - (arrived[row] ?? 0);
    filled[group] = (filled[group] ?? 0) + 1;
  }
  const bounds = TIMES.map((time) => time / 1000);
  return found.map(({ sent, ...counts }, group) => {
    const mine = (waits[group] ?? new Float64Array()).sort();
    return {
      name: groups.names[group] ?? "",
      ...counts,
      mean: sent ? mine.reduce((sum, each) => sum + each, 0) / sent : null,
      p99: sent ? (mine[Math.ceil(0.99 * sent) - 1] ?? null) : null,
      within: sharesWithin(mine, bounds),
    };
  });
}
