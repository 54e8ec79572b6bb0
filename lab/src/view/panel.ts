// What is set by hand: the bottleneck, the flows, and every parameter of what is chosen for them, as the catalogue lists them.

import {
  type Algorithm,
  type Catalogue,
  defaults,
  find,
  isRateBased,
  ownDefaults,
  type Parameter,
  type Values,
} from "../model/catalogue";
import { DURATIONS, MOST_FLOWS, MOST_GROUPS, RATES } from "../model/keys";
import { chosen, freeName, type Group, isName, isUpward, type Own, roundTrip, type Setting, senderOf } from "../model/setting";
import {
  allowed,
  approximate,
  DURATION,
  format,
  formatLimit,
  formatValue,
  parse,
  parseLength,
  RATE,
  readValue,
  SIZE,
  Wrong,
} from "../model/units";
import { coloursOfGroup } from "./colours";
import { button, h, swatches } from "./dom";
import { addSlider, choiceField, countField, type Options, quantityField, textField, tickField } from "./fields";

const CLASSES: Record<string, string> = {
  loss: "by loss",
  hybrid: "by loss and delay",
  delay: "by delay",
  model: "by a model of the path",
  marks: "by marks",
  rate: "sources without a window",
  passive: "passive",
  aqm: "active queue management",
  scheduler: "schedulers",
};

/** Bytes of a transfer that arrives, where nothing else was said. */
const USUAL_SIZE = 50_000;

/** Values, each with its text, under no heading. */
function plain(options: readonly (readonly [value: string, text: string])[]): Options[] {
  return [{ heading: "", options: options.map(([value, text]) => ({ value, text })) }];
}

const ECN = plain([
  ["", "as the stack"],
  ["off", "off"],
  ["classic", "classic (RFC 3168)"],
  ["accurate", "accurate"],
]);

const SEEDS = plain([
  ["1", "one"],
  ["5", "5 seeds, as a band"],
  ["20", "20 seeds, as a band"],
]);

function byClass(entries: readonly Algorithm[]): Options[] {
  const classes = [...new Set(entries.map((entry) => entry.class))];
  return classes.map((each) => ({
    heading: CLASSES[each] ?? each,
    options: entries
      .filter((entry) => entry.class === each)
      .map(({ name, title }) => ({ value: name, text: title && title.toLowerCase() !== name ? `${name} – ${title}` : name })),
  }));
}

export interface PanelHost {
  catalogue: Catalogue;
  own: () => readonly Own[];
  controlOf: (each: Group) => Algorithm;
  /** Something was set: run again. */
  changed: () => void;
  /** What there is to set has changed as well. */
  rebuilt: () => void;
  writeOwn: () => void;
  /** How many seeds are run. */
  seeds: number;
  takeSeeds: (count: number) => void;
}

export function panel(of: Setting, host: PanelHost): HTMLElement[] {
  return [bottleneck(of, host), flows(of, host), run(of, host)];
}

/** What a field does with its value, and what is to be done then. */
function then<T>(next: () => void, take: (value: T) => void): (value: T) => void {
  return (value) => {
    take(value);
    next();
  };
}

function within([least, most]: readonly [number, number], dimension: typeof RATE): (value: number) => void {
  return (value) => {
    if (value < least || value > most)
      throw new Wrong(`from ${approximate(least, dimension)} to ${approximate(most, dimension)}`);
  };
}

