// The engine: WebAssembly that takes a specification as JSON and gives columns back.

import type { Catalogue } from "../model/catalogue";
import type { Numbers } from "../model/numbers";
import { Wrong } from "../model/units";
import { Plugins } from "../own/plugins";
import type { Packets, Samples, Sojourns, Told } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  start(): void;
  room(bytes: number): number;
  said(): number;
  said_bytes(): number;
  describe(): void;
  memory_of(): number;
  begin(traced: number): number;
  advance(until: number, mostEvents: number): number;
  now(): number;
  samples(): number;
  finish(): number;
  packets(): number;
  forget(): void;
  draw(instance: number, count: number): number;
}

const DONE = 0;
const FAILED = 2;

interface Header {
  columns: { name: string; kind: "f64" | "u32"; from: number; length: number }[];
}

export class Engine {
  private readonly engine: Exports;
  private readonly plugins: Plugins;

  constructor(module: WebAssembly.Module) {
    this.plugins = new Plugins({
      numbers: (at, count) => new Float64Array(this.engine.memory.buffer, at, count),
      read: (at, bytes) => new TextDecoder().decode(new Uint8Array(this.engine.memory.buffer, at, bytes)),
      put: (text) => this.put(text),
      draw: (instance, count) => this.engine.draw(instance, count),
    });
    const instance = new WebAssembly.Instance(module, { page: this.plugins.imports });
    this.engine = instance.exports as unknown as Exports;
    this.engine.start();
    this.plugins.know(this.catalogue().own);
  }

  private put(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const at = this.engine.room(bytes.length);
    new Uint8Array(this.engine.memory.buffer, at, bytes.length).set(bytes);
  }

  private said(): Uint8Array {
    return new Uint8Array(this.engine.memory.buffer, this.engine.said(), this.engine.said_bytes());
  }

  private saidText(): string {
    return new TextDecoder().decode(this.said());
  }

  /** Calls the engine. A panic of the engine is a trap: what was said then says where. */
  private call(act: () => number): number {
    let code: number;
    try {
      code = act();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        const said = this.saidText();
        throw new Wrong(said.startsWith("the simulator") ? said : `the simulator stopped: ${error.message}`);
      }
      throw error;
    }
    if (code === FAILED) throw new Wrong(this.saidText());
    return code;
  }

  private columns<T>(): { header: T; columns: Samples } {
    const said = this.said();
    const end = said.indexOf(10);
    const header = JSON.parse(new TextDecoder().decode(said.subarray(0, end))) as Header & T;
    const from = said.byteOffset + Math.ceil((end + 1) / 8) * 8;
    const buffer = this.engine.memory.buffer;
    const columns: Samples = {};
    for (const { name, kind, from: offset, length } of header.columns) {
      const Kind = kind === "f64" ? Float64Array : Uint32Array;
      const bytes = buffer.slice(from + offset, from + offset + length * Kind.BYTES_PER_ELEMENT);
      columns[name] = new Kind(bytes);
    }
    return { header, columns };
  }

  catalogue(): Catalogue {
    this.engine.describe();
    return JSON.parse(this.saidText()) as Catalogue;
  }

  /** About how many bytes a run takes. */
  memoryOf(specification: string): number {
    this.put(specification);
    this.call(() => this.engine.memory_of());
    return Number(this.saidText());
  }

  begin(specification: string, traced: boolean): void {
    this.plugins.take(specification);
    this.put(specification);
    this.call(() => this.engine.begin(traced ? 1 : 0));
  }

  /** Whether the run is at its end after so many events more. */
  advance(mostEvents: number): boolean {
    return this.call(() => this.engine.advance(Number.MAX_SAFE_INTEGER, mostEvents)) === DONE;
  }

  now(): number {
    return this.engine.now();
  }

  samples(): Told {
    this.call(() => this.engine.samples());
    const { header, columns } = this.columns<Omit<Told, "samples">>();
    return { samples: columns, names: header.names, red: header.red };
  }

  finish(): { numbers: Numbers; sojourns: Sojourns } {
    this.call(() => this.engine.finish());
    const { header, columns } = this.columns<Omit<Numbers, "transfers">>();
    const sojourns = {
      atMost: columns["sojourns.at_most"] as Float64Array,
      packets: columns["sojourns.packets"] as Float64Array,
    };
    const transfers = {
      flow: Array.from(columns["transfers.flow"] ?? []),
      completed: Array.from(columns["transfers.completed"] ?? []),
      time: Array.from(columns["transfers.completion_time"] ?? []),
      weight: Array.from(columns["transfers.stands_for"] ?? []),
    };
    return { numbers: { ...header, transfers }, sojourns };
  }

  packets(): Packets {
    this.call(() => this.engine.packets());
    const { header, columns } = this.columns<{ is_whole: boolean }>();
    return {
      flow: columns["packets.flow"] as Uint32Array,
      fate: columns["packets.fate"] as Uint32Array,
      l4s: columns["packets.l4s"] as Uint32Array,
      size: columns["packets.size"] as Uint32Array,
      arrived: columns["packets.arrived"] as Float64Array,
      left: columns["packets.left"] as Float64Array,
      isWhole: header.is_whole,
    };
  }

  forget(): void {
    this.engine.forget();
  }
}
