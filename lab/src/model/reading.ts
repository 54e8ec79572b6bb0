// A scenario file that is dropped on the page. What the page does not have is told by its key and line.

import { parse as parseToml, TomlError } from "smol-toml";
import { type Algorithm, type Catalogue, find, isRateBased, type Limit, type Parameter, type Values } from "./catalogue";
import { KEYS, type Keys, LIMIT, MOST_FLOWS, MOST_GROUPS, nameOf } from "./keys";
import { flowCount, freeName, type Group, type Host, isName, type Setting } from "./setting";
import { DURATION, format, readValue, Wrong } from "./units";

export type Table = Record<string, unknown>;

/** A place in the file: keys, and the numbers of entries. */
type Place = readonly (string | number)[];

const LARGEST = 5e5;

export function fromToml(text: string, known: Catalogue): Setting {
  if (text.length > LARGEST) throw new Wrong("The file is larger than a scenario is: the page takes up to 500 kB.");
  let table: Table;
  try {
    table = parseToml(text) as Table;
  } catch (error) {
    if (error instanceof TomlError) {
      const what = error.message.split("\n")[0]?.replace("Invalid TOML document: ", "") ?? "";
      throw new Wrong(`Line ${error.line}: this is not TOML: ${what}.`);
    }
    throw error;
  }
  for (const key of ["duration", "network", "flows"]) {
    if (!(key in table)) throw new Wrong(`The file has no "${key}", so it is not a scenario of Sojourn.`);
  }
  return new Reader(known, [], (place) => `Line ${lineOf(text, place)}: `).setting(table);
}

