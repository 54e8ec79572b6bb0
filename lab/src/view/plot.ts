// One chart, drawn by uPlot: values where the pointer or the playhead is, in a legend; all of them in a table, and as files.

import uPlot from "uplot";
import { announce, button, h, look, Seldom } from "./dom";
import { csvOf, pngOf, save, svgOf } from "./files";
import { columnsOf, type Drawn, type Picture, placeOf, rowOf, rowsOf, shown, valueAtPlace } from "./picture";

/** Lines that a legend names one by one. */
const MOST_NAMED = 12;
const MOST_ROWS = 60;
/** A chart is drawn before it is quite in view. */
const NEARLY = { rootMargin: "150px" };

export interface Place {
  /** What distinguishes the chart among files. */
  name: string;
  seek: (seconds: number) => void;
  /** What is said below the title of a drawing. */
  under: () => string;
}

function cumulated({ lines, xs }: Picture): number[][] {
  const sums = xs.map(() => 0);
  return lines.map((line) => line.values.map((value, row) => (sums[row] = (sums[row] ?? 0) + (value ?? 0))));
}

export class Plot {
  readonly element: HTMLElement;
  private readonly place = h("div", { class: "plot", tabindex: 0, role: "group" });
  private readonly note = h("span", { class: "note" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly head = h("div", { class: "playhead", hidden: true });
  private readonly table = h("div", { class: "values", tabindex: 0, role: "group", "aria-label": "Values" });
  private readonly details: HTMLDetailsElement;
  private plot: uPlot | null = null;
  private picture: Picture | null = null;
  private read: HTMLElement[] = [];
  private shape = "";
  private width = 0;
  private moment = 0;
  private isPointedAt = false;
  private readonly reading = new Seldom(() => this.readOut());

  constructor(
    label: HTMLElement | false,
    private readonly host: Place,
  ) {
    this.details = h(
      "details",
      { class: "more" },
      h("summary", {}, "Values and files"),
      h(
        "div",
        { class: "row" },
        button("CSV", () => this.save("csv")),
        button("SVG", () => this.save("svg")),
        button("PNG", () => this.save("png")),
      ),
      this.table,
    );
    this.details.addEventListener("toggle", () => this.fillTable());
    this.element = h(
      "div",
      { class: "plot-of-side" },
      h("div", { class: "over" }, label, this.note),
      this.place,
      this.legend,
      this.details,
    );
    this.place.addEventListener("keydown", (event) => this.onKey(event));
    this.place.addEventListener("pointerleave", () => this.point(null));
    new ResizeObserver(() => this.fit()).observe(this.place);
    // Charts that are not seen yet cost nothing.
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) see();
    }, NEARLY);
    const see = (): void => {
      observer.disconnect();
      this.isSeen = true;
      if (this.picture) this.show(this.picture);
    };
    observer.observe(this.place);
    addEventListener("beforeprint", see, { once: true });
  }

  private fit(): void {
    const width = this.place.clientWidth;
    if (width === this.width) return;
    this.width = width;
    if (this.plot && width) this.plot.setSize({ width, height: this.place.clientHeight });
  }

  private get isOverTime(): boolean {
    return this.picture?.x.isLogarithmic === false;
  }

  /** Draws a picture; there is nothing to be seen without one. */
  draw(picture: Picture | null): void {
    this.picture = picture;
    this.element.hidden = picture === null;
    if (!picture) return;
    this.note.textContent = picture.note ?? "";
    const { lines, band, x, isStacked } = picture;
    const looks = lines.map(({ values: _, ...rest }) => rest);
    const shape = JSON.stringify([looks, x, band?.name, band?.colour, isStacked, look("--ink")]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.plot?.destroy();
      this.plot = null;
      this.name(picture);
    }
    const keys = this.isOverTime ? " Arrow keys move through time." : "";
    this.place.setAttribute("aria-label", `${picture.title}, ${picture.unit}. The values are below it.${keys}`);
    this.readOut();
    if (this.details.open) this.fillTable();
    if (this.isSeen) this.show(picture);
  }

  /** Draws what is seen. */
  private show(picture: Picture): void {
    const { lines, band, isStacked, top } = picture;
    const values = isStacked ? cumulated(picture).reverse() : lines.map((line) => line.values);
    const data = [picture.xs, ...values, ...(band ? [band.low, band.high] : [])] as unknown as uPlot.AlignedData;
    this.top = top;
    if (this.plot) this.plot.setData(data);
    else this.make(picture, data);
    this.at(this.isOverTime ? this.moment : null);
  }

  private top = 1;
  private isSeen = false;

  private make(picture: Picture, data: uPlot.AlignedData): void {
    const { lines, band, x, isStacked } = picture;
    const grid = { stroke: look("--grid"), width: 1 };
    const axis = { stroke: look("--muted"), grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const seriesOf = ({ name, colour, width, dash, fill, spans }: Drawn): uPlot.Series => ({
      label: name,
      stroke: isStacked ? look("--card") : colour,
      width: isStacked ? 0.75 : (width ?? 1.5),
      points: { show: false },
      spanGaps: spans ?? false,
      ...(isStacked ? { fill: colour } : fill ? { fill } : {}),
      ...(dash ? { dash } : {}),
    });
    // From the top of a stack down, so that each line covers what is below the one above.
    const drawn = (isStacked ? [...lines].reverse() : lines).map(seriesOf);
    const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
    const options: uPlot.Options = {
      width: this.place.clientWidth || 300,
      height: this.place.clientHeight || 180,
      series: [{}, ...drawn, ...(band ? [edge, edge] : [])],
      ...(band ? { bands: [{ series: [drawn.length + 2, drawn.length + 1], fill: `${band.colour}40` }] } : {}),
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false },
        points: { show: false },
        y: false,
        ...(x.isLogarithmic ? {} : { sync: { key: "time" } }),
      },
      hooks: {
        setCursor: [(plot) => this.point(plot.cursor.left ?? -1)],
        drawClear: [(plot) => this.shade(plot)],
      },
      scales: {
        x: { time: false, range: [x.from, x.until], ...(x.isLogarithmic ? { distr: 3 } : {}) },
        y: { range: () => [0, this.top] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          gap: 2,
          values: (_, ticks) =>
            ticks.map((tick) => (!x.isLogarithmic || Number.isInteger(Math.log10(tick)) ? `${tick} ${x.unit}` : "")),
        },
        { ...axis, size: 46, gap: 3 },
      ],
      padding: [8, 16, 0, 0],
    };
    this.place.replaceChildren();
    this.plot = new uPlot(options, data, this.place);
    if (this.isOverTime) {
      this.plot.over.append(this.head);
      this.plot.over.addEventListener("click", (event) => {
        const at = this.plot?.posToVal(event.offsetX, "x");
        if (at !== undefined) this.host.seek(at);
      });
    }
  }

  /** Every second stretch is shaded, so that where one ends is seen. */
  private shade(plot: uPlot): void {
    const { context, height } = { context: plot.ctx, height: plot.bbox.height };
    const names = [...new Set(this.picture?.stretches?.map((each) => each.name))];
    context.save();
    context.fillStyle = look("--ink");
    for (const { from, until, name } of this.picture?.stretches ?? []) {
      context.globalAlpha = 0.05 + 0.06 * (names.indexOf(name) % 4);
      const left = plot.valToPos(from, "x", true);
      context.fillRect(left, plot.bbox.top, plot.valToPos(until, "x", true) - left, height);
    }
    context.restore();
  }

  /** The legend: a line for each, with a place for its value; of many lines only what is pointed at. */
  private name({ lines, band }: Picture): void {
    const entry = (name: string, colour: string, dash?: number[]): HTMLElement => {
      const value = h("span", { class: "value" });
      const swatch = h("span", { class: `swatch line${dash ? " dashed" : ""}`, "aria-hidden": "true" });
      swatch.style.setProperty("--colour", colour);
      this.read.push(value);
      return h("li", {}, swatch, name, " ", value);
    };
    this.read = [];
    const isShort = lines.length <= MOST_NAMED;
    const entries = isShort ? lines.map((line) => entry(line.name, line.colour, line.dash)) : [];
    if (!isShort) {
      const value = h("span", { class: "value" });
      this.read.push(value);
      entries.push(h("li", {}, `${lines.length} flows `, value));
    }
    if (band) entries.push(entry(band.name, band.colour));
    if (this.picture?.stretches) {
      const value = h("span", { class: "value" });
      this.read.push(value);
      entries.push(h("li", {}, "phase ", value));
    }
    this.legend.replaceChildren(...entries);
  }

  private point(left: number | null): void {
    this.isPointedAt = left !== null && left >= 0;
    this.readOut();
  }

  /** The place that is read: under the pointer, else at the playhead; of no time, in the middle. */
  private get row(): number {
    const { picture, plot } = this;
    if (!picture) return 0;
    if (this.isPointedAt && plot && plot.cursor.idx !== null && plot.cursor.idx !== undefined) return plot.cursor.idx;
    return this.isOverTime ? placeOf(picture.xs, this.moment) : this.chosen;
  }

  /** Of a chart that is not over time, what the keyboard has chosen. */
  private chosen = 40;

  private texts(): string[] {
    const picture = this.picture;
    if (!picture) return [];
    const { lines, band, stretches, xs } = picture;
    const row = this.row;
    const values = lines.map((line) => shown(valueAtPlace(line, row)));
    const phase = stretches?.find((each) => each.from <= (xs[row] ?? 0) && (xs[row] ?? 0) <= each.until)?.name;
    const many = (): string => {
      const all = lines.map((line) => valueAtPlace(line, row)).filter((each) => each !== null);
      return all.length ? `from ${shown(Math.min(...all))} to ${shown(Math.max(...all))}` : "";
    };
    return [
      ...(lines.length <= MOST_NAMED ? values : [many()]),
      ...(band ? [`${shown(band.low[row] ?? null)} to ${shown(band.high[row] ?? null)}`] : []),
      ...(stretches ? [phase ?? "–"] : []),
    ];
  }

  private readOut(): void {
    const texts = this.texts();
    this.read.forEach((each, place) => {
      const text = texts[place] ?? "";
      if (each.textContent !== text) each.textContent = text;
    });
  }

  private onKey(event: KeyboardEvent): void {
    const picture = this.picture;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9 };
    const step = steps[event.key];
    if (step === undefined || !picture) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.isOverTime) {
      const until = picture.x.until;
      this.host.seek(Math.max(0, Math.min(until, this.moment + (step * until) / 100)));
    } else this.chosen = Math.max(0, Math.min(picture.xs.length - 1, this.chosen + step));
    this.readOut();
    const at = `${shown(picture.xs[this.row] ?? 0)} ${picture.x.unit}`;
    announce(`${at}: ${[...this.legend.children].map((each) => each.textContent).join(", ")}`);
  }

  /** Where time stands. Moving it draws nothing anew. */
  at(seconds: number | null): void {
    this.moment = seconds ?? 0;
    this.head.hidden = seconds === null;
    if (seconds === null || !this.plot || !this.isOverTime) return;
    this.head.style.transform = `translateX(${this.plot.valToPos(seconds, "x")}px)`;
    if (!this.isPointedAt) this.reading.ask();
  }

  private fillTable(): void {
    const picture = this.picture;
    if (!this.details.open || !picture) return;
    const number = (value: number | null): HTMLElement => h("td", {}, shown(value));
    this.table.replaceChildren(
      h(
        "table",
        {},
        h("caption", {}, `${picture.title}, ${picture.unit}: some of the values; the file has all`),
        h("thead", {}, h("tr", {}, ...columnsOf(picture).map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...rowsOf(picture, MOST_ROWS).map((row) => h("tr", {}, ...rowOf(picture, row).map(number)))),
      ),
    );
  }

  private save(kind: "csv" | "svg" | "png"): void {
    const picture = this.picture;
    if (!picture) return;
    const name = `${this.host.name}.${kind}`;
    if (kind === "csv") return save(name, new Blob([csvOf(picture)], { type: "text/csv" }));
    const looks = { background: look("--card"), ink: look("--ink"), muted: look("--muted"), grid: look("--grid") };
    const svg = svgOf(picture, looks, this.host.under());
    if (kind === "svg") return save(name, new Blob([svg], { type: "image/svg+xml" }));
    void pngOf(svg).then((blob) => save(name, blob));
  }
}
