// What there is to choose from, as the engine lists it.

export type Length = { packets: number } | { bytes: number };
export type Limit = Length | { bandwidth_delay_products: number } | null;
export type Value = boolean | number | string | Limit;
export type Values = Record<string, Value>;

export interface Parameter {
  name: string;
  kind: "number" | "integer" | "boolean" | "duration" | "size" | "rate" | "queue_length" | "limit" | "choice" | "text";
  default: Value;
  doc: string;
  source: string;
  choices: string[] | null;
  minimum: number | null;
  maximum: number | null;
  /** Whether the page bounds it more than the command line does. */
  isBoundHere?: boolean;
}

/** A value of an inner state, as the engine describes it. */
export interface StateValue {
  name: string;
  unit: string;
  doc: string;
  /** Of the number of a phase: their names. */
  phases?: string[];
}

export interface Algorithm {
  name: string;
  aliases: string[];
  title: string;
  class: string;
  year: number | null;
  source: string;
  deviations: string;
  random: string | null;
  one_way?: boolean;
  unresponsive?: boolean;
  state?: StateValue[];
  parameters: Parameter[];
}

export interface Profile {
  name: string;
  title: string;
  settings: { name: string; value: Value; source: string }[];
  defaults: { algorithm: string; kind: "control" | "stack" | "slow_start"; parameter: string; value: Value }[];
}

/** A hook of own algorithms. */
export interface Hook {
  name: string;
  told: string[];
  called: string;
  returns: boolean;
  changes_window: boolean;
  needs: string | null;
}

/** What own algorithms define, and what they are shown: the fields of structures, each with the kind of its value. */
export interface OwnAlgorithms {
  hooks: Hook[];
  shown: Record<"Ack" | "Delivery" | "LostSegment" | "RateSample", [name: string, kind: "time" | "number" | "flag" | "load"][]>;
}

export interface Catalogue {
  version: string;
  digest: string;
  congestion_controls: Algorithm[];
  queues: Algorithm[];
  slow_starts: Algorithm[];
  profiles: Profile[];
  stack_settings: Parameter[];
  own: OwnAlgorithms;
}

/** The entry of this name or alias. */
export function find<T extends { name: string; aliases?: string[] }>(entries: readonly T[], name: string): T | undefined {
  return entries.find((entry) => entry.name === name || (entry.aliases ?? []).includes(name));
}

/** Whether a source keeps to a rate instead of a window. */
export function isRateBased(control: Algorithm): boolean {
  return control.class === "rate";
}

/** What a profile says of one congestion control only. */
export function ownDefaults(profile: Profile, control: string, kind: "control" | "stack" | "slow_start"): Values {
  const own = profile.defaults.filter((each) => each.kind === kind && each.algorithm === control);
  return Object.fromEntries(own.map((each) => [each.parameter, each.value]));
}

/** The defaults of all parameters. */
export function defaults(parameters: readonly Parameter[]): Values {
  return Object.fromEntries(parameters.map((each) => [each.name, each.default]));
}
