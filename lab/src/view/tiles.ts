// The numbers of a run, and how two differ.

import type { Summary } from "../model/numbers";
import { groupColour } from "./colours";
import { h } from "./dom";

interface Tile {
  label: string;
  hint: string;
  value: (of: Summary) => number | null;
  shown: (value: number) => string;
  /** 1 if more is better, -1 if less is, 0 if neither. */
  better: 1 | -1 | 0;
}

const ms = (value: number): string =>
  `${(1000 * value).toPrecision(3).replace(/\.?0+$/, (zeros) => (zeros.startsWith(".") ? "" : zeros))} ms`;
const round = (value: number, digits: number): string => value.toLocaleString("en", { maximumFractionDigits: digits });

function counted(label: string, hint: string, value: Tile["value"], better: Tile["better"]): Tile {
  return { label, hint, value, shown: (count) => round(count, 0), better };
}

const TILES: Tile[] = [
  {
    label: "p99 sojourn",
    hint: "99 of 100 packets waited no longer in the queue",
    value: (of) => of.sojournP99,
    shown: ms,
    better: -1,
  },
  { label: "mean sojourn", hint: "What a packet waited in the queue", value: (of) => of.sojournMean, shown: ms, better: -1 },
  {
    label: "utilisation",
    hint: "Share of the time in which the bottleneck was sending",
    value: (of) => 100 * of.utilisation,
    shown: (value) => `${round(value, 2)} %`,
    better: 1,
  },
  counted("drops", "Packets that the queue dropped in the measuring window", (of) => of.drops, -1),
  counted("marks", "Packets that the queue marked in the measuring window", (of) => of.marks, 0),
  {
    label: "Jain",
    hint: "Jain's fairness index of the flows that always have data: 1 if all get the same",
    value: (of) => of.jain,
    shown: (value) => value.toFixed(3),
    better: 1,
  },
  {
    label: "goodput, Mbit/s",
    hint: "Payload delivered, all flows together",
    value: (of) => of.goodput / 1e6,
    shown: (value) => String(value < 1 ? Number(value.toFixed(3)) : Number(value.toPrecision(4))),
    better: 1,
  },
  counted("retransmissions", "Segments that were sent again", (of) => of.retransmissions, -1),
];

function value(tile: Tile, of: Summary | null): string {
  const number = of && tile.value(of);
  return number === null ? "–" : tile.shown(number);
}

function difference(tile: Tile, a: Summary | null, b: Summary | null): HTMLElement | null {
  const [from, to] = [a && tile.value(a), b && tile.value(b)];
  if (from === null || to === null) return null;
  const change = to - from;
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  const kind = change === 0 || tile.better === 0 ? "same" : Math.sign(change) === tile.better ? "better" : "worse";
  const words = { same: "", better: ", better", worse: ", worse" }[kind];
  return h("span", { class: `difference ${kind}`, title: `B less A${words}` }, `${sign}${tile.shown(Math.abs(change))}`);
}

/** One tile a number; `b` is undefined if there is one setting. */
export function tiles(a: Summary | null, b: Summary | null | undefined): HTMLElement {
  const two = b !== undefined;
  return h(
    "dl",
    { class: `tiles${two ? " two" : ""}` },
    ...TILES.map((tile) =>
      h(
        "div",
        { class: "tile", title: tile.hint, "data-number": tile.label },
        h("dt", {}, tile.label),
        h("dd", { class: "a" }, two && h("span", { class: "side side-a" }, "A"), value(tile, a)),
        two && h("dd", { class: "b" }, h("span", { class: "side side-b" }, "B"), value(tile, b ?? null)),
        two && h("dd", { class: "change" }, difference(tile, a, b ?? null)),
      ),
    ),
  );
}

/** How the goodput is shared between the groups, as a bar. */
export function shares(of: Summary | null, side: string): HTMLElement {
  const total = of?.goodput ?? 0;
  const rate = (goodput: number): string => `${Number((goodput / 1e6).toPrecision(3))} Mbit/s`;
  const parts = (of?.groups ?? []).map((each, index) => {
    const part = h("span", { class: "part" });
    part.style.flexGrow = String(total ? each.goodput / total : 0);
    part.style.background = groupColour(index);
    return part;
  });
  const names = (of?.groups ?? []).map((each, index) => {
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = groupColour(index);
    const share = total ? ` (${Math.round((100 * each.goodput) / total)} %)` : "";
    return h("li", {}, swatch, `${each.name} ${rate(each.goodput)}${share}`);
  });
  return h(
    "div",
    { class: "shares", "aria-label": `Goodput of setting ${side}`, role: "group" },
    h("div", { class: "bar", "aria-hidden": "true" }, ...parts),
    h("ul", {}, ...names),
  );
}
