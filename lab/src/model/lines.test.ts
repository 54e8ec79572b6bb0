// The line of a key is the one that it stands on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lineOf, type Place } from "./lines";

const TEXT = `# flows = "in a comment"
name = "a # b"
about = """
duration = "7 s"
[flows]
"""

[network.dumbbell]
senders = [
    { name = "a", rate = "1 Gbit/s" }, { name = "b" },
    {
        name = "c",
        delay = { range = "1 ms..2 ms" },
    },
]
bottleneck = { rate = "1 Mbit/s", queue = { name = "red", limit = "9 packets" } }

[[flows]] # the first
from = "a"
[flows.tcp]
name = "cubic"

[[flows]]
"from" = 'b'
tcp.name = "bbr"
[sweep.axes]
x = { key = "flows.0.count", values = [
    1,
    2,
] }
`;

const LINES: [Place, number][] = [
  [["name"], 2],
  [["about"], 3],
  [["network"], 8],
  [["network", "dumbbell", "senders"], 9],
  [["network", "dumbbell", "senders", 0, "rate"], 10],
  [["network", "dumbbell", "senders", 1], 10],
  [["network", "dumbbell", "senders", 2], 11],
  [["network", "dumbbell", "senders", 2, "delay", "range"], 13],
  [["network", "dumbbell", "bottleneck", "queue", "limit"], 16],
  [["flows"], 18],
  [["flows", 0, "from"], 19],
  [["flows", 0, "tcp", "name"], 21],
  [["flows", 1], 23],
  [["flows", 1, "from"], 24],
  [["flows", 1, "tcp", "name"], 25],
  [["sweep", "axes", "x", "values", 1], 29],
];

test("keys, entries of lists and tables within lines are found", () => {
  for (const [place, line] of LINES) assert.equal(lineOf(TEXT, place), line, place.join("."));
});

test("of a key that is missing, the table that it would be in is found", () => {
  assert.equal(lineOf(TEXT, ["flows", 1, "to"]), 23);
  assert.equal(lineOf(TEXT, ["duration"]), 1);
});

test("lines end as files of other systems end them", () => {
  assert.equal(lineOf(TEXT.replaceAll("\n", "\r\n"), ["flows", 1, "tcp", "name"]), 25);
});
