// A chart as data: what is drawn, read out, tabled and written to files is the same.

/** Values of a line; null where there is none. */
export type Line = readonly (number | null)[];

export interface Drawn {
  name: string;
  colour: string;
  values: Line;
  /** For those who do not see the colour: solid without. */
  dash?: number[];
  width?: number;
  /** Whether it goes on where it has no value, since not all lines are sampled at all times. */
  spans?: boolean;
  /** What is below it is filled. */
  fill?: string;
}

/** A stretch of time that has a name, such as a phase. */
export interface Stretch {
  from: number;
  until: number;
  name: string;
}

export interface Picture {
  title: string;
  unit: string;
  x: { title: string; unit: string; isLogarithmic: boolean; from: number; until: number };
  /** The top of the vertical axis, which begins at zero. */
  top: number;
  xs: readonly number[];
  lines: Drawn[];
  /** Whether each line stands on the one before it. */
  isStacked?: boolean;
  /** The least and greatest of other runs, behind the lines. */
  band?: { name: string; low: Line; high: Line; colour: string };
  stretches?: Stretch[];
  note?: string;
}

/** The place of the last of the sorted values that is at most as large; 0 if none is. */
export function placeOf(sorted: readonly number[], most: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) > most) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, low - 1);
}

/** The value at a place; of a line that spans gaps, the last one before it. */
export function valueAtPlace({ values, spans }: Pick<Drawn, "values" | "spans">, place: number): number | null {
  for (let at = place; at >= 0; at -= 1) {
    const value = values[at];
    if ((value !== null && value !== undefined) || !spans) return value ?? null;
  }
  return null;
}

/** A number as it is read: three digits, and no fewer than a whole number has. */
export function shown(value: number | null): string {
  if (value === null) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

/** Rows of a table, at most so many, evenly spread. */
export function rowsOf(picture: Picture, most: number): number[] {
  const count = picture.xs.length;
  const stride = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / stride) }, (_, row) => row * stride);
}

/** The names of the columns, the horizontal axis first. */
export function columnsOf({ x, unit, lines, band }: Picture): string[] {
  return [
    `${x.title}, ${x.unit}`,
    ...lines.map((line) => `${line.name}, ${unit}`),
    ...(band ? [`least of ${band.name}, ${unit}`, `greatest of ${band.name}, ${unit}`] : []),
  ];
}

export function rowOf({ xs, lines, band }: Picture, row: number): (number | null)[] {
  return [
    xs[row] ?? null,
    ...[...lines.map((line) => line.values), ...(band ? [band.low, band.high] : [])].map((line) => line[row] ?? null),
  ];
}
