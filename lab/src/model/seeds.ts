// Several seeds of a setting: how far its numbers and its queue depend on chance.

import type { Summary } from "./numbers";

/** The least and the greatest of several seeds. */
export interface Range {
  least: number;
  most: number;
}

type Value = (of: Summary) => number | null;

export class Seeds {
  /** Packets queued at each sample: the least and the greatest so far. */
  readonly low: number[] = [];
  readonly high: number[] = [];
  private readonly summaries: Summary[] = [];

  /** Takes a run that is over: the samples of its queue, and its numbers. */
  add(queue: ArrayLike<number>, summary: Summary): void {
    for (let row = 0; row < queue.length; row += 1) {
      const packets = queue[row] ?? 0;
      this.low[row] = Math.min(this.low[row] ?? Number.POSITIVE_INFINITY, packets);
      this.high[row] = Math.max(this.high[row] ?? 0, packets);
    }
    this.summaries.push(summary);
  }

  get count(): number {
    return this.summaries.length;
  }

  /** As a band of a chart over these moments; null of one seed. */
  band(times: readonly number[]): { name: string; low: number[]; high: number[] } | null {
    if (this.count < 2) return null;
    const of = (line: readonly number[]): number[] => times.map((_, row) => line[row] ?? 0);
    return { name: `${this.count} seeds`, low: of(this.low), high: of(this.high) };
  }

  /** Of a number that at least two seeds have. */
  range(value: Value): Range | null {
    const values = this.summaries.map(value).filter((each) => each !== null);
    return values.length > 1 ? { least: Math.min(...values), most: Math.max(...values) } : null;
  }

  /** In how many seeds a number is larger there than here, and in how many smaller: the runs have the same seeds, in the same order. */
  compared(there: Seeds, value: Value): { larger: number; smaller: number; of: number } {
    const of = Math.min(this.count, there.count);
    const signs = Array.from({ length: of }, (_, place) => {
      const [here, other] = [this.summaries[place], there.summaries[place]].map((each) => (each ? value(each) : null));
      return Math.sign((other ?? 0) - (here ?? 0));
    });
    return { larger: signs.filter((sign) => sign > 0).length, smaller: signs.filter((sign) => sign < 0).length, of };
  }
}
