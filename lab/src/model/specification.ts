// From a setting to one fully specified run: every default filled in. It is what `sojourn run` makes of the scenario that the page
// copies, key by key (python/sojourn/specification.py); a test compares the two.

import { type Algorithm, type Catalogue, defaults, find, isRateBased, ownDefaults, type Values } from "./catalogue";
import { type Group, intervals, type Own, type Setting, startWithin } from "./setting";
import { Wrong } from "./units";

type Json = Record<string, unknown>;

/** The senders' overhead is at most the time that the bottleneck takes for so many bytes. */
const OVERHEAD_BYTES = 1500;

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
  const routers = of.senders.length;
  const [left, right, receiver] = [routers, routers + 1, routers + 2];
  const centre = of.bottleneck;
  const discipline = find(known.queues, centre.queue.name);
  if (!discipline) throw new Wrong(`there is no queue discipline called "${centre.queue.name}"`);
  const queue = {
    name: discipline.name,
    limit: centre.limit,
    parameters: { ...defaults(discipline.parameters), ...centre.queue.parameters },
  };
  const link = (from: number, to: number, rate: number, delay: number): Json => ({
    from,
    to,
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
  const stacks: Values[] = [];
  const plugins: Json[] = [];
  const flows = of.groups.map((each) => ({
    count: each.count,
    from: of.senders.findIndex((host) => host.name === each.from),
    to: receiver,
    group: each.group,
    start: each.start ?? 0,
    start_within: startWithin(of, each),
    stop: each.stop,
    size: each.size,
    source: sourceOf(of, each, known, own, declared, stacks, plugins),
  }));
  return {
    seed: of.seed,
    duration: of.duration,
    warm_up: of.warm_up,
    sender_overhead: stacks.some((stack) => stack["random_overhead"])
      ? (of.sender_overhead ?? Math.floor((OVERHEAD_BYTES * 8 * 1e12) / centre.rate))
      : 0,
    nodes: [...of.senders.map((host) => host.name), "left", "right", of.receiver.name],
    links: [
      {
        ...link(left, right, centre.rate, centre.delay),
        queue,
        loss: centre.loss,
        changes: centre.changes,
        ...(impairments ? { impairments } : {}),
        ...(centre.aggregation ? { aggregation: centre.aggregation } : {}),
      },
      {
        ...link(right, left, centre.reverse ?? centre.rate, centre.delay),
        // A rate of its own is not that which changes; nor are losses.
        changes: centre.changes
          .map((each) => ({ ...each, rate: centre.reverse === null ? each.rate : null, loss: null }))
          .filter(({ rate, delay }) => rate !== null || delay !== null),
      },
      ...of.senders.flatMap((each, index) => [
        link(index, left, each.rate, each.delay),
        link(left, index, each.rate, each.delay),
      ]),
      link(receiver, right, of.receiver.rate, of.receiver.delay),
      link(right, receiver, of.receiver.rate, of.receiver.delay),
    ],
    stacks,
    flows,
    probe: { queue_statistics: true, ...intervals(of) },
    ...(plugins.length ? { plugins } : {}),
  };
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
