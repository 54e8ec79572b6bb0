// What an algorithm that is written in the page extends: the hooks of a congestion control, as in a user's file in Python.
// Times are in seconds, sizes in bytes, rates in bits per second; what hooks are shown is valid during the call.

import type { Hook, Parameter, Value } from "../model/catalogue";
import { type Dimension, DURATION, PICOSECONDS, parse, RATE, SIZE, Wrong } from "../model/units";

/** What an algorithm says of itself. */
export interface Declaration {
  name: string;
  title: string;
  parameters: Parameter[];
  hooks: string[];
  needs: Record<string, boolean | string | null>;
}

class Declared {
  constructor(readonly parameter: Omit<Parameter, "name">) {}
}

interface Bounds<T> {
  least?: T;
  most?: T;
  doc?: string;
  source?: string;
}

function quantity(kind: Parameter["kind"], dimension: Dimension, least: string) {
  return (value: string, bounds: Bounds<string> = {}): Declared => {
    const base = (given: string | undefined): number | null => (given === undefined ? null : parse(given, dimension));
    return declared(kind, base(value), { ...bounds, least: base(bounds.least ?? least), most: base(bounds.most) });
  };
}

function declared(
  kind: Parameter["kind"],
  value: Value,
  bounds: { least?: number | null; most?: number | null; doc?: string; source?: string },
  choices: string[] | null = null,
): Declared {
  const { least = null, most = null, doc = "", source = "" } = bounds;
  return new Declared({ kind, default: value, doc, source, choices, minimum: least, maximum: most });
}

/** The names that a file may use without importing them. */
export const LANGUAGE = {
  number: (value: number, bounds: Bounds<number> = {}): Declared => declared("number", value, bounds),
  integer: (value: number, bounds: Bounds<number> = {}): Declared => declared("integer", value, { least: 0, ...bounds }),
  boolean: (value: boolean, bounds: Bounds<never> = {}): Declared => declared("boolean", value, bounds),
  choice: (value: string, ...others: string[]): Declared => declared("choice", value, {}, [value, ...others]),
  duration: quantity("duration", DURATION, "0 s"),
  size: quantity("size", SIZE, "0 B"),
  rate: quantity("rate", RATE, "1 bit/s"),
};

type Class = { new (): CongestionControl; prototype: CongestionControl } & Record<string, unknown>;

/** What the instance that is being made gets before its constructor goes on. */
let pending: { values: Record<string, Value>; random: unknown } | null = null;

export class CongestionControl {
  static title = "";
  static draws: string | null = null;
  static governs = false;
  static one_way_delay = false;
  static ecn: string | null = null;
  static load_factor = false;
  static recovery: string | null = null;

  random: unknown;

  constructor() {
    if (pending) Object.assign(this, pending.values, { random: pending.random });
  }
}

/** The window that a hook may change, or see. */
export class Window {
  #cwnd = 0;
  #ssthresh = 0;
  mss = 0;
  isOpen = false;

  show(numbers: Float64Array): void {
    this.#cwnd = numbers[0] ?? 0;
    this.#ssthresh = numbers[1] ?? 0;
    this.mss = numbers[2] ?? 0;
    this.isOpen = numbers[3] === 1;
  }

  take(numbers: Float64Array): void {
    numbers[0] = this.#cwnd;
    numbers[1] = this.#ssthresh;
  }

  get cwnd(): number {
    return this.#cwnd;
  }

  set cwnd(value: number) {
    this.#cwnd = this.whole("cwnd", value, this.mss, "one segment");
  }

  get ssthresh(): number {
    return this.#ssthresh;
  }

  set ssthresh(value: number) {
    this.#ssthresh = this.whole("ssthresh", value, 2 * this.mss, "two segments");
  }

  get segments(): number {
    return this.#cwnd / this.mss;
  }

  get in_slow_start(): boolean {
    return this.#cwnd < this.#ssthresh;
  }

  /** Sets ssthresh after congestion: rounded down, and two segments at least. */
  set_ssthresh(bytes: number): void {
    if (!this.isOpen) throw new TypeError("ssthresh: the window cannot be changed in this hook");
    if (!Number.isFinite(bytes)) throw new RangeError(`ssthresh: ${bytes} is not a finite number of bytes`);
    this.#ssthresh = Math.max(Math.floor(Math.max(bytes, 0)), 2 * this.mss);
  }

