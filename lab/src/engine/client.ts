// The page's end of a worker: one run at a time, and a new worker where the old one does not come back.

import type { Catalogue } from "../model/catalogue";
import type { Declaration } from "../own/hooks";
import type { Answer, Request } from "./protocol";

/** A run that says nothing for so long hangs in a user's code. */
const SILENCE = 10_000;

export interface Listener {
  answered: (answer: Answer & { run: number }) => void;
  ready: (catalogue: Catalogue) => void;
}

export class Client {
  private worker: Worker | null = null;
  /** The engine, compiled, once a worker has done so. */
  module: WebAssembly.Module | null = null;
  /** Whether the worker has the engine; until then requests wait. */
  private isReady = false;
  private silence = 0;
  private current = 0;
  private busy = false;
  private waiting: Request[] = [];
  private readonly declaring = new Map<string, (answer: Answer & { kind: "declared" }) => void>();

  constructor(
    private readonly source: string,
    private readonly listener: Listener,
  ) {}

  get isStarted(): boolean {
    return this.worker !== null;
  }

  start(engine: ArrayBuffer | WebAssembly.Module): void {
    this.worker?.terminate();
    this.worker = new Worker(this.source);
    this.worker.addEventListener("message", (event: MessageEvent<Answer>) => this.take(event.data));
    this.worker.addEventListener("error", (event) => {
      this.fail(`The engine's worker failed: ${event.message}`);
    });
    this.isReady = false;
    this.worker.postMessage({ kind: "start", engine } satisfies Request);
  }

  private take(answer: Answer): void {
    this.listen(this.busy);
    switch (answer.kind) {
      case "ready":
        this.module = answer.module;
        this.isReady = true;
        this.listener.ready(answer.catalogue);
        for (const request of this.waiting.splice(0)) this.send(request);
        return;
      case "declared":
        this.declaring.get(answer.name)?.(answer);
        this.declaring.delete(answer.name);
        return;
      default:
        if (answer.kind !== "samples") this.listen(false);
        if (answer.run === this.current) this.listener.answered(answer);
    }
  }

  private send(request: Request): void {
    if (!this.isReady) {
      this.waiting = [...this.waiting.filter((each) => each.kind === "declare"), request];
      return;
    }
    // An engine that starts slowly does not hang: only a run is listened for.
    if (request.kind === "run") this.listen(true);
    this.worker?.postMessage(request);
  }

  /** Listens for silence, or no longer. */
  private listen(busy: boolean): void {
    this.busy = busy;
    clearTimeout(this.silence);
    if (!busy) return;
    this.silence = window.setTimeout(() => {
      this.fail("The run was stopped: nothing was heard of it for 10 s. An algorithm that never returns does that.");
    }, SILENCE);
  }

  private fail(problem: string): void {
    this.listen(false);
    this.worker?.terminate();
    // One that did not even start would not do so the next time.
    if (this.isReady && this.module) this.start(this.module);
    this.listener.answered({ kind: "failed", run: this.current, problem });
  }

  /** Begins a run; the one before is over. */
  run(specification: string, mostMemory: number): number {
    this.current += 1;
    this.send({ kind: "run", run: this.current, specification, mostMemory });
    return this.current;
  }

  /** Asks for the packets of the run that was last begun. */
  trace(specification: string): void {
    this.send({ kind: "trace", run: this.current, specification });
  }

  /** Asks for the same run with other seeds, each of which is answered. */
  seeds(specification: string, seeds: number[]): void {
    this.send({ kind: "seeds", run: this.current, specification, seeds });
  }

  stop(): void {
    this.current += 1;
    this.listen(false);
    this.send({ kind: "stop" });
  }

  /** What an algorithm of the page declares, or what is wrong with it. */
  declare(name: string, text: string): Promise<Declaration | string> {
    return new Promise((resolve) => {
      this.declaring.set(name, ({ declaration, problem }) => resolve(declaration ?? problem ?? "it declares nothing"));
      this.send({ kind: "declare", name, text });
    });
  }
}