/** A scenario that the page has made: its algorithms may be those of the page, by their names. */
export function fromTable(table: Table, known: Catalogue, own: readonly string[]): Setting {
  return new Reader(known, own, () => "").setting(table);
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function shown(place: Place): string {
  return place.map((each, index) => (typeof each === "number" ? `[${each}]` : index ? `.${each}` : each)).join("");
}

/** The name of an entry that was given by that or by another of its names; null if none was. */
function canonical(given: unknown, entries: readonly { name: string; aliases?: string[] }[]): string | null {
  return find(entries, String(given))?.name ?? null;
}

class Reader {
  constructor(
    private readonly known: Catalogue,
    private readonly own: readonly string[],
    private readonly where: (place: Place) => string,
  ) {}

  private wrong(place: Place, what: string): never {
    throw new Wrong(`${this.where(place)}${shown(place)}: ${what}`);
  }

  private table(value: unknown, place: Place): Table {
    return isTable(value) ? value : this.wrong(place, "is not a table.");
  }

  private list(value: unknown, place: Place): unknown[] {
    return Array.isArray(value) && value.length ? value : this.wrong(place, "is not a list with an entry.");
  }

  private value(table: Table, parameter: Parameter, place: Place): Values[string] {
    const at = [...place, parameter.name];
    try {
      return readValue(table[parameter.name], parameter);
    } catch (error) {
      return this.wrong(at, error instanceof Wrong ? error.message : String(error));
    }
  }

  /** The values of all keys that the page has of a table, given or by default; the others are read elsewhere. */
  private keys<T>(given: unknown, place: Place, { taken, all }: Keys, ...others: string[]): T {
    const table = this.table(given, place);
    const names = [...taken.map((each) => each.name), ...others];
    const other = Object.keys(table).find((each) => !names.includes(each));
    if (other !== undefined) {
      const what = all.includes(other) ? "the page does not have this key, though sojourn run does" : "unknown key";
      this.wrong([...place, other], `${what} (here: ${names.join(", ")})`);
    }
    const values: Values = {};
    for (const each of taken) {
      if (each.name in table) values[each.name] = this.value(table, each, place);
      else if (each.isRequired) this.wrong(place, `missing key "${each.name}".`);
      else values[each.name] = each.default;
    }
    return values as T;
  }

  /** The parameters that a table sets. */
  private values(table: Table, place: Place, parameters: readonly Parameter[], owner: string): Values {
    const read = Object.keys(table).map((name) => {
      const parameter = parameters.find((one) => one.name === name);
      if (!parameter)
        this.wrong([...place, name], `unknown key of ${owner} (known: ${parameters.map((one) => one.name).join(", ")})`);
      return [name, this.value(table, parameter, place)];
    });
    return Object.fromEntries(read) as Values;
  }

  /** What is chosen by its name, with parameters or without, and a key besides that is no parameter. */
  private choice<T extends Algorithm>(given: unknown, place: Place, what: string, entries: readonly T[], besides: Parameter) {
    const { name, ...table } = typeof given === "string" ? { name: given } : this.table(given, place);
    const entry = typeof name === "string" ? find(entries, name) : undefined;
    const names = entries.map((one) => one.name).join(", ");
    if (!entry) return this.wrong([...place, "name"], `unknown ${what} ${JSON.stringify(name)} (known: ${names})`);
    const values = this.values(table, place, [besides, ...entry.parameters], entry.name);
    const { [besides.name]: other = null, ...parameters } = values;
    return { entry, chosen: { name: entry.name, parameters }, other };
  }

  setting(table: Table): Setting {
    const { profile, stack } = this.stack(table["stack"] ?? {}, ["stack"]);
    const others = ["name", "description", "stack", "network", "flows", "probe"];
    const run = this.keys<Pick<Setting, "seed" | "duration" | "warm_up" | "sender_overhead">>(
      table,
      [],
      KEYS.scenario,
      ...others,
    );
    if (run.warm_up >= run.duration)
      this.wrong(["warm_up"], `must be shorter than the duration, ${format(run.duration, DURATION)}.`);
    this.keys(table["network"], ["network"], KEYS.network, "dumbbell");
    const place = ["network", "dumbbell"];
    const dumbbell = this.table((table["network"] as Table)["dumbbell"], place);
    this.keys(dumbbell, place, KEYS.dumbbell, "bottleneck", "senders", "receivers");
    const hosts = (key: string): Host[] =>
      this.list(dumbbell[key], [...place, key]).map((each, index) => this.host(each, [...place, key, index]));
    const senders = hosts("senders");
    const [receiver, second] = hosts("receivers") as [Host, ...Host[]];
    if (second) this.wrong([...place, "receivers"], "the page has one receiver; sojourn run takes several.");
    const names = ["left", "right", receiver.name, ...senders.map((each) => each.name)];
    const twice = names.find((each, index) => names.indexOf(each) !== index);
    if (twice !== undefined) this.wrong(place, `two nodes have the name "${twice}".`);
    const setting: Setting = {
      ...run,
      profile: profile ?? "rfc",
      stack,
      bottleneck: this.bottleneck(dumbbell["bottleneck"], [...place, "bottleneck"]),
      senders,
      receiver,
      groups: [],
      probe: { queue_series: null, flow_series: null },
    };
    const flows = this.list(table["flows"], ["flows"]);
    if (flows.length > MOST_GROUPS)
      this.wrong(["flows"], `the page takes ${MOST_GROUPS} groups of flows; sojourn run takes more.`);
    const taken = flows.map((each) => String(isTable(each) ? each["group"] : ""));
    flows.forEach((each, index) => {
      setting.groups.push(this.group(this.table(each, ["flows", index]), ["flows", index], setting, taken));
    });
    setting.probe = this.keys(table["probe"] ?? {}, ["probe"], KEYS.probe);
    const count = flowCount(setting);
    if (count > MOST_FLOWS)
      this.wrong(["flows"], `there are ${count} flows; the page takes ${MOST_FLOWS}, and sojourn run more.`);
    return setting;
  }

  private stack(given: unknown, place: Place): { profile: string | null; stack: Values } {
    const table = typeof given === "string" ? { profile: given } : this.table(given, place);
    const settings = [nameOf("profile", this.known.profiles), ...this.known.stack_settings];
    const { profile, ...stack } = this.values(table, place, settings, "the stack");
    return { profile: canonical(profile, this.known.profiles), stack };
  }

  private host(given: unknown, place: Place): Host {
    const host = this.keys<Host>(given, place, KEYS.host);
    if (!isName(host.name)) this.wrong([...place, "name"], `"${host.name}" is not a name for a host.`);
    return host;
  }

  private bottleneck(given: unknown, place: Place): Setting["bottleneck"] {
    const plain = this.keys<{ rate: number; delay: number; loss: number }>(given, place, KEYS.bottleneck, "queue", "impairments");
    const table = this.table(given, place);
    if (!("queue" in table)) this.wrong(place, "has no queue, and the page shows one.");
    const { chosen, other } = this.choice(table["queue"], [...place, "queue"], "queue discipline", this.known.queues, LIMIT);
    const impairments = this.table(table["impairments"] ?? {}, [...place, "impairments"]);
    this.keys(impairments, [...place, "impairments"], KEYS.impairments, "policer");
    const policer = "policer" in impairments ? impairments["policer"] : null;
    return {
      ...plain,
      queue: chosen,
      limit: other as Limit,
      policer: policer === null ? null : this.keys(policer, [...place, "impairments", "policer"], KEYS.policer),
    };
  }

  private group(table: Table, place: Place, of: Setting, taken: string[]): Group {
    type Plain = Pick<Group, "from" | "count" | "start" | "start_within" | "stop"> & { group: string | null };
    const plain = this.keys<Plain>(table, place, KEYS.flows, "to", "tcp", "stack");
    const { from, start, stop } = plain;
    const wrong = (key: string, what: string): never => this.wrong([...place, key], what);
    if (!of.senders.some((host) => host.name === from)) wrong("from", `there is no sender called "${from}".`);
    if (table["to"] !== of.receiver.name) wrong("to", `flows of the page go to the receiver, "${of.receiver.name}".`);
    const group = plain.group ?? freeName(`${from}-${of.receiver.name}`, [...taken, ...of.groups.map((each) => each.group)]);
    if (!isName(group)) wrong("group", `"${group}" is not a name for a group of flows.`);
    if (of.groups.some((each) => each.group === group)) wrong("group", `another group of flows is called "${group}".`);
    if ((start ?? 0) >= of.duration) wrong("start", "is not within the run.");
    const last = (start ?? 0) + (plain.start_within ?? 0);
    if (stop !== null && (stop <= last || stop >= of.duration))
      wrong("stop", "is not between the last start and the end of the run.");
    const { profile, stack } = this.stack(table["stack"] ?? {}, [...place, "stack"]);
    if (profile !== null && (profile !== of.profile || Object.keys(of.stack).length))
      wrong("stack", "the page has one profile for all flows.");
    const control = this.control(table["tcp"], [...place, "tcp"]);
    const { one_way: isOneWay } = find(this.known.congestion_controls, control.tcp.name) ?? {};
    if (isOneWay && "stack" in table) wrong("stack", `${control.tcp.name} has no stack, because it only sends.`);
    return { ...plain, group, ...control, stack };
  }

  private control(given: unknown, place: Place): Pick<Group, "tcp" | "slow_start"> {
    const slowStarts = this.known.slow_starts;
    const slowStart = nameOf("slow_start", slowStarts);
    if (isTable(given) && ("file" in given || "linux" in given)) {
      const name = this.own.find((one) => given["file"] === `${one}.py`);
      if (name === undefined) return this.wrong(place, "a page cannot read another file; write the algorithm in the page.");
      const slow_start = "slow_start" in given ? canonical(this.value(given, slowStart, place), slowStarts) : null;
      return { tcp: { name, parameters: {} }, slow_start };
    }
    const { entry, chosen, other } = this.choice(given, place, "congestion control", this.known.congestion_controls, slowStart);
    if (other !== null && isRateBased(entry)) this.wrong([...place, "slow_start"], `${entry.name} has no slow start.`);
    return { tcp: chosen, slow_start: canonical(other, slowStarts) };
  }
}

const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?/;

/** The line on which a key stands, or else the table or list that it is in. */
function lineOf(text: string, place: Place): number {
  const lines = text.split(/\r?\n/);
  const tables = new Map<string, number>();
  let at: (string | number)[] = [];
  let [best, depth] = [1, 0];
  const consider = (found: (string | number)[], line: number): void => {
    const isPrefix = found.length <= place.length && found.every((each, index) => each === place[index]);
    if (isPrefix && found.length > depth) [best, depth] = [line, found.length];
  };
  lines.forEach((line, index) => {
    const header = HEADER.exec(line);
    if (header) {
      at = (header[2] ?? "").split(".").map((key) => key.trim().replace(/^["']|["']$/g, ""));
      if (header[1] === "[[") {
        const name = at.join(".");
        const number = (tables.get(name) ?? -1) + 1;
        tables.set(name, number);
        at = [...at, number];
      }
      consider(at, index + 1);
      return;
    }
    const key = /^\s*((?:[A-Za-z0-9_-]+|"[^"]*")(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=/.exec(line)?.[1];
    if (key) {
      const found = [...at, ...key.split(".").map((each) => each.trim().replaceAll('"', ""))];
      consider(found, index + 1);
    }
  });
  // Inside a list over several lines, each entry has a line of its own.
  const entry = place[depth];
  if (typeof entry === "number" && (lines[best - 1] ?? "").trimEnd().endsWith("[")) {
    const entries = lines.slice(best).flatMap((line, index) => (/^\s*\{/.test(line) ? [best + index + 1] : []));
    return entries[entry] ?? best;
  }
  return best;
}
