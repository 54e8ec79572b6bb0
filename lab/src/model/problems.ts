// Whether a state from a link or file makes sense: one line on what is wrong with it, before anything trusts it.

import { type Catalogue, find, type Parameter, type Values } from "./catalogue";
import type { Group, Setting } from "./setting";
import { allowed, approximate, formatValue, RATE } from "./units";

/** What the page takes; the command line takes more. */
export const MOST_FLOWS = 2000;
export const MOST_GROUPS = 12;
export const MOST_SECONDS = 600;
export const MOST_RATE = 10e9;
const MOST_TEXT = 20_000;

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first thing that is wrong, in one line; null if nothing is. */
export function problemOf(state: unknown, known: Catalogue): string | null {
  if (!isTable(state) || !isTable(state["a"]) || !Array.isArray(state["own"])) return "it has no setting.";
  for (const own of state["own"] as unknown[]) {
    if (!isTable(own) || typeof own["name"] !== "string" || !/^[a-z][a-z0-9_]*$/.test(own["name"]))
      return "its own algorithm has no name.";
    if (typeof own["text"] !== "string" || own["text"].length > MOST_TEXT) return "the text of its own algorithm is too long.";
  }
  const names = (state["own"] as { name: string }[]).map((own) => own.name);
  for (const side of ["a", "b"] as const) {
    const given = state[side];
    if (side === "b" && given === null) continue;
    try {
      const problem = problemOfSetting(given as Setting, known, names);
      if (problem) return problem;
    } catch {
      return "a part of it is missing.";
    }
  }
  return null;
}

export function problemOfSetting(of: Setting, known: Catalogue, own: readonly string[]): string | null {
  const seconds = (value: number): string => `${value / 1e12} s`;
  if (!isWhole(of.seed, 0, Number.MAX_SAFE_INTEGER)) return "the seed is not a whole number from 0 to 2^53 - 1.";
  if (!isWhole(of.duration, 1e9, MOST_SECONDS * 1e12))
    return `the duration is not from 1 ms to ${MOST_SECONDS} s; sojourn run takes longer ones.`;
  if (!isWhole(of.warmUp, 0, of.duration - 1)) return `the warm-up must be shorter than the duration, ${seconds(of.duration)}.`;
  if (of.overhead !== null && !isWhole(of.overhead, 0, 1e12)) return "the senders' overhead is not from 0 s to 1 s.";
  if (!find(known.profiles, of.profile)) return `there is no stack profile called "${of.profile}".`;
  const centre = of.bottleneck;
  if (!isWhole(centre.rate, 1000, MOST_RATE)) return `the rate is not from 1 kbit/s to ${approximate(MOST_RATE, RATE)}.`;
  if (!isWhole(centre.delay, 0, 10e12)) return "the bottleneck's delay is not from 0 s to 10 s.";
  if (!(centre.loss >= 0 && centre.loss <= 1)) return "the loss is not a probability from 0 to 1.";
  if (centre.policer && !(isWhole(centre.policer.rate, 1000, MOST_RATE) && isWhole(centre.policer.burst, 1, 1e12))) {
    return "the policer's rate or burst is out of range.";
  }
  if (centre.limit !== null) {
    const [amount] = Object.values(centre.limit) as number[];
    if (!(amount !== undefined && amount > 0 && amount <= 1e12)) return "the buffer is not more than 0.";
  }
  const queue = find(known.queues, centre.queue.name);
  if (!queue) return `there is no queue discipline called "${centre.queue.name}".`;
  const wrong = problemOfValues(centre.queue.parameters, queue.parameters, queue.name);
  if (wrong) return wrong;
  for (const host of [...of.senders, of.receiver]) {
    if (!isName(host.name) || ["left", "right"].includes(host.name)) return `"${String(host.name)}" is not a name for a host.`;
    if (!isWhole(host.rate, 1000, 100e9)) return `the access rate of ${host.name} is not from 1 kbit/s to 100 Gbit/s.`;
    if (!isWhole(host.delay, 0, 10e12)) return `the delay of ${host.name} is not from 0 s to 10 s.`;
  }
  if (new Set([...of.senders, of.receiver].map((host) => host.name)).size !== of.senders.length + 1)
    return "two hosts have one name.";
  if (!(of.groups.length >= 1 && of.groups.length <= MOST_GROUPS))
    return `there are not from 1 to ${MOST_GROUPS} groups of flows.`;
  const flows = of.groups.reduce((sum, each) => sum + each.count, 0);
  for (const each of of.groups) {
    const problem = problemOfGroup(of, each, known, own);
    if (problem) return problem;
  }
  if (flows > MOST_FLOWS) return `there are ${flows} flows; the page takes ${MOST_FLOWS}, and sojourn run more.`;
  if (new Set(of.groups.map((each) => each.name)).size !== of.groups.length) return "two groups of flows have one name.";
  for (const interval of [of.probe.queue, of.probe.flow]) {
    if (interval !== null && !isWhole(interval, 1e8, 1e15)) return "the time between samples is not 100 us or more.";
  }
  return null;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && /^[^\s"\\\p{C}](?:[^"\\\p{C}]{0,58}[^\s"\\\p{C}])?$/u.test(value);
}

function problemOfGroup(of: Setting, each: Group, known: Catalogue, own: readonly string[]): string | null {
  if (!isName(each.name)) return `"${String(each.name)}" is not a name for a group of flows.`;
  if (!isWhole(each.count, 1, 1e6)) return `the number of flows of ${each.name} is not a whole number of 1 or more.`;
  if (!of.senders.some((host) => host.name === each.sender)) return `the flows ${each.name} have no sender.`;
  if (each.start !== null && !isWhole(each.start, 0, of.duration - 1))
    return `the flows ${each.name} do not start within the run.`;
  if (each.stop !== null && !isWhole(each.stop, (each.start ?? 0) + 1, of.duration - 1)) {
    return `the flows ${each.name} do not stop between their start and the end of the run.`;
  }
  const wrong = problemOfValues({ ...of.stack, ...each.stack }, known.stack_settings, "the stack");
  if (wrong) return wrong;
  if (own.includes(each.tcp.name)) return null;
  const control = find(known.congestion_controls, each.tcp.name);
  if (!control) return `there is no congestion control called "${each.tcp.name}".`;
  if (each.slowStart !== null && !find(known.slow_starts, each.slowStart))
    return `there is no slow start called "${each.slowStart}".`;
  return problemOfValues(each.tcp.parameters, control.parameters, control.name);
}

function problemOfValues(values: Values, parameters: readonly Parameter[], owner: string): string | null {
  for (const [name, value] of Object.entries(values)) {
    const parameter = parameters.find((one) => one.name === name);
    if (!parameter) return `${owner} has no parameter called "${name}".`;
    if (typeof value !== "number") continue;
    const { minimum, maximum } = parameter;
    if (!Number.isFinite(value) || (minimum !== null && value < minimum) || (maximum !== null && value > maximum)) {
      return `${name} of ${owner}, ${formatValue(value, parameter)}, is out of range (${allowed(parameter)}).`;
    }
  }
  return null;
}
