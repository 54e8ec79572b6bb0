// A scenario file that is dropped on the page. What the page does not have is told by its key and line.

import { parse as parseToml, TomlError } from "smol-toml";
import { type Algorithm, type Catalogue, find, isRateBased, type Limit, type Parameter, type Values } from "./catalogue";
import { FRAME, KEYS, type Keys, LIMIT, MOST_FLOWS, MOST_GROUPS, nameOf, WIFI } from "./keys";
import { lineOf, type Place } from "./lines";
import { delayOf, type Link, type Links, nodesOf } from "./links";
import {
  type Aggregation,
  type Arrivals,
  type Change,
  flowCount,
  freeName,
  type Group,
  type Host,
  isName,
  type Setting,
} from "./setting";
import { type Cell, type Choice, Sweep } from "./sweep";
import { DURATION, format, readValue, Wrong } from "./units";

export type Table = Record<string, unknown>;

const LARGEST = 5e5;

/** What a file has: a setting, or several of which one is to be chosen. */
export interface Opened {
  setting: Setting;
  /** The axes of a sweep; none if there is no sweep. */
  choices: readonly Choice[];
  cell: Cell;
  /** What of the file is not shown. */
  note: string | null;
}

/** Reads a scenario file; of a sweep one cell, the first unless one is given. What is wrong is told with its key and line. */
export function fromToml(text: string, known: Catalogue, chosen: Cell | null = null): Opened {
  const other = otherVersion(text, known);
  try {
    const opened = read(text, known, chosen);
    return { ...opened, note: [opened.note, other].filter(Boolean).join(" ") || null };
  } catch (error) {
    throw error instanceof Wrong && other ? new Wrong(`${error.message} ${other}`) : error;
  }
}

/** What is to be said of a scenario that a laboratory of another version has written. */
function otherVersion(text: string, known: Catalogue): string | null {
  const [, version] = /^# From the laboratory of Sojourn ([^\s,]+),/m.exec(text) ?? [];
  if (version === undefined || version === known.version) return null;
  return `Version ${version} has written this file, and this page is of ${known.version}: runs may differ.`;
}

function read(text: string, known: Catalogue, chosen: Cell | null): Opened {
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
  // A scenario of programs has no flows; the key that the page does not have is told then.
  for (const key of "programs" in table ? [] : ["duration", "network", "flows"]) {
    if (!(key in table)) throw new Wrong(`The file has no "${key}", so it is not a scenario of Sojourn.`);
  }
  const where = (place: Place): string => `Line ${lineOf(text, place)}: `;
  const { sweep, search, range, environment, ...base } = table;
  const note = search || range || environment ? NOTE : null;
  let [scenario, choices, cell]: [Table, readonly Choice[], Cell] = [base, [], {}];
  if (isTable(sweep)) {
    try {
      const made = new Sweep(sweep);
      choices = made.choices;
      cell = { ...made.first, ...chosen };
      scenario = made.scenario(base, cell);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      const place = error.message.split(":")[0]?.split(".") ?? [];
      throw new Wrong(where(place) + error.message);
    }
  }
  return { setting: new Reader(known, [], where).setting(scenario), choices, cell, note };
}

const NOTE = "The file varies this scenario (its search, range or environment); the page shows the scenario as it is written.";

/** A scenario that the page has made: its algorithms may be those of the page, by their names. */
export function fromTable(table: Table, known: Catalogue, own: readonly string[]): Setting {
  return new Reader(known, own, () => "").setting(table);
}