  private whole(name: string, value: number, least: number, of: string): number {
    if (!this.isOpen) throw new TypeError(`${name}: the window cannot be changed in this hook`);
    if (!Number.isInteger(value) || value < 0) throw new TypeError(`${name}: ${String(value)} is not a whole number of bytes`);
    if (value < least) throw new RangeError(`${name}: ${value} bytes are less than ${of} (${least})`);
    return value;
  }
}

/** Grows windows by fractions of a byte and keeps the rest for the next time. */
export class Growth {
  #fraction = 0;

  add(window: Window, bytes: number): void {
    if (!window.isOpen) throw new TypeError("cwnd: the window cannot be changed in this hook");
    if (!(bytes >= 0 && bytes < 1e15)) throw new RangeError(`${bytes} is not a number of bytes to grow by`);
    const all = bytes + this.#fraction;
    window.cwnd += Math.floor(all);
    this.#fraction = all - Math.floor(all);
  }

  /** A number of segments for a window of credited bytes, but no more than what is credited. */
  additive(window: Window, segments: number, credit: number): void {
    const share = Math.min(segments / window.segments, 1);
    this.add(window, share * credit);
  }
}

/** A file of the page, read: its class, and what that declares. */
export interface Loaded {
  declaration: Declaration;
  make: (values: Record<string, Value>, random: unknown) => Record<string, unknown>;
}

/** Reads a file, of which the engine calls these hooks. What is wrong with it is `Wrong`, with its line. */
export function load(name: string, text: string, known: readonly Hook[]): Loaded {
  try {
    return loaded(name, text, known);
  } catch (error) {
    throw error instanceof Wrong && error.message.startsWith(`${name}.js`) ? error : new Wrong(explain(name, "", error));
  }
}

function loaded(name: string, text: string, known: readonly Hook[]): Loaded {
  const found = [...text.matchAll(/^\s*class\s+([A-Za-z_$][\w$]*)\s+extends\s+CongestionControl\b/gm)];
  if (found.length !== 1)
    throw new Wrong(`${name}.js: has ${found.length || "no"} class that extends CongestionControl; one is needed`);
  const names = [...Object.keys(LANGUAGE), "Growth", "CongestionControl"];
  const values = [...Object.values(LANGUAGE), Growth, CongestionControl];
  // The class is the user's own code, in a worker that holds nothing else; the page asks before it runs what a link brings.
  const read = new Function(...names, `"use strict";${text}\nreturn ${found[0]?.[1]};`) as (...given: unknown[]) => Class;
  const kind = read(...values);
  const statics = Object.entries(Object.getOwnPropertyDescriptors(kind));
  const parameters = statics.flatMap(([key, { value }]) =>
    value instanceof Declared ? [{ name: key, ...value.parameter }] : [],
  );
  const hooks = known.map((hook) => hook.name).filter((hook) => Object.hasOwn(kind.prototype, hook));
  const governs = Boolean(kind["governs"]);
  for (const hook of ["on_congestion", governs ? "on_delivery" : "increase"] as const) {
    if (!hooks.includes(hook)) throw new Wrong(`${name}.js: ${found[0]?.[1]} defines no ${hook}`);
  }
  const string = (key: string): string | null => (typeof kind[key] === "string" ? kind[key] : null);
  const declaration: Declaration = {
    name,
    title: string("title") ?? "",
    parameters,
    hooks,
    needs: {
      one_way_delay: Boolean(kind["one_way_delay"]),
      ecn: string("ecn"),
      load_factor: Boolean(kind["load_factor"]),
      recovery: string("recovery"),
      governs,
      random: string("draws") !== null,
    },
  };
  const seen = (value: Value, parameter: Parameter): Value =>
    parameter.kind === "duration" && typeof value === "number" ? value / PICOSECONDS : value;
  const make: Loaded["make"] = (given, random) => {
    const values_ = Object.fromEntries(parameters.map((each) => [each.name, seen(given[each.name] ?? each.default, each)]));
    pending = { values: values_, random };
    try {
      return new kind() as unknown as Record<string, unknown>;
    } finally {
      pending = null;
    }
  };
  return { declaration, make };
}

/** One line on an error of a user's code, with its line. */
export function explain(name: string, hook: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  // Chromium and Node count the two lines before the text of a function that is made of text; Firefox says so in its own words.
  const place = /<anonymous>:(\d+):\d+|Function:(\d+):\d+/.exec(stack);
  const line = place ? `:${Math.max(1, Number(place[1] ?? place[2]) - 2)}` : "";
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `${name}.js${line}: ${hook ? `${hook}: ` : ""}${what}`;
}
