// What differs between two settings, by the keys of their scenarios: for links, for what a story was changed to, and for tries. The
// keys are those of `sojourn run --set`; of a dumbbell without the two tables that it stands in.

import type { Catalogue } from "./catalogue";
import { fromTable, isTable, type Table } from "./reading";
import { toTable } from "./scenario";
import { type Own, roundTrip, type Setting } from "./setting";
import { approximate, DURATION, Wrong } from "./units";

/** A key, and its value before and after, as scenarios write them; null where there is none. */
export interface Difference {
  key: string;
  from: string | null;
  to: string | null;
}

/** Values by their keys; an empty one takes the key away. */
export type Changes = Record<string, string>;

const DUMBBELL = "network.dumbbell.";
const OF_DUMBBELL = /^(?:bottleneck|senders|receivers)\b/;
const LENGTH = ".length";

/** The scenario of a setting, without how often it is sampled, which follows from the rest. */
function tableOf(of: Setting, known: Catalogue, own: readonly Own[]): Table {
  const names = own.map(({ name }) => name);
  const { probe: _, ...table } = toTable(of, known, names);
  return table;
}

/** All values of a table by their keys, and the lengths of its lists. */
function leaves(value: unknown, at: string, into: Map<string, string>): Map<string, string> {
  if (Array.isArray(value)) into.set(`${at}${LENGTH}`, String(value.length));
  const entries = Array.isArray(value) ? [...value.entries()] : isTable(value) ? Object.entries(value) : null;
  if (!entries) return into.set(at, String(value));
  for (const [key, each] of entries) leaves(each, at === "" ? String(key) : `${at}.${key}`, into);
  return into;
}

/** What is different in another setting; null if that has more groups of flows, or fewer, or other lists. */
export function differences(from: Setting, to: Setting, known: Catalogue, own: readonly Own[] = []): Difference[] | null {
  const [before, after] = [from, to].map((each) => leaves(tableOf(each, known, own), "", new Map<string, string>()));
  const found = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])]
    .map((key) => ({ key: key.replace(DUMBBELL, ""), from: before?.get(key) ?? null, to: after?.get(key) ?? null }))
    .filter((each) => each.from !== each.to);
  return found.some(({ key }) => key.endsWith(LENGTH)) ? null : found;
}

/** The value that a text stands for in a scenario. */
function valued(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?$/.test(text) ? Number(text) : text;
}

function put(table: Table, key: string, text: string): void {
  const [last = "", ...before] = (OF_DUMBBELL.test(key) ? DUMBBELL + key : key).split(".").reverse();
  let at: unknown = table;
  for (const part of before.reverse()) {
    if (isTable(at) && !(part in at) && !/^[0-9]+$/.test(part)) at[part] = {};
    at = Array.isArray(at) || isTable(at) ? (at as Table)[part] : undefined;
  }
  if (!isTable(at)) throw new Wrong(`${key}: there is no such key`);
  if (text === "") delete at[last];
  else at[last] = valued(text);
}

/** The setting with some values changed. One that cannot be is `Wrong`, with its key. */
export function changed(of: Setting, changes: Changes, known: Catalogue, own: readonly Own[] = []): Setting {
  const table = structuredClone(tableOf(of, known, own));
  for (const [key, text] of Object.entries(changes)) put(table, key, text);
  const names = own.map(({ name }) => name);
  return { ...fromTable(table, known, names), probe: of.probe };
}

/** The changes of a list of differences. */
export function toChanges(of: readonly Difference[]): Changes {
  return Object.fromEntries(of.map(({ key, to }) => [key, to ?? ""]));
}

const WORDS: Record<string, string> = {
  "bottleneck.rate": "rate",
  "bottleneck.queue.limit": "buffer",
  "bottleneck.queue.name": "queue",
  "bottleneck.loss": "random loss",
  "stack.profile": "stack",
  warm_up: "measured from",
  sender_overhead: "senders' random delay",
};

/** A difference for people: "buffer 1000 → 5 packets". */
export function inWords({ key, from, to }: Difference, before: Setting, after: Setting): string {
  const [table, place = "", ...rest] = key.split(".");
  const group = after.groups[Number(place)]?.group ?? "";
  if (table === "flows") {
    const what = rest.join(" ") === "tcp name" ? group : `${rest.join(" ").replace("tcp ", "").replaceAll("_", " ")} of ${group}`;
    return arrow(rest[0] === "count" ? `flows of ${group}` : what, from, to);
  }
  if (table === "senders" && rest[0] === "delay") {
    const name = after.senders[Number(place)]?.name;
    const served = after.groups.findIndex((each) => each.from === name);
    const [was, is] = [before, after].map((of) => {
      const each = of.groups[served];
      return each ? approximate(roundTrip(of, each), DURATION) : null;
    });
    if (served >= 0) return arrow(`RTT of ${after.groups[served]?.group}`, was ?? null, is ?? null);
  }
  const own = key.startsWith("bottleneck.queue.") ? `${after.bottleneck.queue.name}'s ` : "";
  const name = key.replace("bottleneck.queue.", "").replace("bottleneck.", "").replaceAll("_", " ").replaceAll(".", " ");
  return arrow(WORDS[key] ?? own + name, from, to);
}

/** What it is called, and what it was and is; a unit that both have is written once. */
function arrow(what: string, from: string | null, to: string | null): string {
  if (from === null) return `${what} ${to}`;
  if (to === null) return `${what} ${from} → as usual`;
  const [, was, unit] = /^(\S+) (\S+)$/.exec(from) ?? [];
  return `${what} ${unit !== undefined && to.endsWith(` ${unit}`) ? was : from} → ${to}`;
}
