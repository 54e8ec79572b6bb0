// What the page and its worker tell each other.

import type { Catalogue } from "../model/catalogue";
import type { Numbers } from "../model/numbers";
import type { Declaration } from "../own/hooks";

/** Samples of queues and flows: columns of the same length each, called as in results. */
export type Samples = Record<string, Float64Array | Uint32Array>;

/** The packets of the bottleneck, in order of arrival. */
export interface Packets {
  flow: Uint32Array;
  fate: Uint32Array;
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
  | { kind: "declare"; name: string; text: string }
  | { kind: "stop" };

export type Answer =
  | { kind: "ready"; catalogue: Catalogue; module: WebAssembly.Module }
  | { kind: "samples"; run: number; samples: Samples; reached: number }
  | { kind: "done"; run: number; numbers: Numbers; sojourns: Sojourns; seconds: number }
  | { kind: "packets"; run: number; packets: Packets }
  | { kind: "declared"; name: string; declaration: Declaration | null; problem: string | null }
  | { kind: "failed"; run: number; problem: string };
