// The numbers of a run, and how two differ.

import type { GroupPackets } from "../model/groups";
import type { GroupSummary, Summary } from "../model/numbers";
import { isUpward } from "../model/setting";
import { coloursOfGroup, groupColours } from "./colours";
import type { Data } from "./data";
import { h, swatches } from "./dom";

interface Tile {
  label: string;
  hint: string;
  value: (of: Summary) => number | null;
  shown: (value: number) => string;
  /** 1 if more is better, -1 if less is, 0 if neither. */
  better: 1 | -1 | 0;
  /** Whether it is a share of the link's rate, so that those of links of different rates are not compared. */
  isOfRate?: boolean;
}

const ms = (value: number): string => `${Number((1000 * value).toPrecision(3))} ms`;
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
    isOfRate: true,
  },
  counted(
    "drops",
    "Data packets that the policer or the queue dropped, or the link lost, in the measuring window",
    (of) => of.lost,
    -1,
  ),
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

function value(tile: Tile, of: Data): string {
  const number = of.summary && tile.value(of.summary);
  return number === null ? "–" : tile.shown(number);
}

/** The least and the greatest of several seeds. */
function spread(tile: Tile, of: Data): HTMLElement | null {
  const range = of.seeds?.range(tile.value);
  if (!range) return null;
  return h(
    "span",
    { class: "spread", title: `least and greatest of ${of.seeds?.count} seeds` },
    `${tile.shown(range.least)} to ${tile.shown(range.most)}`,
  );
}

function difference(tile: Tile, a: Data, b: Data): HTMLElement | string | null {
  const [from, to] = [a.summary && tile.value(a.summary), b.summary && tile.value(b.summary)];
  if (from === null || to === null) return null;
  if (tile.isOfRate && a.setting.bottleneck.rate !== b.setting.bottleneck.rate) return "of another rate";
  const [change, shown] = [to - from, tile.shown(Math.abs(to - from))];
  // What is not seen is no difference.
  const sign = shown === tile.shown(0) ? 0 : Math.sign(change);
  const kind = sign === 0 || tile.better === 0 ? "" : sign === tile.better ? " better" : " worse";
  const compared = a.seeds && b.seeds && sign !== 0 ? a.seeds.compared(b.seeds, tile.value) : null;
  const agree = compared && compared.of > 1 ? `, ${sign > 0 ? compared.larger : compared.smaller} of ${compared.of} seeds` : "";
  return h("span", { class: "difference", title: "B less A" }, `${["−", "±", "+"][sign + 1]}${shown}${kind}${agree}`);
}

/** One tile a number; `b` is undefined if there is one setting. */
export function tiles(a: Data, b: Data | undefined): HTMLElement {
  return h(
    "dl",
    { class: `tiles${b ? " two" : ""}` },
    ...TILES.map((tile) =>
      h(
        "div",
        { class: "tile", title: tile.hint, "data-number": tile.label },
        h("dt", {}, tile.label),
        h("dd", { class: "a" }, b && h("span", { class: "side side-a" }, "A"), value(tile, a), spread(tile, a)),
        b && h("dd", { class: "b" }, h("span", { class: "side side-b" }, "B"), value(tile, b), spread(tile, b)),
        b && h("dd", { class: "change" }, difference(tile, a, b)),
      ),
    ),
  );
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`;
const rate = (goodput: number): string => `${Number((goodput / 1e6).toPrecision(3))} Mbit/s`;

/** A count, and what share of all it is. */
function part(count: number, of: number | null): string {
  const share = of && count ? ` (${percent(count / of)})` : "";
  return `${round(count, 0)}${share}`;
}

interface Column {
  title: string;
  hint: string;
  value: (of: GroupSummary, packets: GroupPackets | undefined) => string | null;
  /** Whether it is left out if no group has it. */
  isOptional?: boolean;
}

const COLUMNS: Column[] = [
  { title: "mean wait", hint: "What a packet of the group waited in the queue", value: (_, packets) => seconds(packets?.mean) },
  { title: "p99 wait", hint: "99 of 100 packets of the group waited no longer", value: (_, packets) => seconds(packets?.p99) },
  {
    title: "lost",
    hint: "Data packets that the policer or the queue dropped or the link lost, as a share of those sent",
    value: ({ lost, lossRatio }) => (lossRatio === null ? null : part(lost, lost / lossRatio)),
  },
  {
    title: "marked",
    hint: "Packets that the queue marked, as a share of those that arrived",
    value: (_, packets) => (packets ? part(packets.marked, packets.arrived) : null),
  },
  { title: "goodput", hint: "Payload delivered to the receiver", value: ({ goodput }) => rate(goodput) },
  { title: "share", hint: "Of the goodput of all groups", value: ({ share }) => percent(share) },
  {
    title: "transfers",
    hint: "Transfers that were completed in the measuring window",
    value: ({ transfers }) => (transfers ? round(transfers.count, 0) : null),
    isOptional: true,
  },
  {
    title: "mean time",
    hint: "From a transfer's SYN to the acknowledgement of its last byte",
    value: ({ transfers }) => seconds(transfers?.mean),
    isOptional: true,
  },
  {
    title: "p95 time",
    hint: "95 of 100 transfers took no longer",
    value: ({ transfers }) => seconds(transfers?.p95),
    isOptional: true,
  },
];

function seconds(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : ms(value);
}

/** The numbers of each group, and how the goodput is shared between them, as a bar. */
export function byGroup(of: Data, side: string, two: boolean): HTMLElement {
  const groups = of.summary?.groups ?? [];
  const columns = COLUMNS.filter(
    ({ isOptional, value }) => !isOptional || groups.some((each) => value(each, undefined) !== null),
  );
  const colours = groupColours(of.setting);
  const parts = groups.map((each, index) => {
    const element = h("span", { class: "part" });
    element.style.flexGrow = String(each.share);
    element.style.background = colours[index] ?? "";
    return element;
  });
  const rows = groups.map((each, index) => {
    // Of data that go the other way only acknowledgements are in this queue.
    const group = of.setting.groups.find((one) => one.group === each.name);
    const packets = group && isUpward(of.setting, group) ? undefined : of.groups?.find((one) => one.name === each.name);
    const cells = columns.map(({ title, value }) => h("td", { "data-number": title }, value(each, packets) ?? "–"));
    return h(
      "tr",
      { "data-group": each.name },
      h("th", { scope: "row" }, swatches(coloursOfGroup(of.setting, index)), each.name),
      ...cells,
    );
  });
  const heads = columns.map(({ title, hint }) => h("th", { scope: "col", title: hint }, title));
  return h(
    "div",
    { class: `groups frame-${side.toLowerCase()}`, "data-side": side },
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": two ? `Groups of setting ${side}` : "Groups" },
      h(
        "table",
        {},
        h("caption", { class: "hidden" }, "What each group of flows met"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, two ? h("span", { class: `side side-${side.toLowerCase()}` }, side) : "group"),
            ...heads,
          ),
        ),
        h("tbody", {}, ...rows),
      ),
    ),
    h("div", { class: "bar", "aria-hidden": "true" }, ...parts),
  );
}
