// The queues of a discipline that has several: which one a packet waits in.

import type { Packets } from "../engine/protocol";
import { flowCount, isUpward, type Setting } from "./setting";

export interface Queues {
  names: string[];
  /** The queue of a packet, by its row among the packets. */
  of: (row: number) => number;
}

/** Disciplines that hash flows to queues, enough of them that two hardly share one. */
const BY_FLOW = new Set(["fq_codel", "fq_pie", "sfq", "drr", "cake"]);
/** Queues that are drawn one by one; of more flows, a queue stands for those of a group. */
const MOST_DRAWN = 48;

/** Null if the discipline has one queue for all. */
export function queuesOf(of: Setting, packets: Packets): Queues | null {
  const { bottleneck, groups, senders } = of;
  const { name, parameters } = bottleneck.queue;
  const { flow, l4s } = packets;
  if (name === "dualpi2") return { names: ["L4S", "Classic"], of: (row) => (l4s[row] ? 0 : 1) };
  if (!BY_FLOW.has(name) || parameters["isolation"] === "dst_host") return null;
  const places = groups.flatMap((each, place) => new Array<number>(each.count).fill(place));
  if (parameters["isolation"] === "src_host") {
    const hosts = groups.map((each) => senders.findIndex((host) => host.name === (isUpward(of, each) ? each.to : each.from)));
    return { names: senders.map((host) => host.name), of: (row) => hosts[places[flow[row] ?? 0] ?? 0] ?? 0 };
  }
  if (flowCount(of) > MOST_DRAWN)
    return groups.length > 1 ? { names: groups.map((each) => each.group), of: (row) => places[flow[row] ?? 0] ?? 0 } : null;
  const names = groups.flatMap((each) =>
    Array.from({ length: each.count }, (_, index) => (each.count > 1 ? `${each.group} ${index + 1}` : each.group)),
  );
  return { names, of: (row) => flow[row] ?? 0 };
}

/** The most packets that are in one queue at once. `sent` and `dropped` are the rows of packets in order of leaving. */
export function deepest(queues: Queues, packets: Packets, leaving: readonly (readonly number[])[]): number {
  const lengths = queues.names.map(() => 0);
  const heads = leaving.map(() => 0);
  const { arrived, left } = packets;
  let most = 0;
  for (let row = 0; row < arrived.length; row += 1) {
    leaving.forEach((rows, which) => {
      for (;;) {
        const next = rows[heads[which] ?? 0];
        if (next === undefined || (left[next] ?? 0) > (arrived[row] ?? 0)) return;
        // One that was dropped on arrival never was in the queue.
        if ((left[next] ?? 0) > (arrived[next] ?? 0)) lengths[queues.of(next)] = (lengths[queues.of(next)] ?? 0) - 1;
        heads[which] = (heads[which] ?? 0) + 1;
      }
    });
    if (left[row] === arrived[row]) continue;
    const length = (lengths[queues.of(row)] ?? 0) + 1;
    lengths[queues.of(row)] = length;
    most = Math.max(most, length);
  }
  return most;
}
