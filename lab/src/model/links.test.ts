// A network of links: ways through it, and who goes through the bottleneck.

import assert from "node:assert/strict";
import { test } from "node:test";
import { delayOf, type Links, nodesOf, passes } from "./links";
import { path, type Setting, setting } from "./setting";

const other = (from: string, to: string, delay: number) => ({ from, to, rate: 1e9, delay, loss: 0, every: null, queue: null });
const LINKS: Links = [
  { from: "r1", to: "r2" },
  other("r2", "r3", 5),
  other("a", "r1", 1),
  other("b", "r2", 2),
  other("r3", "c", 7),
];

function between(from: string, to: string): [Setting, Setting["groups"][0]] {
  const group = { ...path("flows", "cubic", 1, 0), from, to };
  return [{ ...setting([group], { delay: 10 }), links: LINKS, groups: [group] }, group];
}

test("nodes are in the order in which they are first named", () => {
  assert.deepEqual(nodesOf(LINKS), ["r1", "r2", "r3", "a", "b", "c"]);
});

test("the delay of a way is that of its links, the bottleneck's among them", () => {
  assert.equal(delayOf(between("a", "c")[0], LINKS, between("a", "c")[1]), 1 + 10 + 5 + 7);
  assert.equal(delayOf(between("b", "c")[0], LINKS, between("b", "c")[1]), 2 + 5 + 7);
  assert.equal(delayOf(between("a", "nowhere")[0], LINKS, between("a", "nowhere")[1]), null);
});

test("those who go through the bottleneck forwards wait in its queue", () => {
  assert.equal(passes(...between("a", "c")), true);
  assert.equal(passes(...between("b", "c")), false);
  assert.equal(passes(...between("c", "a")), false);
});
