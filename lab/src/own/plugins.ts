// Between the engine and algorithms that are written in the page: numbers in memory on the one side, objects on the other.

import type { Value } from "../model/catalogue";
import { explain, HOOKS, type Loaded, load, Window } from "./hooks";

interface Memory {
  numbers(at: number, count: number): Float64Array;
  read(at: number, bytes: number): string;
  put(text: string): void;
  draw(instance: number, count: number): number;
}

const NUMBERS = 24;
const NONE = 0xffffffff;
const [NOTHING, NUMBER, FAILED] = [0, 1, 2];

type Method = (...given: unknown[]) => unknown;

interface Instance {
  plugin: number;
  hooks: (Method | undefined)[];
  object: Record<string, unknown>;
  window: Window;
}

const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

class Ack {
  constructor(private readonly told: Float64Array) {}
  get now() {
    return this.told[4];
  }
  get acked() {
    return this.told[5];
  }
  get credit() {
    return this.told[6];
  }
  get rtt() {
    return known(this.told[7]);
  }
  get srtt() {
    return this.told[8];
  }
  get una() {
    return this.told[9];
  }
  get nxt() {
    return this.told[10];
  }
  get in_flight() {
    return this.told[11];
  }
  get one_way_delay() {
    return known(this.told[12]);
  }
  get arrived() {
    return known(this.told[13]);
  }
  get marked() {
    return this.told[14];
  }
  get load_factor() {
    return ["low", "high", "overload"][this.told[15] ?? -1] ?? null;
  }
}

class Event {
  constructor(private readonly told: Float64Array) {}
  get now() {
    return this.told[4];
  }
  get kind() {
    return ["loss", "ecn", "timeout", "spurious"][this.told[5] ?? 0];
  }
  get flight_size() {
    return known(this.told[6]);
  }
  get abe() {
    return this.told[7] === 1;
  }
}

class Rate {
  constructor(private readonly told: Float64Array) {}
  get delivered() {
    return this.told[15];
  }
  get interval() {
    return known(this.told[16]);
  }
  get prior_delivered() {
    return this.told[17];
  }
  get app_limited() {
    return this.told[18] === 1;
  }
  get in_flight_when_sent() {
    return this.told[19];
  }
  get lost() {
    return this.told[20];
  }
  get rtt() {
    return known(this.told[21]);
  }
  get rate() {
    return known(this.told[22]);
  }
}

class Delivery {
  constructor(private readonly told: Float64Array) {}
  get now() {
    return this.told[4];
  }
  get delivered() {
    return this.told[5];
  }
  get total_delivered() {
    return this.told[6];
  }
  get lost() {
    return this.told[7];
  }
  get marked() {
    return this.told[8];
  }
  get rtt() {
    return known(this.told[9]);
  }
  get srtt() {
    return this.told[10];
  }
  get prior_in_flight() {
    return this.told[11];
  }
  get in_flight() {
    return this.told[12];
  }
  get in_recovery() {
    return this.told[13] === 1;
  }
  get rate() {
    return this.told[14] === 1 ? new Rate(this.told) : null;
  }
}

class LostSegment {
  constructor(private readonly told: Float64Array) {}
  get now() {
    return this.told[4];
  }
  get segment() {
    return this.told[5];
  }
  get in_flight_when_sent() {
    return this.told[6];
  }
  get lost() {
    return this.told[7];
  }
  get app_limited() {
    return this.told[8] === 1;
  }
  get total_delivered() {
    return this.told[9];
  }
}

/** Hooks that return a number, or nothing. */
const RETURNING = new Set(["increase_in_slow_start", "pacing_rate", "pacing_quantum"]);

export class Plugins {
  private files: { name: string; loaded: Loaded | null; problem: string }[] = [];
  private instances: Instance[] = [];

  constructor(private readonly memory: Memory) {}

  /** The plugins of the run that is to begin. */
  take(specification: string): void {
    const { plugins = [] } = JSON.parse(specification) as { plugins?: { name: string; text: string }[] };
    this.instances = [];
    this.files = plugins.map(({ name, text }) => {
      try {
        return { name, loaded: load(name, text), problem: "" };
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
      const bits = hooks.reduce((sum, hook) => sum + 2 ** (HOOKS as readonly string[]).indexOf(hook), 0);
      this.memory.put(JSON.stringify({ file: `${file.name}.js`, hooks: bits, needs }));
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
        const hooks = HOOKS.map((hook) => (typeof object[hook] === "function" ? (object[hook] as Method) : undefined));
        this.instances.push({ plugin, hooks, object, window: new Window() });
        return number;
      } catch (error) {
        this.memory.put(explain(file?.name ?? "", "constructor", error));
        return NONE;
      }
    },

    called: (number: number, hook: number, at: number): number => {
      const instance = this.instances[number];
      const method = instance?.hooks[hook];
      if (!instance || !method) return NOTHING;
      const name = HOOKS[hook] ?? "";
      // A copy: the hook's objects stay as they are if memory grows meanwhile.
      const numbers = this.memory.numbers(at, NUMBERS).slice();
      const { window, object } = instance;
      window.show(numbers);
      try {
        let answer: unknown;
        switch (name) {
          case "on_congestion":
            answer = method.call(object, window, new Event(numbers));
            break;
          case "on_delivery":
            answer = method.call(object, window, new Delivery(numbers));
            break;
          case "on_segment_lost":
            answer = method.call(object, window, new LostSegment(numbers));
            break;
          case "on_restart":
          case "pacing_rate":
            answer = method.call(object, window, numbers[4]);
            break;
          case "on_idle":
            answer = method.call(object, window, numbers[4], numbers[5]);
            break;
          case "pacing_quantum":
            answer = method.call(object, numbers[4]);
            break;
          default:
            answer = method.call(object, window, new Ack(numbers));
        }
        const out = this.memory.numbers(at, NUMBERS);
        window.take(out);
        if (!RETURNING.has(name) || answer === null || answer === undefined) return NOTHING;
        if (typeof answer !== "number" || !(answer >= 0)) throw new TypeError(`returned ${String(answer)}, not a number`);
        out[4] = answer;
        return NUMBER;
      } catch (error) {
        this.memory.put(explain(this.files[instance.plugin]?.name ?? "", name, error));
        return FAILED;
      }
    },
  };
}
