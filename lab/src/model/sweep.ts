// A scenario file with a sweep: its axes, and the scenario of one of its cells, as `sojourn run` makes it (python/sojourn/sweep).

import { isTable, type Table } from "./reading";
import { Wrong } from "./units";

/** One axis, or several whose values go together: what is chosen from. */
export interface Choice {
  axes: string[];
  /** Of each of its values, the labels of all axes. */
  labels: string[][];
}

/** A label for each axis. */
export type Cell = Record<string, string>;

interface Value {
  label: string;
  data: unknown;
}

interface Axis {
  name: string;
  keys: string[];
  values: Value[];
}

/** The keys that tell what a table is. */
const NAMING = ["name", "profile", "file", "linux", "policy", "actions"];

export class Sweep {
  private readonly axes: Axis[];
  readonly choices: Choice[];

  /** A table `sweep` of a file; what is wrong with it is `Wrong`, with the key. */
  constructor(private readonly table: Table) {
    if ("draw" in table) throw new Wrong("sweep.draw: the page does not draw cells; sojourn run does");
    const axes = table["axes"] ?? {};
    if (!isTable(axes)) throw new Wrong("sweep.axes: is not a table");
    this.axes = Object.entries(axes).map(([name, given]) => axisOf(name, given));
    const together = asList(table["zip"]).map((each) => asList(each).map(String));
    const followers = together.flatMap((each) => this.inOrder(each).slice(1));
    this.choices = this.axes
      .filter(({ name }) => !followers.includes(name))
      .map(({ name }) => this.choice(this.inOrder(together.find((each) => each.includes(name)) ?? [name])));
  }

  private inOrder(names: readonly string[]): string[] {
    return this.axes.filter(({ name }) => names.includes(name)).map(({ name }) => name);
  }

  private choice(names: string[]): Choice {
    const axes = names.map((name) => this.axes.find((axis) => axis.name === name)?.values ?? []);
    return { axes: names, labels: (axes[0] ?? []).map((_, place) => axes.map((values) => values[place]?.label ?? "")) };
  }

  /** The first value of each axis. */
  get first(): Cell {
    return Object.fromEntries(this.axes.map(({ name, values }) => [name, values[0]?.label ?? ""]));
  }

  private matches(condition: unknown, cell: Cell): boolean {
    if (!isTable(condition)) return false;
    return Object.entries(condition).every(([name, given]) => {
      const labels = (Array.isArray(given) ? given : [given]).map((each) => text(each));
      const value = this.axes.find((axis) => axis.name === name)?.values.find((each) => each.label === cell[name]);
      return value !== undefined && (labels.includes(value.label) || labels.includes(nameOf(value)));
    });
  }

  /** The scenario of a cell; `base` is the file without its sweep. */
  scenario(base: Table, cell: Cell): Table {
    if (asList(this.table["exclude"]).some((each) => this.matches(each, cell)))
      throw new Wrong("sweep.exclude: the sweep leaves this combination out");
    const made = structuredClone(base);
    const set = this.axes.flatMap(({ name, keys, values }) => {
      const value = values.find((each) => each.label === cell[name]);
      return value ? keys.map((key) => [key, value.data] as const) : [];
    });
    // An algorithm is set before its parameters, whichever axis comes first.
    set.sort(([a], [b]) => a.split(".").length - b.split(".").length);
    for (const [key, value] of set) assign(made, key, value);
    for (const override of asList(this.table["overrides"])) {
      if (!isTable(override) || !isTable(override["set"]) || !this.matches(override["when"], cell)) continue;
      for (const [key, value] of Object.entries(override["set"])) assign(made, key, value);
    }
    return made;
  }
}

function asList(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [];
}

