// From a setting to one fully specified run: every default filled in. It is what `sojourn run` makes of the scenario that the page
// copies, key by key (python/sojourn/specification.py); a test compares the two.

import { type Algorithm, type Catalogue, defaults, find, isRateBased, type Limit, ownDefaults, type Values } from "./catalogue";
import { isOther, type Link, nodesOf } from "./links";
import { type Choice, type Group, type Host, intervals, type Own, type Setting, startWithin } from "./setting";
import { Wrong } from "./units";

type Json = Record<string, unknown>;

/** The senders' overhead is at most the time that the bottleneck takes for so many bytes. */
const OVERHEAD_BYTES = 1500;
/** The routers of a dumbbell. */
const [LEFT, RIGHT] = ["left", "right"];

export interface Specification extends Json {
  seed: number;
  duration: number;
  warm_up: number;
  nodes: string[];
  links: Json[];
  stacks: Values[];
  flows: (Json & { count: number; group: string })[];
  probe: Json;
  plugins?: Json[];
}

/** The same run, of which the inner states are sampled as well: the page draws them, and nothing else changes. */
export function withInside(run: Specification): Specification {
  return { ...run, probe: { ...run.probe, queue_state: true, flow_state: true } };
}

/** What declares the parameters of an algorithm of the page. */
export type Declared = (own: Own) => Algorithm;

/** The congestion control that a group names: of the catalogue, or one of the page's. */
export function controlOf(each: Group, known: Catalogue, own: readonly Own[], declared: Declared): Algorithm {
  const written = own.find((one) => one.name === each.tcp.name);
  const found = written ? declared(written) : find(known.congestion_controls, each.tcp.name);
  if (!found) throw new Wrong(`there is no congestion control called "${each.tcp.name}"`);
  return found;
}

export function specify(of: Setting, known: Catalogue, own: readonly Own[], declared: Declared): Specification {
  const centre = of.bottleneck;
  const back = centre.reverse_queue;
  const queueOf = ({ name, parameters }: Choice, limit: Limit): Json => {
    const discipline = find(known.queues, name);
    if (!discipline) throw new Wrong(`there is no queue discipline called "${name}"`);
    return { name: discipline.name, limit, parameters: { ...defaults(discipline.parameters), ...parameters } };
  };
  const nodes = of.links ? nodesOf(of.links) : [...of.senders.map((host) => host.name), LEFT, RIGHT, of.receiver.name];
  const link = (from: string, to: string, rate: number, delay: number): Json => ({
    from: nodes.indexOf(from),
    to: nodes.indexOf(to),
    rate,
    delay,
    queue: null,
    device_queue: 0,
    drop: null,
    loss: 0,
    changes: [],
  });
  const impairments = centre.policer && {
    policer: centre.policer,
    burst_loss: null,
    bit_error_ratio: 0,
    duplication: 0,
    jitter: null,
    slot: 0,
  };
  const bottleneck = (from: string, to: string): Json[] => [
    {
      ...link(from, to, centre.rate, centre.delay),
      queue: queueOf(centre.queue, centre.limit),
      loss: centre.loss,
      changes: centre.changes,
      ...(impairments ? { impairments } : {}),
      ...(centre.aggregation ? { aggregation: centre.aggregation } : {}),
    },
    {
      ...link(to, from, centre.reverse ?? centre.rate, centre.delay),
      queue: back && queueOf(back.queue, back.limit),
      // A rate of its own is not that which changes; nor are losses.
      changes: centre.changes
        .map((each) => ({ ...each, rate: centre.reverse === null ? each.rate : null, loss: null }))
        .filter(({ rate, delay }) => rate !== null || delay !== null),
    },
  ];
  const access = (router: string, { name, rate, delay }: Host): Json[] => [
    link(name, router, rate, delay),
    link(router, name, rate, delay),
  ];
  const dumbbell = (): Json[] => [
    ...bottleneck(LEFT, RIGHT),
    ...of.senders.flatMap((each) => access(LEFT, each)),
    ...access(RIGHT, of.receiver),
  ];
  const otherLinks = ({ from, to, rate, delay, loss, every, queue }: Link): Json[] => [
    {
      ...link(from, to, rate, delay),
      queue: queue && queueOf(queue, queue.limit),
      drop: every === null ? null : { every },
      loss,
    },
    link(to, from, rate, delay),
  ];
  const stacks: Values[] = [];
  const plugins: Json[] = [];
  const flows = of.groups.map((each) => ({
    count: each.count,
    from: nodes.indexOf(each.from),
    to: nodes.indexOf(each.to ?? of.receiver.name),
    group: each.group,
    start: each.start ?? 0,
    start_within: startWithin(of, each),
    stop: each.stop,
    ...sizeOf(each),
    source: sourceOf(of, each, known, own, declared, stacks, plugins),
  }));
  return {
    seed: of.seed,
    duration: of.duration,
    warm_up: of.warm_up,
    sender_overhead: stacks.some((stack) => stack["random_overhead"])
      ? (of.sender_overhead ?? Math.floor((OVERHEAD_BYTES * 8 * 1e12) / centre.rate))
      : 0,
    nodes,
    links: of.links
      ? of.links.flatMap((each) => (isOther(each) ? otherLinks(each) : bottleneck(each.from, each.to)))
      : dumbbell(),
    stacks,
    flows,
    probe: { queue_statistics: true, ...intervals(of) },
    ...(plugins.length ? { plugins } : {}),
  };
}

