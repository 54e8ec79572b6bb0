// What the page and its worker tell each other.

import type { Catalogue } from "../model/catalogue";
import type { GroupPackets } from "../model/groups";
import type { Numbers } from "../model/numbers";
import type { Declaration } from "../own/hooks";

/** Samples of queues and flows: columns of the same length each, called as in results. */
export type Samples = Record<string, Float64Array | Uint32Array>;

/** Samples, and what the words among them are. */
export interface Told {
  samples: Samples;
  /** Of the values of inner states: `state.name` is a place in this list. */
  names: string[];
  /** The thresholds of RED at the bottleneck, in the unit of its average; null of another discipline. */
  red: { minimum: number; maximum: number } | null;
}

/** In place of a flow's number: the value is of the bottleneck's discipline. */
export const BOTTLENECK = 0xffffffff;

/** The packets of the bottleneck, in order of arrival. */
export interface Packets {
  flow: Uint32Array;
  fate: Uint32Array;
  /** 1 for a packet that arrived as one of L4S. */
  l4s: Uint32Array;
  size: Uint32Array;
  arrived: Float64Array;
  left: Float64Array;
  isWhole: boolean;
}

export const FATES = { queued: 0, sent: 1, marked: 2, dropped: 3 } as const;

export interface Sojourns {
  /** Times in seconds, and packets that waited no longer, but longer than the time before. */
  atMost: Float64Array;
  packets: Float64Array;
}

export type Request =
  | { kind: "start"; engine: ArrayBuffer | WebAssembly.Module }
  | { kind: "run"; run: number; specification: string; mostMemory: number }
  | { kind: "trace"; run: number; specification: string }
  | { kind: "seeds"; run: number; specification: string; seeds: number[] }
  | { kind: "declare"; name: string; text: string }
  | { kind: "stop" };

export type Answer =
  | { kind: "ready"; catalogue: Catalogue; module: WebAssembly.Module }
  | { kind: "samples"; run: number; told: Told; reached: number }
  | { kind: "done"; run: number; numbers: Numbers; sojourns: Sojourns; seconds: number }
  | { kind: "packets"; run: number; packets: Packets; groups: GroupPackets[] | null }
  | { kind: "seed"; run: number; seed: number; queue: Float64Array; numbers: Numbers }
  | { kind: "declared"; name: string; declaration: Declaration | null; problem: string | null }
  | { kind: "failed"; run: number; problem: string };
