// Whether a state from a link makes sense: one line on what is wrong with it, before anything trusts it.

import type { Catalogue } from "./catalogue";
import { fromTable, isTable } from "./reading";
import { toTable } from "./scenario";
import { intervals, type Setting } from "./setting";
import { Wrong } from "./units";

const MOST_TEXT = 20_000;

/** The first thing that is wrong, in one line; null if nothing is. */
export function problemOf(state: unknown, known: Catalogue): string | null {
  if (!isTable(state) || !isTable(state["a"]) || !Array.isArray(state["own"])) return "it has no setting.";
  for (const own of state["own"] as unknown[]) {
    if (!isTable(own) || typeof own["name"] !== "string" || !/^[a-z][a-z0-9_]*$/.test(own["name"]))
      return "its own algorithm has no name.";
    if (typeof own["text"] !== "string" || own["text"].length > MOST_TEXT) return "the text of its own algorithm is too long.";
  }
  const names = (state["own"] as { name: string }[]).map((own) => own.name);
  const settings = [state["a"], ...(state["b"] === null ? [] : [state["b"]])] as Setting[];
  return settings.map((each) => problemOfSetting(each, known, names)).find((each) => each !== null) ?? null;
}

/** The same value, whatever the order of its keys. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (isTable(each) ? Object.fromEntries(Object.entries(each).sort()) : each));
}

/** A setting makes sense if its scenario does, and is a scenario of nothing else. */
export function problemOfSetting(of: Setting, known: Catalogue, own: readonly string[]): string | null {
  try {
    const read = fromTable(toTable(of, known, own), known, own);
    // What parameters an algorithm of the page has is known when its text is run.
    for (const [index, { tcp }] of read.groups.entries()) {
      if (own.includes(tcp.name)) tcp.parameters = of.groups[index]?.tcp.parameters ?? {};
    }
    return sorted(read) === sorted({ ...of, probe: intervals(of) }) ? null : "a part of it is missing, or it has another.";
  } catch (error) {
    return error instanceof Wrong ? error.message : "a part of it is missing.";
  }
}
