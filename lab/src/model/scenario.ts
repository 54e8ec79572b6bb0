// A setting as the TOML that `sojourn run` takes.

import { type Catalogue, find, type Parameter, type Value, type Values } from "./catalogue";
import { flowCount, type Group, intervals, type Own, type Setting } from "./setting";
import { controlOf, type Declared } from "./specification";
import { DURATION, format, formatLimit, formatValue, RATE, SIZE } from "./units";

const quoted = (text: string): string => JSON.stringify(text);

function written(value: Value, parameter: Parameter): string {
  if (typeof value === "boolean") return String(value);
  if (parameter.kind === "integer" && typeof value === "number") return String(value);
  if (parameter.kind === "number" && typeof value === "number") return Number.isInteger(value) ? `${value}.0` : String(value);
  return quoted(formatValue(value, parameter));
}

function keys(values: Values, parameters: readonly Parameter[]): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const parameter = parameters.find((one) => one.name === name);
    return parameter ? [`${name} = ${written(value, parameter)}`] : [];
  });
}

/** The scenario; `name` is that of its results. Algorithms of the page are files beside it, `mine.py` of `mine`. */
export function toToml(of: Setting, known: Catalogue, own: readonly Own[], declared: Declared, name = "lab"): string {
  const centre = of.bottleneck;
  const discipline = find(known.queues, centre.queue.name);
  const queue = [
    `name = ${quoted(centre.queue.name)}`,
    ...(centre.limit === null ? [] : [`limit = ${quoted(formatLimit(centre.limit))}`]),
    ...keys(centre.queue.parameters, discipline?.parameters ?? []),
  ];
  const host = (each: { name: string; rate: number; delay: number }): string =>
    `{ name = ${quoted(each.name)}, rate = ${quoted(format(each.rate, RATE))}, delay = ${quoted(format(each.delay, DURATION))} }`;
  const { queue: queueSeries, flow: flowSeries } = intervals(of);
  const lines = [
    "# From Sojourn's laboratory in a browser page. Run it:",
    "#",
    `#   sojourn run ${name}.toml`,
    ...own
      .filter((one) => of.groups.some((each) => each.tcp.name === one.name))
      .map((one) => `#\n# It needs ${one.name}.py beside it, which the page gives.`),
    "",
    `name = ${quoted(name)}`,
    `seed = ${of.seed}`,
    `duration = ${quoted(format(of.duration, DURATION))}`,
    `warm_up = ${quoted(format(of.warmUp, DURATION))}`,
    ...(of.overhead === null ? [] : [`sender_overhead = ${quoted(format(of.overhead, DURATION))}`]),
    "",
    "[stack]",
    `profile = ${quoted(of.profile)}`,
    ...keys(of.stack, known.stack_settings),
    "",
    "[network.dumbbell]",
    "senders = [",
    ...of.senders.map((each) => `    ${host(each)},`),
    "]",
    `receivers = [${host(of.receiver)}]`,
    "",
    "[network.dumbbell.bottleneck]",
    `rate = ${quoted(format(centre.rate, RATE))}`,
    `delay = ${quoted(format(centre.delay, DURATION))}`,
    ...(centre.loss ? [`loss = ${centre.loss}`] : []),
    `queue = { ${queue.join(", ")} }`,
    ...(centre.policer
      ? [
          `impairments = { policer = { rate = ${quoted(format(centre.policer.rate, RATE))}, burst = ${quoted(format(centre.policer.burst, SIZE))} } }`,
        ]
      : []),
    ...of.groups.flatMap((each) => ["", "[[flows]]", ...flows(of, each, known, own, declared)]),
    "",
    `[probe] # ${flowCount(of)} flows`,
    `queue_series = ${quoted(format(queueSeries, DURATION))}`,
    `flow_series = ${quoted(format(flowSeries, DURATION))}`,
  ];
  return `${lines.join("\n")}\n`;
}

function flows(of: Setting, each: Group, known: Catalogue, own: readonly Own[], declared: Declared): string[] {
  const control = controlOf(each, known, own, declared);
  const isOwn = own.some((one) => one.name === each.tcp.name);
  const tcp = [
    isOwn ? `file = ${quoted(`${each.tcp.name}.py`)}` : `name = ${quoted(each.tcp.name)}`,
    ...(each.slowStart === null || control.class === "rate" ? [] : [`slow_start = ${quoted(each.slowStart)}`]),
    ...keys(each.tcp.parameters, control.parameters),
  ];
  const stack = control.one_way ? [] : keys(each.stack, known.stack_settings);
  return [
    `from = ${quoted(each.sender)}`,
    `to = ${quoted(of.receiver.name)}`,
    `group = ${quoted(each.name)}`,
    `count = ${each.count}`,
    `tcp = { ${tcp.join(", ")} }`,
    ...(each.start === null ? [] : [`start = ${quoted(format(each.start, DURATION))}`]),
    ...(each.stop === null ? [] : [`stop = ${quoted(format(each.stop, DURATION))}`]),
    ...(stack.length ? [`stack = { ${stack.join(", ")} }`] : []),
  ];
}