function axisOf(name: string, given: unknown): Axis {
  const table = Array.isArray(given) ? { values: given } : given;
  if (!isTable(table)) throw new Wrong(`sweep.axes.${name}: is not a list or a table`);
  const key = table["key"];
  const isKey = name.includes(".") || ["duration", "warm_up", "sender_overhead"].includes(name);
  const keys = key === undefined ? (isKey ? [name] : []) : (Array.isArray(key) ? key : [key]).map(String);
  const listed = "values" in table ? asList(table["values"]) : spread(name, table);
  if (!listed.length) throw new Wrong(`sweep.axes.${name}: has no values`);
  return { name, keys, values: valuesOf(listed) };
}

function valuesOf(listed: unknown[]): Value[] {
  const plain = listed.map((each) => (isLabelled(each) ? each["value"] : each));
  const tables = plain.map((each) => (isTable(each) ? each : {}));
  const isShared = (key: string): boolean =>
    !NAMING.includes(key) && tables.every((each) => key in each && text(each[key]) === text(tables[0]?.[key]));
  const shared = Object.keys(tables[0] ?? {}).filter(isShared);
  return listed.map((each, place) => ({
    label: isLabelled(each) ? String(each["label"]) : text(plain[place], shared),
    data: plain[place],
  }));
}

function isLabelled(given: unknown): given is Table {
  return isTable(given) && Object.keys(given).sort().join() === "label,value";
}

/** A value on one line, as it is called in results (sweep/values.py). */
function text(value: unknown, leftOut: readonly string[] = []): string {
  if (Array.isArray(value)) return `[${value.map((each) => text(each)).join(" ")}]`;
  if (!isTable(value)) return String(value);
  const naming = NAMING.find((key) => key in value);
  const others = Object.entries(value).filter(([key]) => key !== naming && !leftOut.includes(key));
  return [...(naming ? [String(value[naming])] : []), ...others.map(([key, held]) => `${key}=${text(held)}`)].join(" ");
}

function nameOf({ label, data }: Value): string {
  const naming = isTable(data) ? NAMING.find((key) => key in data) : undefined;
  return naming && isTable(data) ? String(data[naming]) : label;
}

/** The values of a range, with four digits as sweep/ranges.py gives them; both ends in one unit. */
function spread(name: string, table: Table): unknown[] {
  const steps = Number(table["steps"]);
  const ends = String(table["range"] ?? "")
    .split("..")
    .map((each) => /^\s*(-?[0-9.eE+-]+)\s*(\S*)\s*$/.exec(each));
  const [low, high] = ends;
  if (!(steps >= 2) || !low || !high || low[2] !== high[2])
    throw new Wrong(`sweep.axes.${name}: the page takes values, or a range of so many steps with both ends in one unit`);
  const [from, to] = [Number(low[1]), Number(high[1])];
  const isWhole = low[2] === "" && !/[.eE]/.test(`${low[1]}${high[1]}`);
  return Array.from({ length: steps }, (_, step) => {
    const share = step / (steps - 1);
    const between = table["spacing"] === "log" ? from * (to / from) ** share : from + (to - from) * share;
    const value = step === 0 ? from : step === steps - 1 ? to : Number(between.toPrecision(4));
    return low[2] === "" ? (isWhole ? Math.round(value) : value) : `${value} ${low[2]}`;
  });
}

/** Sets a key such as `flows.*.tcp`; a name that stands for a table becomes one. */
function assign(table: unknown, key: string, value: unknown): void {
  const [head = "", ...rest] = key.split(".");
  if (Array.isArray(table)) {
    const places = head === "*" ? [...table.keys()] : [Number(head)];
    for (const place of places) {
      if (!rest.length) table[place] = value;
      else assign(table[place], rest.join("."), value);
    }
    return;
  }
  if (!isTable(table)) throw new Wrong(`sweep: the scenario has no "${key}" to set`);
  if (!rest.length) {
    table[head] = value;
    return;
  }
  const held = table[head] ?? {};
  table[head] = typeof held === "string" ? { [head === "stack" ? "profile" : "name"]: held } : held;
  assign(table[head], rest.join("."), value);
}
