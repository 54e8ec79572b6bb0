// The dialog that gives a link to what is shown, and the element that puts it into another page.

import type { Shown } from "../model/address";
import { announce, button, h } from "./dom";

export interface ShareHost {
  title: string;
  /** The address with what was chosen. */
  address: (more: Pick<Shown, "title" | "isEmbedded"> & { hasMoment: boolean }) => string;
}

export function share(host: ShareHost): void {
  const title = h("input", { id: "share-title", value: host.title, maxlength: 120, autocomplete: "off" });
  const moment = h("input", { id: "share-moment", type: "checkbox", checked: true });
  const link = h("textarea", { id: "share-link", readonly: true, rows: 3 });
  const frame = h("textarea", { id: "share-frame", readonly: true, rows: 4 });
  const fill = (): void => {
    const chosen = { title: title.value.trim() || null, hasMoment: moment.checked };
    link.value = host.address({ ...chosen, isEmbedded: false });
    const source = host.address({ ...chosen, isEmbedded: true }).replaceAll("&", "&amp;");
    const name = (chosen.title ?? "Sojourn's laboratory").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    frame.value = `<iframe src="${source}" title="${name}" width="100%" height="720" loading="lazy"></iframe>`;
  };
  const copy = (area: HTMLTextAreaElement, what: string): HTMLButtonElement => {
    const act = async (): Promise<void> => {
      try {
        await navigator.clipboard.writeText(area.value);
        made.textContent = "Copied";
        announce(`${what} is on the clipboard.`);
      } catch {
        area.select();
        announce(`${what} is selected: copy it.`);
      }
    };
    const made = button("Copy", () => void act(), { "aria-label": `Copy: ${what}` });
    return made;
  };
  title.addEventListener("input", fill);
  moment.addEventListener("change", fill);
  const dialog = h(
    "dialog",
    { id: "share", "aria-labelledby": "share-heading" },
    h("h2", { id: "share-heading" }, "A link to what is shown"),
    h("div", { class: "field" }, h("label", { for: "share-title" }, "Title"), title),
    h("div", { class: "field tick" }, moment, h("label", { for: "share-moment" }, "At this moment and speed")),
    h("div", { class: "field" }, h("label", { for: "share-link" }, "Link"), link),
    h("div", { class: "row" }, copy(link, "The link")),
    h("div", { class: "field" }, h("label", { for: "share-frame" }, "For a page of yours"), frame),
    h("div", { class: "row" }, copy(frame, "The frame"), h("button", { type: "button", click: () => dialog.close() }, "Close")),
  );
  dialog.addEventListener("close", () => dialog.remove());
  fill();
  document.body.append(dialog);
  dialog.showModal();
  link.focus();
  link.select();
}