function bottleneck(of: Setting, host: PanelHost): HTMLElement {
  const centre = of.bottleneck;
  const discipline = find(host.catalogue.queues, centre.queue.name);
  const rate = quantityField(
    "Rate",
    RATE,
    centre.rate,
    { least: 1e6, most: 1e9 },
    then(host.changed, (value) => (centre.rate = value)),
    within(RATES, RATE),
  );
  const takeQueue = (name: string): void => {
    const found = find(host.catalogue.queues, name);
    if (found) centre.queue = chosen(found, of);
    if (hasEcn(of) && takesEcn(name, host.catalogue)) centre.queue.parameters["ecn"] = true;
    host.rebuilt();
  };
  const ecn = tickField("ECN: mark instead of dropping", hasEcn(of), (on) => {
    for (const { stack } of [of, ...of.groups]) delete stack["ecn"];
    delete centre.queue.parameters["ecn"];
    if (on) {
      of.stack["ecn"] = "classic";
      if (takesEcn(centre.queue.name, host.catalogue)) centre.queue.parameters["ecn"] = true;
    }
    host.rebuilt();
  });
  const loss = textField("Random loss, %", String(100 * centre.loss), (text) => {
    const value = Number(text.trim().replace(/%$/, ""));
    if (text.trim() === "" || !(value >= 0 && value <= 100)) throw new Wrong("from 0 to 100");
    centre.loss = value / 100;
    host.changed();
  });
  const policer = textField(
    "Policer: rate, burst",
    centre.policer ? `${format(centre.policer.rate, RATE)}, ${format(centre.policer.burst, SIZE)}` : "none",
    (text) => {
      if (["", "none"].includes(text.trim())) centre.policer = null;
      else {
        const [rateText = "", burst] = text.split(",");
        if (burst === undefined) throw new Wrong('write "none" or a rate and a burst, such as "10 Mbit/s, 25 kB"');
        const policed = { rate: parse(rateText, RATE), burst: parse(burst, SIZE) };
        within(RATES, RATE)(policed.rate);
        if (policed.burst < 1) throw new Wrong("the burst is at least 1 B");
        centre.policer = policed;
      }
      host.changed();
    },
  );
  return h(
    "fieldset",
    { class: "card" },
    h("legend", {}, "Bottleneck"),
    rate,
    buffer(of, host),
    choiceField("Queue discipline", centre.queue.name, byClass(host.catalogue.queues), takeQueue),
    discipline ? parameters(discipline, centre.queue.parameters, defaults(discipline.parameters), host) : null,
    ecn,
    h("details", {}, h("summary", {}, "Loss, policer, way back"), loss, policer, ...wayBack(of, host)),
  );
}

function hasEcn(of: Setting): boolean {
  const marks = (stack: Setting["stack"]): boolean => stack["ecn"] === "classic" || stack["ecn"] === "accurate";
  return marks(of.stack) || of.groups.every((each) => marks(each.stack));
}

function takesEcn(queue: string, known: Catalogue): boolean {
  return find(known.queues, queue)?.parameters.some((each) => each.name === "ecn" && each.kind === "boolean") ?? false;
}

function buffer(of: Setting, host: PanelHost): HTMLElement {
  const centre = of.bottleneck;
  const field = textField(
    "Buffer",
    centre.limit === null ? "none" : formatLimit(centre.limit),
    (text) => {
      centre.limit = text.trim() === "none" ? null : parseLength(text, "limit");
      host.changed();
    },
    '"100 packets", "64 KiB", "2 BDP", or "none" for no limit',
  );
  const packets = centre.limit && "packets" in centre.limit ? centre.limit.packets : 100;
  addSlider(field, "Buffer in packets", 300, Math.round(100 * Math.log10(packets / 3)), (step) => {
    centre.limit = { packets: Math.round(Math.max(1, Number((3 * 10 ** (step / 100)).toPrecision(2)))) };
    host.changed();
    return formatLimit(centre.limit);
  });
  return field;
}

/** A host like that of a group, with a name of its own. */
function addSender(of: Setting, like: Group): string {
  const name = freeName(
    "sender",
    of.senders.map((each) => each.name),
  ).replace(" ", "");
  of.senders.push({ ...senderOf(of, like), name });
  return name;
}

/** The queue of the way back, and how much it holds. */
function wayBack(of: Setting, host: PanelHost): HTMLElement[] {
  const centre = of.bottleneck;
  const back = centre.reverse_queue;
  const disciplines = [...plain([["", "no limit, not measured"]]), ...byClass(host.catalogue.queues)];
  const take = (name: string): void => {
    const found = find(host.catalogue.queues, name);
    centre.reverse_queue = found ? { queue: chosen(found, of), limit: back?.limit ?? { packets: 100 } } : null;
    host.rebuilt();
  };
  const queue = choiceField("Queue of the way back", back?.queue.name ?? "", disciplines, take);
  if (!back) return [queue];
  const limit = textField("Its buffer", back.limit === null ? "none" : formatLimit(back.limit), (text) => {
    back.limit = text.trim() === "none" ? null : parseLength(text, "limit");
    host.changed();
  });
  return [queue, limit];
}

