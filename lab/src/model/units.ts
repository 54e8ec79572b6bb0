// Quantities with units, read exactly: whole picoseconds, bytes and bits per second, as in scenario files.

import type { Length, Parameter, Value } from "./catalogue";

export interface Dimension {
  name: string;
  example: string;
  units: [string, number][];
  spellings: Record<string, string>;
}

export const PICOSECONDS = 1e12;

export const DURATION: Dimension = {
  name: "duration",
  example: "2 ms",
  units: [
    ["s", 1e12],
    ["ms", 1e9],
    ["us", 1e6],
    ["ns", 1e3],
    ["ps", 1],
  ],
  spellings: { µs: "us", μs: "us" },
};
export const RATE: Dimension = {
  name: "rate",
  example: "100 Mbit/s",
  units: [
    ["bit/s", 1],
    ["kbit/s", 1e3],
    ["Mbit/s", 1e6],
    ["Gbit/s", 1e9],
  ],
  spellings: {},
};
export const SIZE: Dimension = {
  name: "size",
  example: "1500 B",
  units: [
    ["B", 1],
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
    ["KiB", 2 ** 10],
    ["MiB", 2 ** 20],
    ["GiB", 2 ** 30],
  ],
  spellings: {},
};
const PACKETS: Dimension = {
  name: "number of packets",
  example: "900 packets",
  units: [["packets", 1]],
  spellings: { packet: "packets" },
};

/** Something that a user wrote and that cannot be: one line that says what is wrong and what is allowed. */
export class Wrong extends Error {}

const QUANTITY = /^\s*([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?\s*(\S.*?)?\s*$/;

interface Split {
  text: string;
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
  return { text, digits, exponent: Number(exponent) - fraction.length, unit };
}

function whole(given: Split, factor: number, dimension: Dimension): number {
  const { text, digits, exponent } = given;
  let value = digits * BigInt(factor);
  if (exponent > 40) throw new Wrong(`"${text}" is too large for a ${dimension.name}`);
  if (exponent >= 0) {
    value *= 10n ** BigInt(exponent);
  } else {
    const divisor = 10n ** BigInt(-exponent);
    if (value % divisor !== 0n) {
      const base = dimension.units.find(([, each]) => each === 1)?.[0] ?? "";
      throw new Wrong(`"${text}" is not a whole number of ${base}`);
    }
    value /= divisor;
  }
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Wrong(`"${text}" is too large for a ${dimension.name}`);
  return number;
}

function factorOf(dimension: Dimension, unit: string): number | undefined {
  const name = dimension.spellings[unit] ?? unit;
  return dimension.units.find(([each]) => each === name)?.[1];
}

/** The quantity in the base unit. */
export function parse(text: string, dimension: Dimension): number {
  const given = split(text, dimension);
  const factor = factorOf(dimension, given.unit);
  if (factor === undefined) {
    const known = dimension.units.map(([unit]) => unit).join(", ");
    throw new Wrong(`"${text}": unknown unit "${given.unit}" (known: ${known})`);
  }
  return whole(given, factor, dimension);
}

/** The shortest way to write a value: in the largest unit that needs no fraction. */
export function format(value: number, dimension: Dimension): string {
  const units = [...dimension.units].sort((a, b) => b[1] - a[1]);
  const found = value === 0 ? undefined : units.find(([, factor]) => value % factor === 0);
  return found ? `${value / found[1]} ${found[0]}` : `0 ${dimension.units[0]?.[0]}`;
}

/** A value for people: four significant digits at most, in the largest unit not above it. */
export function approximate(value: number, dimension: Dimension): string {
  if (value === 0) return `0 ${dimension.units[0]?.[0]}`;
  const decimal = dimension.units.filter(([, factor]) => factor === 1 || factor % 1000 === 0);
  const units = decimal.sort((a, b) => b[1] - a[1]);
  const [unit, factor] = units.find(([, each]) => each <= Math.abs(value)) ?? units[units.length - 1] ?? ["", 1];
  return `${Number((value / factor).toPrecision(4))} ${unit}`;
}

export type Limit = Length | { bandwidth_delay_products: number } | null;

/** Reads "900 packets", "64 KiB" or "8 BDP". */
export function parseLimit(text: string): Limit {
  const given = split(text, PACKETS);
  if (given.unit === "BDP") {
    const amount = Number(`${given.digits}e${given.exponent}`);
    if (!(amount > 0)) throw new Wrong(`"${text}": a queue limit must be more than 0 BDP`);
    return { bandwidth_delay_products: amount };
  }
  const limit = parseLength(text, "packets, B, kB, MB, GB, KiB, MiB, GiB, BDP");
  if (Object.values(limit)[0] === 0) throw new Wrong(`"${text}": a queue limit must be more than 0`);
  return limit;
}

/** Reads "50 packets" or "64 KiB". */
export function parseLength(text: string, known = "packets, B, kB, MB, GB, KiB, MiB, GiB"): Length {
  const given = split(text, PACKETS);
  const inPackets = factorOf(PACKETS, given.unit);
  const factor = inPackets ?? factorOf(SIZE, given.unit);
  if (factor === undefined) throw new Wrong(`"${text}": unknown unit "${given.unit}" (known: ${known})`);
  const amount = whole(given, factor, inPackets === undefined ? SIZE : PACKETS);
  if (amount < 0) throw new Wrong(`"${text}": a queue length must be at least 0`);
  return inPackets === undefined ? { bytes: amount } : { packets: amount };
}

/** A limit as a scenario writes it. */
export function formatLimit(limit: Exclude<Limit, null>): string {
  if ("packets" in limit) return `${limit.packets} packets`;
  if ("bytes" in limit) return format(limit.bytes, SIZE);
  return `${limit.bandwidth_delay_products} BDP`;
}

const DIMENSIONS: Partial<Record<Parameter["kind"], Dimension>> = { duration: DURATION, size: SIZE, rate: RATE };

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

/** The value that a text, or what a file says, means for a parameter. */
export function readValue(given: unknown, parameter: Parameter): Value {
  const dimension = DIMENSIONS[parameter.kind];
  const shown = JSON.stringify(given);
  if (dimension || parameter.kind === "queue_length") {
    if (typeof given !== "string") {
      throw new Wrong(`${shown} has no unit; write a ${(dimension ?? PACKETS).name} such as "${(dimension ?? PACKETS).example}"`);
    }
    return dimension ? within(parse(given, dimension), parameter) : parseLength(given);
  }
  switch (parameter.kind) {
    case "boolean":
      if (typeof given === "boolean") return given;
      break;
    case "choice":
      if (typeof given === "string" && (parameter.choices ?? []).includes(given)) return given;
      throw new Wrong(`unknown choice ${shown} (known: ${(parameter.choices ?? []).join(", ")})`);
    case "text":
      if (typeof given === "string") return given;
      break;
    case "integer":
      if (typeof given === "number" && Number.isInteger(given)) return within(given, parameter);
      break;
    default:
      if (typeof given === "number" && Number.isFinite(given)) return within(given, parameter);
  }
  throw new Wrong(`${shown} is not ${parameter.kind === "integer" ? "an" : "a"} ${parameter.kind}`);
}

function within(value: number, parameter: Parameter): number {
  const { minimum: low, maximum: high } = parameter;
  if ((low !== null && value < low) || (high !== null && value > high)) {
    throw new Wrong(`${formatValue(value, parameter)} is out of range (${allowed(parameter)})`);
  }
  return value;
}
