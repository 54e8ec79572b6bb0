// The page's modules and engine without a browser. Requests are lines of JSON on standard input, answers lines on standard output;
// tests compare these with the command line, and the measurements time the same run as the page's.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const here = (path) => new URL(path, import.meta.url);
const lab = await import(here("dist/lab.mjs"));
const engine = new lab.Engine(new WebAssembly.Module(readFileSync(here("dist/engine.wasm"))));
const known = engine.catalogue();

function declared(own) {
  const { declaration } = lab.load(own.name, own.text, known.own.hooks);
  return {
    name: own.name,
    aliases: [],
    title: "",
    class: "own",
    year: null,
    source: "",
    deviations: "",
    random: null,
    parameters: declaration.parameters,
  };
}

/** Two flows at 20 Mbit/s. */
function example({ control = "cubic", queue = "droptail", more = {} }) {
  const setting = lab.setting([lab.path("flows", control, 2, 20e9)], {}, more);
  setting.bottleneck.queue = lab.chosen(lab.find(known.queues, queue), setting);
  return setting;
}

const bytes = (column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString("base64");
const decoded = (text) => new Float64Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
const encoded = (columns) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, ArrayBuffer.isView(column) ? bytes(column) : column]),
  );

function run(specification, traced) {
  const began = performance.now();
  engine.begin(specification, traced);
  while (!engine.advance(100_000));
  const { samples, names, red } = engine.samples();
  const packets = traced ? engine.packets() : null;
  const groups = packets && lab.packetsByGroup(packets, lab.groupsOf(specification));
  const { numbers, sojourns } = engine.finish();
  return {
    samples: encoded(samples),
    names,
    red,
    packets: packets && encoded(packets),
    groups,
    numbers,
    sojourns: encoded(sojourns),
    ms: performance.now() - began,
  };
}

function parsed(text, dimension) {
  try {
    return lab.parse(text, lab.DIMENSIONS[dimension]);
  } catch {
    return null;
  }
}

/** A run of a setting that is over, as the claims of stories look at it. */
function outcome(setting) {
  const { samples, groups, numbers } = run(JSON.stringify(lab.specify(setting, known, [], declared)), true);
  const times = decoded(samples["queue_series.time"]);
  const queue = decoded(samples["queue_series.packets"]).filter((_, row) => times[row] >= setting.warm_up / 1e12);
  const { name, parameters: set } = setting.bottleneck.queue;
  const parameters = { ...lab.defaults(lab.find(known.queues, name).parameters), ...set };
  return {
    setting,
    parameters,
    numbers,
    groups,
    summary: lab.summarise(numbers, setting.warm_up / 1e12, setting.duration / 1e12),
    queue,
  };
}

/** What a story claims of its runs, and what they have. */
function claimsOf({ a, b }, claims) {
  const first = outcome(a);
  const second = b ? outcome(b) : first;
  return claims.map(({ found, ...claim }) => ({ ...claim, found: found(first, second) }));
}

/** The state of a link, of which all can be shown. */
function stateOf(shown) {
  if (shown?.problem) throw new Error(shown.problem);
  return shown?.state ?? null;
}

const REQUESTS = {
  catalogue: () => known,
  parse: ({ text, dimension }) => parsed(text, dimension),
  presets: () => lab.SCENES,
  example,
  specify: ({ setting, own = [] }) => lab.specify(setting, known, own, declared),
  toml: ({ setting, own = [] }) => lab.toToml(setting, known, own, declared),
  read: ({ text, cell = null }) => lab.fromToml(text, known, cell).setting,
  opened: ({ text, cell = null }) => lab.fromToml(text, known, cell),
  hash: ({ state, ...shown }) => lab.toHash({ ...shown, state }, known, lab.SCENES),
  shown: ({ hash }) => lab.fromHash(hash, known, lab.SCENES),
  state: ({ hash }) => stateOf(lab.fromHash(hash, known, lab.SCENES)),
  changed: ({ setting, changes }) => lab.changed(setting, changes, known),
  differences: ({ from, to }) => lab.differences(from, to, known),
  words: ({ from, to }) => lab.differences(from, to, known).map((each) => lab.inWords(each, from, to)),
  places: ({ groups }) => {
    const colours = lab.knownIn(known);
    return { groups: lab.ofGroups(groups, colours), flows: lab.ofFlows(groups, colours) };
  },
  run: ({ specification, traced = false, inside = false }) =>
    run(JSON.stringify(inside ? lab.withInside(specification) : specification), traced),
  summary: ({ setting, numbers }) => lab.summarise(numbers, setting.warm_up / 1e12, setting.duration / 1e12),
  claims: ({ preset }) => ({ claims: claimsOf(preset.state, lab.CLAIMS[preset.id]), of_papers: lab.OF_PAPERS[preset.id] ?? [] }),
  template: () => lab.TEMPLATE,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { request, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: REQUESTS[request](given) };
  } catch (error) {
    answer = { problem: error instanceof Error ? error.message : String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
