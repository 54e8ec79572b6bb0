// What the charts show of a run, from samples that come bit by bit.

import type { Packets, Samples, Sojourns } from "../engine/protocol";
import type { Numbers, Summary } from "../model/numbers";
import type { Setting } from "../model/setting";

/** Lines in one chart: more are not told apart. */
export const MOST_LINES = 40;
/** Bands of the throughput chart that are flows; with more flows they are groups. */
const MOST_BANDS = 12;
const SEGMENT = 1448;

type Line = (number | null)[];

export interface Shares {
  times: number[];
  /** Mbit/s of each band. */
  bands: { name: string; group: number; flow: number | null; rates: number[] }[];
}

export class Data {
  readonly setting: Setting;
  readonly times: number[] = [];
  readonly queue: number[] = [];
  readonly flowTimes: number[] = [];
  readonly cwnd: Line[] = [];
  readonly received: Line[] = [];
  readonly groupOf: number[];
  numbers: Numbers | null = null;
  summary: Summary | null = null;
  sojourns: Sojourns | null = null;
  packets: Packets | null = null;
  /** Up to when there are samples, in seconds. */
  reached = 0;

  constructor(setting: Setting) {
    this.setting = setting;
    this.groupOf = setting.groups.flatMap((each, index) => new Array<number>(each.count).fill(index));
    for (let flow = 0; flow < this.groupOf.length; flow += 1) {
      this.cwnd.push([]);
      this.received.push([]);
    }
  }

  get seconds(): number {
    return this.setting.duration / 1e12;
  }

  add(samples: Samples): void {
    const [times, packets] = [samples["queue_series.time"], samples["queue_series.packets"]];
    for (let row = 0; times && packets && row < times.length; row += 1) {
      this.times.push(times[row] ?? 0);
      this.queue.push(packets[row] ?? 0);
    }
    const time = samples["flow_series.time"];
    const flow = samples["flow_series.flow"];
    const cwnd = samples["flow_series.cwnd"];
    const received = samples["flow_series.bytes_received"];
    for (let row = 0; time && flow && cwnd && received && row < time.length; row += 1) {
      const moment = time[row] ?? 0;
      if (this.flowTimes[this.flowTimes.length - 1] !== moment) {
        this.flowTimes.push(moment);
        for (const line of this.cwnd) line.push(null);
        for (const line of this.received) line.push(null);
      }
      const at = this.flowTimes.length - 1;
      const index = flow[row] ?? 0;
      const lines = [this.cwnd[index], this.received[index]];
      if (lines[0]) lines[0][at] = (cwnd[row] ?? 0) / SEGMENT;
      if (lines[1]) lines[1][at] = received[row] ?? 0;
    }
  }

  /** What was received of each flow, or each group if there are many, over time: also above a gap, so that a repair is no peak. */
  shares(): Shares {
    const byFlow = this.groupOf.length <= MOST_BANDS;
    const bands = byFlow
      ? this.groupOf.map((group, flow) => ({ name: this.nameOf(flow), group, flow, rates: [] as number[] }))
      : this.setting.groups.map((each, group) => ({ name: each.group, group, flow: null, rates: [] as number[] }));
    const count = this.flowTimes.length;
    const stride = Math.max(1, Math.floor(count / 100));
    const times: number[] = [];
    for (let at = stride; at < count; at += stride) {
      const span = (this.flowTimes[at] ?? 0) - (this.flowTimes[at - stride] ?? 0);
      times.push(this.flowTimes[at] ?? 0);
      for (const band of bands) band.rates.push(0);
      this.received.forEach((line, flow) => {
        const band = bands[byFlow ? flow : (this.groupOf[flow] ?? 0)];
        const bytes = (line[at] ?? 0) - (line[at - stride] ?? 0);
        if (band && span > 0)
          band.rates[band.rates.length - 1] = (band.rates[band.rates.length - 1] ?? 0) + (bytes * 8) / span / 1e6;
      });
    }
    return { times, bands };
  }

  nameOf(flow: number): string {
    const group = this.groupOf[flow] ?? 0;
    const each = this.setting.groups[group];
    if (!each) return "";
    return each.count === 1 ? each.group : `${each.group} ${flow - this.groupOf.indexOf(group) + 1}`;
  }

  /** The share of the packets that waited no longer than a time, in ms. */
  distribution(): [number[], number[]] {
    const { atMost, packets } = this.sojourns ?? { atMost: new Float64Array(), packets: new Float64Array() };
    const all = packets.reduce((sum, each) => sum + each, 0);
    const [times, shares]: [number[], number[]] = [[], []];
    let sum = 0;
    for (let row = 0; row < atMost.length; row += 1) {
      // A logarithmic axis has no place for those that did not wait.
      sum += packets[row] ?? 0;
      times.push(Math.max(0.1, (atMost[row] ?? 0) * 1000));
      shares.push((100 * sum) / all);
    }
    return [times, shares];
  }
}