/** How much the flows of a group send, and when they arrive if they do so by themselves. */
function sizeOf({ size, arrivals }: Group): Json {
  if (!arrivals) return { size };
  const intensity = arrivals.load !== null ? { load: arrivals.load } : { rate: arrivals.rate };
  // By equal times the first arrives after one of them.
  const process = arrivals.process === "poisson" ? { poisson: intensity } : { deterministic: { every: intensity, phase: 1 } };
  return { size: null, arrivals: { process, sizes: { fixed: size } } };
}

function sourceOf(
  of: Setting,
  each: Group,
  known: Catalogue,
  own: readonly Own[],
  declared: Declared,
  stacks: Values[],
  plugins: Json[],
): Json {
  const profile = find(known.profiles, of.profile);
  if (!profile) throw new Wrong(`there is no stack profile called "${of.profile}"`);
  const control = controlOf(each, known, own, declared);
  const written = own.find((one) => one.name === each.tcp.name);
  const ownKinds = (kind: "control" | "stack" | "slow_start"): Values =>
    written && kind !== "stack" ? {} : ownDefaults(profile, control.name, kind);
  const stack: Values = {
    ...Object.fromEntries(profile.settings.map((one) => [one.name, one.value])),
    ...ownKinds("stack"),
    ...(of.sender_overhead ? { random_overhead: true } : {}),
    ...of.stack,
    ...each.stack,
  };
  let place = stacks.findIndex((one) => JSON.stringify(one) === JSON.stringify(stack));
  if (place < 0) place = stacks.push(stack) - 1;
  let plugin: Json = {};
  if (written) {
    let index = plugins.findIndex((one) => one["name"] === written.name);
    if (index < 0)
      index = plugins.push({ language: "javascript", file: `${written.name}.js`, name: written.name, text: written.text }) - 1;
    plugin = { plugin: index };
  }
  return {
    name: control.name,
    slow_start: slowStartOf(each, control, known, ownKinds("slow_start")),
    parameters: { ...defaults(control.parameters), ...ownKinds("control"), ...each.tcp.parameters },
    stack: place,
    ...plugin,
  };
}

function slowStartOf(each: Group, control: Algorithm, known: Catalogue, profile: Values): unknown {
  const { name: usual, ...given } = { name: known.slow_starts[0]?.name ?? "", ...profile };
  const name = (isRateBased(control) ? null : each.slow_start) ?? String(usual);
  const entry = find(known.slow_starts, name);
  if (!entry) throw new Wrong(`there is no slow start called "${name}"`);
  if (!entry.parameters.length) return entry.name;
  const set = entry.name === usual ? given : {};
  return { name: entry.name, parameters: { ...defaults(entry.parameters), ...set } };
}
