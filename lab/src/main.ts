// The laboratory: what is set by hand runs at once, and is shown.

import { Client } from "./engine/client";
import type { Answer } from "./engine/protocol";
import { fromHash, toHash } from "./model/address";
import { type Algorithm, type Catalogue, defaults, find } from "./model/catalogue";
import { affordable, estimate, learn, MOST_MEMORY, PATIENCE, packets } from "./model/estimate";
import { summarise } from "./model/numbers";
import { PRESETS, type Preset } from "./model/presets";
import { problemOfSetting } from "./model/problems";
import { fromToml } from "./model/reading";
import { toToml } from "./model/scenario";
import type { Own, Setting, State } from "./model/setting";
import { controlOf, specify, withInside } from "./model/specification";
import { Wrong } from "./model/units";
import { editOwn } from "./own/editor";
import { Charts, type Sides } from "./view/charts";
import { Data } from "./view/data";
import { announce, button, byId, h, onScheme } from "./view/dom";
import { know } from "./view/figures";
import { panel } from "./view/panel";
import { Playback } from "./view/playback";
import { Stage } from "./view/stage";
import { byGroup, tiles } from "./view/tiles";

type Side = "A" | "B";

interface Running {
  client: Client;
  stage: Stage;
  specification: string;
  data: Data | null;
  /** Whether what is shown is of the setting as it is now. */
  isCurrent: boolean;
}

/** Packets of longer runs are not kept. */
const MOST_TRACED = 3e6;

class Lab {
  private state: State;
  private preset: Preset | null = null;
  private edited: Side = "A";
  private catalogue: Catalogue | null = null;
  private readonly declared = new Map<string, { text: string; algorithm: Algorithm }>();
  /** Whether the user has agreed to run what a link brought. */
  private trusts = true;
  private readonly sides: Record<Side, Running>;
  private readonly playback: Playback;
  private readonly charts: Charts;
  private pending = 0;
  private drawing = 0;
  private asked: Partial<Record<Side, boolean>> = {};

  constructor(engine: ArrayBuffer, worker: string) {
    const first = PRESETS[0] as Preset;
    this.state = structuredClone(first.state);
    this.preset = first;
    const side = (name: Side): Running => ({
      client: new Client(worker, {
        answered: (answer) => this.answered(name, answer),
        ready: (catalogue) => this.ready(catalogue),
      }),
      stage: new Stage(byId<HTMLCanvasElement>(`stage-${name.toLowerCase()}`)),
      specification: "",
      data: null,
      isCurrent: false,
    });
    this.sides = { A: side("A"), B: side("B") };
    this.playback = new Playback((time, speed) => this.showMoment(time, speed));
    this.charts = new Charts(byId("charts"), (time) => this.playback.seek(time));
    this.sides.A.client.start(engine);
    this.listen();
  }

