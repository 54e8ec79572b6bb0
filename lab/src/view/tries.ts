// The table of what was tried: each run that was shown, what had been changed in it, and its numbers.

import type { Summary } from "../model/numbers";
import { button, byId, h } from "./dom";

export interface Try {
  /** Where it is shown again. */
  hash: string;
  title: string;
  /** What was changed in the scene, in words. */
  changes: string;
  sides: { side: string; summary: Summary }[];
}

/** Earlier ones go. */
const MOST = 30;

const COLUMNS: [name: string, of: (summary: Summary) => string][] = [
  ["mean sojourn, ms", ({ sojournMean }) => (sojournMean === null ? "–" : digits(1000 * sojournMean))],
  ["p99 sojourn, ms", ({ sojournP99 }) => (sojournP99 === null ? "–" : digits(1000 * sojournP99))],
  ["utilisation, %", ({ utilisation }) => digits(100 * utilisation)],
  ["goodput, Mbit/s", ({ goodput }) => digits(goodput / 1e6)],
  ["retransmissions", ({ retransmissions }) => retransmissions.toLocaleString("en")],
  ["Jain", ({ jain }) => (jain === null ? "–" : jain.toFixed(3))],
];

function digits(value: number): string {
  return value === 0 ? "0" : String(Number(value.toPrecision(3)));
}

export class Tries {
  private readonly tries: Try[] = [];

  constructor(private readonly show: (hash: string) => void) {}

  /** Adds a run, unless it is the one that was added last. */
  add(made: Try): void {
    if (this.tries.at(-1)?.hash === made.hash) return;
    this.tries.push(made);
    if (this.tries.length > MOST) this.tries.shift();
    this.draw();
  }

  private draw(): void {
    const place = byId("tries");
    const wasOpen = place.querySelector("details")?.open ?? false;
    place.hidden = false;
    place.replaceChildren(
      h(
        "details",
        { class: "card", open: wasOpen },
        h("summary", {}, `What you tried (${this.tries.length})`),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of what was tried" }, this.table()),
        h(
          "div",
          { class: "row" },
          button("Forget them", () => this.forget(), { class: "quiet" }),
        ),
      ),
    );
  }

  private forget(): void {
    this.tries.length = 0;
    byId("tries").replaceChildren();
    byId("tries").hidden = true;
  }

  private table(): HTMLElement {
    const head = ["", "scene", "changed", "", ...COLUMNS.map(([name]) => name)];
    const rows = this.tries.flatMap((each, index) =>
      each.sides.map(({ side, summary }, at) =>
        h(
          "tr",
          {},
          ...(at ? [] : this.first(each, index)),
          h("td", {}, each.sides.length > 1 ? side : ""),
          ...COLUMNS.map(([, of]) => h("td", { class: "number" }, of(summary))),
        ),
      ),
    );
    return h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((name) => (name ? h("th", { scope: "col" }, name) : h("td", {}))))),
      h("tbody", {}, ...rows),
    );
  }

  private first(each: Try, index: number): HTMLElement[] {
    const rowspan = each.sides.length;
    const show = button(String(index + 1), () => this.show(each.hash), { "aria-label": `Show try ${index + 1}`, class: "quiet" });
    return [h("td", { rowspan }, show), h("td", { rowspan }, each.title), h("td", { rowspan }, each.changes || "–")];
  }
}