/** The keys of a controller that learns. */
const LEARNERS = ["agent", "policy", "actions"];

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
    if (isTable(table[parameter.name]))
      this.wrong(at, "the page takes a plain value here; sojourn run takes a table such as this.");
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
    const setting: Setting = {
      ...run,
      profile: profile ?? "rfc",
      stack,
      ...this.network(this.table(table["network"], ["network"])),
      groups: [],
      probe: { queue_series: null, flow_series: null },
    };
    const given = this.list(table["flows"], ["flows"]).map((each, index) => this.ofEachHost(each, ["flows", index]));
    const flows = given.flat();
    if (flows.length > MOST_GROUPS)
      this.wrong(["flows"], `the page takes ${MOST_GROUPS} groups of flows; sojourn run takes more.`);
    const taken = flows.map((each) => String(isTable(each) ? each["group"] : ""));
    given.forEach((tables, index) => {
      for (const each of tables) setting.groups.push(this.group(each, ["flows", index], setting, taken));
    });
    setting.probe = this.keys(table["probe"] ?? {}, ["probe"], KEYS.probe);
    const count = flowCount(setting);
    if (count > MOST_FLOWS)
      this.wrong(["flows"], `there are ${count} flows; the page takes ${MOST_FLOWS}, and sojourn run more.`);
    return setting;
  }

  private network(network: Table): Pick<Setting, "bottleneck" | "links" | "senders" | "receiver"> {
    if ("links" in network) {
      this.keys(network, ["network"], KEYS.network, "links");
      return { ...this.links(network["links"], ["network", "links"]), senders: [], receiver: { name: "", rate: 0, delay: 0 } };
    }
    this.keys(network, ["network"], KEYS.network, "dumbbell");
    const place = ["network", "dumbbell"];
    const dumbbell = this.table(network["dumbbell"], place);
    this.keys(dumbbell, place, KEYS.dumbbell, "bottleneck", "senders", "receivers");
    const hosts = (key: string): Host[] =>
      this.list(dumbbell[key], [...place, key]).map((each, index) => this.host(each, [...place, key, index]));
    const senders = hosts("senders");
    const [receiver, second] = hosts("receivers") as [Host, ...Host[]];
    if (second) this.wrong([...place, "receivers"], "the page has one receiver; sojourn run takes several.");
    const names = ["left", "right", receiver.name, ...senders.map((each) => each.name)];
    const twice = names.find((each, index) => names.indexOf(each) !== index);
    if (twice !== undefined) this.wrong(place, `two nodes have the name "${twice}".`);
    const bottleneck = this.bottleneck(dumbbell["bottleneck"], [...place, "bottleneck"]);
    return { bottleneck, links: null, senders, receiver };
  }

  /** A network of links. The first with a queue is the bottleneck, as in results. */
  private links(given: unknown, place: Place): Pick<Setting, "bottleneck" | "links"> {
    const tables = this.list(given, place).map((each, index) => this.table(each, [...place, index]));
    const first = tables.findIndex((each) => "queue" in each);
    if (first < 0) this.wrong(place, "no link has a queue, and the page shows one.");
    const { from, to, ...rest } = tables[first] as Table;
    const bottleneck = this.bottleneck(rest, [...place, first]);
    const links = tables.map((table, index) => (index === first ? { from, to } : this.link(table, [...place, index])));
    tables.forEach((table, index) => {
      for (const end of ["from", "to"])
        if (typeof table[end] !== "string" || !isName(table[end]))
          this.wrong([...place, index, end], "is not a name for a node.");
    });
    return { bottleneck, links: links as Links };
  }

  private link(table: Table, place: Place): Link {
    const plain = this.keys<Omit<Link, "every" | "queue">>(table, place, KEYS.link, "queue", "drop");
    const drop = "drop" in table ? this.keys<{ every: number | null }>(table["drop"], [...place, "drop"], KEYS.drop) : null;
    if (drop?.every === null) this.wrong([...place, "drop"], 'give "every"');
    if (!("queue" in table)) return { ...plain, every: drop?.every ?? null, queue: null };
    const { chosen, other } = this.choice(table["queue"], [...place, "queue"], "queue discipline", this.known.queues, LIMIT);
    return { ...plain, every: drop?.every ?? null, queue: { ...chosen, limit: other as Limit } };
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
    const others = ["queue", "impairments", "reverse", "changes", "aggregation"];
    const plain = this.keys<{ rate: number; delay: number; loss: number }>(given, place, KEYS.bottleneck, ...others);
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
      reverse: this.keys<{ rate: number | null }>(table["reverse"] ?? {}, [...place, "reverse"], KEYS.reverse, "queue").rate,
      reverse_queue: this.reverseQueue(table["reverse"], [...place, "reverse", "queue"]),
      changes: "changes" in table ? this.changes(table["changes"], [...place, "changes"]) : [],
      aggregation: "aggregation" in table ? this.aggregation(table["aggregation"], [...place, "aggregation"]) : null,
    };
  }

  private reverseQueue(given: unknown, place: Place): Setting["bottleneck"]["reverse_queue"] {
    if (!isTable(given) || !("queue" in given)) return null;
    const { chosen, other } = this.choice(given["queue"], place, "queue discipline", this.known.queues, LIMIT);
    return { queue: chosen, limit: other as Limit };
  }

  private changes(given: unknown, place: Place): Change[] {
    let before = -1;
    return this.list(given, place).map((each, index) => {
      const change = this.keys<Change>(each, [...place, index], KEYS.change);
      if (change.rate === null && change.delay === null && change.loss === null)
        this.wrong([...place, index], 'give at least one of "rate", "delay", "loss"');
      if (change.at <= before) this.wrong([...place, index, "at"], "must be later than the change before");
      before = change.at;
      return change;
    });
  }

  /** The frames of a link, of which what is not given is that of Wi-Fi. */
  private aggregation(given: unknown, place: Place): Aggregation {
    const table = this.table(given, place);
    const read = this.keys<Aggregation>(table, place, KEYS.aggregation, FRAME.name);
    const most = FRAME.name in table ? this.value(table, FRAME, place) : { packets: WIFI.packets };
    const packets = isTable(most) && "packets" in most ? most.packets : 0;
    if (packets < 1) this.wrong([...place, FRAME.name], "a number of packets from 1 on");
    const values = Object.entries(WIFI).map(([key, usual]) => [key, key in table ? read[key as keyof Aggregation] : usual]);
    return { ...(Object.fromEntries(values) as Aggregation), packets };
  }

  /** Flows from several hosts are a group for each, if they have no name of their own. */
  private ofEachHost(given: unknown, place: Place): Table[] {
    const table = this.table(given, place);
    const { from } = table;
    if (!Array.isArray(from)) return [table];
    if ("group" in table) this.wrong([...place, "from"], "the page has one sender for a group with a name");
    return from.map((each) => ({ ...table, from: each }));
  }

  private group(table: Table, place: Place, of: Setting, taken: string[]): Group {
    type Plain = Pick<Group, "from" | "count" | "start" | "start_within" | "stop" | "size"> & { group: string | null };
    const plain = this.keys<Plain>(table, place, KEYS.flows, "to", "tcp", "stack", "arrivals");
    const { from, start, stop } = plain;
    const wrong = (key: string, what: string): never => this.wrong([...place, key], what);
    const isUpward = !of.links && from === of.receiver.name;
    const to = of.links || isUpward ? String(table["to"]) : null;
    if (of.links) {
      const nodes = nodesOf(of.links);
      if (!nodes.includes(from)) wrong("from", `there is no node called "${from}".`);
      if (to === null || !nodes.includes(to)) wrong("to", `there is no node called "${to}".`);
    } else {
      const [host, key] = isUpward ? [to, "to"] : [from, "from"];
      if (!of.senders.some((each) => each.name === host)) wrong(key, `there is no sender called "${host}".`);
      if (!isUpward && table["to"] !== of.receiver.name)
        wrong("to", `flows of the page go to the receiver, "${of.receiver.name}", or from it.`);
    }
    const ends = `${from}-${to ?? of.receiver.name}`;
    const group = plain.group ?? freeName(ends, [...taken, ...of.groups.map((each) => each.group)]);
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
    const arrivals = "arrivals" in table ? this.arrivals(table, place, control.tcp.name) : null;
    const read = { ...plain, to, group, ...control, stack, arrivals };
    if (of.links && delayOf(of, of.links, read) === null) wrong("to", `there is no way from "${from}" to "${to}".`);
    return read;
  }

  private arrivals(table: Table, place: Place, control: string): Arrivals {
    const at = [...place, "arrivals"];
    const found = this.keys<Arrivals>(this.table(table["arrivals"], at), at, KEYS.arrivals);
    const wrong = (key: string, what: string): never => this.wrong([...place, key], what);
    if (!["poisson", "deterministic"].includes(found.process)) wrong("arrivals", 'process is "poisson" or "deterministic" here.');
    if ((found.load === null) === (found.rate === null)) wrong("arrivals", 'give either "load" or "rate".');
    for (const key of ["count", "start_within"]) if (key in table) wrong(key, "flows arrive by themselves.");
    if (table["size"] === undefined) wrong("arrivals", 'give "size" as well.');
    const entry = find(this.known.congestion_controls, control);
    if (entry && isRateBased(entry)) wrong("arrivals", `${control} opens no connection.`);
    return found;
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
    if (isTable(given) && LEARNERS.some((key) => key in given)) {
      this.wrong(place, "the page has no controllers that learn; sojourn run has.");
    }
    const { entry, chosen, other } = this.choice(given, place, "congestion control", this.known.congestion_controls, slowStart);
    if (other !== null && isRateBased(entry)) this.wrong([...place, "slow_start"], `${entry.name} has no slow start.`);
    return { tcp: chosen, slow_start: canonical(other, slowStarts) };
  }
}
