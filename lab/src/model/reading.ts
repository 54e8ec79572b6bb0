// A scenario file that is dropped on the page. What the page does not have is told by its key and line.

import { parse as parseToml, TomlError } from "smol-toml";
import { type Catalogue, find, isRateBased, type Values } from "./catalogue";
import { problemOfSetting } from "./problems";
import { freeName, type Group, type Host, type Setting } from "./setting";
import { DURATION, parse, parseLimit, RATE, readValue, SIZE, Wrong } from "./units";

type Table = Record<string, unknown>;

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
  return new Reader(text, known).setting(table);
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function shown(place: Place): string {
  return place.map((each, index) => (typeof each === "number" ? `[${each}]` : index ? `.${each}` : each)).join("");
}

class Reader {
  constructor(
    private readonly text: string,
    private readonly known: Catalogue,
  ) {}

  private wrong(place: Place, what: string): never {
    throw new Wrong(`Line ${lineOf(this.text, place)}: ${shown(place)}: ${what}`);
  }

  private try<T>(place: Place, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof Wrong && !error.message.startsWith("Line ")) this.wrong(place, error.message);
      throw error;
    }
  }

  /** Keys that are not in the list are of no use here. */
  private only(table: Table, place: Place, keys: readonly string[]): void {
    const other = Object.keys(table).find((key) => !keys.includes(key));
    if (other !== undefined) {
      this.wrong([...place, other], `the page does not have this key, though sojourn run may (here: ${keys.join(", ")}).`);
    }
  }

  private table(value: unknown, place: Place): Table {
    return isTable(value) ? value : this.wrong(place, "is not a table.");
  }

  private list(value: unknown, place: Place): unknown[] {
    return Array.isArray(value) && value.length ? value : this.wrong(place, "is not a list with an entry.");
  }

  private string(value: unknown, place: Place): string {
    return typeof value === "string" ? value : this.wrong(place, "is not a string.");
  }

  private quantity(value: unknown, place: Place, dimension: typeof DURATION): number {
    if (typeof value !== "string") {
      this.wrong(
        place,
        `${JSON.stringify(value)} has no unit; write a ${dimension.name} as a string, such as "${dimension.example}"`,
      );
    }
    return this.try(place, () => parse(value, dimension));
  }

  private whole(value: unknown, place: Place): number {
    return typeof value === "number" && Number.isInteger(value) ? value : this.wrong(place, "is not a whole number.");
  }

  private values(
    table: Table,
    place: Place,
    parameters: Parameters<typeof readValue>[1][],
    owner: string,
    others: string[],
  ): Values {
    const values: Values = {};
    for (const [name, value] of Object.entries(table)) {
      if (others.includes(name)) continue;
      const parameter = parameters.find((one) => one.name === name);
      if (!parameter)
        this.wrong(
          [...place, name],
          `unknown key of ${owner} (known: ${[...others, ...parameters.map((one) => one.name)].join(", ")})`,
        );
      values[name] = this.try([...place, name], () => readValue(value, parameter));
    }
    return values;
  }

  setting(table: Table): Setting {
    this.only(
      table,
      [],
      ["name", "description", "seed", "duration", "warm_up", "sender_overhead", "stack", "network", "flows", "probe"],
    );
    for (const key of ["duration", "network", "flows"]) {
      if (!(key in table)) throw new Wrong(`The file has no "${key}", so it is not a scenario of Sojourn.`);
    }
    const stack = this.stack(table["stack"] ?? {}, ["stack"]);
    const network = this.table(table["network"], ["network"]);
    this.only(network, ["network"], ["dumbbell"]);
    const place: Place = ["network", "dumbbell"];
    const dumbbell = this.table(network["dumbbell"], place);
    this.only(dumbbell, place, ["bottleneck", "senders", "receivers"]);
    const senders = this.list(dumbbell["senders"], [...place, "senders"]).map((each, index) =>
      this.host(each, [...place, "senders", index]),
    );
    const receivers = this.list(dumbbell["receivers"], [...place, "receivers"]);
    if (receivers.length > 1) this.wrong([...place, "receivers"], "the page has one receiver; sojourn run takes several.");
    const receiver = this.host(receivers[0], [...place, "receivers", 0]);
    const probe = this.table(table["probe"] ?? {}, ["probe"]);
    this.only(probe, ["probe"], ["queue_series", "flow_series"]);
    const interval = (key: string): number | null => (key in probe ? this.quantity(probe[key], ["probe", key], DURATION) : null);
    const setting: Setting = {
      seed: "seed" in table ? this.whole(table["seed"], ["seed"]) : 1,
      duration: this.quantity(table["duration"], ["duration"], DURATION),
      warmUp: "warm_up" in table ? this.quantity(table["warm_up"], ["warm_up"], DURATION) : 0,
      overhead: "sender_overhead" in table ? this.quantity(table["sender_overhead"], ["sender_overhead"], DURATION) : null,
      profile: stack.profile ?? "rfc",
      stack: stack.settings,
      bottleneck: this.bottleneck(dumbbell["bottleneck"], [...place, "bottleneck"]),
      senders,
      receiver,
      groups: [],
      probe: { queue: interval("queue_series"), flow: interval("flow_series") },
    };
    this.list(table["flows"], ["flows"]).forEach((each, index) => {
      setting.groups.push(this.group(this.table(each, ["flows", index]), ["flows", index], setting));
    });
    const problem = problemOfSetting(setting, this.known, []);
    if (problem) throw new Wrong(`The file cannot be used here: ${problem}`);
    return setting;
  }

  private stack(given: unknown, place: Place): { profile: string | null; settings: Values } {
    const table = typeof given === "string" ? { profile: given } : this.table(given, place);
    const name = "profile" in table ? this.string(table["profile"], [...place, "profile"]) : null;
    const profile = name === null ? null : find(this.known.profiles, name);
    if (profile === undefined) {
      this.wrong(
        [...place, "profile"],
        `unknown profile "${name}" (known: ${this.known.profiles.map((one) => one.name).join(", ")})`,
      );
    }
    return {
      profile: profile?.name ?? null,
      settings: this.values(table, place, this.known.stack_settings, "the stack", ["profile"]),
    };
  }

  private host(given: unknown, place: Place): Host {
    const table = this.table(given, place);
    this.only(table, place, ["name", "rate", "delay"]);
    if (!("rate" in table)) this.wrong(place, 'missing key "rate".');
    const delay = "delay" in table ? this.quantity(table["delay"], [...place, "delay"], DURATION) : 0;
    return {
      name: this.string(table["name"], [...place, "name"]),
      rate: this.quantity(table["rate"], [...place, "rate"], RATE),
      delay,
    };
  }

  private bottleneck(given: unknown, place: Place): Setting["bottleneck"] {
    const table = this.table(given, place);
    this.only(table, place, ["rate", "delay", "queue", "loss", "impairments"]);
    if (!("queue" in table)) this.wrong(place, "has no queue, and the page shows one.");
    const chosen =
      typeof table["queue"] === "string" ? { name: table["queue"] } : this.table(table["queue"], [...place, "queue"]);
    const at: Place = [...place, "queue"];
    const name = this.string(chosen["name"], [...at, "name"]);
    const queue = find(this.known.queues, name);
    if (!queue)
      this.wrong(
        [...at, "name"],
        `unknown queue discipline "${name}" (known: ${this.known.queues.map((one) => one.name).join(", ")})`,
      );
    let policer: Setting["bottleneck"]["policer"] = null;
    if ("impairments" in table) {
      const of: Place = [...place, "impairments"];
      const impairments = this.table(table["impairments"], of);
      this.only(impairments, of, ["policer"]);
      const one = this.table(impairments["policer"], [...of, "policer"]);
      this.only(one, [...of, "policer"], ["rate", "burst"]);
      policer = {
        rate: this.quantity(one["rate"], [...of, "policer", "rate"], RATE),
        burst: this.quantity(one["burst"], [...of, "policer", "burst"], SIZE),
      };
    }
    const loss = table["loss"] ?? 0;
    if (typeof loss !== "number") this.wrong([...place, "loss"], "is not a number.");
    return {
      rate: this.quantity(table["rate"], [...place, "rate"], RATE),
      delay: "delay" in table ? this.quantity(table["delay"], [...place, "delay"], DURATION) : 0,
      queue: { name: queue.name, parameters: this.values(chosen, at, queue.parameters, queue.name, ["name", "limit"]) },
      limit:
        "limit" in chosen ? this.try([...at, "limit"], () => parseLimit(this.string(chosen["limit"], [...at, "limit"]))) : null,
      loss,
      policer,
    };
  }

  private group(table: Table, place: Place, of: Setting): Group {
    this.only(table, place, ["from", "to", "group", "count", "tcp", "start", "stop", "stack"]);
    const sender = this.string(table["from"], [...place, "from"]);
    if (!of.senders.some((host) => host.name === sender))
      this.wrong([...place, "from"], `there is no sender called "${sender}".`);
    if (table["to"] !== of.receiver.name)
      this.wrong([...place, "to"], `flows of the page go to the receiver, "${of.receiver.name}".`);
    const chosen = typeof table["tcp"] === "string" ? { name: table["tcp"] } : this.table(table["tcp"], [...place, "tcp"]);
    const at: Place = [...place, "tcp"];
    if ("file" in chosen || "linux" in chosen)
      this.wrong(at, "a page cannot read another file; write the algorithm in the page.");
    const name = this.string(chosen["name"], [...at, "name"]);
    const control = find(this.known.congestion_controls, name);
    if (!control) {
      this.wrong(
        [...at, "name"],
        `unknown congestion control "${name}" (known: ${this.known.congestion_controls.map((one) => one.name).join(", ")})`,
      );
    }
    let slowStart: string | null = null;
    if ("slow_start" in chosen) {
      if (isRateBased(control)) this.wrong([...at, "slow_start"], `${control.name} has no slow start.`);
      const wanted = this.string(chosen["slow_start"], [...at, "slow_start"]);
      const found = find(this.known.slow_starts, wanted);
      if (!found)
        this.wrong(
          [...at, "slow_start"],
          `unknown slow start "${wanted}" (known: ${this.known.slow_starts.map((one) => one.name).join(", ")})`,
        );
      slowStart = found.name;
    }
    const stack = this.stack(table["stack"] ?? {}, [...place, "stack"]);
    if (stack.profile !== null && stack.profile !== of.profile)
      this.wrong([...place, "stack"], "the page has one profile for all flows.");
    const time = (key: string): number | null => (key in table ? this.quantity(table[key], [...place, key], DURATION) : null);
    const usual = `${sender}-${of.receiver.name}`;
    return {
      name:
        "group" in table
          ? this.string(table["group"], [...place, "group"])
          : freeName(
              usual,
              of.groups.map((each) => each.name),
            ),
      count: "count" in table ? this.whole(table["count"], [...place, "count"]) : 1,
      tcp: { name: control.name, parameters: this.values(chosen, at, control.parameters, control.name, ["name", "slow_start"]) },
      slowStart,
      stack: stack.settings,
      sender,
      start: time("start"),
      stop: time("stop"),
    };
  }
}

const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?/;

/** The line on which a key stands, or else the table or list that it is in. */
export function lineOf(text: string, place: Place): number {
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
