// The map of the atlas: a matrix of pairs, and what is known of the one that is chosen. Its data is `window.sojournAtlas`.
(() => {
  const data = window.sojournAtlas;
  const root = document.getElementById("atlas");
  if (!data || !root) return;
  const HOLDS = "H", FINE = "F", OPEN = "U", NONE = "-";
  const SAID = { [HOLDS]: "holds", [FINE]: "does not hold", [OPEN]: "undecided", [NONE]: "not asked" };
  const LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";
  const chosen = { landmark: data.landmarks[0].name, beside: "alone", verdict: "", tcp: "", queue: "" };

  const make = (tag, attributes = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  };
  const landmark = () => data.landmarks.find((each) => each.name === chosen.landmark);
  const verdictOf = (id) => data.verdicts.findIndex((each) => each.id === id);

  // CUBIC is beside nobody but itself, so its pairs are only alone.
  const cellOf = (tcp, queue) => {
    const values = data.cells[chosen.landmark][`${tcp}/${queue}/${tcp === "cubic" ? "alone" : chosen.beside}`];
    return values && Object.fromEntries(data.fields.map((name, index) => [name, values[index]]));
  };

  const agreement = (cell, index) => {
    const [here, there] = [cell.states[index], cell.kernel ? cell.kernel.states[index] : NONE];
    if (here === NONE || there === NONE) return "";
    if (here === OPEN || there === OPEN) return "undecided";
    return here === there ? "same" : "differs";
  };

  /** What a cell shows: a sign, a class, and words for those who do not see it. */
  const shown = (cell) => {
    if (!cell) return ["", "none", "not run"];
    const all = data.verdicts.map((_, index) => index);
    const asked = chosen.verdict ? [verdictOf(chosen.verdict)] : all;
    const having = (state) => asked.filter((index) => cell.states[index] === state);
    const [holds, open] = [having(HOLDS), having(OPEN)];
    const kernel = asked.map((index) => agreement(cell, index));
    const mark = kernel.includes("differs") ? " ≠" : kernel.includes("same") ? " =" : "";
    const words = kernel.includes("differs") ? ", the kernel differs" : kernel.includes("same") ? ", the kernel agrees" : "";
    if (chosen.verdict) {
      const [index] = asked;
      const value = cell.values[index];
      const number = value === null ? "" : ` ${value}`;
      const state = cell.states[index];
      const sign = { [HOLDS]: "✗", [FINE]: "✓", [OPEN]: "?", [NONE]: "·" }[state];
      const look = { [HOLDS]: "holds", [FINE]: "fine", [OPEN]: "open", [NONE]: "none" }[state];
      return [state === NONE ? sign : `${sign}${number}${mark}`, look, `${SAID[state]}${number}${words}`];
    }
    const names = holds.map((index) => data.verdicts[index].title.toLowerCase()).join(", ");
    if (holds.length) return [`✗ ${holds.length}${mark}`, "holds", `${names}${words}`];
    if (open.length) return [`?${mark}`, "open", `undecided${words}`];
    return [`✓${mark}`, "fine", `get along${words}`];
  };

  const select = (label, name, options) => {
    const box = make("select", { id: `atlas-${name}` });
    for (const [value, text] of options) box.append(make("option", { value }, text));
    box.value = chosen[name];
    box.addEventListener("change", () => {
      chosen[name] = box.value;
      draw();
    });
    return make("label", {}, label, document.createElement("br"), box);
  };

  const matrix = () => {
    const queues = data.queues.filter((queue) => data.tcps.some((tcp) => cellOf(tcp, queue)));
    const table = make("table", { class: "map" });
    const head = make("tr", {}, make("th", { scope: "col" }, "tcp \\ queue"));
    for (const queue of queues) head.append(make("th", { scope: "col" }, queue));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    for (const tcp of data.tcps) {
      const row = make("tr", {}, make("th", { scope: "row" }, tcp));
      for (const queue of queues) {
        const cell = cellOf(tcp, queue);
        const [sign, look, words] = shown(cell);
        const isChosen = tcp === chosen.tcp && queue === chosen.queue;
        const button = make(
          "button",
          { type: "button", class: look, "aria-pressed": String(isChosen), "aria-label": `${sign} ${tcp} behind ${queue}: ${words}`, title: `${tcp} behind ${queue}: ${words}` },
          sign,
        );
        button.disabled = !cell;
        button.addEventListener("click", () => {
          [chosen.tcp, chosen.queue] = [tcp, queue];
          draw();
          root.querySelector('button[aria-pressed="true"]')?.focus();
        });
        row.append(make("td", {}, button));
      }
      body.append(row);
    }
    table.append(body);
    table.addEventListener("keydown", move);
    return make("div", { class: "wide" }, table);
  };

  /** Arrow keys go from pair to pair. */
  const move = (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row || event.target.tagName !== "BUTTON") return;
    event.preventDefault();
    const column = [...row.children].indexOf(event.target.closest("td"));
    const rows = [...row.parentElement.children];
    rows[rows.indexOf(row) + step[0]]?.children[column + step[1]]?.querySelector("button")?.focus();
  };

  const curve = (cell) => {
    const [width, height, left, bottom] = [560, 150, 46, 20];
    const at = (index) => left + ((width - left - 4) * index) / (cell.curve.length - 1);
    const up = (letter) => height - bottom - ((height - bottom - 12) * LEVELS.indexOf(letter)) / (LEVELS.length - 1);
    const points = [...cell.curve].map((letter, index) => `${at(index).toFixed(1)},${up(letter).toFixed(1)}`).join(" ");
    const words = `The queue over time: at most ${cell.most} ms, over ${cell.duration} s`;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("class", "queue");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", words);
    svg.innerHTML =
      `<polyline points="${points}" fill="none" stroke="currentColor" stroke-width="1.5"/>` +
      `<path d="M${left} 8V${height - bottom}H${width - 4}" fill="none" stroke="currentColor" stroke-width="0.5"/>` +
      `<g fill="currentColor" font-size="11"><text x="${left - 4}" y="16" text-anchor="end">${cell.most}</text>` +
      `<text x="${left - 4}" y="${height - bottom}" text-anchor="end">0 ms</text>` +
      `<text x="${width - 4}" y="${height - 5}" text-anchor="end">${cell.duration} s</text></g>`;
    return make("figure", {}, svg, make("figcaption", {}, "Means of sixtieths of the first seed's run, in the time in which the link sends what is queued"));
  };

  const filled = (text, beside) =>
    text.replaceAll("@tcp", chosen.tcp).replaceAll("@queue", chosen.queue).replaceAll("@beside", beside === "cubic" ? "cubic" : chosen.tcp);

  const laboratory = (setting, beside) => {
    const state = filled(JSON.stringify(setting), beside);
    const text = btoa(String.fromCharCode(...new TextEncoder().encode(state)));
    return `laboratory.html#v2.${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
  };

  const pair = () => {
    const box = make("section", { class: "pair", "aria-live": "polite" });
    const cell = chosen.tcp && cellOf(chosen.tcp, chosen.queue);
    if (!cell) {
      box.append(make("p", {}, "Choose a pair to see its verdicts."));
      return box;
    }
    const here = landmark();
    const beside = chosen.tcp === "cubic" ? "alone" : chosen.beside;
    const company = beside === "cubic" ? "beside CUBIC" : "alone";
    box.append(make("h3", {}, `${chosen.tcp} behind ${chosen.queue}, ${company}: ${here.title}`));
    const head = make("tr");
    for (const name of ["verdict", "holds if", "simulator", "value", "seeds", ...(cell.kernel ? [cell.kernel.name, "value", "together"] : [])]) {
      head.append(make("th", { scope: "col" }, name));
    }
    const body = make("tbody");
    data.verdicts.forEach((each, index) => {
      const number = (value) => make("td", { class: "number" }, value === null || value === undefined ? "" : String(value));
      const state = cell.states[index];
      const row = make("tr", {}, make("th", { scope: "row" }, each.title), make("td", {}, `${each.tells} ${each.bound}`));
      row.append(make("td", {}, SAID[state]), number(cell.values[index]), number(state === NONE ? "" : `${cell.held[index]}/${cell.seeds}`));
      if (cell.kernel) {
        row.append(make("td", {}, SAID[cell.kernel.states[index]]), number(cell.kernel.values[index]), make("td", {}, agreement(cell, index)));
      }
      body.append(row);
    });
    box.append(make("div", { class: "wide" }, make("table", {}, make("thead", {}, head), body)));
    box.append(make("p", {}, data.metrics.map((name, index) => `${name} ${cell.metrics[index] ?? "–"}`).join(", "), "."));
    box.append(curve(cell));
    const narrowed = `--landmark ${chosen.landmark} --tcp ${chosen.tcp} --queue ${chosen.queue} --beside ${beside}`;
    box.append(make("p", {}, "Ask again:"), make("pre", {}, make("code", {}, `sojourn atlas ${narrowed} --out DIR`)));
    const text = filled(here.templates[chosen.queue] ?? here.templates[""], beside);
    box.append(make("details", {}, make("summary", {}, "The scenario, for sojourn run"), make("pre", {}, make("code", {}, text))));
    const setting = here.labs[chosen.queue] ?? here.labs[""];
    if (setting && data.hasLaboratory) {
      box.append(make("p", {}, make("a", { href: laboratory(setting, beside) }, "Open it in the laboratory")));
    }
    return box;
  };

  const draw = () => {
    const here = landmark();
    const controls = make("div", { class: "controls" });
    controls.append(
      select("Landmark", "landmark", data.landmarks.map((each) => [each.name, each.title])),
      select("Company", "beside", [["alone", "alone"], ["cubic", "beside CUBIC"]]),
      select("Verdict", "verdict", [["", "all: how many hold"], ...data.verdicts.map((each) => [each.id, each.title])]),
    );
    const about = make("p", {}, `${here.about}. `, make("small", {}, `${here.source}.${here.scaled ? ` Scaled: ${here.scaled}.` : ""}`));
    const focused = document.activeElement?.id;
    root.replaceChildren(controls, about, matrix(), pair());
    if (focused) document.getElementById(focused)?.focus();
    history.replaceState(null, "", `#${new URLSearchParams(chosen)}`);
  };

  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in chosen) chosen[name] = value;
  }
  if (!landmark()) chosen.landmark = data.landmarks[0].name;
  if (chosen.verdict && verdictOf(chosen.verdict) < 0) chosen.verdict = "";
  draw();
})();