function flows(of: Setting, host: PanelHost): HTMLElement {
  const groups = of.groups.map((each, index) => group(of, each, index, host));
  const addFlows = (): void => {
    const last = of.groups[of.groups.length - 1];
    if (!last) return;
    const sender = of.links ? last.from : addSender(of, last);
    const name = freeName(
      "flows",
      of.groups.map((each) => each.group),
    );
    of.groups.push({ ...structuredClone(last), group: name, from: sender, to: of.links ? last.to : null, count: 1 });
    host.rebuilt();
  };
  const add = button("Add flows", addFlows, { disabled: of.groups.length >= MOST_GROUPS });
  const write = button("Write an algorithm", host.writeOwn);
  return h("fieldset", { class: "card" }, h("legend", {}, "Flows"), ...groups, h("div", { class: "row" }, add, write));
}

function controls(host: PanelHost): Options[] {
  const own = host.own().map(({ name }) => ({ value: name, text: `${name} – written here` }));
  return [...(own.length ? [{ heading: "your own", options: own }] : []), ...byClass(host.catalogue.congestion_controls)];
}

/** The times of a group: what each is called, its key, what is written where it is not set, and what is wrong with one. */
const TIMES: [
  label: string,
  key: "start" | "start_within" | "stop",
  none: string,
  fault: (at: number, of: Group) => string | false,
][] = [
  ["Start", "start", "at random", (at, { stop }) => stop !== null && at >= stop && "earlier than the stop"],
  ["Starts spread over", "start_within", "the usual", () => false],
  ["Stop", "stop", "never", (at, { start }) => at <= (start ?? 1e12) && "later than the start"],
];

function timesOf(of: Setting, each: Group, host: PanelHost): HTMLElement[] {
  return TIMES.map(([label, key, none, fault]) =>
    textField(label, each[key] === null ? none : format(each[key], DURATION), (text) => {
      const at = ["", none].includes(text.trim()) ? null : parse(text, DURATION);
      if (at !== null && (at < 0 || at >= of.duration)) throw new Wrong(`from 0 s to less than ${format(of.duration, DURATION)}`);
      const wrong = at !== null && fault(at, each);
      if (wrong) throw new Wrong(wrong);
      each[key] = at;
      host.changed();
    }),
  );
}

/** How much each flow sends, and whether flows arrive by themselves. */
function amountsOf(of: Setting, each: Group, { changed: run, rebuilt: changed }: PanelHost): HTMLElement[] {
  const { arrivals } = each;
  const size = textField("Data of each flow", each.size === null ? "without end" : format(each.size, SIZE), (text) => {
    const value = ["", "without end"].includes(text.trim()) ? null : parse(text, SIZE);
    if (value !== null && (value < 1 || value > 1e12)) throw new Wrong("from 1 B to 1 TB");
    if (value === null && arrivals) throw new Wrong("flows that arrive by themselves end");
    each.size = value;
    run();
  });
  const every = arrivals?.load != null ? `load ${arrivals.load * 100} %` : arrivals ? `${arrivals.rate} a second` : "no";
  const hint = 'no, or at random times: "5 a second", or "load 20 %" of the bottleneck';
  const arrive = textField(
    "Flows arrive by themselves",
    every,
    (text) => {
      const [, load] = /^load\s+([\d.]+)\s*%$/.exec(text.trim()) ?? [];
      const [, rate] = /^([\d.]+)\s*(?:a second|\/\s*s)$/.exec(text.trim()) ?? [];
      if (["", "no"].includes(text.trim())) each.arrivals = null;
      else if (load !== undefined && Number(load) >= 0.1 && Number(load) <= 1000)
        each.arrivals = { process: "poisson", load: Number(load) / 100, rate: null };
      else if (rate !== undefined && Number(rate) >= 0.001 && Number(rate) <= 10_000)
        each.arrivals = { process: "poisson", load: null, rate: Number(rate) };
      else throw new Wrong(`write ${hint}`);
      if (each.arrivals) Object.assign(each, { count: 1, start_within: null, size: each.size ?? USUAL_SIZE });
      changed();
    },
    hint,
  );
  const upward = tickField("Upload: data go from the receiver to this host", isUpward(of, each), () => {
    const host = senderOf(of, each).name;
    Object.assign(each, isUpward(of, each) ? { from: host, to: null } : { from: of.receiver.name, to: host });
    changed();
  });
  return of.links ? [size, arrive] : [size, arrive, upward];
}

