// The worker: it runs the engine bit by bit, so that a newer request is heard between two bits.

import { groupsOf, packetsByGroup } from "../model/groups";
import type { Specification } from "../model/specification";
import { Wrong } from "../model/units";
import { load } from "../own/hooks";
import { Engine } from "./engine";
import type { Answer, Request } from "./protocol";

/** Events at one go, some milliseconds; and the time after which what there is so far is shown. */
const EVENTS_AT_ONCE = 40_000;
const FIRST_LOOK = 40;
const NEXT_LOOK = 120;

let engine: Engine | null = null;
let module: WebAssembly.Module | null = null;
/** Counts requests: one that is not the latest ends. */
let latest = 0;

const channel = new MessageChannel();
let wake: (() => void) | null = null;
channel.port1.onmessage = (): void => wake?.();

/** Lets messages in. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    channel.port2.postMessage(null);
  });
}

function tell(answer: Answer, transfer: Transferable[] = []): void {
  postMessage(answer, { transfer });
}

function buffers(columns: Record<string, ArrayBufferView>): Transferable[] {
  return Object.values(columns).map((column) => column.buffer as ArrayBuffer);
}

async function run(request: Request & { kind: "run" }, mine: number): Promise<void> {
  if (!engine) return;
  const began = performance.now();
  const memory = engine.memoryOf(request.specification);
  if (memory > request.mostMemory) {
    throw new Wrong(
      `This run needs about ${(memory / 1e9).toFixed(1)} GB of memory, more than the page takes: shorten it, or take a lower rate or fewer flows.`,
    );
  }
  engine.begin(request.specification, false);
  let look = began + FIRST_LOOK;
  for (;;) {
    const isOver = engine.advance(EVENTS_AT_ONCE);
    if (isOver) break;
    if (performance.now() > look) {
      const told = engine.samples();
      tell({ kind: "samples", run: request.run, told, reached: engine.now() }, buffers(told.samples));
      look = performance.now() + NEXT_LOOK;
    }
    await pause();
    if (mine !== latest) return;
  }
  const told = engine.samples();
  tell({ kind: "samples", run: request.run, told, reached: Infinity }, buffers(told.samples));
  const { numbers, sojourns } = engine.finish();
  tell({ kind: "done", run: request.run, numbers, sojourns, seconds: (performance.now() - began) / 1000 });
}

async function trace(request: Request & { kind: "trace" }, mine: number): Promise<void> {
  if (!engine) return;
  engine.begin(request.specification, true);
  while (!engine.advance(EVENTS_AT_ONCE)) {
    await pause();
    if (mine !== latest) return;
  }
  const packets = engine.packets();
  engine.forget();
  const groups = packetsByGroup(packets, groupsOf(request.specification));
  const { flow, fate, l4s, size, arrived, left } = packets;
  tell({ kind: "packets", run: request.run, packets, groups }, buffers({ flow, fate, l4s, size, arrived, left }));
}

async function runSeeds(request: Request & { kind: "seeds" }, mine: number): Promise<void> {
  const specification = JSON.parse(request.specification) as Specification;
  const { queue_series } = specification.probe;
  for (const seed of request.seeds) {
    if (!engine) return;
    engine.begin(
      JSON.stringify({ ...specification, seed, probe: { queue_statistics: true, queue_series, flow_series: null } }),
      false,
    );
    while (!engine.advance(EVENTS_AT_ONCE)) {
      await pause();
      if (mine !== latest) return;
    }
    const queue = engine.samples().samples["queue_series.packets"] as Float64Array;
    tell({ kind: "seed", run: request.run, seed, queue, numbers: engine.finish().numbers }, [queue.buffer]);
  }
}

async function carryOut(request: Request): Promise<void> {
  switch (request.kind) {
    case "start":
      module = request.engine instanceof WebAssembly.Module ? request.engine : await WebAssembly.compile(request.engine);
      engine = new Engine(module);
      return tell({ kind: "ready", catalogue: engine.catalogue(), module });
    case "declare": {
      try {
        const { declaration } = load(request.name, request.text, engine?.catalogue().own.hooks ?? []);
        return tell({ kind: "declared", name: request.name, declaration, problem: null });
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        return tell({ kind: "declared", name: request.name, declaration: null, problem });
      }
    }
    case "stop":
      latest += 1;
      return engine?.forget();
    default: {
      latest += 1;
      const mine = latest;
      try {
        if (request.kind === "run") return await run(request, mine);
        return await (request.kind === "trace" ? trace(request, mine) : runSeeds(request, mine));
      } catch (error) {
        // After a trap the engine's memory means nothing.
        if (module && !(error instanceof Wrong && !error.message.startsWith("the simulator"))) engine = new Engine(module);
        tell({ kind: "failed", run: request.run, problem: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}

addEventListener("message", (event: MessageEvent<Request>) => {
  void carryOut(event.data);
});
