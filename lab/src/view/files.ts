// A chart as a file: its values as CSV, its picture as SVG or PNG.

import { columnsOf, type Picture, rowOf, shown } from "./picture";

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The values of all lines, a row a moment; what is not known is empty. */
export function csvOf(picture: Picture): string {
  const rows = picture.xs.map((_, row) => rowOf(picture, row).map((value) => (value === null ? "" : String(value))));
  return [columnsOf(picture), ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

export interface Look {
  background: string;
  ink: string;
  muted: string;
  grid: string;
}

const [WIDTH, PLOT, LEFT, RIGHT, TOP] = [720, 300, 56, 16, 58] as const;
/** Points of a line: more are not told apart at this width. */
const MOST_POINTS = 2000;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const digits = (value: number): string => String(Number(value.toFixed(1)));

/** Round numbers from zero to a top. */
function ticks(top: number, count: number): number[] {
  const rough = top / count;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * ([1, 2, 5].find((each) => each * decade >= rough) ?? 10);
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, place) => Number((place * step).toPrecision(12)));
}

/** Powers of ten within an axis. */
function powers(from: number, until: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(until) + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => Number((10 ** (first + place)).toPrecision(6)));
}

/** The picture as a drawing of its own, with title, axes and legend; `under` is a line below the title. */
export function svgOf(picture: Picture, look: Look, under: string): string {
  const { x, xs, top } = picture;
  const wide = WIDTH - LEFT - RIGHT;
  const scale = (value: number): number => (x.isLogarithmic ? Math.log10(Math.max(value, x.from)) : value);
  const [from, until] = [scale(x.from), scale(x.until)];
  const across = (value: number): number => LEFT + (wide * (scale(value) - from)) / (until - from || 1);
  const up = (value: number): number => TOP + PLOT * (1 - Math.min(value, top) / top);
  const stride = Math.max(1, Math.ceil(xs.length / MOST_POINTS));
  const points = (line: readonly (number | null)[]): string[] => {
    const found: string[] = [];
    line.forEach((value, row) => {
      if (value !== null && row % stride === 0) found.push(`${digits(across(xs[row] ?? 0))},${digits(up(value))}`);
    });
    return found;
  };
  const area = (above: readonly (number | null)[], below: readonly (number | null)[]): string =>
    [...points(above), ...points(below).reverse()].join(" ");
  const text = (at: number, y: number, what: string, more = ""): string =>
    `<text x="${digits(at)}" y="${digits(y)}" fill="${look.muted}" font-size="12"${more}>${escaped(what)}</text>`;
  const parts: string[] = [];
  for (const tick of ticks(top, 5)) {
    parts.push(`<path d="M${LEFT} ${digits(up(tick))}h${wide}" stroke="${look.grid}"/>`);
    parts.push(text(LEFT - 6, up(tick) + 4, shown(tick), ' text-anchor="end"'));
  }
  for (const tick of x.isLogarithmic ? powers(x.from, x.until) : ticks(x.until, 8)) {
    parts.push(`<path d="M${digits(across(tick))} ${TOP}v${PLOT}" stroke="${look.grid}"/>`);
    parts.push(text(across(tick), TOP + PLOT + 16, `${tick}`, ' text-anchor="middle"'));
  }
  parts.push(text(LEFT + wide / 2, TOP + PLOT + 34, `${x.title}, ${x.unit}`, ' text-anchor="middle"'));
  const { band, lines, isStacked } = picture;
  if (band) parts.push(`<polygon points="${area(band.high, band.low)}" fill="${band.colour}" opacity="0.25"/>`);
  let below: (number | null)[] = xs.map(() => 0);
  for (const line of lines) {
    if (isStacked) {
      const above = line.values.map((value, row) => (below[row] ?? 0) + (value ?? 0));
      parts.push(
        `<polygon points="${area(above, below)}" fill="${line.colour}" stroke="${look.background}" stroke-width="0.75"/>`,
      );
      below = above;
      continue;
    }
    const dash = line.dash ? ` stroke-dasharray="${line.dash.join(" ")}"` : "";
    const path = points(line.values).join(" ");
    parts.push(`<polyline points="${path}" fill="none" stroke="${line.colour}" stroke-width="${line.width ?? 1.5}"${dash}/>`);
  }
  // The legend, in as many rows as it takes.
  let [at, y] = [LEFT, TOP + PLOT + 56];
  for (const { name, colour, dash } of [
    ...lines,
    ...(band ? [{ name: band.name, colour: band.colour }] : []),
  ] as Picture["lines"]) {
    const room = 34 + 6.6 * name.length;
    if (at + room > WIDTH && at > LEFT) [at, y] = [LEFT, y + 18];
    const dashes = dash ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    parts.push(`<path d="M${digits(at)} ${y - 4}h18" stroke="${colour}" stroke-width="${isStacked ? 9 : 3}"${dashes}/>`);
    parts.push(text(at + 24, y, name));
    at += room;
  }
  const high = y + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${high}" viewBox="0 0 ${WIDTH} ${high}" font-family="system-ui, sans-serif">`,
    `<title>${escaped(picture.title)}</title>`,
    `<rect width="${WIDTH}" height="${high}" fill="${look.background}"/>`,
    `<text x="${LEFT}" y="24" font-size="16" font-weight="600" fill="${look.ink}">${escaped(`${picture.title}, ${picture.unit}`)}</text>`,
    text(LEFT, 44, under),
    ...parts,
    "</svg>\n",
  ].join("\n");
}

/** The drawing in pixels, twice as many as it has units. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be written"))), "image/png");
  });
}

/** Gives a file to the browser's downloads. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
