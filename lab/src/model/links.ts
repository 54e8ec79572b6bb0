// A network of links, as scenarios list them: one of them is the bottleneck, the first with a queue, which the setting has.

import type { Limit } from "./catalogue";
import type { Choice, Group, Setting } from "./setting";

/** A link in both directions, whose queue is at the end that it leads from. */
export interface Link {
  from: string;
  to: string;
  rate: number;
  delay: number;
  loss: number;
  /** It loses each data packet of so many; null: none. */
  every: number | null;
  queue: (Choice & { limit: Limit }) | null;
}

/** The ends of the bottleneck, whose other values are the setting's. */
export interface Ends {
  from: string;
  to: string;
}

export type Links = (Link | Ends)[];

export function isOther(link: Link | Ends): link is Link {
  return "rate" in link;
}

/** All nodes, in the order in which they are first named. */
export function nodesOf(links: Links): string[] {
  return [...new Set(links.flatMap(({ from, to }) => [from, to]))];
}

/** The links from one node to another, as few as there can be; null if there is no way. */
function way(links: Links, from: string, to: string): (Link | Ends)[] | null {
  const ways = new Map<string, (Link | Ends)[]>([[from, []]]);
  for (const [node, before] of ways) {
    if (node === to) return before;
    for (const link of links) {
      const next = link.from === node ? link.to : link.to === node ? link.from : null;
      if (next !== null && !ways.has(next)) ways.set(next, [...before, link]);
    }
  }
  return null;
}

/** The propagation delay of a group's way, one way; null if there is none. */
export function delayOf(of: Setting, links: Links, { from, to }: Group): number | null {
  const found = way(links, from, to ?? "");
  if (!found) return null;
  return found.reduce((sum, link) => sum + (isOther(link) ? link.delay : of.bottleneck.delay), 0);
}

/** Whether the packets of a group go through the bottleneck's queue. */
export function passes(of: Setting, each: Group): boolean {
  if (of.links === null) return true;
  let at = each.from;
  for (const link of way(of.links, each.from, each.to ?? "") ?? []) {
    if (!isOther(link)) return link.from === at;
    at = link.from === at ? link.to : link.from;
  }
  return false;
}
