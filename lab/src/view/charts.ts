// The charts: what each shows of one setting or two, over a common scale.

import uPlot from "uplot";
import { flowColours, groupColour } from "./colours";
import { type Data, MOST_LINES } from "./data";
import { h, look } from "./dom";

type Side = "A" | "B";
export type Sides = Partial<Record<Side, Data>>;

interface Figure {
  id: string;
  title: string;
  unit: string;
  /** Whether the horizontal axis is time, so that the playhead moves over it; else one plot has both sides. */
  isOverTime: boolean;
  data: (sides: Sides, side: Side) => { data: uPlot.AlignedData; series: uPlot.Series[]; note?: string };
}

const DASH = [6, 4];
/** Where the logarithmic axis of sojourn times begins. */
const LEAST_MS = 0.1;

function ink(side: Side): string {
  return look(side === "A" ? "--a" : "--b");
}

function line(label: string, stroke: string, width: number, more: uPlot.Series = {}): uPlot.Series {
  return { label, stroke, width, points: { show: false }, ...more };
}

const FIGURES: Figure[] = [
  {
    id: "queue",
    title: "Queue",
    unit: "packets",
    isOverTime: true,
    data: (sides, side) => {
      const data = sides[side];
      const fill = look(side === "A" ? "--a-soft" : "--b-soft");
      return { data: [data?.times ?? [], data?.queue ?? []], series: [{}, line("queue", ink(side), 1.25, { fill })] };
    },
  },
  {
    id: "cwnd",
    title: "Congestion windows",
    unit: "segments",
    isOverTime: true,
    data: (sides, side) => {
      const data = sides[side];
      if (!data) return { data: [[]], series: [{}] };
      const colours = flowColours(data.setting);
      const sampled = data.cwnd.flatMap((line, flow) => (line.some((each) => each !== null) ? [flow] : []));
      const stride = Math.max(1, Math.ceil(sampled.length / MOST_LINES));
      const shown = sampled.filter((_, index) => index % stride === 0);
      const note = stride > 1 ? `${shown.length} of ${sampled.length} flows` : "";
      return {
        data: [data.flowTimes, ...shown.map((flow) => data.cwnd[flow] ?? [])],
        series: [{}, ...shown.map((flow) => line(data.nameOf(flow), colours[flow] ?? "", 1.5, { spanGaps: true }))],
        note,
      };
    },
  },
  {
    id: "shares",
    title: "Throughput",
    unit: "Mbit/s",
    isOverTime: true,
    data: (sides, side) => {
      const data = sides[side];
      if (!data) return { data: [[]], series: [{}] };
      const { times, bands } = data.shares();
      const colours = flowColours(data.setting);
      const sums = times.map(() => 0);
      const stacked = bands.map(({ rates }) => rates.map((rate, at) => (sums[at] = (sums[at] ?? 0) + rate)));
      const colour = (band: (typeof bands)[number]): string =>
        band.flow === null ? groupColour(band.group) : (colours[band.flow] ?? "");
      // From the top of the stack down, so that each band covers what is below the one above.
      const order = bands.map((_, index) => bands.length - 1 - index);
      return {
        data: [times, ...order.map((index) => stacked[index] ?? [])],
        series: [
          {},
          ...order.map((index) => {
            const band = bands[index];
            const fill = band ? colour(band) : "";
            return line(band?.name ?? "", look("--card"), 0.75, { fill });
          }),
        ],
      };
    },
  },
  {
    id: "sojourn",
    title: "Sojourn times",
    unit: "% of packets that waited no longer, by ms",
    isOverTime: false,
    data: (sides) => {
      const tables: [number[], number[]][] = [sides.A?.distribution() ?? [[], []]];
      if (sides.B) tables.push(sides.B.distribution());
      const data =
        tables.length > 1 ? uPlot.join(tables as unknown as uPlot.AlignedData[]) : (tables[0] as unknown as uPlot.AlignedData);
      const series = tables.map((_, index) =>
        line(index ? "B" : "A", ink(index ? "B" : "A"), 2, { spanGaps: true, ...(index ? { dash: DASH } : {}) }),
      );
      return { data, series: [{}, ...series] };
    },
  },
];

/** One uPlot, and what its picture is made of. */
class Plot {
  readonly element: HTMLElement;
  private readonly place = h("div", { class: "plot" });
  private readonly note = h("span", { class: "note" });
  private readonly head = h("div", { class: "playhead", hidden: true });
  private plot: uPlot | null = null;
  private shape = "";
  private width = 0;

  constructor(
    private readonly figure: Figure,
    private readonly side: Side,
    private readonly scale: (figure: Figure) => number,
    private readonly seek: (seconds: number) => void,
  ) {
    const label = h("span", { class: `side side-${side.toLowerCase()}` }, side);
    this.element = h(
      "div",
      { class: "plot-of-side" },
      h("div", { class: "over" }, figure.isOverTime && label, this.note),
      this.place,
    );
    // Not before it has a size: charts that are not seen yet cost nothing.
    new ResizeObserver(() => this.fit()).observe(this.place);
  }

