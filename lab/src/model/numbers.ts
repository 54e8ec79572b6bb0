// The numbers of a run, by the formulas of docs/measures.md. The engine gives more columns of flows and queues than are read here.

export interface FlowNumbers {
  flow_group: string;
  bytes_delivered: number;
  /** When all data had been delivered, in seconds; null of one that goes on. */
  completed: number | null;
  segments_sent: number;
  /** Data packets that the policer or the queue dropped, or the link lost. */
  packets_dropped: number;
  retransmissions: number;
  timeouts: number;
  /** Whether its share is one that Jain's index is taken over. */
  long_lived: boolean;
}

export interface QueueNumbers {
  drops: number;
  drops_overflow: number;
  marks: number;
  sojourn_mean: number | null;
  sojourn_p99: number | null;
  utilisation: number;
}

/** Transfers of limited size, in order of completion: columns, and how many like it each stands for. */
export interface Transfers {
  flow: number[];
  completed: number[];
  /** From the SYN to the last acknowledgement, in seconds. */
  time: number[];
  weight: number[];
}

export interface Numbers {
  flows: FlowNumbers[];
  queues: QueueNumbers[];
  transfers: Transfers;
}

/** Transfers that were completed in the measuring window. */
export interface Completion {
  count: number;
  mean: number;
  p95: number;
}

/** Of the transfers of some flows that were completed from a moment on; null if none was. */
export function completion(
  { flow, completed, time, weight }: Transfers,
  flows: ReadonlySet<number>,
  from: number,
): Completion | null {
  const rows = time.flatMap((each, row) =>
    flows.has(flow[row] ?? -1) && (completed[row] ?? 0) >= from ? [{ time: each, weight: weight[row] ?? 1 }] : [],
  );
  const count = rows.reduce((sum, row) => sum + row.weight, 0);
  if (!count) return null;
  rows.sort((a, b) => a.time - b.time);
  let sum = 0;
  const p95 = rows.find((row) => {
    sum += row.weight;
    return sum >= 0.95 * count;
  });
  return { count, mean: rows.reduce((all, row) => all + row.time * row.weight, 0) / count, p95: p95?.time ?? 0 };
}

/** Jain's fairness index; null when nothing is shared. */
export function jain(shares: readonly number[]): number | null {
  const sum = shares.reduce((total, each) => total + each, 0);
  const squares = shares.reduce((total, each) => total + each * each, 0);
  return squares > 0 ? (sum * sum) / (shares.length * squares) : null;
}

export interface GroupSummary {
  name: string;
  /** In bit/s, and as a share of that of all. */
  goodput: number;
  share: number;
  flows: number;
  lost: number;
  /** What was lost, as a share of what was sent; null if nothing was. */
  lossRatio: number | null;
  /** Of flows of limited size: the transfers that were completed. */
  transfers: Completion | null;
}

export interface Summary {
  sojournP99: number | null;
  sojournMean: number | null;
  utilisation: number;
  lost: number;
  marks: number;
  jain: number | null;
  goodput: number;
  retransmissions: number;
  timeouts: number;
  groups: GroupSummary[];
}

/** The numbers of a measuring window, from one moment to another, in seconds. */
export function summarise(numbers: Numbers, from: number, until: number): Summary {
  const windowSeconds = until - from;
  const queue = numbers.queues[0];
  const rates = numbers.flows.map((flow) => (flow.bytes_delivered * 8) / windowSeconds);
  const total = (select: (flow: FlowNumbers) => number, of = numbers.flows): number =>
    of.reduce((sum, flow) => sum + select(flow), 0);
  const bytes = total((flow) => flow.bytes_delivered);
  const groups = [...new Set(numbers.flows.map((flow) => flow.flow_group))].map((name): GroupSummary => {
    const places = new Set(numbers.flows.flatMap((flow, place) => (flow.flow_group === name ? [place] : [])));
    const flows = numbers.flows.filter((_, place) => places.has(place));
    const [delivered, sent, lost] = [
      total((flow) => flow.bytes_delivered, flows),
      total((flow) => flow.segments_sent, flows),
      total((flow) => flow.packets_dropped, flows),
    ];
    return {
      name,
      goodput: (delivered * 8) / windowSeconds,
      share: bytes ? delivered / bytes : 0,
      flows: flows.length,
      lost,
      lossRatio: sent ? lost / sent : null,
      transfers: completion(numbers.transfers, places, from),
    };
  });
  return {
    sojournP99: queue?.sojourn_p99 ?? null,
    sojournMean: queue?.sojourn_mean ?? null,
    utilisation: queue?.utilisation ?? 0,
    lost: total((flow) => flow.packets_dropped),
    marks: queue?.marks ?? 0,
    jain: jain(rates.filter((_, index) => numbers.flows[index]?.long_lived)),
    goodput: rates.reduce((sum, each) => sum + each, 0),
    retransmissions: total((flow) => flow.retransmissions),
    timeouts: total((flow) => flow.timeouts),
    groups,
  };
}
