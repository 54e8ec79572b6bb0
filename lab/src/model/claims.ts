// What the stories of the presets say of their runs: each number and each finding, as a condition on the run. tests/test_lab_claims.py
// makes the runs and holds the stories to them.

import type { Values } from "./catalogue";
import type { GroupPackets } from "./groups";
import type { Numbers, Summary } from "./numbers";
import type { Setting } from "./setting";

/** A run that is over. */
export interface Outcome {
  setting: Setting;
  numbers: Numbers;
  summary: Summary;
  groups: GroupPackets[];
  /** Those of the discipline, with the defaults. */
  parameters: Values;
  /** The packets queued at the samples of the measuring window. */
  queue: readonly number[];
}

export interface Claim {
  /** The words of the story that say it. */
  says: string;
  /** What the words are about, as the run has it. */
  found: (a: Outcome, b: Outcome) => number;
  /** Between which values the words are true. */
  from: number;
  until: number;
}

const group = (of: Outcome, name: string): GroupPackets => found(of.groups, name);
const share = (of: Outcome, name: string): number => found(of.summary.groups, name).share;
const goodput = (of: Outcome, name: string): number => found(of.summary.groups, name).goodput;
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const ms = (seconds: number | null): number => 1000 * (seconds ?? Number.NaN);

function found<T extends { name: string }>(all: readonly T[], name: string): T {
  const one = all.find((each) => each.name === name);
  if (!one) throw new Error(`no flows are called "${name}"`);
  return one;
}

function lossRatio({ summary }: Outcome): number {
  const sent = summary.groups.reduce((sum, each) => sum + (each.lossRatio ? each.lost / each.lossRatio : 0), 0);
  return sent ? summary.lost / sent : 0;
}

/** When the last flow had all its data, in seconds. */
function lastDone({ numbers }: Outcome): number {
  return Math.max(...numbers.flows.map((flow) => flow.completed ?? Number.NaN));
}

/** What is a fact of the setting. */
const is = (says: string, value: (a: Setting, b: Setting) => number, expected: number): Claim => ({
  says,
  found: (a, b) => value(a.setting, b.setting),
  from: expected,
  until: expected,
});

const packets = ({ bottleneck: { limit } }: Setting): number => (limit && "packets" in limit ? limit.packets : Number.NaN);
const products = ({ bottleneck: { limit } }: Setting): number =>
  limit && "bandwidth_delay_products" in limit ? limit.bandwidth_delay_products : Number.NaN;
const count = (of: Setting): number => of.groups.reduce((sum, each) => sum + each.count, 0);
const rtt = (of: Setting, place: number): number => (of.senders[place]?.delay ?? Number.NaN) / 0.5e9;

/** Numbers of the papers, which their readers can look up. */
export const OF_PAPERS: Record<string, readonly string[]> = {
  "codel-crowd": ["from 9 to 900 flows"],
  incast: ["timeouts of 200 ms"],
};

