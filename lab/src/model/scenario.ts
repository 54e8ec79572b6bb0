// A setting as the TOML that `sojourn run` takes.

import { type Catalogue, find, type Limit, type Parameter, type Values } from "./catalogue";
import { FRAME, KEYS, LIMIT } from "./keys";
import { isOther, type Link } from "./links";
import { isTable, type Table } from "./reading";
import { type Choice, type Group, intervals, type Own, type Setting } from "./setting";
import type { Declared } from "./specification";
import { DIMENSIONS, formatValue } from "./units";

function written(value: Values[string], parameter: Parameter): unknown {
  if (typeof value === "object" && value !== null) return formatValue(value, parameter);
  if (!DIMENSIONS[parameter.kind]) return value;
  return typeof value === "number" ? formatValue(value, parameter) : JSON.stringify(value);
}

/** The keys of a table, but those that are null. */
function keys(of: object, parameters: readonly Parameter[]): Table {
  const values = of as Values;
  const given = parameters.filter((each) => values[each.name] !== null);
  return Object.fromEntries(given.map((each) => [each.name, written(values[each.name] ?? null, each)]));
}

/** What is set of an algorithm or stack. */
function set(values: Values, parameters: readonly Parameter[]): Table {
  const entries = Object.entries(values).map(([name, value]) => {
    const parameter = parameters.find((one) => one.name === name);
    return [name, parameter ? written(value, parameter) : value];
  });
  return Object.fromEntries(entries) as Table;
}

/** The scenario as a table. Algorithms of the page are files beside it, `mine.py` of `mine`, with the parameters that are declared. */
export function toTable(
  of: Setting,
  known: Catalogue,
  own: readonly string[],
  declared: (name: string) => readonly Parameter[] = () => [],
) {
  const tcp = ({ tcp: { name, parameters }, slow_start }: Group): Table => {
    const slowStart = slow_start === null ? {} : { slow_start };
    if (!own.includes(name))
      return { name, ...slowStart, ...set(parameters, find(known.congestion_controls, name)?.parameters ?? []) };
    return {
      file: `${name}.py`,
      ...slowStart,
      ...keys(
        parameters,
        declared(name).filter((one) => one.name in parameters),
      ),
    };
  };
  const { policer, reverse, reverse_queue: back, changes, aggregation } = of.bottleneck;
  const queue = ({ name, parameters }: Choice, limit: Limit): Table => ({
    name,
    ...keys({ limit }, [LIMIT]),
    ...set(parameters, find(known.queues, name)?.parameters ?? []),
  });
  const bottleneck = {
    ...keys(of.bottleneck, KEYS.bottleneck.taken),
    queue: queue(of.bottleneck.queue, of.bottleneck.limit),
    ...(policer ? { impairments: { policer: keys(policer, KEYS.policer.taken) } } : {}),
    ...(reverse === null && back === null
      ? {}
      : {
          reverse: {
            ...keys({ rate: reverse }, KEYS.reverse.taken),
            ...(back ? { queue: queue(back.queue, back.limit) } : {}),
          },
        }),
    ...(changes.length ? { changes: changes.map((each) => keys(each, KEYS.change.taken)) } : {}),
    ...(aggregation
      ? {
          aggregation: {
            ...keys({ packets: { packets: aggregation.packets } }, [FRAME]),
            ...keys(aggregation, KEYS.aggregation.taken),
          },
        }
      : {}),
  };
  const other = (link: Link): Table => ({
    ...keys(link, KEYS.link.taken),
    ...(link.queue ? { queue: queue(link.queue, link.queue.limit) } : {}),
    ...(link.every === null ? {} : { drop: { every: link.every } }),
  });
  const network: Table = of.links
    ? { links: of.links.map((link) => (isOther(link) ? other(link) : { ...link, ...bottleneck })) }
    : {
        dumbbell: {
          senders: of.senders.map((each) => keys(each, KEYS.host.taken)),
          receivers: [keys(of.receiver, KEYS.host.taken)],
          bottleneck,
        },
      };
  return {
    ...keys(of, KEYS.scenario.taken),
    stack: { profile: of.profile, ...set(of.stack, known.stack_settings) },
    network,
    flows: of.groups.map((each) => ({
      to: each.to ?? of.receiver.name,
      ...keys(each.arrivals ? { ...each, count: null } : each, KEYS.flows.taken),
      ...(each.arrivals ? { arrivals: keys(each.arrivals, KEYS.arrivals.taken) } : {}),
      tcp: tcp(each),
      ...(Object.keys(each.stack).length ? { stack: set(each.stack, known.stack_settings) } : {}),
    })),
    probe: keys(intervals(of), KEYS.probe.taken),
  };
}

function inline(value: unknown): string {
  if (Array.isArray(value))
    return value.length > 1
      ? `[\n${value.map((each) => `    ${inline(each)},\n`).join("")}]`
      : `[${value.map(inline).join(", ")}]`;
  return isTable(value) ? `{ ${lines(value).join(", ")} }` : JSON.stringify(value);
}

function lines(table: Table): string[] {
  return Object.entries(table).map(([name, value]) => `${name} = ${inline(value)}`);
}

/** The scenario as a file; `name` is that of its results. */
export function toToml(of: Setting, known: Catalogue, own: readonly Own[], declared: Declared, name = "lab"): string {
  const parametersOf = (each: string): readonly Parameter[] =>
    own.filter((one) => one.name === each).flatMap((one) => declared(one).parameters);
  const { stack, network, flows, probe, ...run } = toTable(
    of,
    known,
    own.map((one) => one.name),
    parametersOf,
  );
  const { dumbbell, links } = network as { dumbbell?: Table; links?: Table[] };
  const { bottleneck, ...ends } = dumbbell ?? {};
  const networkParts = links
    ? links.map((each) => ["[[network.links]]", ...lines(each)])
    : [
        ["[network.dumbbell]", ...lines(ends)],
        ["[network.dumbbell.bottleneck]", ...lines(bottleneck as Table)],
      ];
  const needed = own.filter((one) => of.groups.some((each) => each.tcp.name === one.name));
  const parts = [
    [`# From the laboratory of Sojourn ${known.version}, in a browser page. Run it:`, "#", `#   sojourn run ${name}.toml`],
    ...needed.map((one) => [
      `# It needs ${one.name}.py beside it: what follows, with the same hooks in Python. Begin with: sojourn new tcp ${one.name}`,
      "#",
      ...one.text.split(/\r?\n|\r/).map((line) => `#   ${line}`.trimEnd()),
    ]),
    lines({ name, ...run }),
    ["[stack]", ...lines(stack)],
    ...networkParts,
    ...flows.map((each) => ["[[flows]]", ...lines(each)]),
    ["[probe]", ...lines(probe)],
  ];
  return parts.map((each) => `${each.join("\n")}\n`).join("\n");
}
