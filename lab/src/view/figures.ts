// What each chart shows of a setting, or of two.

import { type Algorithm, type Catalogue, find } from "../model/catalogue";
import { TIMES } from "../model/groups";
import type { Named, Series } from "../model/inside";
import { kindOf, ownBdp, phasesOf, readSeries, unitOf, valuesOf } from "../model/readings";
import { isUpward } from "../model/setting";
import { colourAt, flowColours, groupColours, nameAlgorithms } from "./colours";
import { type Data, SEGMENT } from "./data";
import { look } from "./dom";
import type { Drawn, Line, Picture } from "./picture";

export type Side = "A" | "B";
export type Sides = Partial<Record<Side, Data>>;

/** Lines in one chart: more are not told apart. */
const MOST_LINES = 40;
/** Dashes that go with colours, so that lines can be told without them. */
const DASHES = [undefined, [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 1, 2]];
const B_DASH = [6, 4];

export interface Figure {
  id: string;
  title: string;
  unit: string;
  /** Whether the horizontal axis is time, so that the playhead moves over it; else one plot has both sides. */
  isOverTime: boolean;
  /** Null if there is nothing of the kind in a setting. */
  picture: (sides: Sides, side: Side, watched: number) => Picture | null;
}

/** What there is to say of algorithms comes from the catalogue. */
let catalogue: Catalogue | null = null;

export function know(known: Catalogue): void {
  catalogue = known;
  nameAlgorithms(known);
}

export function disciplineOf(data: Data): Algorithm | undefined {
  return catalogue ? find(catalogue.queues, data.setting.bottleneck.queue.name) : undefined;
}

export function controlOfFlow(data: Data, flow: number): Algorithm | undefined {
  const name = data.setting.groups[data.groupOf[flow] ?? 0]?.tcp.name ?? "";
  return catalogue ? find(catalogue.congestion_controls, name) : undefined;
}

function overTime(data: Data, figure: Pick<Figure, "title" | "unit">): Omit<Picture, "xs" | "lines" | "top"> {
  return {
    title: figure.title,
    unit: figure.unit,
    x: { title: "time", unit: "s", isLogarithmic: false, from: 0, until: data.seconds },
  };
}

function greatest(lines: readonly Line[]): number {
  let most = 0;
  for (const line of lines) for (const each of line) most = Math.max(most, each ?? 0);
  return most;
}

/** Above the greatest value of both sides, so that they have one scale. */
function topOf(sides: Sides, most: (data: Data) => number): number {
  return 1.06 * (Math.max(0, ...Object.values(sides).map(most)) || 1);
}

function dashOf(place: number): { dash?: number[] } {
  const dash = DASHES[place % DASHES.length];
  return dash ? { dash } : {};
}

/** Series as lines over the moments of all that was told: a value that is not told at one of them is none then. */
function aligned(series: readonly (Series & { name: string })[], told: Named): { xs: number[]; lines: Line[] } {
  const xs = [...new Set([...series, ...told.values()].flatMap((each) => each.times))].sort((a, b) => a - b);
  const lines = series.map(({ times, values }) => {
    const known = new Map(times.map((time, row) => [time, values[row] ?? 0]));
    return xs.map((time) => known.get(time) ?? null);
  });
  return { xs, lines };
}

function insideQueue(kind: "probability" | "rest", data: Data): { unit: string; series: (Series & { name: string })[] } | null {
  const told = data.inside.discipline;
  const listed = valuesOf(disciplineOf(data)?.state, told).filter((value) => {
    const found = kindOf(value);
    return kind === "probability"
      ? found === "probability"
      : found === "time" || value.name === "average" || value.name === "price";
  });
  const series = listed.flatMap((value) => {
    const values = told.get(value.name);
    return values ? [readSeries(value, values)] : [];
  });
  const [first] = listed;
  if (!first) return null;
  const isInBytes = first.name === "average" && data.parameters["queue_in_bytes"] === true;
  const unit = first.name === "average" ? (isInBytes ? "bytes" : "packets") : unitOf(kindOf(first));
  const { red } = data.inside;
  const bounds =
    first.name === "average" && red
      ? ([
          ["minimum", red.minimum],
          ["maximum", red.maximum],
        ] as const)
      : [];
  const target = data.parameters["target"];
  const targets =
    unit === "ms" && first.name !== "drop_next" && typeof target === "number" ? ([["target", target / 1e9]] as const) : [];
  const { times } = series[0] ?? { times: [] };
  const constant = [...bounds, ...targets].map(([name, value]) => ({ name, times, values: times.map(() => value) }));
  return { unit, series: [...series, ...constant] };
}

