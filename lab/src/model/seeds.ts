// Other seeds of a setting: how far its numbers and its queue depend on chance.

import type { Summary } from "./numbers";

/** The least and the greatest of several seeds. */
export interface Range {
  least: number;
  most: number;
}

export class Seeds {
  /** Packets queued at each sample: the least and the greatest so far. */
  readonly low: number[] = [];
  readonly high: number[] = [];
  readonly summaries: Summary[] = [];

  /** Takes a run that is over: the samples of its queue, and its numbers. */
  add(queue: readonly number[], summary: Summary): void {
    queue.forEach((packets, row) => {
      this.low[row] = Math.min(this.low[row] ?? Infinity, packets);
      this.high[row] = Math.max(this.high[row] ?? 0, packets);
    });
    this.summaries.push(summary);
  }

  get count(): number {
    return this.summaries.length;
  }

  /** As a band of a chart over these moments. */
  band(times: readonly number[]): { name: string; low: number[]; high: number[] } | null {
    if (!this.count) return null;
    const of = (line: readonly number[]): number[] => times.map((_, row) => line[row] ?? 0);
    return { name: `${this.count} seeds`, low: of(this.low), high: of(this.high) };
  }

  /** Of a number that each seed has. */
  range(value: (of: Summary) => number | null): Range | null {
    const values = this.summaries.map(value).filter((each) => each !== null);
    return values.length > 1 ? { least: Math.min(...values), most: Math.max(...values) } : null;
  }
}
