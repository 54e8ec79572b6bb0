// A colour for each flow: the hue is that of its group, the lightness its own. Hues are those of all pictures of the project.

import TABLE from "../../../python/sojourn/figures/colours.json" with { type: "json" };
import type { Setting } from "../model/setting";

const HUES = TABLE.hues;
const PLACES = new Map(
  Object.entries(TABLE.algorithms).map(([name, hue]) => [name, HUES.findIndex((each) => each.name === hue)]),
);

/** Places of the hues that labels have in one picture: that of their algorithm, or the first that is free. */
export function hues(labels: readonly string[]): number[] {
  const taken = new Set<number>();
  const found = new Map<string, number>();
  for (const label of labels) {
    const place = PLACES.get(label);
    if (found.has(label) || place === undefined || taken.has(place)) continue;
    taken.add(place);
    found.set(label, place);
  }
  for (const label of labels) {
    if (found.has(label)) continue;
    const free = HUES.findIndex((_, place) => !taken.has(place));
    const place = free < 0 ? found.size % HUES.length : free;
    taken.add(place);
    found.set(label, place);
  }
  return labels.map((label) => found.get(label) ?? 0);
}

export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** The colour of a place among the hues. */
export function hueColour(place: number): string {
  return shown(place % HUES.length);
}

function shown(hue: number): string {
  const { light, dark } = HUES[hue] ?? { light: "#808080", dark: "#808080" };
  return isDark() ? dark : light;
}

/** The colours of the groups: of their algorithms where these tell them apart, else of the groups. */
export function groupColours(of: Setting): string[] {
  const controls = of.groups.map((each) => each.tcp.name);
  const isDistinct = new Set(controls).size === controls.length;
  return hues(isDistinct ? controls : of.groups.map((each) => each.group)).map(shown);
}

function mixed(colour: string, other: number, share: number): string {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `#${parts
    .map((part) =>
      Math.round(part + (other - part) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** The colours of all flows, in order. */
export function flowColours(of: Setting): string[] {
  const colours = groupColours(of);
  return of.groups.flatMap((each, group) => {
    const colour = colours[group] ?? "#808080";
    const shades = Math.min(each.count, 8);
    return Array.from({ length: each.count }, (_, index) => {
      const share = shades > 1 ? ((index % shades) / (shades - 1) - 0.5) * 0.5 : 0;
      return share < 0 ? mixed(colour, isDark() ? 20 : 0, -share) : mixed(colour, 255, share * (isDark() ? 0.6 : 0.8));
    });
  });
}
