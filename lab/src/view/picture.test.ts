import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, svgOf } from "./files";
import { type Picture, placeOf, rowsOf, shown, valueAtPlace } from "./picture";

const picture: Picture = {
  title: "Queue <of> A",
  unit: "packets",
  x: { title: "time", unit: "s", isLogarithmic: false, from: 0, until: 2 },
  top: 10,
  xs: [0, 1, 2],
  lines: [
    { name: "download", colour: "#0072b2", values: [1, null, 3] },
    { name: 'a "call", too', colour: "#d55e00", values: [4, 5, 6], dash: [6, 2] },
  ],
};

test("a file has every value, and quotes what needs it", () => {
  assert.equal(csvOf(picture), '"time, s","download, packets","a ""call"", too, packets"\n0,1,4\n1,,5\n2,3,6\n');
});

test("a drawing has its lines, dashes, legend and title", () => {
  const svg = svgOf(picture, { background: "#fff", ink: "#000", muted: "#555", grid: "#eee" }, "seed 1");
  assert.match(svg, /<title>Queue &lt;of> A<\/title>/);
  // The horizontal axis has 648 units for two seconds, the vertical one 300 for ten packets.
  assert.match(svg, /<polyline points="56,328 704,268" fill="none" stroke="#0072b2" stroke-width="1.5"\/>/);
  assert.match(svg, /stroke-dasharray="6 2"/);
  assert.match(svg, /a &quot;call&quot;, too/);
});

test("what is stacked stands on what is below", () => {
  const svg = svgOf({ ...picture, isStacked: true }, { background: "#fff", ink: "#000", muted: "#555", grid: "#eee" }, "");
  // The second band at two seconds is from 3 to 9 packets.
  assert.match(svg, /<polygon points="56,208 380,208 704,88 704,268 380,358 56,328" fill="#d55e00"/);
});

test("the value at a moment is the latest that is known", () => {
  assert.equal(placeOf([0, 1, 2], 1.5), 1);
  assert.equal(placeOf([0, 1, 2], -1), 0);
  assert.equal(valueAtPlace({ values: [1, null, 3], spans: true }, 1), 1);
  assert.equal(valueAtPlace({ values: [null, null, 3], spans: true }, 1), null);
  assert.equal(valueAtPlace({ values: [1, null, 3] }, 1), null);
});

test("a table has a bounded number of rows, evenly spread", () => {
  assert.deepEqual(rowsOf({ ...picture, xs: Array.from({ length: 10 }, (_, row) => row) }, 4), [0, 3, 6, 9]);
});

test("numbers have three digits, or all of a whole number", () => {
  assert.deepEqual([null, 0, 0.12345, 99.99, 12_345.6].map(shown), ["–", "0", "0.123", "100", "12,346"]);
});