function group(of: Setting, each: Group, index: number, host: PanelHost): HTMLElement {
  const control = host.controlOf(each);
  const profile = find(host.catalogue.profiles, of.profile);
  const isOwn = host.own().some((one) => one.name === each.tcp.name);
  const usual = { ...defaults(control.parameters), ...(profile && !isOwn ? ownDefaults(profile, control.name, "control") : {}) };
  const sender = of.links ? null : senderOf(of, each);
  const fixed = 2 * (of.bottleneck.delay + of.receiver.delay);
  const removeFlows = (): void => {
    of.groups.splice(index, 1);
    of.senders = of.senders.filter((one) => of.groups.some((other) => senderOf(of, other) === one));
    host.rebuilt();
  };
  const about = { class: "quiet", "aria-label": `Remove the flows ${each.group}`, disabled: of.groups.length === 1 };
  const takeName = (text: string): void => {
    const given = text.trim();
    if (!isName(given)) throw new Wrong("a name of 1 to 60 characters, without quotes");
    if (of.groups.some((other) => other !== each && other.group === given)) throw new Wrong("another group has this name");
    each.group = given;
    host.rebuilt();
  };
  const takeControl = (name: string): void => {
    each.tcp = { name, parameters: {} };
    if (isRateBased(host.controlOf(each))) Object.assign(each, { slow_start: null, size: null, arrivals: null });
    if (host.controlOf(each).one_way) each.stack = {};
    host.rebuilt();
  };
  const takeEcn = (value: string): void => {
    if (value) each.stack["ecn"] = value;
    else delete each.stack["ecn"];
    host.changed();
  };
  const checkRtt = (value: number): void => {
    if (value < fixed || value > 20e12) throw new Wrong(`from ${format(fixed, DURATION)} to 20 s`);
  };
  const takeRtt = then(host.changed, (rtt: number) => {
    if (sender) sender.delay = Math.max(0, Math.round((rtt - fixed) / 2));
  });
  const takeCount = then(host.changed, (count: number) => (each.count = count));
  const takeSlowStart = then(host.changed, (name: string) => (each.slow_start = name || null));
  const slowStarts = plain([["", "the usual one"], ...host.catalogue.slow_starts.map(({ name }) => [name, name] as const)]);
  return h(
    "section",
    { class: "group", "aria-label": `Flows ${each.group}` },
    h(
      "div",
      { class: "row" },
      swatches(coloursOfGroup(of, index)),
      h("strong", {}, each.group),
      button("Remove", removeFlows, about),
    ),
    h(
      "div",
      { class: "pair" },
      each.arrivals ? h("p", { class: "doc" }, "as many as arrive") : countField("Flows", each.count, 1, MOST_FLOWS, takeCount),
      choiceField("Congestion control", each.tcp.name, controls(host), takeControl),
    ),
    sender
      ? quantityField("RTT", DURATION, roundTrip(of, each), { least: 1e9, most: 500e9 }, takeRtt, checkRtt)
      : h("p", { class: "source" }, `From ${each.from} to ${each.to}, RTT ${approximate(roundTrip(of, each), DURATION)}.`),
    parameters(control, each.tcp.parameters, usual, host),
    h(
      "details",
      {},
      h("summary", {}, "Name, times, amounts, slow start, ECN"),
      textField("Name", each.group, takeName),
      ...timesOf(of, each, host),
      ...(isRateBased(control) ? [] : amountsOf(of, each, host)),
      !isRateBased(control) && choiceField("Slow start", each.slow_start ?? "", slowStarts, takeSlowStart),
      !control.one_way && choiceField("ECN", String(each.stack["ecn"] ?? ""), ECN, takeEcn),
    ),
  );
}

