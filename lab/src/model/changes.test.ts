// What was changed, in words and as keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, differences, inWords, toChanges } from "./changes";
import { KNOWN, ONE } from "./known";
import { Wrong } from "./units";

function words(changes: Record<string, string>): string[] {
  const after = changed(ONE, changes, KNOWN);
  return (differences(ONE, after, KNOWN) ?? []).map((each) => inWords(each, ONE, after));
}

test("a change is told in the field's words, its unit once", () => {
  assert.deepEqual(words({ "bottleneck.queue.limit": "5 packets" }), ["buffer 1000 → 5 packets"]);
  assert.deepEqual(words({ "bottleneck.rate": "1 Gbit/s" }), ["rate 20 Mbit/s → 1 Gbit/s"]);
  assert.deepEqual(words({ "flows.0.tcp.name": "bbr" }), ["download cubic → bbr"]);
  assert.deepEqual(words({ "flows.0.count": "7" }), ["flows of download 2 → 7"]);
  assert.deepEqual(words({ "senders.0.delay": "40 ms" }), ["RTT of download 40 → 80 ms"]);
  assert.deepEqual(words({ "bottleneck.queue.name": "codel", "bottleneck.queue.target": "1 ms" }), [
    "queue droptail → codel",
    "codel's target 1 ms",
  ]);
});

test("what is different makes the same change again", () => {
  const after = changed(ONE, { "flows.0.tcp.name": "ledbat", "flows.0.tcp.target": "25 ms", warm_up: "1 s" }, KNOWN);
  const found = differences(ONE, after, KNOWN);
  assert.ok(found);
  assert.deepEqual(changed(ONE, toChanges(found), KNOWN), after);
  assert.deepEqual(differences(after, after, KNOWN), []);
});

test("other flows are no change of values", () => {
  const more = structuredClone(ONE);
  more.groups.push({ ...(more.groups[0] as (typeof more.groups)[0]), group: "more" });
  assert.equal(differences(ONE, more, KNOWN), null);
});

test("a change that cannot be is told with its key", () => {
  assert.throws(() => changed(ONE, { "bottleneck.colour": "red" }, KNOWN), /bottleneck\.colour: unknown key/);
  assert.throws(() => changed(ONE, { "flows.7.count": "2" }, KNOWN), new Wrong("flows.7.count: there is no such key"));
});
