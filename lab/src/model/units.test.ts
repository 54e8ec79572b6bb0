// Quantities are read exactly, and written as briefly as they can be.

import assert from "node:assert/strict";
import { test } from "node:test";
import { approximate, DURATION, format, parse, parseLength, RATE } from "./units";

test("quantities are whole numbers of the base unit", () => {
  assert.equal(parse("2.5 ms", DURATION), 2_500_000_000);
  assert.equal(parse("1e-3 s", DURATION), 1_000_000_000);
  assert.equal(parse("0.1 Gbit/s", RATE), 100_000_000);
  assert.throws(() => parse("0.5 ps", DURATION), /not a whole number of ps/);
  assert.throws(() => parse("5", DURATION), /has no unit/);
  assert.throws(() => parse("5 hours", DURATION), /unknown unit "hours"/);
});

test("what is written is read as the same", () => {
  for (const value of [1, 1500, 2e9, 133_500_000, 3_600_000_000_000_000])
    assert.equal(parse(format(value, DURATION), DURATION), value);
  assert.equal(approximate(123_456_789, RATE), "123.5 Mbit/s");
});

test("lengths of queues have packets, bytes, or products of rate and delay", () => {
  assert.deepEqual(parseLength("9 packets", "limit"), { packets: 9 });
  assert.deepEqual(parseLength("64 KiB", "limit"), { bytes: 65_536 });
  assert.deepEqual(parseLength("0.5 BDP", "limit"), { bandwidth_delay_products: 0.5 });
  assert.throws(() => parseLength("0 packets", "limit"), /must be more than 0/);
  assert.throws(() => parseLength("1 BDP", "queue_length"), /unknown unit "BDP"/);
});
