// The colours of groups and flows. They are those of all pictures of the project, on light pages and dark ones.

import type { Catalogue } from "../model/catalogue";
import { type Grouped, type Known, knownIn, ofFlows, ofGroups, PALETTE } from "../model/colours";
import type { Setting } from "../model/setting";

let known: Known = new Map();

/** The names of algorithms come from the catalogue. */
export function nameAlgorithms(catalogue: Catalogue): void {
  known = knownIn(catalogue);
}

const grouped = (of: Setting): Grouped[] => of.groups.map(({ group, tcp, count }) => ({ group, algorithm: tcp.name, count }));

/** The colour of a place. */
export function colourAt(place: number): string {
  return PALETTE[place % PALETTE.length] ?? "#808080";
}

export function groupColours(of: Setting): string[] {
  return ofGroups(grouped(of), known).map(colourAt);
}

/** Shades of one colour, so that neighbours are told apart where flows are more than colours. */
const SHADES = 5;

function shaded(colour: string, shade: number): string {
  const share = 0.24 * (shade / (SHADES - 1) - 0.5);
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const mixed = parts.map((part) => Math.round(part + (share < 0 ? part : 255 - part) * share));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The colours of all flows, in order: each has its own while there are as many, else a shade of its group's. */
export function flowColours(of: Setting): string[] {
  const groups = grouped(of);
  const flows = ofFlows(groups, known);
  if (flows.length <= PALETTE.length) return flows.map(colourAt);
  const colours = groupColours(of);
  return groups.flatMap(({ count }, group) =>
    Array.from({ length: count }, (_, index) =>
      count > 1 ? shaded(colours[group] ?? "", index % SHADES) : (colours[group] ?? ""),
    ),
  );
}

/** The colours of a group's flows, each once. */
export function coloursOfGroup(of: Setting, group: number): string[] {
  const before = of.groups.slice(0, group).reduce((sum, each) => sum + each.count, 0);
  return [...new Set(flowColours(of).slice(before, before + (of.groups[group]?.count ?? 0)))];
}
