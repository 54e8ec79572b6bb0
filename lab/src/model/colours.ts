// Which place in the palette a group or a flow has, by the rules of python/sojourn/colours.py: the same in every picture.

import TABLE from "../../../python/sojourn/colours.json" with { type: "json" };
import type { Algorithm, Catalogue } from "./catalogue";

export const PALETTE: readonly string[] = TABLE.palette;

/** Places of algorithms by all of their names, each with its place in the order of the table. */
export type Known = ReadonlyMap<string, readonly [place: number, order: number]>;

const key = (label: string): string => label.toLowerCase().replaceAll(" ", "").replaceAll("-", "_");

export function knownIn({ queues, congestion_controls }: Pick<Catalogue, "queues" | "congestion_controls">): Known {
  const found = new Map<string, readonly [number, number]>();
  const add = (table: Record<string, number>, entries: readonly Algorithm[]): void => {
    const places = new Map(Object.entries(table).map(([name, place], order) => [name, [place, order] as const]));
    for (const { name, aliases, title } of entries) {
      const place = places.get(name);
      if (place) for (const each of [name, ...aliases, title]) found.set(key(each), place);
    }
  };
  add(TABLE.queues, queues);
  add(TABLE.congestion_controls, congestion_controls);
  return found;
}

/** Gives those a place that want one which nobody before them has, and then the others one that the fewest have. */
function placed(things: readonly string[], wanted: readonly (readonly [string, number])[]): Map<string, number> {
  const used = PALETTE.map(() => 0);
  const found = new Map<string, number>();
  const give = (thing: string, place: number): void => {
    found.set(thing, place);
    used[place] = (used[place] ?? 0) + 1;
  };
  for (const [thing, place] of wanted) if (!used[place]) give(thing, place);
  for (const thing of things) if (!found.has(thing)) give(thing, used.indexOf(Math.min(...used)));
  return found;
}

/** The place of each label: that of the algorithm that it names, unless one before it in the table has it. */
function slots(labels: readonly string[], known: Known): Map<string, number> {
  const order = [...new Set(labels)];
  const named = order.flatMap((label) => {
    const own = known.get(key(label));
    return own ? [{ label, own }] : [];
  });
  named.sort((a, b) => a.own[1] - b.own[1]);
  return placed(
    order,
    named.map(({ label, own }) => [label, own[0]]),
  );
}

export interface Grouped {
  group: string;
  algorithm: string;
  count: number;
}

/** The place of each group: that of its algorithm where every group has another. */
export function ofGroups(groups: readonly Grouped[], known: Known): number[] {
  const algorithms = groups.map((each) => each.algorithm);
  const labels = new Set(algorithms).size === groups.length ? algorithms : groups.map((each) => each.group);
  const places = slots(labels, known);
  return labels.map((label) => places.get(label) ?? 0);
}

/** The place of each flow: the first in a group has that of the group. */
export function ofFlows(groups: readonly Grouped[], known: Known): number[] {
  const places = ofGroups(groups, known);
  const flows = groups.flatMap((each, group) => Array.from({ length: each.count }, (_, index) => `${group} ${index}`));
  const wanted = places.map((place, group) => [`${group} 0`, place] as const);
  const found = placed(flows, wanted);
  return flows.map((flow) => found.get(flow) ?? 0);
}
