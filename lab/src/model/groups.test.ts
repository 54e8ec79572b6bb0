import assert from "node:assert/strict";
import { test } from "node:test";
import { FATES, type Packets } from "../engine/protocol";
import { packetsByGroup, sharesWithin, TIMES } from "./groups";

/** Packets by flow, arrival, departure or drop, and fate. */
function packets(...rows: [flow: number, arrived: number, left: number, fate: keyof typeof FATES][]): Packets {
  const column = (place: 0 | 1 | 2): number[] => rows.map((row) => row[place]);
  return {
    flow: Uint32Array.from(column(0)),
    fate: Uint32Array.from(rows.map((row) => FATES[row[3]])),
    l4s: new Uint32Array(rows.length),
    size: new Uint32Array(rows.length),
    arrived: Float64Array.from(column(1)),
    left: Float64Array.from(column(2)),
    isWhole: true,
  };
}

/** What each group met. */
function met(of: Packets) {
  const found = packetsByGroup(of, groups);
  assert.ok(found);
  return found;
}

const groups = { names: ["download", "call"], of: (flow: number) => (flow < 2 ? 0 : 1), from: 1, until: 2 };

test("each packet counts for its group", () => {
  const found = met(packets([0, 1, 1.1, "sent"], [1, 1, 1.3, "marked"], [2, 1.5, 1.51, "sent"], [2, 1.6, 1.6, "dropped"]));
  assert.deepEqual(
    found.map(({ name, arrived, dropped, marked }) => [name, arrived, dropped, marked]),
    [
      ["download", 2, 0, 1],
      ["call", 2, 1, 0],
    ],
  );
  assert.ok(Math.abs((found[0]?.mean ?? 0) - 0.2) < 1e-12);
  assert.ok(Math.abs((found[1]?.p99 ?? 0) - 0.01) < 1e-12);
});

test("what leaves before or after the measuring window does not count", () => {
  const found = met(packets([0, 0.5, 0.9, "sent"], [0, 0.9, 1.2, "sent"], [0, 1.9, 2.1, "sent"], [0, 1, NaN, "queued"]));
  assert.equal(found[0]?.arrived, 2);
  assert.ok(Math.abs((found[0]?.mean ?? 0) - 0.3) < 1e-12);
  assert.equal(found[1]?.mean, null);
});

test("the 99th percentile of a hundred packets is the longest wait but one", () => {
  const rows = Array.from({ length: 100 }, (_, row): [number, number, number, "sent"] => [0, 1, 1 + (row + 1) / 1000, "sent"]);
  assert.ok(Math.abs((met(packets(...rows))[0]?.p99 ?? 0) - 0.099) < 1e-12);
});

test("a distribution rises to one", () => {
  const shares = sharesWithin(Float64Array.from([0.0001, 0.001, 0.01, 0.1]), [0.0001, 0.005, 1]);
  assert.deepEqual(shares, [0.25, 0.5, 1]);
  assert.equal(TIMES[40], 1);
});

test("of a part of the packets there are no numbers", () => {
  assert.equal(packetsByGroup({ ...packets([0, 1, 1.1, "sent"]), isWhole: false }, groups), null);
});
