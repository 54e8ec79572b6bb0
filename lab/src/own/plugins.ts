// Between the engine and algorithms that are written in the page: numbers in memory on the one side, objects on the other.

import type { Hook, OwnAlgorithms, Value } from "../model/catalogue";
import { explain, type Loaded, load, Window } from "./hooks";

interface Memory {
  numbers(at: number, count: number): Float64Array;
  read(at: number, bytes: number): string;
  put(text: string): void;
  draw(instance: number, count: number): number;
}

const NUMBERS = 25;
const NONE = 0xffffffff;
const [NOTHING, NUMBER, FAILED] = [0, 1, 2];

type Method = (...given: unknown[]) => unknown;

interface Instance {
  plugin: number;
  methods: (Method | undefined)[];
  object: Record<string, unknown>;
  window: Window;
}

/** Where what a hook is told begins: after the window. */
const TOLD = 4;

interface Shown {
  readonly numbers: Float64Array;
}

const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

/** Getters of the number at a place. A function of its own for each kind is what engines of JavaScript make fast. */
const KINDS = {
  time: (at: number) =>
    function (this: Shown) {
      return known(this.numbers[at]);
    },
  number: (at: number) =>
    function (this: Shown) {
      return this.numbers[at];
    },
  flag: (at: number) =>
    function (this: Shown) {
      return this.numbers[at] === 1;
    },
  load: (at: number) =>
    function (this: Shown) {
      return ["low", "high", "overload"][this.numbers[at] ?? NaN] ?? null;
    },
  event: (at: number) =>
    function (this: Shown) {
      return ["loss", "ecn", "timeout", "spurious"][this.numbers[at] ?? 0];
    },
};

type Fields = [name: string, kind: keyof typeof KINDS][];
type Shape = new (numbers: Float64Array) => Shown;

/** What shows numbers, of which the first is that at `from`, by their names. */
function shape(fields: Fields, from: number): Shape {
  class Named {
    constructor(readonly numbers: Float64Array) {}
  }
  fields.forEach(([name, kind], place) => {
    Object.defineProperty(Named.prototype, name, { get: KINDS[kind](from + place), enumerable: true });
  });
  return Named;
}

/** What shows the numbers that a hook is told, by the name of its argument; those that have none here are numbers. */
function shapes(shown: OwnAlgorithms["shown"]): Map<string, Shape> {
  const end = TOLD + shown.Delivery.length;
  const RateSample = shape([["rate", "time"], ...shown.RateSample], end + 1);
  const Delivery = shape(shown.Delivery, TOLD);
  const get = function (this: Shown): object | null {
    return this.numbers[end] === 1 ? new RateSample(this.numbers) : null;
  };
  Object.defineProperty(Delivery.prototype, "rate", { get, enumerable: true });
  const event: Fields = [
    ["now", "time"],
    ["kind", "event"],
    ["flight_size", "time"],
    ["abe", "flag"],
  ];
  return new Map([
    ["ack", shape(shown.Ack, TOLD)],
    ["delivery", Delivery],
    ["event", shape(event, TOLD)],
    ["lost", shape(shown.LostSegment, TOLD)],
  ]);
}

export class Plugins {
  private files: { name: string; loaded: Loaded | null; problem: string }[] = [];
  private instances: Instance[] = [];
  private hooks: readonly Hook[] = [];
  /** What each hook is told: the window, what has a shape, or a number. */
  private told: ("window" | Shape | null)[][] = [];

  constructor(private readonly memory: Memory) {}

  /** The hooks that the engine calls, and what it shows them. */
  know(own: OwnAlgorithms): void {
    this.hooks = own.hooks;
    const known = shapes(own.shown);
    this.told = own.hooks.map(({ told }) => told.map((each) => (each === "window" ? each : (known.get(each) ?? null))));
  }

  /** The plugins of the run that is to begin. */
  take(specification: string): void {
    const { plugins = [] } = JSON.parse(specification) as { plugins?: { name: string; text: string }[] };
    this.instances = [];
    this.files = plugins.map(({ name, text }) => {
      try {
        return { name, loaded: load(name, text, this.hooks), problem: "" };
      } catch (error) {
        return { name, loaded: null, problem: error instanceof Error ? error.message : String(error) };
      }
    });
  }

  readonly imports = {
    declared: (plugin: number): number => {
      const file = this.files[plugin];
      if (!file?.loaded) {
        this.memory.put(file?.problem ?? "there is no such file");
        return 1;
      }
      const { hooks, needs } = file.loaded.declaration;
      this.memory.put(JSON.stringify({ file: `${file.name}.js`, hooks, needs }));
      return 0;
    },

    made: (plugin: number, at: number, bytes: number): number => {
      const file = this.files[plugin];
      const number = this.instances.length;
      const random = {
        unit: (): number => this.memory.draw(number, 0),
        index: (count: number): number => this.memory.draw(number, count),
      };
      try {
        const object = file?.loaded?.make(JSON.parse(this.memory.read(at, bytes)) as Record<string, Value>, random) ?? {};
        const methods = this.hooks
          .map(({ name }) => object[name])
          .map((each) => (typeof each === "function" ? (each as Method) : undefined));
        this.instances.push({ plugin, methods, object, window: new Window() });
        return number;
      } catch (error) {
        this.memory.put(explain(file?.name ?? "", "constructor", error));
        return NONE;
      }
    },

    called: (number: number, hook: number, at: number): number => {
      const instance = this.instances[number];
      const method = instance?.methods[hook];
      const called = this.hooks[hook];
      if (!instance || !method || !called) return NOTHING;
      // A copy: the hook's objects stay as they are if memory grows meanwhile.
      const numbers = this.memory.numbers(at, NUMBERS).slice();
      const { window, object } = instance;
      window.show(numbers);
      try {
        let place = TOLD;
        const told: unknown[] = [];
        for (const Told of this.told[hook] ?? []) {
          told.push(Told === "window" ? window : Told ? new Told(numbers) : numbers[place++]);
        }
        const answer = method.apply(object, told);
        const out = this.memory.numbers(at, NUMBERS);
        window.take(out);
        if (!called.returns || answer === null || answer === undefined) return NOTHING;
        if (typeof answer !== "number" || !(answer >= 0)) throw new TypeError(`returned ${String(answer)}, not a number`);
        out[4] = answer;
        return NUMBER;
      } catch (error) {
        this.memory.put(explain(this.files[instance.plugin]?.name ?? "", called.name, error));
        return FAILED;
      }
    },
  };
}
