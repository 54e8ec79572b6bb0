import assert from "node:assert/strict";
import { test } from "node:test";
import { completion, type FlowNumbers, type Numbers, summarise } from "./numbers";

const flow = (flow_group: string, bytes_delivered: number, segments_sent: number, packets_dropped: number): FlowNumbers => ({
  flow_group,
  bytes_delivered,
  completed: null,
  segments_sent,
  packets_dropped,
  retransmissions: 0,
  timeouts: 0,
  long_lived: true,
});

const numbers: Numbers = {
  flows: [flow("download", 3e6, 2000, 10), flow("download", 1e6, 2000, 30), flow("call", 0, 0, 0)],
  queues: [],
  transfers: { flow: [2, 2, 2, 0], completed: [4, 6, 7, 8], time: [9, 1, 3, 5], weight: [1, 3, 1, 1] },
};

test("a group has the sums of its flows, and its share of all", () => {
  const [download, call] = summarise(numbers, 5, 13).groups;
  assert.deepEqual([download?.goodput, download?.share, download?.lost, download?.lossRatio], [4e6, 1, 40, 0.01]);
  assert.deepEqual([call?.goodput, call?.share, call?.lossRatio], [0, 0, null]);
});

test("transfers count from the measuring window on, and each for as many as it stands for", () => {
  assert.deepEqual(completion(numbers.transfers, new Set([2]), 5), { count: 4, mean: 1.5, p95: 3 });
  assert.equal(completion(numbers.transfers, new Set([1]), 5), null);
});
