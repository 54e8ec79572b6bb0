import assert from "node:assert/strict";
import { test } from "node:test";
import type { Packets } from "../engine/protocol";
import { deepest, queuesOf } from "./queues";
import { path, setting } from "./setting";

function packets(flow: number[], arrived: number[], left: number[], l4s: number[] = []): Packets {
  return {
    flow: Uint32Array.from(flow),
    fate: new Uint32Array(flow.length),
    l4s: Uint32Array.from(flow, (_, row) => l4s[row] ?? 0),
    size: new Uint32Array(flow.length),
    arrived: Float64Array.from(arrived),
    left: Float64Array.from(left),
    isWhole: true,
  };
}

const two = (queue: string, parameters = {}) =>
  setting([path("download", "cubic", 2, 1e9), path("call", "cbr", 1, 1e9)], { queue: { name: queue, parameters } });

test("a scheduler has a queue a flow, DualPI2 one for L4S, and a FIFO one for all", () => {
  const some = packets([0, 1, 2], [0, 0, 0], [1, 1, 1], [0, 1, 0]);
  const fq = queuesOf(two("fq_codel"), some);
  assert.deepEqual(fq?.names, ["download 1", "download 2", "call"]);
  assert.deepEqual(
    [0, 1, 2].map((row) => fq?.of(row)),
    [0, 1, 2],
  );
  const dual = queuesOf(two("dualpi2"), some);
  assert.deepEqual(
    [0, 1, 2].map((row) => dual?.names[dual.of(row)]),
    ["Classic", "L4S", "Classic"],
  );
  assert.equal(queuesOf(two("droptail"), some), null);
});

test("CAKE between sources has a queue a sender", () => {
  const found = queuesOf(two("cake", { isolation: "src_host" }), packets([0, 1, 2], [0, 0, 0], [1, 1, 1]));
  assert.deepEqual(found?.names, ["sender1", "sender2"]);
  assert.deepEqual(
    [0, 1, 2].map((row) => found?.of(row)),
    [0, 0, 1],
  );
});

test("of many flows a queue stands for a group", () => {
  const many = setting([path("near", "cubic", 40, 1e9), path("far", "cubic", 40, 1e9)], {
    queue: { name: "sfq", parameters: {} },
  });
  const found = queuesOf(many, packets([39, 40], [0, 0], [1, 1]));
  assert.deepEqual([found?.names, found?.of(0), found?.of(1)], [["near", "far"], 0, 1]);
});

test("the deepest queue is that of one flow, without what was dropped on arrival", () => {
  const some = packets([0, 0, 1, 0, 0], [0, 1, 1, 2, 4], [3, 4, 5, 2, 6]);
  const queues = queuesOf(two("drr"), some);
  assert.ok(queues);
  assert.equal(deepest(queues, some, [[0, 1, 2, 4], [3]]), 2);
});
