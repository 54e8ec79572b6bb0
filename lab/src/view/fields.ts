// Fields of the panel: a label, a text with a unit, often a slider beside it, and a line when what was written cannot be.

import { approximate, type Dimension, format, parse, Wrong } from "../model/units";
import { h } from "./dom";

let serial = 0;

/** A field: an input, and its label. */
function labelled(label: string, input: HTMLElement, ...more: HTMLElement[]): HTMLElement {
  serial += 1;
  input.id = `field-${serial}`;
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input, ...more);
}

/** A field whose value may be wrong, which is said below it. */
function checked(label: string, input: HTMLElement): { field: HTMLElement; problem: HTMLElement } {
  const problem = h("p", { class: "problem", role: "alert" });
  const field = labelled(label, input, problem);
  problem.id = `${input.id}-problem`;
  input.setAttribute("aria-describedby", problem.id);
  return { field, problem };
}

/** A text field whose text is read by `read`, which says what is wrong. */
export function textField(label: string, value: string, read: (text: string) => void, hint = ""): HTMLElement {
  const input = h("input", { value, type: "text", autocomplete: "off", spellcheck: "false", title: hint });
  const { field, problem } = checked(label, input);
  const take = (): void => {
    try {
      read(input.value);
      problem.textContent = "";
      input.removeAttribute("aria-invalid");
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      problem.textContent = error.message;
      input.setAttribute("aria-invalid", "true");
    }
  };
  input.addEventListener("change", take);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take();
  });
  return field;
}

export interface Scale {
  least: number;
  most: number;
}

/** A quantity: a slider over powers, and a text with its unit for what the slider does not say. */
export function quantityField(
  label: string,
  dimension: Dimension,
  value: number,
  scale: Scale,
  set: (value: number) => void,
  check: (value: number) => void = () => undefined,
): HTMLElement {
  const steps = 400;
  const span = Math.log(scale.most / scale.least);
  const toStep = (given: number): number => Math.round((steps * Math.log(Math.max(given, scale.least) / scale.least)) / span);
  const shown = (given: number): string => {
    const short = approximate(given, dimension);
    return parse(short, dimension) === given ? short : format(given, dimension);
  };
  const whole = textField(label, shown(value), (text) => {
    const read = parse(text, dimension);
    check(read);
    slider.value = String(toStep(read));
    set(read);
  });
  const slider = addSlider(whole, label, steps, toStep(value), (step) => {
    const rounded = Math.round(Number((scale.least * Math.exp((span * step) / steps)).toPrecision(2)));
    set(rounded);
    return shown(rounded);
  });
  return whole;
}

/** Puts a slider beside a text field; `moved` takes its step, and says what the text is then. */
export function addSlider(
  field: HTMLElement,
  label: string,
  steps: number,
  at: number,
  moved: (step: number) => string,
): HTMLInputElement {
  const input = field.querySelector("input") as HTMLInputElement;
  const slider = h("input", { type: "range", min: 0, max: steps, step: 1, "aria-label": `${label}, slider` });
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", input.value);
  slider.addEventListener("input", () => {
    input.value = moved(Number(slider.value));
    slider.setAttribute("aria-valuetext", input.value);
  });
  field.insertBefore(slider, field.lastChild);
  field.classList.add("with-slider");
  return slider;
}

/** A whole number from so many on. */
export function countField(label: string, value: number, least: number, most: number, set: (value: number) => void): HTMLElement {
  const input = h("input", { type: "number", min: least, max: most, value });
  const { field, problem } = checked(label, input);
  input.addEventListener("input", () => {
    const given = Number(input.value);
    const isRight = input.value !== "" && Number.isInteger(given) && given >= least && given <= most;
    problem.textContent = isRight ? "" : `a whole number from ${least} to ${most}`;
    input.toggleAttribute("aria-invalid", !isRight);
    if (isRight) set(given);
  });
  return field;
}

export interface Options {
  heading: string;
  options: { value: string; text: string }[];
}

export function choiceField(label: string, value: string, groups: Options[], set: (value: string) => void): HTMLElement {
  const made = ({ value: each, text }: { value: string; text: string }): HTMLOptionElement =>
    h("option", { value: each, selected: each === value }, text);
  const select = h(
    "select",
    {},
    ...groups.flatMap(({ heading, options }) =>
      heading ? [h("optgroup", { label: heading }, ...options.map(made))] : options.map(made),
    ),
  );
  select.addEventListener("change", () => set(select.value));
  return labelled(label, select);
}

export function tickField(label: string, value: boolean, set: (value: boolean) => void): HTMLElement {
  const input = h("input", { type: "checkbox", checked: value });
  input.addEventListener("change", () => set(input.checked));
  const field = labelled(label, input);
  field.classList.add("tick");
  field.prepend(input);
  return field;
}
