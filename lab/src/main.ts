// The laboratory: what is set by hand runs at once, and is shown.

import { Client } from "./engine/client";
import type { Answer } from "./engine/protocol";
import { applyChanges, fromHash, type Shown, toHash } from "./model/address";
import { type Algorithm, type Catalogue, defaults, find } from "./model/catalogue";
import { differences, inWords } from "./model/changes";
import { affordable, estimate, learn, MOST_MEMORY, PATIENCE, packets } from "./model/estimate";
import type { Step } from "./model/lessons";
import { summarise } from "./model/numbers";
import { problemOfSetting } from "./model/problems";
import { fromToml } from "./model/reading";
import { toToml } from "./model/scenario";
import { SCENES, type Scene } from "./model/scenes";
import { Seeds } from "./model/seeds";
import type { Own, Setting, State } from "./model/setting";
import { controlOf, specify, withInside } from "./model/specification";
import type { Cell } from "./model/sweep";
import { Wrong } from "./model/units";
import { editOwn } from "./own/editor";
import { Charts, type Sides } from "./view/charts";
import { Data } from "./view/data";
import { announce, button, byId, h, onScheme } from "./view/dom";
import { know } from "./view/figures";
import { panel } from "./view/panel";
import { Playback } from "./view/playback";
import { share } from "./view/share";
import { Stage } from "./view/stage";
import { lookAt, lookAway, type StoryHost, tellStory } from "./view/story";
import { byGroup, tiles } from "./view/tiles";
import { Tries } from "./view/tries";

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
/** Changes that follow each other within so many ms are one step back. */
const SETTLED = 800;

class Lab {
  private state: State;
  /** The scene that is shown, or was changed; its step; and a title of the user's. */
  private scene: Scene | null = null;
  private step = 0;
  private title: string | null = null;
  private isEmbedded = false;
  /** The file of the setting, if there is more in it. */
  private file: StoryHost["file"] = null;
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
  private readonly tries = new Tries((hash) => this.goTo(hash));
  /** When the address was last set. */
  private kept = Number.NEGATIVE_INFINITY;

