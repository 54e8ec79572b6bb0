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
  /** The title of a verdict within a sentence; abbreviations stay as they are. */
  const spoken = ({ title }) => (/^[A-Z]{2}/.test(title) ? title : title[0].toLowerCase() + title.slice(1));
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
    const names = holds.map((index) => spoken(data.verdicts[index])).join(", ");
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

  /** The maps of ranges: a file of their own, which is loaded when a pair that may have some is chosen. */
  let isLoading = false;
  const maps = (beside) => {
    if (window.sojournRanges) return window.sojournRanges.maps[chosen.landmark]?.[`${chosen.tcp}/${chosen.queue}/${beside}`];
    if (!isLoading) {
      isLoading = true;
      const script = make("script", { src: document.querySelector('script[src$="data.js"]').src.replace("data.js", "ranges.js") });
      script.addEventListener("load", () => draw());
      document.head.append(script);
    }
    return undefined;
  };

  const NAMES = { "flows-buffer": "Flows by buffer", "rate-delay": "Rate by delay" };
  const MOST_COLOURS = 6;
  /** The levels of a map's digits: the border, and the ends of its 95 % interval, in standard deviations. */
  const BORDER = 0, ENDS = [-1.96, 1.96], DEVIATIONS = 3;

  /** A map: fields of what holds, each with a letter, the border, and its interval. */
  const range = (plane, values) => {
    const map = Object.fromEntries(window.sojournRanges.fields.map((name, index) => [name, values[index]]));
    const { x, y } = window.sojournRanges.planes[chosen.landmark][plane];
    const [across, up] = [x.numbers.length, y.numbers.length];
    const [left, top, wide, high] = [44, 6, 210, 168];
    const holds = [...map.cells.matchAll(/([A-Za-z])(\d+)/g)].flatMap(([, letter, count]) => Array(Number(count)).fill(letter));
    const levels = [...map.levels].map((digit) => (2 * LEVELS.indexOf(digit) / (LEVELS.length - 1) - 1) * DEVIATIONS);
    const letters = [...new Set(holds)];
    const sets = Object.fromEntries(
      [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"].slice(0, map.sets.length).map((letter, index) => [
        letter,
        [...map.sets[index]].map((digit) => spoken(data.verdicts[LEVELS.indexOf(digit)])).join(", "),
      ]),
    );
    const bad = letters.filter((letter) => sets[letter]).sort();
    const called = (letter) => String.fromCharCode(65 + bad.indexOf(letter));
    const share = (letter) => `${Math.round((100 * holds.filter((each) => each === letter).length) / holds.length)} %`;
    const well = letters.find((letter) => !sets[letter]);
    const at = (column) => left + (wide * (column + 0.5)) / across;
    const over = (row) => top + high - (high * (row + 0.5)) / up;
    const drawn = [];
    for (let row = 0; row < up; row += 1) {
      for (let column = 0, end; column < across; column = end) {
        const letter = holds[row * across + column];
        for (end = column + 1; end < across && holds[row * across + end] === letter; end += 1);
        if (letter === well) continue;
        const [width, height] = [(wide * (end - column)) / across, high / up];
        drawn.push(
          `<rect class="set${Math.min(bad.indexOf(letter), MOST_COLOURS)}" x="${(at(column) - wide / across / 2).toFixed(1)}"` +
            ` y="${(over(row) - height / 2).toFixed(1)}" width="${(width + 0.1).toFixed(1)}" height="${(height + 0.1).toFixed(1)}"/>`,
        );
      }
    }
    const line = (level, look) => drawn.push(`<path class="${look}" d="${contour(levels, across, up, level, at, over)}"/>`);
    ENDS.forEach((level) => line(level, "interval"));
    line(BORDER, "border");
    bad.forEach((letter) => {
      const [column, row] = deepest(holds, across, up, letter);
      drawn.push(`<text class="name" x="${at(column).toFixed(1)}" y="${(over(row) + 4).toFixed(1)}">${called(letter)}</text>`);
    });
    const ticks = (numbers) => [...numbers.keys()].filter((index) => numbers.length < 10 || index % 4 === 0);
    for (const index of ticks(x.numbers)) {
      drawn.push(`<text x="${at(index).toFixed(1)}" y="${top + high + 12}" text-anchor="middle">${x.numbers[index]}</text>`);
    }
    for (const index of ticks(y.numbers)) {
      drawn.push(`<text x="${left - 4}" y="${(over(index) + 3.5).toFixed(1)}" text-anchor="end">${y.numbers[index]}</text>`);
    }
    drawn.push(
      `<rect class="frame" x="${left}" y="${top}" width="${wide}" height="${high}"/>`,
      `<text x="${left + wide / 2}" y="${top + high + 26}" text-anchor="middle">${x.title}</text>`,
      `<text transform="rotate(-90)" x="${-top - high / 2}" y="10" text-anchor="middle">${y.title}</text>`,
    );
    const parts = bad.map((letter) => `${sets[letter]} ${share(letter)}`);
    const words = [`gets along on ${well ? share(well) : "0 %"} of the map`, ...parts].join("; ");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${left + wide + 10} ${top + high + 32}`);
    svg.setAttribute("class", "range");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${NAMES[plane]}: ${words}`);
    svg.innerHTML = drawn.join("");
    const legend = make("ul", {}, make("li", {}, `gets along: ${well ? share(well) : "nowhere"}`));
    for (const letter of bad) {
      const swatch = make("b", { class: `set${Math.min(bad.indexOf(letter), MOST_COLOURS)}` }, called(letter));
      legend.append(make("li", {}, swatch, ` ${sets[letter]}: ${share(letter)}`));
    }
    return make("figure", {}, make("figcaption", {}, `${NAMES[plane]}, ${map.runs} runs`), svg, legend);
  };

  /** The place of a field that is farthest from what is none of it; of several the one in the middle. */
  const deepest = (holds, across, up, letter) => {
    let [best, most] = [[], 0];
    for (let row = 0; row < up; row += 1) {
      for (let column = 0; column < across; column += 1) {
        if (holds[row * across + column] !== letter) continue;
        let depth = Math.min(row + 1, up - row, column + 1, across - column) ** 2;
        for (let other = 0; other < holds.length; other += 1) {
          if (holds[other] === letter) continue;
          depth = Math.min(depth, (Math.floor(other / across) - row) ** 2 + ((other % across) - column) ** 2);
        }
        if (depth > most) [best, most] = [[], depth];
        if (depth === most) best.push([column, row]);
      }
    }
    return best[best.length >> 1];
  };

  /** Where values on a grid cross a level, as a path: a line through each square of four places, by interpolation. */
  const contour = (values, across, up, level, at, over) => {
    const parts = [];
    for (let row = 0; row + 1 < up; row += 1) {
      for (let column = 0; column + 1 < across; column += 1) {
        const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([right, above]) => [column + right, row + above]);
        const value = ([right, above]) => values[above * across + right] - level;
        const crossed = corners.flatMap((here, index) => {
          const there = corners[(index + 1) % 4];
          const [before, after] = [value(here), value(there)];
          if (before > 0 === after > 0) return [];
          const part = before / (before - after);
          return [[here[0] + part * (there[0] - here[0]), here[1] + part * (there[1] - here[1])]];
        });
        for (let index = 0; index + 1 < crossed.length; index += 2) {
          const [[x1, y1], [x2, y2]] = crossed.slice(index, index + 2);
          parts.push(`M${at(x1).toFixed(1)} ${over(y1).toFixed(1)}L${at(x2).toFixed(1)} ${over(y2).toFixed(1)}`);
        }
      }
    }
    return parts.join("");
  };

  const ranges = (beside) => {
    const found = data.mapped.includes(chosen.landmark) && maps(beside);
    if (!found) return [];
    const planes = Object.entries(found).map(([plane, values]) => range(plane, values));
    const told =
      "Where around the landmark the pair gets along, and what holds elsewhere. Solid: the border; dashed: its 95 % interval, all by a model of the runs. Flows are those of each half.";
    return [make("h4", {}, "Range"), make("div", { class: "ranges" }, ...planes), make("p", {}, make("small", {}, told))];
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
    box.append(curve(cell), ...ranges(beside));
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
