import assert from "node:assert/strict";
import { test } from "node:test";
import { BOTTLENECK } from "../engine/protocol";
import { Inside, redProbability, valueAt } from "./inside";
import { ownBdp, phasesOf, readAt, readSeries } from "./readings";

const RED = { minimum: 5, maximum: 15 };

test("RED drops with the probability of its paper, and gently above", () => {
  // Floyd and Jacobson 1993: p = max_p (avg - min) / (max - min); Floyd 2000: on to one at twice the maximum.
  assert.equal(redProbability(4, RED, 0.1, true), 0);
  assert.equal(redProbability(10, RED, 0.1, true), 0.05);
  assert.equal(redProbability(15, RED, 0.1, false), 1);
  assert.ok(Math.abs(redProbability(22.5, RED, 0.1, true) - 0.55) < 1e-12);
});

test("values go to the discipline or to their flow", () => {
  const inside = new Inside({ maximum_probability: 0.1, gentle: true });
  inside.add({
    samples: {
      "state.time": Float64Array.of(1, 1, 2),
      "state.flow": Uint32Array.of(BOTTLENECK, 3, BOTTLENECK),
      "state.name": Uint32Array.of(0, 1, 0),
      "state.value": Float64Array.of(10, 20, 3),
      "in_flight.time": Float64Array.of(1),
      "in_flight.flow": Uint32Array.of(3),
      "in_flight.bytes": Float64Array.of(2896),
    },
    names: ["average", "w_max"],
    red: RED,
  });
  assert.deepEqual(inside.discipline.get("average"), { times: [1, 2], values: [10, 3] });
  assert.deepEqual(inside.discipline.get("drop_probability")?.values, [0.05, 0]);
  assert.deepEqual(inside.flows.get(3)?.get("w_max"), { times: [1], values: [20] });
  assert.deepEqual(inside.flows.get(3)?.get("in_flight"), { times: [1], values: [2896] });
});

test("a value that is no longer told is not read", () => {
  const series = { times: [1, 2], values: [7, 8] };
  assert.equal(valueAt(series, 0.5, 1), null);
  assert.equal(valueAt(series, 1.9, 1), 7);
  assert.equal(valueAt(series, 3, 1), 8);
  assert.equal(valueAt(series, 5, 1), null);
});

test("CoDel's next drop is read as the time until then", () => {
  const listed = [
    { name: "phase", unit: "", doc: "", phases: ["waiting", "dropping"] },
    { name: "drop_next", unit: "s", doc: "" },
  ];
  const told = new Map([
    ["phase", { times: [1], values: [1] }],
    ["drop_next", { times: [1], values: [1.05] }],
  ]);
  assert.deepEqual(readAt(listed, told, 1.02, 1), ["dropping", "next drop in 30 ms"]);
  const [, due] = listed;
  assert.deepEqual(due && readSeries(due, { times: [1, 2], values: [1.5, 2.25] }).values, [500, 250]);
});

test("the BDP that BBR takes is its bandwidth times its minimum RTT", () => {
  const told = new Map([
    ["max_bw", { times: [1, 2], values: [8e6, 16e6] }],
    ["min_rtt", { times: [1, 2], values: [0.04, 0.04] }],
  ]);
  assert.deepEqual(ownBdp(told), { times: [1, 2], values: [40_000, 80_000] });
});

test("a phase is a stretch of time", () => {
  const value = { name: "phase", unit: "", doc: "", phases: ["startup", "probe_bw"] };
  assert.deepEqual(phasesOf(value, { times: [0, 1, 2, 3], values: [0, 0, 1, 1] }), [
    { from: 0, until: 2, name: "startup" },
    { from: 2, until: 3, name: "probe bw" },
  ]);
});