function insideFigure(id: string, kind: "probability" | "rest", title: string): Figure {
  return {
    id,
    title,
    unit: "",
    isOverTime: true,
    picture(sides, side) {
      const data = sides[side];
      const found = data && insideQueue(kind, data);
      if (!data || !found) return null;
      const { xs, lines } = aligned(found.series, data.inside.discipline);
      const most = (of: Data): number => greatest(insideQueue(kind, of)?.series.map((each) => each.values) ?? []);
      return {
        ...overTime(data, this),
        unit: found.unit,
        note: `${disciplineOf(data)?.title ?? ""}${found.unit ? `, ${found.unit}` : ""}`,
        top: topOf(sides, most),
        xs,
        lines: lines.map((values, place) => ({
          name: found.series[place]?.name ?? "",
          colour: colourAt(place),
          values,
          ...dashOf(place),
        })),
      };
    },
  };
}

/** The windows of one flow: its own, what is in flight, and those that its congestion control goes by. */
function insideFlow(data: Data, flow: number): (Series & { name: string })[] {
  const told = data.inside.flows.get(flow);
  if (!told) return [];
  const [times, values]: [number[], number[]] = [[], []];
  data.cwnd[flow]?.forEach((value, row) => {
    if (value === null) return;
    times.push(data.flowTimes[row] ?? 0);
    values.push(value);
  });
  const bdp = ownBdp(told);
  const others = valuesOf(controlOfFlow(data, flow)?.state, told).flatMap((value) => {
    const series = told.get(value.name);
    return series && kindOf(value) === "window" ? [readSeries(value, series)] : [];
  });
  return [
    { name: "window", times, values },
    ...(bdp ? [{ name: "BDP that it takes", times: bdp.times, values: bdp.values.map((each) => each / SEGMENT) }] : []),
    ...others,
  ];
}