function run(of: Setting, host: PanelHost): HTMLElement {
  const profiles = host.catalogue.profiles.map(
    ({ name, title }) => [name, title && title !== name ? `${name} – ${title}` : name] as const,
  );
  const takeDuration = (value: number): void => {
    if (of.warm_up >= value) of.warm_up = Math.floor(value / 5);
    of.duration = value;
    host.changed();
  };
  const takeWarmUp = (text: string): void => {
    const value = parse(text, DURATION);
    if (value < 0 || value >= of.duration) throw new Wrong(`from 0 s to less than ${format(of.duration, DURATION)}`);
    of.warm_up = value;
    host.changed();
  };
  const takeOverhead = (text: string): void => {
    const value = ["", "usual"].includes(text.trim()) ? null : parse(text, DURATION);
    if (value !== null && (value < 0 || value > 1e12)) throw new Wrong("from 0 s to 1 s");
    of.sender_overhead = value;
    host.changed();
  };
  const takeSeed = then(host.changed, (seed: number) => (of.seed = seed));
  const takeProfile = then(host.rebuilt, (name: string) => (of.profile = name));
  return h(
    "fieldset",
    { class: "card" },
    h("legend", {}, "Run"),
    quantityField("Duration", DURATION, of.duration, { least: 1e12, most: 300e12 }, takeDuration, within(DURATIONS, DURATION)),
    textField("Measured from", format(of.warm_up, DURATION), takeWarmUp),
    h(
      "div",
      { class: "pair even" },
      countField("Seed", of.seed, 0, Number.MAX_SAFE_INTEGER, takeSeed),
      choiceField("Runs", String(host.seeds), SEEDS, (count) => host.takeSeeds(Number(count))),
    ),
    textField(
      "Senders' random delay of a packet",
      of.sender_overhead === null ? "usual" : format(of.sender_overhead, DURATION),
      takeOverhead,
      "usual: up to the time of a packet at the bottleneck; 0 s shows phase effects",
    ),
    choiceField("Stack", of.profile, plain(profiles), takeProfile),
  );
}

/** All parameters of an algorithm: what each is, its bounds and its source. */
function parameters(of: Algorithm, values: Values, usual: Values, host: PanelHost): HTMLElement {
  const set = Object.keys(values).length;
  const summary = h("summary", {}, `Parameters of ${of.name}${set ? ` (${set} set)` : ""}`);
  const about = [of.source, of.year].filter(Boolean).join(", ");
  return h(
    "details",
    { class: "parameters" },
    summary,
    about ? h("p", { class: "source" }, about) : null,
    of.deviations ? h("p", { class: "source" }, `Here: ${of.deviations}.`) : null,
    of.parameters.length ? null : h("p", { class: "source" }, "It has none."),
    ...of.parameters.map((each) => parameter(each, values, usual, host, of.name)),
  );
}

function parameter(of: Parameter, values: Values, usual: Values, host: PanelHost, owner: string): HTMLElement {
  const standard = usual[of.name] ?? of.default;
  const current = of.name in values ? (values[of.name] ?? null) : standard;
  const store = (given: unknown): void => {
    const value = readValue(given, of);
    if (JSON.stringify(value) === JSON.stringify(standard)) delete values[of.name];
    else values[of.name] = value;
    host.changed();
  };
  const label = of.name.replaceAll("_", " ");
  let field: HTMLElement;
  if (of.kind === "boolean") field = tickField(label, current === true, store);
  else if (of.kind === "choice") {
    field = choiceField(label, String(current), plain((of.choices ?? []).map((each) => [each, each] as const)), store);
  } else {
    const isNumber = of.kind === "number" || of.kind === "integer";
    field = textField(label, formatValue(current, of), (text) =>
      store(isNumber ? (text.trim() === "" ? NaN : Number(text)) : text),
    );
  }
  const facts = [`${allowed(of)}; usually ${formatValue(standard, of)}`, of.source].filter(Boolean).join(". ");
  return h(
    "div",
    { class: "parameter", "data-parameter": `${owner}.${of.name}` },
    field,
    h("p", { class: "doc" }, `${of.doc}.`),
    h("p", { class: "source" }, `${facts}.`),
  );
}
