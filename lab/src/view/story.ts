// The story of a scene: what it tells, what was changed in it, and the steps through it, one at a time.

import type { Part, Step } from "../model/lessons";
import type { Opened } from "../model/reading";
import type { Scene } from "../model/scenes";
import type { Cell } from "../model/sweep";
import { button, byId, h } from "./dom";
import { choiceField } from "./fields";

interface File {
  name: string;
  opened: Opened;
  choose: (cell: Cell) => void;
}

export interface StoryHost {
  scene: Scene | null;
  /** A title of the user's, instead of the scene's. */
  title: string | null;
  /** What was changed in the scene, in words; null if more than can be listed. */
  changes: readonly string[] | null;
  /** The file that the setting is from, if it has several of which one is chosen, or more than is shown. */
  file: File | null;
  step: number;
  go: (step: number) => void;
  /** Shows the scene with what a step changes. */
  apply: (step: Step) => void;
  reset: () => void;
  /** Where a page that has this one in a frame leads; none if it is not in a frame. */
  whole: string | null;
}

/** The elements that steps lead to. */
const PLACES: Record<Part, string> = {
  stages: "stages",
  numbers: "numbers",
  queue: "chart-queue",
  cwnd: "chart-cwnd",
  shares: "chart-shares",
  sojourn: "chart-sojourn",
};

/** Nothing is looked at any more. */
export function lookAway(): void {
  for (const each of document.querySelectorAll(".looked-at")) each.classList.remove("looked-at");
}

/** Leads the eye to where a step looks. */
export function lookAt(part: Part): void {
  const place = document.getElementById(PLACES[part]);
  lookAway();
  place?.classList.add("looked-at");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  place?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
}

/** Tells the story anew. What was open in it stays open, and what had the focus keeps it. */
export function tellStory(host: StoryHost): void {
  const place = byId("story");
  const reachable = (): HTMLElement[] => [...place.querySelectorAll<HTMLElement>("button, select, summary, a")];
  const focused = reachable().indexOf(document.activeElement as HTMLElement);
  const [name, isOpen] = opened(place);
  place.replaceChildren(...parts(host));
  const [now] = opened(place);
  const details = place.querySelector("details");
  if (details && name === now) details.open = isOpen;
  if (focused >= 0) reachable()[focused]?.focus();
}

/** The step whose outcome can be opened, and whether it is open. */
function opened(place: HTMLElement): [name: string | null, isOpen: boolean] {
  const step = place.querySelector(".step p")?.textContent ?? null;
  return [step, place.querySelector("details")?.open ?? false];
}

function parts(host: StoryHost): HTMLElement[] {
  const { scene, title } = host;
  if (!scene) {
    return [
      h("h2", {}, title ?? "Your own setting"),
      h("p", {}, "Its address is a link: whoever opens it sees what you see."),
      ...(host.file ? ofFile(host.file) : []),
    ];
  }
  const link = h("a", { href: scene.paper.link, rel: "noopener" }, scene.paper.text);
  const whole = host.whole && h("a", { href: host.whole, target: "_blank", rel: "noopener" }, "Open it in the laboratory");
  return [
    h("h2", {}, title ?? scene.title),
    h("p", {}, scene.story),
    ...changed(host),
    ...steps(host, scene.steps),
    h("p", { class: "source" }, link),
    ...(whole ? [h("p", {}, whole)] : []),
  ];
}

/** What a file has besides the setting that is shown: the other cells of its sweep. */
function ofFile({ opened, choose }: File): HTMLElement[] {
  const { choices, cell, note } = opened;
  const fields = choices.map(({ axes, labels }) =>
    choiceField(
      axes.join(", "),
      String(labels.findIndex((each) => each.every((label, at) => cell[axes[at] ?? ""] === label))),
      [{ heading: "", options: labels.map((each, at) => ({ value: String(at), text: each.join(", ") })) }],
      (at) => choose({ ...cell, ...Object.fromEntries(axes.map((axis, place) => [axis, labels[Number(at)]?.[place] ?? ""])) }),
    ),
  );
  return [
    ...(note ? [h("p", {}, note)] : []),
    ...(fields.length ? [h("section", { class: "cell row", "aria-label": "Cell of the sweep" }, ...fields)] : []),
  ];
}

function changed({ changes, reset }: StoryHost): HTMLElement[] {
  if (changes?.length === 0) return [];
  const what = changes === null ? "other flows, or an algorithm of yours" : changes.join("; ");
  const back = button("Back to the scene", reset, { class: "quiet" });
  return [h("p", { class: "changed" }, h("strong", {}, "Changed: "), `${what}. `, back)];
}

function steps({ step: at, go, apply }: StoryHost, all: readonly Step[]): HTMLElement[] {
  const step = all[at];
  if (!step) return [];
  const turn = (label: string, to: number): HTMLElement =>
    button(label, () => go(to), { class: "quiet", disabled: to < 0 || to >= all.length });
  const act = step.changes ? "Do it" : "Show it";
  return [
    h(
      "section",
      { class: "step card", "aria-label": `Step ${at + 1} of ${all.length}` },
      h("div", { class: "row" }, h("h3", {}, `Step ${at + 1} of ${all.length}`), turn("Before", at - 1), turn("Next", at + 1)),
      h(
        "p",
        {},
        `${step.task} `,
        button(act, () => apply(step), { class: "do" }),
      ),
      h("p", {}, h("strong", {}, "Look at: "), `${step.look.charAt(0).toLowerCase()}${step.look.slice(1)}`),
      h("details", {}, h("summary", {}, "What there is to see"), h("p", {}, step.seen)),
    ),
  ];
}