export const FIGURES: Figure[] = [
  {
    id: "queue",
    title: "Queue",
    unit: "packets",
    isOverTime: true,
    picture(sides, side) {
      const data = sides[side];
      if (!data) return null;
      const ink = look("--ink");
      const band = data.seeds?.band(data.times);
      return {
        ...overTime(data, this),
        top: topOf(sides, (of) => greatest([of.queue, of.queueBack, of.seeds?.high ?? []])),
        xs: data.times,
        lines: [
          { name: "queued", colour: ink, values: data.queue, width: 1.25, fill: look("--soft") },
          ...(data.queueBack.length
            ? [{ name: "on the way back", colour: colourAt(1), values: data.queueBack, width: 1.25, dash: [6, 3] }]
            : []),
        ],
        ...(band ? { band: { ...band, colour: colourAt(0) } } : {}),
      };
    },
  },
  {
    id: "shares",
    title: "Throughput",
    unit: "Mbit/s",
    isOverTime: true,
    picture(sides, side) {
      const data = sides[side];
      if (!data) return null;
      const { times, bands, most } = data.shares();
      const [flows, groups] = [flowColours(data.setting), groupColours(data.setting)];
      return {
        ...overTime(data, this),
        // As much as the bottleneck carries, or more where other links or changes of its rate let flows have more.
        top: topOf(sides, (of) => {
          const { rate, reverse } = of.setting.bottleneck;
          const both = of.setting.groups.some((each) => isUpward(of.setting, each)) ? rate + (reverse ?? rate) : rate;
          return Math.max(both / 1e6, of === data ? most : of.shares().most);
        }),
        xs: times,
        isStacked: true,
        lines: bands.map((band) => ({
          name: band.name,
          colour: (band.flow === null ? groups[band.group] : flows[band.flow]) ?? "",
          values: band.rates,
        })),
      };
    },
  },
  {
    id: "cwnd",
    title: "Congestion windows",
    unit: "segments",
    isOverTime: true,
    picture(sides, side) {
      const data = sides[side];
      if (!data) return null;
      const colours = flowColours(data.setting);
      const sampled = data.cwnd.flatMap((line, flow) => (line.some((each) => each !== null) ? [flow] : []));
      const stride = Math.max(1, Math.ceil(sampled.length / MOST_LINES));
      const chosen = sampled.filter((_, index) => index % stride === 0);
      return {
        ...overTime(data, this),
        top: topOf(sides, (of) => greatest(of.cwnd)),
        xs: data.flowTimes,
        lines: chosen.map((flow, place) => ({
          name: data.nameOf(flow),
          colour: colours[flow] ?? "",
          values: data.cwnd[flow] ?? [],
          spans: true,
          ...(chosen.length <= DASHES.length ? dashOf(place) : {}),
        })),
        ...(stride > 1 ? { note: `${chosen.length} of ${sampled.length} flows` } : {}),
      };
    },
  },
  {
    id: "sojourn",
    title: "Waits in the queue",
    unit: "% of packets that waited no longer",
    isOverTime: false,
    picture(sides) {
      const lines = (Object.entries(sides) as [Side, Data][]).flatMap(([side, data]) => distributions(data, side, "B" in sides));
      const waited = lines.map((line) => line.values.findIndex((share) => (share ?? 0) >= 100));
      const last = Math.max(...waited.map((place) => (place < 0 ? TIMES.length - 1 : place)), 40);
      return {
        title: this.title,
        unit: this.unit,
        x: { title: "wait", unit: "ms", isLogarithmic: true, from: TIMES[0] ?? 0.1, until: TIMES[last] ?? 1e4 },
        top: 100,
        xs: TIMES.slice(0, last + 1),
        lines: lines.map((line) => ({ ...line, values: line.values.slice(0, last + 1) })),
      };
    },
  },
  insideFigure("inside-probability", "probability", "Probabilities in the queue"),
  insideFigure("inside-queue", "rest", "Inside the queue"),
  {
    id: "inside-flow",
    title: "Inside a flow",
    unit: "segments",
    isOverTime: true,
    picture(sides, side, watched) {
      const data = sides[side];
      const series = data ? insideFlow(data, watched) : [];
      if (!data || series.length < 2) return null;
      const told = data.inside.flows.get(watched) ?? new Map();
      const { xs, lines } = aligned(series, told);
      const phase = valuesOf(controlOfFlow(data, watched)?.state, told).find((value) => value.phases);
      const phases = phase && told.get(phase.name);
      return {
        ...overTime(data, this),
        title: `Inside ${data.nameOf(watched)}`,
        note: controlOfFlow(data, watched)?.title ?? "",
        top: topOf(sides, (of) => greatest(insideFlow(of, watched).map((each) => each.values))),
        xs,
        lines: lines.map((values, place) => ({
          name: series[place]?.name ?? "",
          colour: colourAt(place),
          values,
          ...dashOf(place),
        })),
        ...(phase && phases ? { stretches: phasesOf(phase, phases) } : {}),
      };
    },
  },
];

/** The distributions of the waits of each group, or of all packets until those are there. */
function distributions(data: Data, side: Side, two: boolean): Drawn[] {
  const colours = groupColours(data.setting);
  const prefix = two ? `${side}: ` : "";
  const dash = side === "B" ? { dash: B_DASH } : {};
  const percent = (shares: readonly number[]): number[] => shares.map((share) => 100 * share);
  if (data.groups)
    return data.groups.flatMap((each, index) =>
      isUpward(data.setting, data.setting.groups[index] ?? { from: "" })
        ? []
        : [
            {
              name: `${prefix}${each.name}`,
              colour: colours[index] ?? "",
              values: percent(each.within),
              width: 2,
              ...dash,
            },
          ],
    );
  const within = data.within();
  return within ? [{ name: `${prefix}all packets`, colour: look("--ink"), values: percent(within), width: 2, ...dash }] : [];
}
