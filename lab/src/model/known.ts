// A catalogue with what the tests need of one, and scenes.

import type { Catalogue, Parameter } from "./catalogue";
import type { Scene } from "./scenes";
import { path, type Setting, setting } from "./setting";

function parameter(name: string, kind: Parameter["kind"], usual: Parameter["default"]): Parameter {
  return { name, kind, default: usual, doc: "", source: "", choices: null, minimum: null, maximum: null };
}

function entry(name: string, parameters: Parameter[] = [], more: object = {}) {
  return { name, aliases: [], title: "", class: "", year: null, source: "", deviations: "", random: null, parameters, ...more };
}

export const KNOWN: Catalogue = {
  version: "0",
  digest: "",
  congestion_controls: [entry("cubic"), entry("bbr"), entry("ledbat", [parameter("target", "duration", 100e9)])],
  queues: [entry("droptail"), entry("codel", [parameter("target", "duration", 5e9)])],
  slow_starts: [entry("standard")],
  profiles: [{ name: "linux-6", title: "", settings: [], defaults: [] }],
  stack_settings: [parameter("minimum_rto", "duration", 1e12)],
  own: { hooks: [], shown: { Ack: [], Delivery: [], LostSegment: [], RateSample: [] } },
};

export const ONE: Setting = setting([path("download", "cubic", 2, 40e9)], { limit: { packets: 1000 } });
export const TWO: Setting = {
  ...structuredClone(ONE),
  bottleneck: { ...ONE.bottleneck, queue: { name: "codel", parameters: {} } },
};

function scene(id: string, a: Setting, b: Setting | null): Scene {
  return { id, title: id, story: "", paper: { text: "", link: "" }, state: { a, b, own: [] }, steps: [] };
}

export const SCENES = [scene("deep", ONE, null), scene("codel", ONE, TWO)];
