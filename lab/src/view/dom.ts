// Elements of the page, made in one expression.

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | null | undefined>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

export function button(text: string, click: () => void, more: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", ...more, click }, text);
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

const looks = new Map<string, string>();

/** The value of a colour, or another property, of the style sheet. Pictures ask for it many times a frame. */
export function look(name: string): string {
  let value = looks.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    looks.set(name, value);
  }
  return value;
}

/** Calls back when the scheme has changed, once the style sheet's values are the new ones. */
export function onScheme(act: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    looks.clear();
    act();
  });
}

/** The colours of a line of a legend, beside its name. */
export function swatches(colours: readonly string[]): HTMLElement {
  const parts = colours.map((colour) => {
    const part = h("span", { class: "swatch" });
    part.style.background = colour;
    return part;
  });
  return h("span", { class: "swatches", "aria-hidden": "true" }, ...parts);
}

/** Milliseconds between two readings while time is played. */
const READING = 100;

/** Does something at most so often; what was asked for last is done in any case. */
export class Seldom {
  private done = Number.NEGATIVE_INFINITY;
  private waiting = 0;

  constructor(private readonly act: () => void) {}

  ask(): void {
    if (this.waiting) return;
    const left = this.done + READING - performance.now();
    if (left <= 0) this.now();
    else this.waiting = window.setTimeout(() => this.now(), left);
  }

  now(): void {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.done = performance.now();
    this.act();
  }
}

/** Says something to those who cannot see it. */
export function announce(text: string): void {
  byId("announcement").textContent = text;
}
