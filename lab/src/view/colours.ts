// A colour for each flow: the hue is that of its group, the lightness its own.

import type { Setting } from "../model/setting";

// Okabe and Ito's colours, which those who do not tell red from green can tell apart; darker or lighter for the two schemes.
const LIGHT = ["#0072b2", "#d55e00", "#008a63", "#a3427f", "#8a6d00", "#2b7fb8", "#5b4fb5", "#6b6b6b"];
const DARK = ["#5db4ec", "#f08a45", "#35c79a", "#e08cc0", "#e3c648", "#8fd0f5", "#a79cf2", "#b4b9c2"];

export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function groupColour(index: number): string {
  const colours = isDark() ? DARK : LIGHT;
  return colours[index % colours.length] ?? "#888888";
}

function mixed(colour: string, other: number, share: number): string {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (other - part) * share)).join(",")})`;
}

/** The colours of all flows, in order. */
export function flowColours(of: Setting): string[] {
  return of.groups.flatMap((each, group) => {
    const colour = groupColour(group);
    const shades = Math.min(each.count, 8);
    return Array.from({ length: each.count }, (_, index) => {
      const share = shades > 1 ? ((index % shades) / (shades - 1) - 0.35) * 0.62 : 0;
      return share < 0 ? mixed(colour, isDark() ? 20 : 0, -share) : mixed(colour, 255, share * (isDark() ? 0.55 : 0.85));
    });
  });
}
