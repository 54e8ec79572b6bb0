// Quantities with units, read exactly: whole picoseconds, bytes and bits per second, as in scenario files.

import type { Limit, Parameter, Value } from "./catalogue";

export interface Dimension {
  name: string;
  example: string;
  /** How many of the base unit each is, whose name has the factor 1. */
  units: Record<string, number>;
  spellings: Record<string, string>;
}

export const PICOSECONDS = 1e12;

export const DURATION: Dimension = {
  name: "duration",
  example: "2 ms",
  units: { s: 1e12, ms: 1e9, us: 1e6, ns: 1e3, ps: 1 },
  spellings: { µs: "us", μs: "us" },
};
export const RATE: Dimension = {
  name: "rate",
  example: "100 Mbit/s",
  units: { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 },
  spellings: {},
};
export const SIZE: Dimension = {
  name: "size",
  example: "1500 B",
  units: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  spellings: {},
};
const PACKETS: Dimension = {
  name: "number of packets",
  example: "900 packets",
  units: { packets: 1 },
  spellings: { packet: "packets" },
};

/** Something that a user wrote and that cannot be: one line that says what is wrong and what is allowed. */
export class Wrong extends Error {}

const QUANTITY = /^\s*([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?\s*(\S.*?)?\s*$/;

interface Split {
  /** The number is digits times ten to the exponent. */
  digits: bigint;
  exponent: number;
  unit: string;
}

function split(text: string, dimension: Dimension): Split {
  const match = QUANTITY.exec(text);
  if (!match) {
    throw new Wrong(`"${text}" is not a ${dimension.name}; write a number and a unit, such as "${dimension.example}"`);
  }
  const [, sign, whole, fraction = "", exponent = "0", unit] = match;
  if (unit === undefined) {
    throw new Wrong(`"${text}" has no unit; write a ${dimension.name} such as "${dimension.example}"`);
  }
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  return { digits, exponent: Number(exponent) - fraction.length, unit };
}

function factorOf(dimension: Dimension, unit: string): number | undefined {
  const name = dimension.spellings[unit] ?? unit;
  return Object.hasOwn(dimension.units, name) ? dimension.units[name] : undefined;
}

function baseOf(dimension: Dimension): string | undefined {
  return Object.keys(dimension.units).find((unit) => dimension.units[unit] === 1);
}

/** Units, the largest first. */
function descending(units: [string, number][]): [string, number][] {
  return units.sort((a, b) => b[1] - a[1]);
}

/** The quantity in the base unit. */
export function parse(text: string, dimension: Dimension): number {
  const { digits, exponent, unit } = split(text, dimension);
  const factor = factorOf(dimension, unit);
  if (factor === undefined) {
    throw new Wrong(`"${text}": unknown unit "${unit}" (known: ${Object.keys(dimension.units).join(", ")})`);
  }
  const [times, divisor] = exponent < 0 ? [1n, 10n ** BigInt(-exponent)] : [10n ** BigInt(exponent), 1n];
  const value = digits * BigInt(factor) * times;
  if (value % divisor !== 0n) {
    throw new Wrong(`"${text}" is not a whole number of ${baseOf(dimension)}`);
  }
  const number = Number(value / divisor);
  if (!Number.isSafeInteger(number)) throw new Wrong(`"${text}" is too large for a ${dimension.name}`);
  return number;
}

/** The shortest way to write a value: in the largest unit that needs no fraction. */
export function format(value: number, dimension: Dimension): string {
  if (value === 0) return `0 ${Object.keys(dimension.units)[0]}`;
  const found = descending(Object.entries(dimension.units)).find(([, factor]) => value % factor === 0);
  const [unit, factor] = found ?? [baseOf(dimension), 1];
  return `${value / factor} ${unit}`;
}

/** A value for people: four significant digits at most, in the largest unit not above it. */
export function approximate(value: number, dimension: Dimension): string {
  if (value === 0) return format(value, dimension);
  const units = descending(Object.entries(dimension.units).filter(([, factor]) => factor === 1 || factor % 1000 === 0));
  const [unit, factor] = units.find(([, each]) => each <= Math.abs(value)) ?? units[units.length - 1] ?? ["", 1];
  return `${Number((value / factor).toPrecision(4))} ${unit}`;
}

/** Reads "50 packets" or "64 KiB"; of a queue's limit, which is more than 0, "8 BDP" as well. */
export function parseLength(text: string, kind: "limit" | "queue_length"): Exclude<Limit, null> {
  const given = split(text, PACKETS);
  const dimension = [PACKETS, SIZE].find((each) => factorOf(each, given.unit) !== undefined);
  const isLimit = kind === "limit";
  const inProducts = isLimit && given.unit === "BDP";
  if (!dimension && !inProducts) {
    const known = [PACKETS, SIZE].flatMap((each) => Object.keys(each.units));
    throw new Wrong(`"${text}": unknown unit "${given.unit}" (known: ${[...known, ...(isLimit ? ["BDP"] : [])].join(", ")})`);
  }
  const amount = dimension ? parse(text, dimension) : Number(`${given.digits}e${given.exponent}`);
  if (amount < 0 || (isLimit && amount === 0)) {
    throw new Wrong(`"${text}": a ${isLimit ? "queue limit must be more than" : "queue length must be at least"} 0`);
  }
  return inProducts ? { bandwidth_delay_products: amount } : dimension === PACKETS ? { packets: amount } : { bytes: amount };
}

/** A limit as a scenario writes it. */
export function formatLimit(limit: Exclude<Limit, null>): string {
  if ("packets" in limit) return `${limit.packets} packets`;
  if ("bytes" in limit) return format(limit.bytes, SIZE);
  return `${limit.bandwidth_delay_products} BDP`;
}

export const DIMENSIONS: Partial<Record<Parameter["kind"], Dimension>> = { duration: DURATION, size: SIZE, rate: RATE };

/** A value of a parameter as a scenario writes it, without quotes. */
export function formatValue(value: Value, parameter: Parameter): string {
  const dimension = DIMENSIONS[parameter.kind];
  if (value === null) return "none";
  if (dimension && typeof value === "number") return format(value, dimension);
  if (typeof value === "object") return formatLimit(value);
  return String(value);
}

/** The bounds of a parameter, for people. */
export function allowed(parameter: Parameter): string {
  if (parameter.choices) return parameter.choices.join(", ");
  const bounds = [
    ...(parameter.minimum === null ? [] : [`from ${formatValue(parameter.minimum, parameter)}`]),
    ...(parameter.maximum === null ? [] : [`to ${formatValue(parameter.maximum, parameter)}`]),
  ];
  return [parameter.kind.replace("_", " "), ...bounds].join(" ");
}

const TYPES: Partial<Record<Parameter["kind"], (given: unknown) => boolean>> = {
  boolean: (given) => typeof given === "boolean",
  text: (given) => typeof given === "string",
  integer: (given) => Number.isInteger(given),
  number: (given) => Number.isFinite(given),
};

/** The value that a text, or what a file says, means for a parameter. */
export function readValue(given: unknown, parameter: Parameter): Value {
  const { kind, choices, minimum, maximum } = parameter;
  const shown = JSON.stringify(given);
  const isLength = kind === "queue_length" || kind === "limit";
  const dimension = isLength ? PACKETS : DIMENSIONS[kind];
  if (dimension && typeof given !== "string") {
    throw new Wrong(`${shown} has no unit; write a ${dimension.name} such as "${dimension.example}"`);
  }
  if (isLength) return parseLength(given as string, kind);
  if (kind === "choice") {
    if (typeof given === "string" && choices?.includes(given)) return given;
    throw new Wrong(`unknown choice ${shown} (known: ${choices?.join(", ")})`);
  }
  const value = dimension ? parse(given as string, dimension) : given;
  if (!dimension && !TYPES[kind]?.(value)) throw new Wrong(`${shown} is not ${kind === "integer" ? "an" : "a"} ${kind}`);
  if (typeof value === "number" && ((minimum !== null && value < minimum) || (maximum !== null && value > maximum))) {
    const here = parameter.isBoundHere ? [" here", "; sojourn run takes more"] : ["", ""];
    throw new Wrong(`${formatValue(value, parameter)} is out of range${here[0]} (${allowed(parameter)}${here[1]})`);
  }
  return value as Value;
}
