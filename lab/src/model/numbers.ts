// The numbers of a run, by the formulas of docs/measures.md. The engine gives more columns of flows and queues than are read here.

export interface FlowNumbers {
  flow_group: string;
  bytes_delivered: number;
  retransmissions: number;
  timeouts: number;
  /** Whether its share is one that Jain's index is taken over. */
  long_lived: boolean;
}

export interface QueueNumbers {
  arrivals: number;
  drops: number;
  marks: number;
  sojourn_mean: number | null;
  sojourn_p99: number | null;
  utilisation: number;
}

export interface Numbers {
  flows: FlowNumbers[];
  queues: QueueNumbers[];
}

/** Jain's fairness index; null when nothing is shared. */
export function jain(shares: readonly number[]): number | null {
  const sum = shares.reduce((total, each) => total + each, 0);
  const squares = shares.reduce((total, each) => total + each * each, 0);
  return squares > 0 ? (sum * sum) / (shares.length * squares) : null;
}

export interface Summary {
  sojournP99: number | null;
  sojournMean: number | null;
  utilisation: number;
  drops: number;
  dropShare: number;
  marks: number;
  jain: number | null;
  goodput: number;
  retransmissions: number;
  timeouts: number;
  /** Of each group, in bit/s. */
  groups: { name: string; goodput: number; flows: number }[];
}

export function summarise(numbers: Numbers, windowSeconds: number): Summary {
  const queue = numbers.queues[0];
  const rates = numbers.flows.map((flow) => (flow.bytes_delivered * 8) / windowSeconds);
  const groups = new Map<string, { name: string; goodput: number; flows: number }>();
  numbers.flows.forEach((flow, index) => {
    const entry = groups.get(flow.flow_group) ?? { name: flow.flow_group, goodput: 0, flows: 0 };
    entry.goodput += rates[index] ?? 0;
    entry.flows += 1;
    groups.set(flow.flow_group, entry);
  });
  const total = (select: (flow: FlowNumbers) => number): number => numbers.flows.reduce((sum, flow) => sum + select(flow), 0);
  return {
    sojournP99: queue?.sojourn_p99 ?? null,
    sojournMean: queue?.sojourn_mean ?? null,
    utilisation: queue?.utilisation ?? 0,
    drops: queue?.drops ?? 0,
    dropShare: queue?.arrivals ? queue.drops / queue.arrivals : 0,
    marks: queue?.marks ?? 0,
    jain: jain(rates.filter((_, index) => numbers.flows[index]?.long_lived)),
    goodput: rates.reduce((sum, each) => sum + each, 0),
    retransmissions: total((flow) => flow.retransmissions),
    timeouts: total((flow) => flow.timeouts),
    groups: [...groups.values()],
  };
}