  private fit(): void {
    const width = this.place.clientWidth;
    if (width === this.width) return;
    this.width = width;
    if (this.plot && width) this.plot.setSize({ width, height: this.place.clientHeight });
  }

  draw(sides: Sides): void {
    const { data, series, note = "" } = this.figure.data(sides, this.side);
    this.note.textContent = note;
    const duration = sides[this.side]?.seconds ?? 1;
    const shape = JSON.stringify([series, duration, look("--ink")]);
    if (this.plot && shape === this.shape) {
      this.plot.setData(data);
    } else {
      this.plot?.destroy();
      this.shape = shape;
      this.make(data, series, duration);
    }
    const sums = `${this.figure.title} of setting ${this.side}, ${this.figure.unit}`;
    this.place.setAttribute("aria-label", sums);
  }

  private make(data: uPlot.AlignedData, series: uPlot.Series[], duration: number): void {
    const stroke = look("--muted");
    const grid = { stroke: look("--grid"), width: 1 };
    const axis = { stroke, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const top = (): [number, number] => [0, this.scale(this.figure)];
    const isOverTime = this.figure.isOverTime;
    const options: uPlot.Options = {
      width: this.place.clientWidth || 300,
      height: this.place.clientHeight || 180,
      series,
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false },
        points: { show: false },
        y: false,
        ...(isOverTime ? { sync: { key: "time" } } : {}),
      },
      scales: {
        x: isOverTime
          ? { time: false, range: [0, duration] }
          : { time: false, distr: 3, range: (_, __, most) => [LEAST_MS, Math.max(most || 1, 1)] },
        y: { range: isOverTime ? top : [0, 100] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          gap: 2,
          values: (_, ticks) =>
            ticks.map((tick) => (isOverTime ? `${tick} s` : Number.isInteger(Math.log10(tick)) ? `${tick} ms` : "")),
        },
        { ...axis, size: 46, gap: 3 },
      ],
      padding: [8, 16, 0, 0],
    };
    this.place.replaceChildren();
    this.place.setAttribute("role", "img");
    this.plot = new uPlot(options, data, this.place);
    if (isOverTime) {
      this.plot.over.append(this.head);
      this.plot.over.addEventListener("click", (event) => {
        const at = this.plot?.posToVal(event.offsetX, "x");
        if (at !== undefined) this.seek(at);
      });
    }
  }

  /** Where time stands. Moving it draws nothing anew. */
  at(seconds: number | null): void {
    this.head.hidden = seconds === null;
    if (seconds === null || !this.plot || !this.figure.isOverTime) return;
    this.head.style.transform = `translateX(${this.plot.valToPos(seconds, "x")}px)`;
  }
}

export class Charts {
  private plots: Plot[] = [];
  private sides: Sides = {};
  private shown = "";

  constructor(
    private readonly place: HTMLElement,
    private readonly seek: (seconds: number) => void,
  ) {}

  draw(sides: Sides): void {
    this.sides = sides;
    const shown = Object.keys(sides).join();
    if (shown !== this.shown) this.arrange(shown);
    for (const plot of this.plots) plot.draw(sides);
  }

  private arrange(shown: string): void {
    this.shown = shown;
    this.plots = [];
    const scale = (figure: Figure): number => this.most(figure);
    const cards = FIGURES.map((figure) => {
      const sides: Side[] = shown.includes("B") && figure.isOverTime ? ["A", "B"] : ["A"];
      const plots = sides.map((side) => new Plot(figure, side, scale, this.seek));
      this.plots.push(...plots);
      const heading = h("h3", {}, figure.title, h("span", { class: "unit" }, figure.unit));
      return h(
        "section",
        { class: `card chart${figure.isOverTime ? "" : " shared"}`, id: `chart-${figure.id}` },
        heading,
        h("div", { class: "plots" }, ...plots.map((each) => each.element)),
      );
    });
    this.place.replaceChildren(...cards);
    this.place.classList.toggle("beside", shown.includes("B"));
  }

  /** The top of a scale that both sides have. */
  private most(figure: Figure): number {
    let most = 0;
    for (const data of Object.values(this.sides)) {
      if (figure.id === "queue") for (const each of data.queue) most = Math.max(most, each);
      if (figure.id === "cwnd") for (const line of data.cwnd) for (const each of line) most = Math.max(most, each ?? 0);
      if (figure.id === "shares") most = Math.max(most, data.setting.bottleneck.rate / 1e6);
    }
    return (most || 1) * 1.06;
  }

  at(seconds: number | null): void {
    for (const plot of this.plots) plot.at(seconds);
  }
}
