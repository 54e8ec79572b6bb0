// How long a run will take, from the packets that it may send.

import { flowCount, type Setting } from "./setting";

/** Packets a second before anything was measured, and what a flow costs that hardly sends. */
const FIRST_GUESS = 600_000;
const PACKETS_PER_FLOW_SECOND = 2;
const BYTES = 1500;

/** Runs that take longer are asked about first, in seconds. */
export const PATIENCE = 15;
/** Memory that a run may take. */
export const MOST_MEMORY = 1e9;

let speed = FIRST_GUESS;

export function packets(of: Setting): number {
  const access = of.links ? Infinity : of.senders.reduce((sum, each) => sum + each.rate, 0);
  const rate = Math.min(of.bottleneck.rate, access);
  const seconds = of.duration / 1e12;
  return (rate * seconds) / 8 / BYTES + flowCount(of) * seconds * PACKETS_PER_FLOW_SECOND;
}

/** Seconds that a run will take here. */
export function estimate(of: Setting): number {
  return packets(of) / speed;
}

/** A run has taken so long. */
export function learn(of: Setting, seconds: number): void {
  if (seconds > 0.05) speed = Math.min(4 * FIRST_GUESS, Math.max(FIRST_GUESS / 30, packets(of) / seconds));
}

/** The longest duration, in whole seconds, that takes no longer than a user waits. */
export function affordable(of: Setting): number {
  const share = PATIENCE / 3 / estimate(of);
  const seconds = (of.duration / 1e12) * share;
  return seconds >= 2 ? Math.floor(seconds) * 1e12 : Math.max(1e9, Math.floor(seconds * 1000) * 1e9);
}
