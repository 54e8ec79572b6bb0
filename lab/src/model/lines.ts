// Where keys stand in a file of TOML: what is wrong with a key is told with its line. The text has been read as TOML before.

/** A place in the file: keys, and the numbers of entries. */
export type Place = readonly (string | number)[];

const SEPARATOR = "\u0000";

function nameOf(place: Place): string {
  return place.map(String).join(SEPARATOR);
}

/** The line on which a key stands, or else the table or list that it is in. */
export function lineOf(text: string, place: Place): number {
  const lines = new Scanner(text).lines;
  for (let depth = place.length; depth > 0; depth -= 1) {
    const line = lines.get(nameOf(place.slice(0, depth)));
    if (line !== undefined) return line;
  }
  return 1;
}

class Scanner {
  /** The line of each key and entry. */
  readonly lines = new Map<string, number>();
  /** How many tables each list of tables has so far. */
  private readonly counts = new Map<string, number>();
  private at = 0;

  constructor(private readonly text: string) {
    let table: Place = [];
    for (this.skip(true); this.at < text.length; this.skip(true)) {
      if (text[this.at] === "[") table = this.header();
      else this.pair(table);
    }
  }

  private get line(): number {
    return this.text.slice(0, this.at).split("\n").length;
  }

  private found(place: Place): void {
    const name = nameOf(place);
    if (!this.lines.has(name)) this.lines.set(name, this.line);
  }

  /** Skips spaces and comments, and ends of lines too if they mean nothing. */
  private skip(linesToo: boolean): void {
    const pattern = linesToo ? /(?:\s|#[^\n]*)*/y : /[^\S\n]*/y;
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)?.[0].length ?? 0;
  }

  private key(): string[] {
    const keys: string[] = [];
    for (;;) {
      this.skip(false);
      const quote = this.text[this.at];
      if (quote === '"' || quote === "'") {
        const from = this.at + 1;
        this.string();
        keys.push(this.text.slice(from, this.at - 1));
      } else {
        const bare = /[A-Za-z0-9_-]*/y;
        bare.lastIndex = this.at;
        const [word = ""] = bare.exec(this.text) ?? [];
        this.at += word.length;
        keys.push(word);
      }
      this.skip(false);
      if (this.text[this.at] !== ".") return keys;
      this.at += 1;
    }
  }

  /** `[table]` or `[[list]]`; a list on the way stands for its last table. */
  private header(): Place {
    const isList = this.text.startsWith("[[", this.at);
    const line = this.at;
    this.at += isList ? 2 : 1;
    const keys = this.key();
    this.at += isList ? 2 : 1;
    const place: (string | number)[] = [];
    keys.forEach((key, index) => {
      place.push(key);
      const name = nameOf(place);
      const isOwn = isList && index === keys.length - 1;
      if (isOwn) this.counts.set(name, (this.counts.get(name) ?? -1) + 1);
      const end = this.at;
      this.at = line;
      this.found(place);
      const count = this.counts.get(name);
      if (count !== undefined) {
        place.push(count);
        this.found(place);
      }
      this.at = end;
    });
    return place;
  }

  private pair(table: Place): void {
    const from = this.at;
    const keys = this.key();
    const place = [...table, ...keys];
    const end = this.at;
    this.at = from;
    keys.forEach((_, index) => this.found(place.slice(0, table.length + index + 1)));
    this.at = end + 1;
    this.skip(false);
    this.value(place);
  }

  private value(place: Place): void {
    const first = this.text[this.at];
    if (first === '"' || first === "'") return this.string();
    if (first !== "[" && first !== "{") {
      const bare = /[^,\]}\n#]*/y;
      bare.lastIndex = this.at;
      this.at += bare.exec(this.text)?.[0].length ?? 0;
      return;
    }
    this.at += 1;
    for (let index = 0; ; index += 1) {
      this.skip(true);
      if (this.at >= this.text.length) return;
      if (this.text[this.at] === "]" || this.text[this.at] === "}") break;
      if (first === "{") this.pair(place);
      else {
        this.found([...place, index]);
        this.value([...place, index]);
      }
      this.skip(true);
      if (this.text[this.at] === ",") this.at += 1;
    }
    this.at += 1;
  }

  private string(): void {
    const quote = this.text[this.at] ?? "";
    const mark = this.text.startsWith(quote.repeat(3), this.at) ? quote.repeat(3) : quote;
    this.at += mark.length;
    while (this.at < this.text.length && !this.text.startsWith(mark, this.at)) {
      this.at += quote === '"' && this.text[this.at] === "\\" ? 2 : 1;
    }
    this.at += mark.length;
    // Up to two quotes more may end a text of several lines.
    while (mark.length === 3 && this.text[this.at] === quote) this.at += 1;
  }
}