export const CLAIMS: Record<string, readonly Claim[]> = {
  bufferbloat: [
    is("Two downloads and a call", (a) => count(a), 3),
    is("20 Mbit/s", (a) => a.bottleneck.rate, 20e6),
    is("room for 1000 packets", packets, 1000),
    { says: "keeps that room nearly full", found: ({ queue }) => mean(queue), from: 750, until: 1000 },
    { says: "waits up to 0.6 s", found: (a) => group(a, "call").p99 ?? 0, from: 0.55, until: 0.65 },
  ],
  codel: [
    { says: "more than 5 ms", found: (_, b) => Number(b.parameters["target"]) / 1e9, from: 5, until: 5 },
    { says: "for 100 ms", found: (_, b) => Number(b.parameters["interval"]) / 1e9, from: 100, until: 100 },
    { says: "keeps the queue short", found: (_, b) => ms(group(b, "call").mean), from: 0, until: 20 },
    {
      says: "the downloads lose next to nothing",
      found: (a, b) => goodput(b, "download") / goodput(a, "download"),
      from: 0.97,
      until: 1.03,
    },
  ],
  "codel-crowd": [
    is("A has 90 flows", (a) => count(a), 90),
    is("100 Mbit/s", (a) => a.bottleneck.rate, 100e6),
    is("B has 900", (_, b) => count(b), 900),
    is("one of 900 flows", (_, b) => count(b), 900),
    { says: "the queue fills to its limit", found: (_, b) => Math.max(...b.queue) / packets(b.setting), from: 0.99, until: 1 },
  ],
  "bbr-cubic": [
    is("half of a bandwidth-delay product in A", products, 0.5),
    is("eight of them in B", (_, b) => products(b), 8),
    { says: "takes most of a shallow buffer", found: (a) => share(a, "bbr"), from: 0.7, until: 1 },
    { says: "CUBIC's queue outgrows what BBR lets be in flight", found: (_, b) => share(b, "cubic"), from: 0.7, until: 1 },
    { says: "the losses that it causes in small ones", found: (a, b) => lossRatio(a) / lossRatio(b), from: 3, until: 100 },
  ],
  "rtt-unfairness": [
    is("20 ms", (a) => rtt(a, 0), 20),
    is("160 ms", (a) => rtt(a, 1), 160),
    { says: "takes most of the link", found: (a) => share(a, "near"), from: 0.7, until: 1 },
    { says: "CUBIC's window grows with time", found: (a, b) => share(a, "near") - share(b, "near"), from: 0.05, until: 1 },
  ],
  "lock-out": [
    is("800 kbit/s", (a) => a.bottleneck.rate, 800e3),
    is("6 % longer", (a) => Math.round(100 * (rtt(a, 1) / rtt(a, 0) - 1)), 6),
    { says: "the first gets twice as much", found: (a) => goodput(a, "first") / goodput(a, "second"), from: 1.8, until: 2.2 },
    { says: "RED in B drops at random", found: (_, b) => goodput(b, "first") / goodput(b, "second"), from: 0.85, until: 1.25 },
  ],
  l4s: [
    { says: "marks instead of dropping", found: (a) => a.summary.lost, from: 0, until: 0 },
    { says: "is marked often", found: (_, b) => group(b, "prague").marked / group(b, "cubic").marked, from: 5, until: 1000 },
    { says: "wait for a fraction of a millisecond", found: (_, b) => ms(group(b, "prague").p99), from: 0, until: 1 },
    { says: "CUBIC's queue stays as long as it needs", found: (_, b) => ms(group(b, "cubic").mean), from: 5, until: 50 },
  ],
  policer: [
    is("link of 40 Mbit/s", (a) => a.bottleneck.rate, 40e6),
    is("lets 10 Mbit/s pass", (a) => a.bottleneck.policer?.rate ?? 0, 10e6),
    is("bursts of 25 kB", (a) => a.bottleneck.policer?.burst ?? 0, 25_000),
    { says: "drops the rest before the queue", found: (a) => ms(group(a, "video").mean), from: 0, until: 1 },
    { says: "stays below the rate that it was sold", found: (a) => a.summary.goodput / 10e6, from: 0.3, until: 0.9 },
    { says: "delays instead", found: (a, b) => ms(group(b, "video").mean) - ms(group(a, "video").mean), from: 20, until: 200 },
    { says: "CUBIC sees losses in bursts", found: (a, b) => lossRatio(a) / lossRatio(b), from: 3, until: 1000 },
  ],
  "pie-droptail": [
    { says: "holds its delay near 15 ms", found: (a) => ms(a.summary.sojournMean), from: 11, until: 19 },
    is("room for only 15 ms of packets", (_, b) => (packets(b) * 1500 * 8) / b.bottleneck.rate, 0.015),
    {
      says: "the limit is what drops them",
      found: (_, { numbers: { queues } }) => (queues[0]?.drops_overflow ?? 0) / (queues[0]?.drops ?? 1),
      from: 0.95,
      until: 1,
    },
  ],
  incast: [
    is("Forty servers", (a) => count(a), 40),
    is("each with 64 kB", (a) => a.groups[0]?.size ?? 0, 64_000),
    is("1 Gbit/s", (a) => a.bottleneck.rate, 1e9),
    is("room for 100 packets", packets, 100),
    // Ten segments each (RFC 6928), which Linux has.
    is("first windows alone are four times as much", (a) => (10 * count(a)) / packets(a), 4),
    { says: "packets are lost", found: (a) => a.summary.lost, from: 1, until: 1e6 },
    { says: "shorter ones cure it", found: (a, b) => lastDone(a) / lastDone(b), from: 5, until: 100 },
  ],
  radio: [
    is("is nothing for a while", (a) => Math.min(...a.bottleneck.changes.map((each) => each.rate ?? Infinity)), 0),
    { says: "packets wait for seconds", found: (a) => a.summary.sojournMean ?? 0, from: 2, until: 30 },
  ],
  wifi: [
    is("65 Mbit/s", (a) => a.bottleneck.rate, 65e6),
    is("up to 64 packets in a frame in A", (a) => a.bottleneck.aggregation?.packets ?? 0, 64),
    is("one in B", (_, b) => b.bottleneck.aggregation?.packets ?? 0, 1),
    // Of 1500 bytes of a packet 1448 are payload.
    {
      says: "half of the time goes that way",
      found: (_, b) => 1 - (b.summary.goodput * 1500) / 1448 / 65e6,
      from: 0.45,
      until: 0.55,
    },
  ],
  ledbat: [
    is("10 Mbit/s", (a) => a.bottleneck.rate, 10e6),
    { says: "CUBIC fills the buffer", found: (a) => Math.max(...a.queue) / packets(a.setting), from: 0.99, until: 1 },
    { says: "stops at its target", found: (_, b) => ms(group(b, "call").mean), from: 60, until: 105 },
  ],
};