  private listen(): void {
    addEventListener("hashchange", () => {
      if (location.hash !== this.hash) this.open();
    });
    onScheme(() => {
      this.rebuild();
      this.draw();
    });
    new ResizeObserver(() => this.showMoment(this.playback.time ?? 0, this.playback.speed)).observe(byId("stages"));
    const presets = byId<HTMLElement>("presets");
    for (const preset of PRESETS) {
      presets.append(button(preset.title, () => this.choose(preset), { class: "preset", "data-preset": preset.id }));
    }
    byId("copy-link").addEventListener("click", () => void this.give(location.href, "The link", byId("copy-link")));
    byId("copy-scenario").addEventListener("click", () => this.copyScenario());
    byId("open-file").addEventListener("click", () => byId("file").click());
    const input = byId<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      void this.take(input.files?.[0]);
      input.value = "";
    });
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      void this.take(event.dataTransfer?.files[0]);
    });
    byId("compare").addEventListener("click", () => {
      this.state.b = this.state.b ? null : structuredClone(this.state.a);
      this.edited = this.state.b ? "B" : "A";
      this.rebuild();
      this.run();
    });
    byId("edit-a").addEventListener("click", () => this.edit("A"));
    byId("edit-b").addEventListener("click", () => this.edit("B"));
  }

  private edit(side: Side): void {
    this.edited = side;
    this.rebuild();
  }

  /** The engine is there: its catalogue says what there is to choose. */
  private ready(catalogue: Catalogue): void {
    if (this.catalogue) return;
    this.catalogue = catalogue;
    know(catalogue);
    this.open();
  }

  /** Shows what the address says, or the first preset. */
  private open(): void {
    if (!this.catalogue) return;
    this.say("");
    try {
      const state = fromHash(location.hash, this.catalogue);
      if (state) {
        this.state = state;
        this.preset = PRESETS.find((preset) => JSON.stringify(preset.state) === JSON.stringify(state)) ?? null;
        this.trusts = state.own.length === 0;
        this.edited = "A";
      }
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.say(error.message);
    }
    if (!this.trusts) return this.askForTrust();
    this.begin();
  }

  /** Shows and runs what is set, once the algorithms of the page are known. */
  private begin(): void {
    void this.declareAll().then(() => {
      this.rebuild();
      this.run();
    });
  }

  private askForTrust(): void {
    const agree = (): void => {
      this.trusts = true;
      this.say("");
      this.begin();
    };
    this.say(
      "This link brings an algorithm in JavaScript, written by whoever made the link. Read it, and run it only if you trust it.",
      button("Run it", agree),
      button("Leave it", () => this.choose(PRESETS[0] as Preset)),
      h("details", {}, h("summary", {}, "Its text"), ...this.state.own.map((own) => h("pre", { tabindex: 0 }, own.text))),
    );
  }

  /** Reads the algorithms of the page that are new. */
  private async declareAll(): Promise<void> {
    for (const own of this.state.own) {
      if (this.declared.get(own.name)?.text === own.text) continue;
      const found = await this.sides.A.client.declare(own.name, own.text);
      if (typeof found === "string") this.say(found);
      this.declared.set(own.name, { text: own.text, algorithm: algorithmOf(own.name, typeof found === "string" ? null : found) });
    }
  }

  private readonly declaredOf = (own: Own): Algorithm => this.declared.get(own.name)?.algorithm ?? algorithmOf(own.name, null);

  private choose(preset: Preset): void {
    this.trusts = true;
    const own = this.state.own;
    this.state = structuredClone(preset.state);
    this.state.own = own.filter((one) => this.declared.has(one.name));
    this.preset = preset;
    this.edited = "A";
    this.playback.time = null;
    this.say("");
    this.rebuild();
    this.run();
    announce(`${preset.title}. ${preset.story}`);
  }

  private settingOf(side: Side): Setting | null {
    return side === "A" ? this.state.a : this.state.b;
  }

  private get settingEdited(): Setting {
    return this.settingOf(this.edited) ?? this.state.a;
  }

  /** What is set has changed otherwise than by hand. */
  private show(): void {
    this.rebuild();
    this.changed();
  }

  private settings(): [Side, Setting][] {
    return [["A", this.state.a], ...(this.state.b ? [["B", this.state.b] as [Side, Setting]] : [])];
  }

  /** The panel and what surrounds it, made anew. The field that was used keeps the focus. */
  private rebuild(): void {
    if (!this.catalogue) return;
    const focused = document.activeElement instanceof HTMLElement ? labelOf(document.activeElement) : "";
    const open = [...document.querySelectorAll<HTMLDetailsElement>("#panel details")].map((each) => each.open);
    if (!this.state.b) this.edited = "A";
    const setting = this.settingEdited;
    const catalogue = this.catalogue;
    byId("panel").replaceChildren(
      ...panel(setting, {
        catalogue,
        own: () => this.state.own,
        controlOf: (each) => controlOf(each, catalogue, this.state.own, this.declaredOf),
        changed: () => this.changed(),
        rebuilt: () => this.show(),
        writeOwn: () => this.writeOwn(setting),
      }),
    );
    const details = [...document.querySelectorAll<HTMLDetailsElement>("#panel details")];
    if (details.length === open.length) details.forEach((each, index) => (each.open = open[index] ?? false));
    if (focused)
      [...byId("panel").querySelectorAll<HTMLElement>("input, select, button, summary")]
        .find((each) => labelOf(each) === focused)
        ?.focus();
    const two = this.state.b !== null;
    document.body.classList.toggle("two", two);
    byId("compare").textContent = two ? "Close B" : "Compare A | B";
    byId("sides").hidden = !two;
    byId("stage-b-side").hidden = !two;
    byId("edit-a").setAttribute("aria-pressed", String(this.edited === "A"));
    byId("edit-b").setAttribute("aria-pressed", String(this.edited === "B"));
    this.tell();
  }

  /** The story of the preset, as long as its setting is the one that is shown. */
  private tell(): void {
    const preset = this.preset;
    for (const button of document.querySelectorAll("#presets button")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-preset") === preset?.id));
    }
    const story = byId("story");
    if (!preset) {
      story.replaceChildren(
        h("h2", {}, "Your own setting"),
        h("p", {}, "Its address is a link: whoever opens it sees what you see."),
      );
      return;
    }
    story.replaceChildren(
      h("h2", {}, preset.title),
      h("p", {}, preset.story),
      h("p", { class: "source" }, h("a", { href: preset.paper.link, rel: "noopener" }, preset.paper.text)),
    );
  }

  /** Something was set by hand. Changes of one frame are one. */
  private changed(): void {
    if (this.preset && !sameNetwork(this.preset.state, this.state)) {
      this.preset = null;
      this.tell();
    }
    this.say("");
    this.asked = {};
    document.body.dataset["state"] = "running";
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.run();
    });
  }

  private hash = "";

  private run(): void {
    if (!this.catalogue || !this.trusts) return;
    // Both sides have one seed: what differs is what was set.
    const { a, b } = this.state;
    if (b) a.seed = b.seed = (this.edited === "B" ? b : a).seed;
    this.hash = toHash(this.state);
    history.replaceState(null, "", this.hash);
    for (const side of ["A", "B"] as const) {
      const setting = this.settingOf(side);
      const running = this.sides[side];
      if (!setting) {
        if (running.data) running.client.stop();
        Object.assign(running, { data: null, specification: "", isCurrent: false });
        continue;
      }
      this.runSide(side, setting, running);
    }
    this.schedule();
  }

  private runSide(side: Side, setting: Setting, running: Running): void {
    if (!this.catalogue) return;
    const problem = problemOfSetting(
      setting,
      this.catalogue,
      this.state.own.map((own) => own.name),
    );
    if (problem) return this.say(`Setting ${side} cannot be run: ${problem}`);
    const specification = JSON.stringify(withInside(specify(setting, this.catalogue, this.state.own, this.declaredOf)));
    if (specification === running.specification && running.data) return;
    const seconds = estimate(setting);
    if (seconds > PATIENCE && !this.asked[side]) return this.offerLess(side, setting, seconds);
    // The other side's engine is made, of the same module, when there is another side.
    if (!running.client.isStarted && this.sides.A.client.module) running.client.start(this.sides.A.client.module);
    running.specification = specification;
    running.isCurrent = false;
    performance.mark(`sojourn:run-${side}`);
    running.client.run(specification, MOST_MEMORY);
  }

  private offerLess(side: Side, setting: Setting, seconds: number): void {
    const shorter = affordable(setting);
    const many = Math.round(packets(setting) / 1e5) / 10;
    const long = seconds > 90 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds)} s`;
    this.say(
      `Setting ${side} has about ${many} million packets, which take about ${long} here.`,
      button("Run it", () => {
        this.asked[side] = true;
        this.say("");
        this.run();
      }),
      button(`Run ${shorter / 1e12} s of it`, () => {
        setting.duration = shorter;
        if (setting.warm_up >= shorter) setting.warm_up = Math.floor(shorter / 5);
        for (const each of setting.groups) {
          if ((each.start ?? 0) >= shorter) each.start = null;
          if ((each.stop ?? 0) >= shorter) each.stop = null;
        }
        this.show();
      }),
    );
  }

  private answered(side: Side, answer: Answer & { run: number }): void {
    const running = this.sides[side];
    const setting = this.settingOf(side);
    if (!setting || !this.catalogue) return;
    switch (answer.kind) {
      case "samples": {
        if (!running.isCurrent) {
          const before = running.data;
          const { name, parameters } = setting.bottleneck.queue;
          const usual = defaults(find(this.catalogue.queues, name)?.parameters ?? []);
          running.data = new Data(structuredClone(setting), { ...usual, ...parameters });
          // The numbers of before stay until there are new ones.
          if (before) Object.assign(running.data, { summary: before.summary, sojourns: before.sojourns });
          running.isCurrent = true;
        }
        running.data?.add(answer.told);
        if (running.data) running.data.reached = Math.min(answer.reached, running.data.seconds);
        break;
      }
      case "done": {
        const data = running.data;
        if (!data) return;
        data.numbers = answer.numbers;
        data.sojourns = answer.sojourns;
        data.summary = summarise(answer.numbers, (setting.duration - setting.warm_up) / 1e12);
        learn(setting, answer.seconds);
        performance.mark(`sojourn:done-${side}`);
        if (packets(setting) < MOST_TRACED) running.client.trace(running.specification);
        break;
      }
      case "packets":
        if (running.data) Object.assign(running.data, { packets: answer.packets, groups: answer.groups });
        break;
      case "failed":
        running.specification = "";
        this.say(`Setting ${side}: ${answer.problem}`);
        break;
      default:
        return;
    }
    this.schedule();
  }

  private schedule(): void {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  private draw(): void {
    const sides: Sides = {};
    for (const [side] of this.settings()) {
      const data = this.sides[side].data;
      if (data) sides[side] = data;
    }
    if (!sides.A || (this.state.b && !sides.B)) return;
    this.charts.draw(sides);
    byId("numbers").replaceChildren(
      tiles(sides.A, this.state.b ? sides.B : undefined),
      byGroup(sides.A, "A", this.state.b !== null),
      ...(sides.B ? [byGroup(sides.B, "B", true)] : []),
    );
    for (const [side] of this.settings()) {
      const { data, stage } = this.sides[side];
      if (data) stage.show(data);
    }
    this.playback.over(Math.max(...Object.values(sides).map((data) => data.seconds)));
    const all = this.settings().map(([side]) => this.sides[side]);
    const is = (what: (data: Data) => unknown): boolean =>
      !this.pending && all.every(({ data, isCurrent }) => isCurrent && data && what(data));
    // What is shown is of what was set last.
    if (is(() => true)) performance.mark("sojourn:drawn");
    document.body.dataset["state"] = is((data) => data.packets) ? "traced" : is((data) => data.numbers) ? "done" : "running";
  }

  private showMoment(time: number, speed: number): void {
    for (const [side] of this.settings()) this.sides[side].stage.draw(time, speed);
    this.charts.at(this.sides.A.data ? time : null);
  }

  /** One sentence at the top, or none. */
  private say(text: string, ...more: Node[]): void {
    byId("notice").replaceChildren(...(text ? [h("p", {}, text), ...more] : []));
  }

  private async give(text: string, what: string, button: HTMLElement): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      const before = button.textContent;
      button.textContent = "Copied";
      announce(`${what} is on the clipboard.`);
      setTimeout(() => (button.textContent = before), 1500);
    } catch {
      this.showText(what, text);
    }
  }

  private showText(what: string, text: string): void {
    const area = h("textarea", { readonly: true, rows: 12, "aria-label": what });
    area.value = text;
    this.say(`${what}, to be copied by hand:`, area);
    area.select();
  }

  /** When frames were drawn, for those who measure. */
  frames(): readonly number[] {
    return this.playback.frames;
  }

  /** The TOML of the setting that is edited. */
  scenario(): string {
    if (!this.catalogue) return "";
    return toToml(this.settingEdited, this.catalogue, this.state.own, this.declaredOf);
  }

  private copyScenario(): void {
    void this.give(this.scenario(), "The scenario", byId("copy-scenario"));
  }

  private async take(file: File | undefined): Promise<void> {
    if (!file || !this.catalogue) return;
    try {
      const setting = fromToml(await file.text(), this.catalogue);
      if (this.edited === "B" && this.state.b) this.state.b = setting;
      else this.state.a = setting;
      this.preset = null;
      this.playback.time = null;
      this.show();
      announce(`${file.name} is shown.`);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.say(`${file.name}: ${error.message}`);
    }
  }

  private writeOwn(setting: Setting): void {
    editOwn({
      own: this.state.own,
      declare: (name, text) => this.sides.A.client.declare(name, text),
      keep: (own) => {
        this.state.own = [...this.state.own.filter((one) => one.name !== own.name), own];
        void this.declareAll().then(() => {
          const first = setting.groups[0];
          if (first && !setting.groups.some((each) => each.tcp.name === own.name)) first.tcp = { name: own.name, parameters: {} };
          this.show();
        });
      },
    });
  }
}

function labelOf(element: HTMLElement): string {
  const label =
    element instanceof HTMLInputElement || element instanceof HTMLSelectElement
      ? element.labels?.[0]?.textContent
      : element.textContent;
  const group = element.closest("section.group")?.getAttribute("aria-label") ?? "";
  return `${element.tagName} ${element.getAttribute("aria-label") ?? label ?? ""} ${group}`;
}

function algorithmOf(name: string, declaration: { title: string; parameters: Algorithm["parameters"] } | null): Algorithm {
  const { title = "", parameters = [] } = declaration ?? {};
  return { name, aliases: [], title, class: "own", year: null, source: "", deviations: "", random: null, parameters };
}

/** Whether two states are the same but for the algorithms that they may name. */
function sameNetwork(a: State, b: State): boolean {
  return JSON.stringify([a.a, a.b]) === JSON.stringify([b.a, b.b]);
}

async function engineBytes(): Promise<ArrayBuffer> {
  const text = byId("engine").textContent ?? "";
  const packed = Uint8Array.from(atob(text.trim()), (each) => each.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function begin(): Promise<void> {
  const needed = { WebAssembly: "WebAssembly", Worker: "workers", DecompressionStream: "DecompressionStream" };
  const missing = Object.entries(needed).find(([name]) => !(name in globalThis))?.[1];
  if (missing)
    throw new Wrong(
      `The laboratory needs ${missing}, which this browser does not have or has turned off. The same runs are made by "sojourn run" on the command line.`,
    );
  const worker = URL.createObjectURL(new Blob([byId("worker").textContent ?? ""], { type: "text/javascript" }));
  const lab = new Lab(await engineBytes(), worker);
  Object.assign(window, { lab });
}

begin().catch((error: unknown) => {
  byId("notice").replaceChildren(
    h("p", {}, error instanceof Wrong ? error.message : `The laboratory could not start: ${String(error)}`),
  );
});
