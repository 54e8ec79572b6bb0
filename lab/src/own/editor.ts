// The dialog in which an algorithm is written.

import type { Own } from "../model/setting";
import { h } from "../view/dom";
import type { Declaration } from "./hooks";
import { TEMPLATE } from "./template";

export interface EditorHost {
  own: readonly Own[];
  declare: (name: string, text: string) => Promise<Declaration | string>;
  /** Keeps an algorithm, and uses it in a group of flows. */
  keep: (own: Own) => void;
}

export function editOwn(host: EditorHost): void {
  const first = host.own[0] ?? { name: "mine", text: TEMPLATE };
  const name = h("input", { id: "own-name", value: first.name, autocomplete: "off", spellcheck: "false" });
  const area = h("textarea", { id: "own-text", rows: 24, spellcheck: "false", "aria-describedby": "own-problem" });
  area.value = first.text;
  const problem = h("p", { id: "own-problem", class: "problem", role: "alert" });
  const dialog = h("dialog", { id: "own", "aria-labelledby": "own-title" });
  const use = async (): Promise<void> => {
    const given = name.value.trim();
    if (!/^[a-z][a-z0-9_]{0,30}$/.test(given)) {
      problem.textContent = "The name is that of a file: small letters, digits and underscores, the first a letter.";
      return;
    }
    const found = await host.declare(given, area.value);
    problem.textContent = typeof found === "string" ? found : "";
    if (typeof found === "string") return;
    host.keep({ name: given, text: area.value });
    dialog.close();
  };
  area.addEventListener("keydown", (event) => {
    // Tab leaves the field, as keyboards alone need it; two spaces are what Enter puts before a line.
    if (event.key !== "Enter") return;
    const line = area.value.slice(0, area.selectionStart).split("\n").pop() ?? "";
    const indent = `\n${/^ */.exec(line)?.[0] ?? ""}${/\{\s*$/.test(line) ? "  " : ""}`;
    event.preventDefault();
    area.setRangeText(indent, area.selectionStart, area.selectionEnd, "end");
  });
  dialog.append(
    h("h2", { id: "own-title" }, "Write an algorithm"),
    h(
      "p",
      {},
      "A congestion control in JavaScript, over the same hooks as a file in Python: increase, on_congestion and more. Times are in seconds, sizes in bytes, rates in bits per second. ",
      h("a", { href: "your-own-algorithm.html", target: "_blank", rel: "noopener" }, "What each is shown"),
      ".",
    ),
    h("div", { class: "field" }, h("label", { for: "own-name" }, "Name"), name),
    h("div", { class: "field" }, h("label", { for: "own-text" }, "Text"), area),
    problem,
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", class: "primary", click: () => void use() }, "Run it"),
      h("button", { type: "button", class: "quiet", click: () => dialog.close() }, "Close"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.setSelectionRange(0, 0);
}
