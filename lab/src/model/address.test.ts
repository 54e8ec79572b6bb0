// Links: what they say can be read, and what of them cannot be used is told and left out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, toHash } from "./address";
import { KNOWN, ONE, SCENES } from "./known";
import type { State } from "./setting";

const shownBy = (hash: string) => fromHash(hash, KNOWN, SCENES);
const hashOf = (shown: Parameters<typeof toHash>[0]): string => toHash(shown, KNOWN, SCENES);

function buffer(packets: number): State {
  return { a: { ...ONE, bottleneck: { ...ONE.bottleneck, limit: { packets } } }, b: null, own: [] };
}

test("a scene is its name", () => {
  for (const { id, state } of SCENES) assert.equal(hashOf({ state, scene: id }), `#${id}`);
});

test("moment, speed, title and a change can be read in a link, and come back", () => {
  const given = { state: buffer(5), scene: "deep", title: "Five packets", time: 12.5, speed: 0.01 };
  const hash = hashOf(given);
  assert.equal(hash, "#deep&bottleneck.queue.limit=5+packets&time=12.5+s&speed=1/100&title=Five+packets");
  assert.deepEqual(shownBy(hash), { ...given, isEmbedded: false, problem: null });
});

test("sides are told apart, and a side may be more or less than the scene has", () => {
  const [, codel] = SCENES;
  assert.ok(codel);
  const state = structuredClone(codel.state);
  assert.ok(state.b);
  state.b.bottleneck.queue.parameters = { target: 1e9 };
  const hash = hashOf({ state, scene: "codel" });
  assert.equal(hash, "#codel&b.bottleneck.queue.target=1+ms");
  assert.deepEqual(shownBy(hash)?.state, state);
  const alone = { ...codel.state, b: null };
  assert.equal(hashOf({ state: alone, scene: "codel" }), "#codel&b=off");
  assert.deepEqual(shownBy("#codel&b=off")?.state, alone);
  const both = { ...buffer(1000), b: buffer(7).a };
  assert.deepEqual(shownBy(hashOf({ state: both, scene: "deep" }))?.state, both);
});

test("what values cannot say is whole in the link, after the scene", () => {
  const state = structuredClone(SCENES[0]?.state as State);
  state.a.groups.push({ ...(state.a.groups[0] as State["a"]["groups"][0]), group: "more" });
  const hash = hashOf({ state, scene: "deep" });
  assert.match(hash, /^#deep&state=v2\./);
  assert.deepEqual(shownBy(hash)?.state, state);
  assert.equal(shownBy(hash)?.scene, "deep");
});

test("a link without a scene of this page shows the first, and says which there are", () => {
  const shown = shownBy("#gone&time=3+s");
  assert.equal(shown?.scene, "deep");
  assert.equal(shown?.time, 3);
  assert.equal(shown?.problem, 'This page has no scene "gone", so this is the first one. It has: deep, codel.');
});

test("half a link shows what is there of it", () => {
  const whole = hashOf({ state: buffer(5), scene: "deep", title: "Five" });
  const cut = shownBy(whole.slice(0, whole.indexOf("=5")));
  assert.equal(cut?.scene, "deep");
  assert.deepEqual(cut?.state, SCENES[0]?.state);
  assert.equal(cut?.problem, 'This link was cut short: "bottleneck.queue.limit" has no value, and is left out.');
});

test("a change that cannot be is left out, and the others are made", () => {
  const shown = shownBy("#deep&bottleneck.rate=fast&bottleneck.queue.limit=5+packets");
  assert.deepEqual(shown?.state, buffer(5));
  assert.match(shown?.problem ?? "", /^bottleneck\.rate=fast is left out: network\.dumbbell\.bottleneck\.rate: "fast"/);
});

test("an older page's state has what that page did not have", () => {
  const older = structuredClone(SCENES[0]?.state) as unknown as { a: { bottleneck: object; groups: object[] } };
  for (const key of ["changes", "aggregation", "reverse"]) delete (older.a.bottleneck as Record<string, unknown>)[key];
  for (const each of older.a.groups) delete (each as Record<string, unknown>)["size"];
  const hash = `#v2.${Buffer.from(JSON.stringify(older)).toString("base64url")}`;
  assert.deepEqual(shownBy(hash)?.state, SCENES[0]?.state);
  assert.equal(shownBy(hash)?.problem, null);
});

test("a link of another version, or one that cannot be read, is told over the first scene", () => {
  for (const [hash, what] of [
    ["#v7.e30", "is of version 7"],
    ["#v2.e3", "cut short"],
    ["#v2.e30", "has no setting"],
  ] as const) {
    assert.match(shownBy(hash)?.problem ?? "", new RegExp(what));
    assert.deepEqual(shownBy(hash)?.state, SCENES[0]?.state);
  }
});
