import assert from "node:assert/strict";
import { test } from "node:test";
import type { Summary } from "./numbers";
import { Seeds } from "./seeds";

const summary = (lost: number): Summary => ({ lost }) as Summary;
const lost = (of: Summary): number => of.lost;

function seeds(...runs: [queue: number[], lost: number][]): Seeds {
  const found = new Seeds();
  for (const [queue, count] of runs) found.add(queue, summary(count));
  return found;
}

test("a band has the least and the greatest of all seeds", () => {
  const found = seeds([[1, 5], 10], [[3, 2], 30], [[2, 9], 20]);
  assert.deepEqual(found.band([0, 1]), { name: "3 seeds", low: [1, 2], high: [3, 9] });
  assert.deepEqual(found.range(lost), { least: 10, most: 30 });
});

test("one seed has no band and no range", () => {
  const found = seeds([[1], 10]);
  assert.equal(found.band([0]), null);
  assert.equal(found.range(lost), null);
});

test("two settings are compared seed by seed", () => {
  const [a, b] = [seeds([[0], 10], [[0], 30], [[0], 20]), seeds([[0], 11], [[0], 20], [[0], 20])];
  assert.deepEqual(a.compared(b, lost), { larger: 1, smaller: 1, of: 3 });
});
