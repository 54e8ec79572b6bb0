// The keys of a scenario that the page has. Of each, the schema says the kind, the unit and the default; here is only what the page
// takes of it, so that a key is a parameter like those of the catalogue.

import type { Parameter } from "./catalogue";
import type { Aggregation } from "./setting";
import { DIMENSIONS } from "./units";

interface Property {
  type?: string;
  pattern?: string;
  description?: string;
  default?: number | string | boolean | null;
  minimum?: number;
  maximum?: number;
  anyOf?: Property[];
}

/** The tables of docs/scenario.schema.json that a dumbbell needs; build.mjs puts them here. */
declare const SCHEMA: Record<string, { properties: Record<string, Property>; required?: string[] }>;

export interface Key extends Parameter {
  isRequired: boolean;
}

/** A table of a scenario: its keys that the page has, and the names of all. */
export interface Keys {
  taken: Key[];
  all: string[];
}

/** The bounds of the page; the command line takes more. */
type Bounds = readonly [least: number, most: number] | null;

const MS = 1e9;
const S = 1e12;

export const MOST_FLOWS = 2000;
export const MOST_GROUPS = 12;
export const DURATIONS = [MS, 600 * S] as const;
export const RATES = [1000, 10e9] as const;
const MOST_DELAY = 10 * S;

function key(of: string, name: string, bounds: Bounds): Key {
  const schema = SCHEMA[of];
  const property = schema?.properties[name];
  // The first form is the plain one: a quantity and not a trace, a host and not a list.
  const form = property?.anyOf?.[0] ?? property;
  if (!schema || !property || !form) throw new Error(`the schema has no ${of}.${name}`);
  const [dimension] =
    Object.entries(DIMENSIONS).find(([, each]) => form.pattern?.includes(`(${Object.keys(each.units).join("|")}`)) ?? [];
  if (form.pattern && !dimension) throw new Error(`${of}.${name} has units that the page does not know`);
  return {
    name,
    kind: (dimension ?? (form.type === "string" ? "text" : form.type)) as Parameter["kind"],
    default: property.default ?? (dimension && property.default !== null ? 0 : null),
    doc: property.description ?? "",
    source: "",
    choices: null,
    minimum: bounds?.[0] ?? form.minimum ?? null,
    maximum: bounds?.[1] ?? form.maximum ?? null,
    isBoundHere: bounds !== null,
    isRequired: schema.required?.includes(name) ?? false,
  };
}

function keys(of: string, taken: Record<string, Bounds>): Keys {
  return {
    taken: Object.entries(taken).map(([name, bounds]) => key(of, name, bounds)),
    all: Object.keys(SCHEMA[of]?.properties ?? {}),
  };
}

export const KEYS = {
  scenario: keys("Scenario", {
    seed: [0, Number.MAX_SAFE_INTEGER],
    duration: DURATIONS,
    warm_up: [0, DURATIONS[1]],
    sender_overhead: [0, S],
  }),
  network: keys("Network", {}),
  link: keys("Link", { from: null, to: null, rate: [1000, 100e9], delay: [0, MOST_DELAY], loss: null }),
  drop: keys("Drop", { every: [1, 1e9] }),
  dumbbell: keys("Dumbbell", {}),
  host: keys("Host", { name: null, rate: [1000, 100e9], delay: [0, MOST_DELAY] }),
  bottleneck: keys("Bottleneck", { rate: RATES, delay: [0, MOST_DELAY], loss: null }),
  change: keys("Change", { at: [0, DURATIONS[1]], rate: [0, RATES[1]], delay: [0, MOST_DELAY], loss: null }),
  aggregation: keys("Aggregation", {
    size: [1, 1e6],
    airtime: [1, S],
    access: [0, S],
    response: [0, S],
    response_size: [0, 500],
    header: [0, 500],
  }),
  reverse: keys("Reverse", { rate: RATES }),
  impairments: keys("Impairments", {}),
  policer: keys("Policer", { rate: RATES, burst: [1, 1e12] }),
  flows: keys("Flows", {
    from: null,
    group: null,
    count: [1, MOST_FLOWS],
    start: [0, DURATIONS[1]],
    start_within: [0, DURATIONS[1]],
    stop: [0, DURATIONS[1]],
    size: [1, 1e12],
  }),
  arrivals: keys("Arrivals", { process: null, load: [0.001, 10], rate: [0.001, 10_000] }),
  probe: keys("Probe", { queue_series: [MS / 10, 1e15], flow_series: [MS / 10, 1e15] }),
};

function ofChoice(name: string, kind: Parameter["kind"], choices: string[] | null): Parameter {
  return { name, kind, default: null, doc: "", source: "", choices, minimum: null, maximum: null };
}

/** A name of an entry of the catalogue. */
export function nameOf(name: string, entries: readonly { name: string; aliases?: string[] }[]): Parameter {
  return ofChoice(
    name,
    "choice",
    entries.flatMap((each) => [each.name, ...(each.aliases ?? [])]),
  );
}

/** How many packets a frame holds, and the frames of 802.11n at 5 GHz, as scenarios have them (scenario/aggregation.py). */
export const FRAME = ofChoice("packets", "queue_length", null);
export const WIFI: Aggregation = {
  packets: 64,
  size: 65_535,
  airtime: 4 * MS,
  access: 133.5e6,
  response: 32e6,
  response_size: 58,
  header: 42,
};

/** How much a queue holds; null is no limit. */
export const LIMIT = ofChoice("limit", "limit", null);