  constructor(engine: ArrayBuffer, worker: string) {
    const first = SCENES[0] as Scene;
    this.state = structuredClone(first.state);
    this.scene = first;
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
    addEventListener("popstate", () => {
      if (location.hash !== this.hash) this.open();
    });
    addEventListener("keydown", (event) => {
      const writes =
        event.target instanceof Element && event.target.matches("textarea, input:not([type=range], [type=checkbox])");
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || writes) return;
      event.preventDefault();
      this.undo();
    });
    byId("undo").addEventListener("click", () => this.undo());
    onScheme(() => {
      this.rebuild();
      this.draw();
    });
    new ResizeObserver(() => this.showMoment(this.playback.time ?? 0, this.playback.speed)).observe(byId("stages"));
    const presets = byId<HTMLElement>("presets");
    for (const scene of SCENES) {
      presets.append(button(scene.title, () => this.choose(scene), { class: "preset", "data-preset": scene.id }));
    }
    byId("share").addEventListener("click", () => this.share());
    byId("copy-scenario").addEventListener("click", () => this.copyScenario());
    byId("open-file").addEventListener("click", () => byId("file").click());
    const input = byId<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      const [file] = input.files ?? [];
      void file?.text().then((text) => this.take(file.name, text));
      input.value = "";
    });
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer?.files ?? [];
      void file?.text().then((text) => this.take(file.name, text));
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
    this.openGiven();
    if (this.scene) this.open();
  }

  /** Shows what the address says, or the first scene. What of it cannot be shown is told. */
  private open(): void {
    if (!this.catalogue) return;
    this.say("");
    const shown = fromHash(location.hash, this.catalogue, SCENES);
    this.hash = location.hash;
    if (shown) {
      const { state, time, speed, problem } = shown;
      const scene = SCENES.find(({ id }) => id === shown.scene) ?? null;
      if (scene !== this.scene) this.step = 0;
      Object.assign(this, { state, scene, title: shown.title, isEmbedded: shown.isEmbedded, file: null });
      this.trusts = state.own.every((own) => this.declared.get(own.name)?.text === own.text);
      if (!state.b) this.edited = "A";
      this.moveTo(time ?? scene?.time ?? null, speed ?? scene?.speed ?? null);
      this.opened = problem ? "" : this.address();
      if (problem) this.say(problem);
    }
    this.kept = Number.NEGATIVE_INFINITY;
    document.body.classList.toggle("embedded", this.isEmbedded);
    if (!this.trusts) return this.askForTrust();
    this.begin();
  }

  /** Shows the scenario that `sojourn lab` has put into the page, if it has. */
  private openGiven(): void {
    const given = byId("given");
    if (!given.textContent || location.hash !== "") return;
    const { name, text } = JSON.parse(given.textContent) as { name: string; text: string };
    this.take(name, text);
  }

  /** Moves to a moment and a speed; null is where they are, or as usual. */
  private moveTo(time: number | null, speed: number | null): void {
    if (time !== null) this.playback.time = time;
    if (speed !== null) this.playback.pacedAt(speed);
  }

  /** Shows an address, as if a link to it had been followed. */
  private goTo(hash: string): void {
    history.pushState({ depth: this.depth + 1 }, "", hash);
    this.open();
  }

  /** How many steps back there are in this page. */
  private get depth(): number {
    const state: unknown = history.state;
    return typeof state === "object" && state !== null && "depth" in state ? Number(state.depth) : 0;
  }

  private undo(): void {
    if (this.depth > 0) history.back();
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
      button("Leave it", () => this.choose(SCENES[0] as Scene)),
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

  private choose(scene: Scene): void {
    this.step = 0;
    this.playback.time = null;
    this.show(scene);
    announce(`${scene.title}. ${scene.story}`);
  }

  /** Shows a scene, or what a step makes of it. */
  private show(scene: Scene, step: Step | null = null): void {
    if (!this.catalogue) return;
    this.say("");
    const own = this.state.own.filter((one) => this.declared.has(one.name));
    this.trusts = true;
    this.state = { ...structuredClone(scene.state), own };
    Object.assign(this, { scene, title: null, file: null });
    const { changes = {} } = step ?? {};
    applyChanges(this.state, changes, this.catalogue, (problem) => this.say(problem));
    this.edited = Object.keys(changes).some((key) => key.startsWith("b.")) ? "B" : "A";
    this.moveTo(step?.time ?? scene.time ?? null, step?.speed ?? scene.speed ?? 1);
    this.asked = {};
    this.kept = Number.NEGATIVE_INFINITY;
    this.rebuild();
    this.run();
    if (step) lookAt(step.part);
    else lookAway();
  }

  private settingOf(side: Side): Setting | null {
    return side === "A" ? this.state.a : this.state.b;
  }

  private get settingEdited(): Setting {
    return this.settingOf(this.edited) ?? this.state.a;
  }

  /** What is set has changed, and what there is to set as well. */
  private rebuilt(): void {
    this.kept = Number.NEGATIVE_INFINITY;
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
        rebuilt: () => this.rebuilt(),
        writeOwn: () => this.writeOwn(setting),
        seeds: this.seeds,
        takeSeeds: (count) => this.takeSeeds(count),
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

  /** The story of the scene, and what was changed in it. */
  private tell(): void {
    const { scene, title, step } = this;
    for (const button of document.querySelectorAll("#presets button")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-preset") === scene?.id));
    }
    document.title = `${title ?? scene?.title ?? "Laboratory"} – Sojourn`;
    tellStory({
      scene,
      title,
      changes: this.changes(),
      file: this.file,
      step,
      go: (to) => {
        this.step = to;
        this.tell();
        byId("story").querySelector<HTMLElement>(".step .do")?.focus();
      },
      apply: (to) => scene && this.show(scene, to),
      reset: () => scene && this.show(scene),
      whole: this.isEmbedded ? this.address({ isEmbedded: false }) : null,
    });
  }

  /** What was changed in the scene, in words; null if that is more than values. */
  private changes(): string[] | null {
    const { scene, state, catalogue } = this;
    if (!scene || !catalogue) return [];
    if (this.state.own.some((own) => [state.a, state.b].some((of) => of?.groups.some((each) => each.tcp.name === own.name))))
      return null;
    const words: string[] = [];
    for (const side of ["a", "b"] as const) {
      const before = scene.state[side] ?? (state[side] ? scene.state.a : null);
      const after = state[side];
      if (!before || !after) {
        if (before) words.push("without B");
        continue;
      }
      if (!scene.state[side]) words.push("with a second setting, B");
      const found = differences(before, after, catalogue);
      if (!found) return null;
      const name = state.b ? `${side.toUpperCase()}: ` : "";
      words.push(...found.map((each) => name + inWords(each, before, after)));
    }
    return words;
  }

  /** Something was set by hand. Changes of one frame are one. */
  private changed(): void {
    this.say("");
    this.asked = {};
    document.body.dataset["state"] = "running";
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.run();
    });
  }

  /** How many seeds each side is run with, from its own on. */
  private seeds = 1;

  private takeSeeds(count: number): void {
    this.seeds = count;
    for (const [side] of this.settings()) {
      const { data } = this.sides[side];
      if (data) data.seeds = null;
      this.runSeeds(side);
    }
    this.schedule();
  }

  /** The other seeds of a side whose own run is over. */
  private runSeeds(side: Side): void {
    const { data, client, specification, isCurrent } = this.sides[side];
    if (this.seeds < 2 || !isCurrent || !data?.summary) return;
    // The packets of its own run come first.
    if (!data.packets && packets(data.setting) < MOST_TRACED) return;
    data.seeds = new Seeds();
    data.seeds.add(data.queue, data.summary);
    client.seeds(
      specification,
      Array.from({ length: this.seeds - 1 }, (_, place) => data.setting.seed + place + 1),
    );
  }

  /** The address as this page has set it, or as it was opened; and what this page would have set instead. */
  private hash = "";
  private opened = "";

  private run(): void {
    if (!this.catalogue || !this.trusts) return;
    if (document.body.dataset["state"] === "wrong") document.body.dataset["state"] = "running";
    // Both sides have one seed: what differs is what was set.
    const { a, b } = this.state;
    if (b) a.seed = b.seed = (this.edited === "B" ? b : a).seed;
    this.tell();
    this.keep();
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

  /** The address of what is shown, with a moment or a title if they are wanted. */
  private address(more: Partial<Shown> = {}): string {
    if (!this.catalogue) return "";
    const { state, scene, title, isEmbedded } = this;
    return toHash({ state, scene: scene?.id ?? null, title, isEmbedded, ...more }, this.catalogue, SCENES);
  }

  /** Puts what is shown into the address. Changes that follow each other quickly, as those of a slider, are one step back. */
  private keep(): void {
    const hash = this.address();
    const now = performance.now();
    // The address of a link stays as it is until something is changed.
    if (hash !== this.hash && hash !== this.opened) {
      const isOpening = this.hash === "";
      if (now - this.kept < SETTLED || isOpening) history.replaceState(history.state, "", hash);
      else history.pushState({ depth: this.depth + 1 }, "", hash);
      // What a page opens with is a step of its own, however soon something is changed.
      this.kept = isOpening ? Number.NEGATIVE_INFINITY : now;
      this.hash = hash;
      this.opened = "";
    }
    byId<HTMLButtonElement>("undo").disabled = this.depth === 0;
  }

  private runSide(side: Side, setting: Setting, running: Running): void {
    if (!this.catalogue) return;
    const problem = problemOfSetting(
      setting,
      this.catalogue,
      this.state.own.map((own) => own.name),
    );
    if (problem) return this.cannotRun(running, `Setting ${side} cannot be run: ${problem}`);
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

  /** Says why a setting does not run, and dims the picture, which is of another. */
  private cannotRun(running: Running, why: string): void {
    running.specification = "";
    running.isCurrent = false;
    running.client.stop();
    document.body.dataset["state"] = "wrong";
    this.say(why);
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
        this.rebuilt();
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
        data.summary = summarise(answer.numbers, setting.warm_up / 1e12, setting.duration / 1e12);
        learn(setting, answer.seconds);
        performance.mark(`sojourn:done-${side}`);
        this.keepTry();
        if (packets(setting) < MOST_TRACED) running.client.trace(running.specification);
        else this.runSeeds(side);
        break;
      }
      case "packets":
        if (running.data) Object.assign(running.data, { packets: answer.packets, groups: answer.groups });
        this.runSeeds(side);
        break;
      case "seed":
        // One that is late is of a request before.
        if (running.data?.seeds && answer.seed === setting.seed + running.data.seeds.count)
          running.data.seeds.add(answer.queue, summarise(answer.numbers, setting.warm_up / 1e12, setting.duration / 1e12));
        break;
      case "failed":
        return this.cannotRun(running, `Setting ${side}: ${answer.problem}`);
      default:
        return;
    }
    this.schedule();
  }

  /** Adds what is shown to the table of tries, once it is known of all sides. */
  private keepTry(): void {
    const sides = this.settings().flatMap(([side]) => {
      const { data, isCurrent } = this.sides[side];
      return isCurrent && data?.numbers && data.summary ? [{ side, summary: data.summary }] : [];
    });
    if (sides.length < this.settings().length) return;
    const title = this.title ?? this.scene?.title ?? "Your own setting";
    this.tries.add({ hash: this.address(), title, changes: this.changes()?.join("; ") ?? "other flows, or an algorithm", sides });
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
    if (document.body.dataset["state"] === "wrong") return;
    document.body.dataset["seeds"] = String(Math.min(...all.map(({ data }) => data?.seeds?.count ?? 1)));
    document.body.dataset["state"] = is((data) => data.packets) ? "traced" : is((data) => data.numbers) ? "done" : "running";
  }

  private showMoment(time: number, speed: number): void {
    for (const [side] of this.settings()) this.sides[side].stage.draw(time, speed);
    this.charts.at(this.sides.A.data ? time : null);
  }

  private share(): void {
    const { scene, title } = this;
    share({
      title: title ?? scene?.title ?? "",
      address: ({ title: given, isEmbedded, hasMoment }) => {
        const { time, speed } = this.playback;
        const moment = hasMoment ? { time, speed } : {};
        const page = location.href.replace(/#.*$/s, "");
        return page + this.address({ title: given === scene?.title ? null : given, isEmbedded, ...moment });
      },
    });
  }

  /** What is shown, for those who test. */
  shown(): State {
    return this.state;
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

  /** Shows a scenario, of a sweep one cell; what is wrong with it is told, and all stays as it is. */
  private take(name: string, text: string, cell: Cell | null = null): void {
    if (!this.catalogue) return;
    try {
      const opened = fromToml(text, this.catalogue, cell);
      if (this.edited === "B" && this.state.b) this.state.b = opened.setting;
      else this.state.a = opened.setting;
      const choose = (other: Cell): void => this.take(name, text, other);
      const file = opened.choices.length || opened.note ? { name, opened, choose } : null;
      Object.assign(this, { scene: null, title: name, file });
      this.playback.time = null;
      this.rebuilt();
      announce(`${name} is shown.`);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.say(`${name}: ${error.message}`);
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
          this.rebuilt();
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
