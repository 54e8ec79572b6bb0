import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ofFlows, ofGroups, PALETTE } from "./colours";

const known = new Map([
  ["cubic", [0, 0] as const],
  ["bbr", [1, 1] as const],
  ["newreno", [2, 2] as const],
  ["reno", [1, 3] as const],
]);
const group = (name: string, algorithm: string, count = 1) => ({ group: name, algorithm, count });

test("a group has the colour of its algorithm, in whatever place", () => {
  assert.deepEqual(ofGroups([group("new", "bbr"), group("old", "cubic")], known), [1, 0]);
});

test("of two algorithms that want one colour the first in the table has it", () => {
  assert.deepEqual(ofGroups([group("a", "reno"), group("b", "bbr")], known), [0, 1]);
});

test("groups of one algorithm have the next colours, as they are named", () => {
  assert.deepEqual(ofGroups([group("near", "cubic"), group("far", "cubic")], known), [0, 1]);
});

test("the first flow of a group has its colour, the others the next free ones", () => {
  assert.deepEqual(ofFlows([group("download", "cubic", 2), group("call", "bbr")], known), [0, 2, 1]);
});

/** Linear RGB of a colour (IEC 61966-2-1). */
function linear(colour: string): number[] {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
}

const luminance = ([red = 0, green = 0, blue = 0]: number[]): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** The contrast of two colours (WCAG 2.2). */
function contrast(one: number[], other: number[]): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1: what those see who lack one kind of cones, and who see no colours. */
const EYES: Record<string, number[][]> = {
  "all cones": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
  grey: [
    [0.2126, 0.7152, 0.0722],
    [0.2126, 0.7152, 0.0722],
    [0.2126, 0.7152, 0.0722],
  ],
};

const seen = (colour: string, eyes: number[][]): number[] =>
  eyes.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, each, place) => sum + each * (linear(colour)[place] ?? 0), 0),
      ),
    ),
  );

/** The values of a property of the style sheet, of the light page and the dark one. */
function values(property: string): string[] {
  const style = readFileSync("src/style.css", "utf8");
  return [...style.matchAll(new RegExp(`--${property}: (#[0-9a-f]{6});`, "g"))].map((match) => match[1] ?? "");
}

for (const [name, eyes] of Object.entries(EYES)) {
  test(`lines and packets stand out from what they are drawn on, with ${name}`, () => {
    for (const property of ["card", "well"]) {
      const pages = values(property);
      assert.ok(pages.length >= 2);
      for (const page of pages) {
        for (const colour of PALETTE) {
          const found = contrast(seen(colour, eyes), seen(page, eyes));
          // WCAG 2.2, 1.4.11, for those with all cones or none; others see some of the colours lighter.
          assert.ok(found >= (name === "all cones" || name === "grey" ? 3 : 2.7), `${colour} on ${page}: ${found.toFixed(2)}`);
        }
      }
    }
  });

  test(`what is said in text is read, with ${name}`, () => {
    for (const property of ["ink", "muted", "accent", "bad"]) {
      values(property).forEach((colour, scheme) => {
        const page = values("card")[scheme] ?? "";
        const found = contrast(seen(colour, eyes), seen(page, eyes));
        assert.ok(found >= 4.5, `${property} ${colour} on ${page}: ${found.toFixed(2)}`);
      });
    }
  });

  test(`a drop and a mark are told from the packet that they are drawn around, or from its ground, with ${name}`, () => {
    for (const property of ["drop", "mark"]) {
      values(property).forEach((colour, scheme) => {
        const page = values("card")[scheme] ?? "";
        assert.ok(contrast(seen(colour, eyes), seen(page, eyes)) >= 2.9, `${property} ${colour} on ${page}`);
      });
    }
  });
}
