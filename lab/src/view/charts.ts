// The charts: a card for each figure, with a plot a side over a common scale.

import { readAt } from "../model/readings";
import type { Data } from "./data";
import { h, Seldom } from "./dom";
import { controlOfFlow, FIGURES, type Figure, type Side, type Sides } from "./figures";
import { Plot } from "./plot";

export type { Sides } from "./figures";

/** Flows that can be looked into. */
const MOST_LISTED = 60;

interface Card {
  figure: Figure;
  element: HTMLElement;
  plots: { side: Side; plot: Plot }[];
}

export class Charts {
  private cards: Card[] = [];
  private sides: Sides = {};
  private shown = "";
  private watched = 0;
  private moment = 0;
  private readonly reading = new Seldom(() => this.tell());
  private readonly choice = h("select", { "aria-label": "Flow to look into" });
  private readonly states: Record<Side, HTMLElement> = { A: h("p", { class: "state" }), B: h("p", { class: "state" }) };

  constructor(
    private readonly place: HTMLElement,
    private readonly seek: (seconds: number) => void,
  ) {
    this.choice.addEventListener("change", () => {
      this.watched = Number(this.choice.value);
      this.draw(this.sides);
    });
  }

  draw(sides: Sides): void {
    this.sides = sides;
    const shown = Object.keys(sides).join();
    if (shown !== this.shown) this.arrange(shown);
    this.offer();
    for (const { figure, element, plots } of this.cards) {
      const pictures = plots.map(({ side }) => figure.picture(sides, side, this.watched));
      element.hidden = pictures.every((picture) => picture === null);
      plots.forEach(({ plot }, place) => plot.draw(pictures[place] ?? null));
    }
    this.tell();
  }

  /** The flows that can be looked into: those of both sides have the same numbers. */
  private offer(): void {
    const data = this.sides.A;
    if (!data) return;
    const flows = data.groupOf.flatMap((_, flow) => (data.inside.flows.has(flow) ? [flow] : [])).slice(0, MOST_LISTED);
    const names = flows.map((flow) => data.nameOf(flow));
    if (!flows.includes(this.watched)) this.watched = flows[0] ?? 0;
    const now = [...this.choice.options].map((option) => `${option.value} ${option.text}`).join();
    if (now !== flows.map((flow, place) => `${flow} ${names[place]}`).join())
      this.choice.replaceChildren(...flows.map((flow, place) => new Option(names[place], String(flow))));
    this.choice.value = String(this.watched);
  }

  private arrange(shown: string): void {
    this.shown = shown;
    this.cards = FIGURES.map((figure) => {
      const sides: Side[] = shown.includes("B") && figure.isOverTime ? ["A", "B"] : ["A"];
      const plots = sides.map((side) => ({
        side,
        plot: new Plot(figure.isOverTime && h("span", { class: `side side-${side.toLowerCase()}` }, side), {
          name: `sojourn-${figure.id}${shown.includes("B") && figure.isOverTime ? `-${side.toLowerCase()}` : ""}`,
          seek: this.seek,
          under: () => this.under(figure.isOverTime ? side : null),
        }),
      }));
      const isOfFlow = figure.id === "inside-flow";
      const element = h(
        "section",
        { class: `card chart${figure.isOverTime ? "" : " shared"}`, id: `chart-${figure.id}`, "aria-label": figure.title },
        h("h3", {}, figure.title, h("span", { class: "unit" }, figure.unit)),
        isOfFlow && h("div", { class: "row" }, this.choice),
        h(
          "div",
          { class: "plots" },
          ...plots.map(({ side, plot }) => h("div", { class: "of-side" }, plot.element, isOfFlow && this.states[side])),
        ),
      );
      return { figure, element, plots };
    });
    this.place.replaceChildren(...this.cards.map((card) => card.element));
    this.place.classList.toggle("beside", shown.includes("B"));
  }

  /** Whose picture a drawing is. */
  private under(side: Side | null): string {
    const of = (data: Data | undefined): string =>
      data
        ? `${data.setting.groups.map((each) => `${each.count} × ${each.tcp.name}`).join(" + ")}, ${data.setting.bottleneck.queue.name}`
        : "";
    const { A, B } = this.sides;
    const seed = `Sojourn, seed ${A?.setting.seed ?? 1}`;
    if (side) return `${B ? `${side}: ` : ""}${of(this.sides[side])}; ${seed}`;
    return `${B ? `A: ${of(A)}; B: ${of(B)}` : of(A)}; ${seed}`;
  }

  /** What the flow that is looked into goes by, in words. */
  private tell(): void {
    for (const [side, data] of Object.entries(this.sides) as [Side, Data][]) {
      const told = data.inside.flows.get(this.watched);
      const listed = controlOfFlow(data, this.watched)?.state;
      const words = told ? readAt(listed, told, this.moment, data.intervals.flow_series / 1e12) : [];
      const text = words.length ? `At ${this.moment.toFixed(2)} s: ${words.join(" · ")}` : "";
      if (this.states[side].textContent !== text) this.states[side].textContent = text;
    }
  }

  at(seconds: number | null): void {
    for (const { plots, element } of this.cards) if (!element.hidden) for (const { plot } of plots) plot.at(seconds);
    this.moment = seconds ?? 0;
    this.reading.ask();
  }
}
