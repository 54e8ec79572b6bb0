// A sweep: its axes, and the scenario of a cell.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sweep } from "./sweep";

const BASE = {
  queue: "droptail",
  flows: [
    { tcp: "cubic", count: 1 },
    { tcp: "cubic", count: 2 },
  ],
};

test("values are called as in results", () => {
  const queues = [
    { name: "codel", limit: "5 packets", target: "1 ms" },
    { name: "codel", limit: "5 packets", target: "2 ms" },
  ];
  const { choices, first } = new Sweep({
    axes: {
      queue: { key: "queue", values: queues },
      load: { key: "flows.*.count", values: [{ label: "few", value: 1 }, 20] },
      wait: { key: "delay", range: "5 ms..80 ms", steps: 3, spacing: "log" },
    },
  });
  assert.deepEqual(
    choices.map(({ axes, labels }) => [axes, labels.flat()]),
    [
      [["queue"], ["codel target=1 ms", "codel target=2 ms"]],
      [["load"], ["few", "20"]],
      [["wait"], ["5 ms", "20 ms", "80 ms"]],
    ],
  );
  assert.deepEqual(first, { queue: "codel target=1 ms", load: "few", wait: "5 ms" });
});

test("a cell sets what its values say, an algorithm before its parameters", () => {
  const sweep = new Sweep({
    axes: { beta: { key: "flows.0.tcp.beta", values: [0.5] }, tcp: { key: "flows.*.tcp", values: ["bbr", "bic"] } },
    overrides: [{ when: { tcp: "bic" }, set: { "flows.1.count": 9 } }],
  });
  assert.deepEqual(sweep.scenario(BASE, { beta: "0.5", tcp: "bic" }), {
    queue: "droptail",
    flows: [
      { tcp: { name: "bic", beta: 0.5 }, count: 1 },
      { tcp: "bic", count: 9 },
    ],
  });
  assert.deepEqual(sweep.scenario(BASE, { beta: "0.5", tcp: "bbr" })["flows"], [
    { tcp: { name: "bbr", beta: 0.5 }, count: 1 },
    { tcp: "bbr", count: 2 },
  ]);
  assert.deepEqual(BASE.flows[1], { tcp: "cubic", count: 2 });
});

test("axes that go together are one choice, and what is left out is told", () => {
  const sweep = new Sweep({
    axes: { a: { key: "duration", values: ["1 s", "2 s"] }, b: ["x", "y"], c: { key: "warm_up", values: ["0 s"] } },
    zip: [["b", "a"]],
    exclude: [{ b: "y" }],
  });
  assert.deepEqual(sweep.choices[0], {
    axes: ["a", "b"],
    labels: [
      ["1 s", "x"],
      ["2 s", "y"],
    ],
  });
  assert.equal(sweep.scenario(BASE, { a: "1 s", b: "x", c: "0 s" })["duration"], "1 s");
  assert.throws(() => sweep.scenario(BASE, { a: "2 s", b: "y", c: "0 s" }), /leaves this combination out/);
});

test("what the page does not do is told with its key", () => {
  assert.throws(() => new Sweep({ draw: { cells: 3 } }), /sweep\.draw: the page does not draw cells/);
  assert.throws(() => new Sweep({ axes: { wait: { key: "delay", range: "5 ms..80 ms" } } }), /sweep\.axes\.wait: /);
});
