"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const axes = Object.keys(data.axes);
  const chosen = Object.fromEntries(axes.map((axis) => [axis, new Set(data.axes[axis])]));
  const narrow = matchMedia("(max-width: 700px)");

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // What is known of a value, on hover and on focus.
  const tip = document.getElementById("tip");
  let told = null;
  const placeTip = () => {
    const box = told.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left), innerWidth - tip.offsetWidth - 8);
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 0 ? above : box.bottom + 6}px`;
  };
  const hideTip = () => {
    if (told) told.removeAttribute("aria-describedby");
    told = null;
    tip.hidden = true;
  };
  const showTip = (target) => {
    hideTip();
    told = target;
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    target.setAttribute("aria-describedby", "tip");
    placeTip();
  };
  for (const [come, go] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
    document.addEventListener(come, (event) => {
      const target = event.target.closest("[data-tip]");
      if (target) showTip(target);
    });
    document.addEventListener(go, hideTip);
  }
  // What has the focus keeps its tip while it is scrolled into view.
  document.addEventListener("scroll", () => {
    if (told && told === document.activeElement) placeTip();
    else hideTip();
  }, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  // Tables of values: one stop of the Tab key each, arrow keys within.
  const visible = (target) => target.offsetParent !== null;
  const stops = (row) => all("[data-tip]", row).filter(visible);
  for (const table of all("[data-roving]")) {
    const first = table.querySelector("[data-tip]");
    if (first) first.tabIndex = 0;
    const settle = (target) => {
      for (const other of all("[data-tip][tabindex='0']", table)) other.tabIndex = -1;
      target.tabIndex = 0;
    };
    table.addEventListener("focusin", (event) => { if (event.target.dataset.tip) settle(event.target); });
    table.addEventListener("click", (event) => {
      const target = event.target.closest("[data-tip]");
      if (target) target.focus();
    });
    table.addEventListener("keydown", (event) => {
      const target = event.target.closest("[data-tip]");
      if (!target) return;
      const rows = all("tr", table).map(stops).filter((row) => row.length);
      const row = rows.findIndex((each) => each.includes(target));
      const column = rows[row].indexOf(target);
      const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] || [0, 0];
      const next = (rows[row + down] || [])[column + right];
      if (next) {
        event.preventDefault();
        next.focus();
      } else if (down || right) event.preventDefault();
    });
  }

  // Charts, each drawn when it comes into view. Their colours are the page's own, whatever they become.
  const theme = () => {
    const [ink, faint, line] = ["var(--ink)", "var(--faint)", "var(--line)"];
    return {
      background: "transparent", font: getComputedStyle(document.body).fontFamily,
      view: { stroke: line },
      axis: { labelColor: faint, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.6, labelSeparation: 6 },
      header: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
      legend: { labelColor: ink, symbolBaseFillColor: ink, symbolBaseStrokeColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", orient: "top", columns: narrow.matches ? 2 : 8, labelLimit: narrow.matches ? innerWidth / 2 - 60 : 160 },
      title: { color: ink },
      mark: { color: data.palette[0] }, line: { strokeWidth: 1.4 }, rule: { color: ink },
    };
  };
  // Rows of a table in CSV, whose columns are of such types.
  const rowsOf = (text, types) => {
    const lines = text.trimEnd().split("\n").map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    const [names, ...rows] = lines;
    const read = { number: (value) => value === "" ? null : Number(value), boolean: (value) => value === "true", string: (value) => value };
    return rows.map((row) => Object.fromEntries(names.map((name, place) => [name, read[types[name] || "string"](row[place])])));
  };
  const passes = (row, fields) => Object.entries(fields).every(([field, names]) => {
    const labels = names.length === 1 ? [row[field]] : String(row[field]).split(", ");
    return labels.length !== names.length || names.every((axis, place) => chosen[axis].has(labels[place]));
  });
  // Labels of an axis so wide that would run into each other stand aslant: the page's letters are larger than a figure's.
  const turn = (part, width) => {
    if (!part || typeof part !== "object") return;
    if (Array.isArray(part.sort) && part.axis && part.axis.labelAngle === 0) {
      const [longest, many] = [Math.max(...part.sort.map((label) => label.length)), part.sort.length];
      if ((longest * 6.5 + 6) * many > width) part.axis.labelAngle = -45;
    }
    for (const [key, inner] of Object.entries(part)) if (key !== "datasets") turn(inner, width);
  };
  const specification = (chart) => {
    const spec = structuredClone(chart.spec);
    delete spec.config;
    const choose = (part) => {
      if (!part || typeof part !== "object") return;
      if (part.data && part.data.name && part.data.format) {
        const { name, format } = part.data;
        spec.datasets[name] = rowsOf(chart.spec.datasets[name], format.parse).filter((row) => passes(row, chart.fields));
        delete part.data.format;
      }
      // A narrow screen has legends of its own.
      if (narrow.matches && part.legend) {
        delete part.legend.columns;
        delete part.legend.labelLimit;
      }
      for (const [key, inner] of Object.entries(part)) if (key !== "datasets") choose(inner);
    };
    choose(spec);
    // Panels as high as their axis needs for its title.
    if (spec.spec) spec.spec.height = Math.max(spec.spec.height, 205);
    if (narrow.matches && spec.columns) {
      spec.columns = 1;
      spec.spec.width = Math.min(innerWidth - 110, 320);
    }
    if (!spec.spec) spec.height = Math.max(spec.height, 200);
    if (narrow.matches && !spec.spec) spec.width = innerWidth - 120;
    turn(spec, (spec.spec || spec).width);
    return spec;
  };
  const embed = async (target, spec, label) => {
    const made = await window.vegaEmbed(target, spec, { actions: false, renderer: "svg", logLevel: 1, config: theme() });
    if (target.finalize) target.finalize();
    target.finalize = () => made.finalize();
    const svg = target.querySelector("svg");
    if (svg) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label); }
  };
  const draw = (target) => {
    target.stale = false;
    if (target.draw) target.draw();
    else embed(target, specification(data.charts[target.dataset.chart]), target.closest("figure").querySelector("figcaption").textContent);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      target.near = isIntersecting;
      if (isIntersecting && target.stale !== false) draw(target);
    }
  }, { rootMargin: "400px" });
  const charts = all("[data-chart]");
  for (const target of charts) seen.observe(target);
  const redraw = () => {
    for (const target of charts) {
      target.stale = true;
      if (target.near) draw(target);
    }
    showCell();
  };
  narrow.addEventListener("change", redraw);
  // Paper shows all that is there. All of drawing is promises without waiting, so it ends before the page is laid out.
  addEventListener("beforeprint", () => {
    for (const target of all(".drawn")) if (target.stale !== false) draw(target);
  });

  // One cell.
  const shown = document.getElementById("cell-shown");
  const choosers = all("[data-chooser]");
  let current = 0, unfolded = false;
  const table = (cell, places) => {
    const made = element("table", undefined, { class: "compared" });
    const head = element("tr");
    for (const text of ["metric", "mean over seeds", "95 % interval"]) head.append(element("th", text, { scope: "col" }));
    made.append(element("thead"));
    made.tHead.append(head);
    const body = element("tbody");
    places.forEach((place) => {
      const { title, unit } = data.metrics[place];
      const [mean, low, high] = cell.told[place];
      const row = element("tr");
      const suffix = unit ? `\u00a0${unit}` : "";
      row.append(element("th", title, { scope: "row" }));
      row.append(element("td", mean + suffix, { class: "number" }));
      row.append(element("td", low === undefined ? "none" : `${low} to ${high}${suffix}`, { class: "number" }));
      body.append(row);
    });
    made.append(body);
    return made;
  };
  const scaleOf = (lines, channel) => ({ domain: lines.map(({ name }) => name), range: lines.map((line) => line[channel]) });
  const overTime = ({ heading, lines }) => ({
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: Math.max(200, Math.min(shown.clientWidth - 80, 900)), height: 190,
    data: { values: lines.flatMap(({ name, times, values }) => times.map((time, place) => ({ time, value: values[place], line: name }))) },
    mark: { type: "line", clip: true, tooltip: true },
    encoding: {
      x: { field: "time", type: "quantitative", title: "Time (s)" },
      y: { field: "value", type: "quantitative", title: heading },
      color: { field: "line", type: "nominal", title: null, sort: null, scale: scaleOf(lines, "colour"), legend: { columns: narrow.matches ? 1 : 3, labelLimit: Math.min(320, innerWidth - 120) } },
      strokeDash: { field: "line", type: "nominal", title: null, sort: null, scale: scaleOf(lines, "dash") },
    },
  });
  const showCell = () => {
    const cell = data.cells[current];
    const name = axes.map((axis) => `${axis} ${cell.axes[axis]}`).join(", ");
    shown.replaceChildren(element("h3", name), element("p", cell.seeds, { class: "note" }));
    // Only what was measured of this cell, of which all but the main metrics are folded.
    const measured = data.metrics.map((_, place) => place).filter((place) => cell.told[place].length);
    const part = (label, places) => {
      const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label} of ${name}` });
      scroll.append(table(cell, places));
      return scroll;
    };
    shown.append(part("Main metrics", measured.filter((place) => data.metrics[place].main)));
    const others = measured.filter((place) => !data.metrics[place].main);
    if (others.length) {
      const folded = element("details", undefined, { class: "table" });
      folded.append(element("summary", `${others.length} more metrics`), part("Other metrics", others));
      folded.open = unfolded;
      folded.addEventListener("toggle", () => { unfolded = folded.open; });
      shown.append(folded);
    }
    const drawn = data.samples[current] || [];
    if (!drawn.length) {
      shown.append(element("p", "No samples over time: the scenario's [probe] has none.", { class: "note" }));
    }
    for (const chart of drawn) {
      const figure = element("figure", undefined, { class: "chart" });
      const rest = chart.left_out ? `; ${chart.left_out} more are not shown` : "";
      figure.append(element("figcaption", `${chart.heading} over time, seed ${cell.seed}${rest}`));
      const target = element("div", undefined, { class: "drawn" });
      figure.append(target);
      shown.append(figure);
      target.draw = () => embed(target, overTime(chart), `${chart.heading} over time, ${name}`);
      seen.observe(target);
    }
    for (const chooser of choosers) chooser.value = cell.axes[chooser.dataset.chooser];
  };
  // Of the cells that there are the one that has most of the chosen labels, that of the changed axis among them.
  const nearest = (axis) => {
    const wanted = Object.fromEntries(choosers.map((chooser) => [chooser.dataset.chooser, chooser.value]));
    const score = (cell) => axes.filter((each) => cell.axes[each] === wanted[each]).length;
    let best = current;
    data.cells.forEach((cell, number) => {
      const fits = cell.axes[axis] === wanted[axis];
      if (fits && (data.cells[best].axes[axis] !== wanted[axis] || score(cell) > score(data.cells[best]))) best = number;
    });
    return best;
  };
  for (const chooser of choosers) {
    chooser.addEventListener("change", () => { current = nearest(chooser.dataset.chooser); showCell(); });
  }
  for (const field of all("[data-cell]")) {
    // Here and not in the page, which has thousands of them.
    field.setAttribute("aria-label", `${field.dataset.tip}. Show this cell.`);
    field.addEventListener("click", () => {
      current = Number(field.dataset.cell);
      showCell();
      hideTip();
      document.getElementById("cell").scrollIntoView();
      if (choosers[0]) choosers[0].focus({ preventScroll: true });
    });
  }
  showCell();

  // Filters: what has a label of an axis that is not chosen is not shown.
  const boxes = all("[data-axis]");
  const filtered = document.getElementById("filtered");
  const placed = all("[data-where]").map((target) => [target, Object.entries(JSON.parse(target.dataset.where))]);
  const apply = () => {
    for (const axis of axes) chosen[axis] = new Set(data.axes[axis]);
    for (const box of boxes) if (!box.checked) chosen[box.dataset.axis].delete(box.dataset.label);
    for (const [target, where] of placed) {
      target.hidden = where.some(([axis, label]) => chosen[axis] && data.axes[axis].includes(label) && !chosen[axis].has(label));
    }
    const left = data.cells.filter((cell) => axes.every((axis) => chosen[axis].has(cell.axes[axis]))).length;
    filtered.textContent = left === data.cells.length ? `all ${left} cells` : `${left} of ${data.cells.length} cells`;
    redraw();
  };
  for (const box of boxes) box.addEventListener("change", apply);
  const unfilter = document.getElementById("unfilter");
  if (unfilter) unfilter.addEventListener("click", () => { for (const box of boxes) box.checked = true; apply(); });

  // Which rows and which claims are shown.
  const differing = document.getElementById("differing");
  if (differing) {
    differing.addEventListener("click", () => {
      const only = differing.getAttribute("aria-pressed") !== "true";
      differing.setAttribute("aria-pressed", String(only));
      for (const row of all("#tables tbody tr")) row.classList.toggle("agreeing", only && !("differs" in row.dataset));
    });
  }
  const verdicts = all("button[data-verdict]");
  for (const button of verdicts) {
    button.addEventListener("click", () => {
      for (const other of verdicts) other.setAttribute("aria-pressed", String(other === button));
      for (const claim of all("li[data-verdict]")) claim.hidden = Boolean(button.dataset.verdict) && claim.dataset.verdict !== button.dataset.verdict;
    });
  }
  const tabs = all("[role=tab]");
  const select = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      select(next);
      next.focus();
    });
  });
})();
