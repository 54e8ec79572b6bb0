//! The complete specification of a run. All values are integers in picoseconds, bytes or bits per second.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::framing::Framing;
use crate::numbers::{FlowGroup, RowKind};
use crate::random::{Purpose, Random};
use crate::tcp::slow_start::SlowStartChoice;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};
use crate::video::VideoSpecification;

/// The specification of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// The seed of all random streams.
    pub seed: u64,
    /// The end of the run.
    pub duration: Time,
    /// The start of the measuring window, which lasts to the end.
    pub warm_up: Time,
    /// The upper bound of a random delay of each packet at its sender, without reordering: ns-2's `overhead_`, which
    /// prevents phase effects (Floyd and Jacobson 1991). Zero disables it.
    pub sender_overhead: Duration,
    /// Names of hosts and routers.
    pub nodes: Vec<String>,
    /// One entry per direction.
    pub links: Vec<LinkSpecification>,
    /// Stack settings, shared by flows. See [`crate::tcp::profile::StackProfile`].
    pub stacks: Vec<Value>,
    /// Groups of identical flows.
    pub flows: Vec<FlowSpecification>,
    /// What is sampled.
    pub probe: ProbeSpecification,
    /// Congestion controls and queue disciplines from outside the engine: their sources, which whoever makes them reads
    /// ([`crate::plugin::Plugins`]).
    #[serde(default)]
    pub plugins: Vec<Value>,
}

impl Specification {
    /// What people call a link.
    pub fn link_name(&self, link: usize) -> String {
        let link = &self.links[link];
        format!("{}->{}", self.nodes[link.from], self.nodes[link.to])
    }

    /// The groups of flows, as routers know them.
    pub fn flow_groups(&self) -> Vec<FlowGroup> {
        let row = |flow: &FlowSpecification| match (&flow.application, &flow.arrivals) {
            (Some(_), _) => RowKind::Sessions,
            (None, Some(_)) => RowKind::Arrivals,
            (None, None) => RowKind::Flow,
        };
        let group = |flow: &FlowSpecification| FlowGroup {
            count: flow.count,
            from: flow.from as u32,
            to: flow.to as u32,
            name: flow.group.clone(),
            dscp: flow.dscp,
            row: row(flow),
        };
        self.flows.iter().map(group).collect()
    }

    /// The names of a link's ends, for messages.
    pub fn ends(&self, link: &LinkSpecification) -> String {
        let name = |node: usize| self.nodes.get(node).map_or("?", String::as_str);
        format!("{} -> {}", name(link.from), name(link.to))
    }
}

/// A link in one direction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpecification {
    /// Index of the source node.
    pub from: usize,
    /// Index of the destination node.
    pub to: usize,
    /// The rate of the link.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Duration,
    /// The queue discipline at the egress. `None` is an unlimited FIFO that is not measured.
    pub queue: Option<QueueSpecification>,
    /// Packets that the device below the discipline holds in addition to the one in transmission: a NIC's ring.
    #[serde(default)]
    pub device_queue: u64,
    /// A deterministic loss pattern.
    pub drop: Option<LossPattern>,
    /// The probability of random loss of a packet on the wire.
    #[serde(default)]
    pub loss: f64,
    /// Changes during the run, ordered by time.
    #[serde(default)]
    pub changes: Vec<LinkChange>,
    /// What else happens to packets on the link.
    #[serde(default)]
    pub impairments: Impairments,
    /// The rate over time, in bits per second; `rate` is then its mean.
    #[serde(default)]
    pub rate_trace: Option<Trace>,
    /// The propagation delay over time, in picoseconds; `delay` is then its mean.
    #[serde(default)]
    pub delay_trace: Option<Trace>,
    /// Packets leave the queue in frames.
    #[serde(default)]
    pub aggregation: Option<AggregationSpecification>,
    /// What the link adds to each packet.
    #[serde(default)]
    pub framing: Framing,
    /// The ends of the range that `delay` was drawn from, which change nothing.
    #[serde(default)]
    pub delay_range: Option<(Duration, Duration)>,
}

/// A value over time, as it was recorded.
#[derive(Clone, Debug, Deserialize)]
pub struct Trace {
    /// Its name, which changes nothing.
    pub name: String,
    /// The values.
    #[serde(flatten)]
    pub values: TraceValues,
    /// Its end.
    pub until: Duration,
    /// Whether it then begins again; if not, the last value stays.
    pub repeats: bool,
}

/// The values of a trace.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceValues {
    /// Values, and from when on.
    Steps(Vec<(Duration, u64)>),
    /// Multiples of a unit, each for the same time.
    Slots {
        /// The time for which each holds.
        step: Duration,
        /// The unit.
        unit: u64,
        /// The multiples.
        counts: Vec<u64>,
    },
}

/// Frames of several packets, as in Wi-Fi: what one may hold, and the airtime that it takes besides its packets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationSpecification {
    /// The most packets in a frame.
    pub packets: u64,
    /// The most bytes in a frame, headers included.
    pub size: Bytes,
    /// The longest transmission of the packets of a frame.
    pub airtime: Duration,
    /// The time before a frame's data: interframe space, backoff and preamble.
    pub access: Duration,
    /// The time after it, besides that of the block acknowledgement's bytes.
    pub response: Duration,
    /// The size of the block acknowledgement.
    pub response_size: Bytes,
    /// The bytes that each packet has besides its own in a frame, without padding.
    pub header: Bytes,
}

/// What happens to packets on a link besides queueing, transmission and delay. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Impairments {
    /// A token bucket before the queue.
    pub policer: Option<PolicerSpecification>,
    /// Losses in bursts, on the wire.
    pub burst_loss: Option<BurstLoss>,
    /// The probability that a bit is wrong at the end of the link, where a packet with such a bit is discarded.
    pub bit_error_ratio: f64,
    /// The probability that a packet arrives twice.
    pub duplication: f64,
    /// A random delay.
    pub jitter: Option<JitterSpecification>,
    /// The link delivers at multiples of this time only; at any time if it is zero.
    pub slot: Duration,
}

/// A token bucket that drops what does not conform (the committed rate and burst size of RFC 2697).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicerSpecification {
    /// The rate at which the bucket fills.
    pub rate: Rate,
    /// What it holds, and has at the start.
    pub burst: Bytes,
}

/// The model of Gilbert (1960) and Elliott (1963): a chain of two states, which takes a step with each packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstLoss {
    /// The probability of a step from the good state to the bad one.
    pub enter: f64,
    /// The probability of a step from the bad state to the good one.
    pub leave: f64,
    /// The probability of a loss in the bad state.
    pub inside: f64,
    /// The probability of a loss in the good state.
    pub outside: f64,
}

/// The random part of a link's delay.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpecification {
    /// How it is distributed.
    pub distribution: JitterDistribution,
    /// Its mean.
    pub mean: Duration,
    /// Whether a packet may overtake those before it.
    pub reorders: bool,
}

/// The distribution of a random delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JitterDistribution {
    /// Uniform from zero to twice the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

/// A change of a link. Fields that are not given remain unchanged.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// The time of the change.
    pub at: Time,
    /// The rate, also for the rest of a packet in transmission. At zero no packet is sent.
    pub rate: Option<Rate>,
    /// The propagation delay of packets whose transmission ends after the change.
    pub delay: Option<Duration>,
    /// The probability of random loss of packets whose transmission ends after the change.
    pub loss: Option<f64>,
    /// Whether it is made again and again.
    #[serde(default)]
    pub repeat: Option<Repetition>,
}

/// When a change is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repetition {
    /// The time from one to the next.
    pub every: Duration,
    /// Each is later by a random time up to this. Changes of a link with the same repetition are later by the same time.
    pub spread: Duration,
}

impl LinkSpecification {
    /// Whether all that the link does to packets is to queue, transmit and delay them.
    pub fn is_plain(&self) -> bool {
        let may_lose =
            self.drop.is_some() || self.loss != 0.0 || self.changes.iter().any(|change| change.loss.is_some());
        !may_lose && self.impairments == Impairments::default()
    }

    /// The link with a change for each time that one is made, in order of time.
    pub fn with_all_changes(&self, seed: u64, end: Time) -> Cow<'_, LinkSpecification> {
        if self.changes.iter().all(|change| change.repeat.is_none()) {
            return Cow::Borrowed(self);
        }
        // The same for both directions.
        let pair = (self.from.min(self.to) as u64) << 32 | self.from.max(self.to) as u64;
        let mut changes = Vec::new();
        for change in &self.changes {
            let Some(Repetition { every, spread }) = change.repeat else {
                changes.push(*change);
                continue;
            };
            let mut random = Random::stream(seed, Purpose::Changes, pair);
            let mut at = change.at;
            while at < end {
                changes.push(LinkChange { at: at + random.below(spread), repeat: None, ..*change });
                at += every;
            }
        }
        changes.sort_by_key(|change| change.at);
        Cow::Owned(LinkSpecification { changes, ..self.clone() })
    }

    /// Whether a packet may overtake another on it.
    pub fn reorders(&self) -> bool {
        self.impairments.jitter.is_some_and(|jitter| jitter.reorders)
    }
}

/// The specification of a queue discipline.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpecification {
    /// The name of the discipline.
    pub name: String,
    /// The limit, unlimited if `None`.
    pub limit: Option<QueueLimit>,
    /// The parameters. Those that are not given have their defaults.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// Index of the plugin that it is; none if it is built in.
    #[serde(default)]
    pub plugin: Option<usize>,
}

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// A limit in packets.
    Packets(u64),
    /// A limit in bytes.
    Bytes(u64),
    /// A multiple of the product of the link's rate and the longest base round-trip time of the flows that cross it.
    BandwidthDelayProducts(f64),
}

/// The data packets lost by a link. The first packet has number 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossPattern {
    /// Every n-th packet.
    Every(u64),
    /// The packets with these numbers.
    Listed(Vec<u64>),
}

/// A group of identical flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpecification {
    /// The number of flows.
    pub count: u64,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// Name of the group in the results.
    pub group: String,
    /// The earliest start time.
    pub start: Time,
    /// Start times are uniformly distributed over this time from `start` on.
    pub start_within: Duration,
    /// When flows that are still open are aborted.
    pub stop: Option<Time>,
    /// The payload of each flow. `None` sends until the end of the run.
    pub size: Option<Bytes>,
    /// Connections that arrive by themselves, one for each transfer. The group is then one row of the results.
    #[serde(default)]
    pub arrivals: Option<ArrivalSpecification>,
    /// What happens on its connections, if they do not just carry data one way. Data of the flow are then what the server sends: the
    /// server is at `from`, the client at `to`. Arrivals bring sessions of it; without them each flow is one.
    #[serde(default)]
    pub application: Option<ApplicationSpecification>,
    /// The codepoint of differentiated services (RFC 2474) of its packets in both directions.
    #[serde(default)]
    pub dscp: u8,
    /// The traffic source.
    pub source: SourceSpecification,
}

/// An application: see [`crate::application`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationSpecification {
    /// Requests and responses on one connection.
    Exchanges(ExchangesSpecification),
    /// The load of a page.
    Page(PageSpecification),
    /// Connections that were recorded.
    Vectors(VectorsSpecification),
    /// Messages at equal times.
    Periodic(PeriodicSpecification),
    /// Video with an adaptive bit rate.
    Video(VideoSpecification),
}

/// Connections that were recorded: those of a group take them in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorsSpecification {
    /// What was written on each.
    pub vectors: Vec<ConnectionVector>,
}

/// What was written on a connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionVector {
    /// Whether both ends write without waiting for each other.
    pub concurrent: bool,
    /// The writes in order; of a concurrent connection the order of each end counts.
    pub writes: Vec<VectorWrite>,
}

/// A write of an end.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct VectorWrite {
    /// Whether it is the server that writes.
    pub at_server: bool,
    /// For how long the end waits: after what it answers has arrived, or after its own write before.
    pub wait: Duration,
    /// How much it writes.
    pub bytes: u64,
}

/// Messages at equal times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodicSpecification {
    /// Sizes of messages.
    pub size: SizeDistribution,
    /// The time between them.
    pub every: Duration,
}

/// Requests and responses on one connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangesSpecification {
    /// Sizes of requests.
    pub request: SizeDistribution,
    /// Sizes of responses.
    pub response: SizeDistribution,
    /// How many; none: until the end.
    pub count: Option<u64>,
    /// The mean of the exponential times between a response and the next request.
    pub think: Duration,
}

/// The load of a page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSpecification {
    /// Sizes of requests.
    pub request: SizeDistribution,
    /// Sizes of the first object.
    pub first: SizeDistribution,
    /// The number of other objects; none if there are none.
    pub objects: Option<SizeDistribution>,
    /// Sizes of other objects.
    pub size: SizeDistribution,
    /// Connections at most.
    pub connections: u64,
    /// Whether one connection carries all responses at once.
    pub multiplexed: bool,
    /// The frames in which these take turns; none if they follow one another.
    #[serde(default)]
    pub frame: Option<Bytes>,
}

/// When transfers arrive, and how large they are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalSpecification {
    /// When they arrive.
    pub process: ArrivalProcess,
    /// How large they are; none if the list of arrivals says it.
    pub sizes: Option<SizeDistribution>,
}

/// A process of arrivals.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalProcess {
    /// Exponential times between arrivals.
    Poisson(Intensity),
    /// Equal times between arrivals.
    Deterministic {
        /// How many.
        every: Intensity,
        /// When the first arrives, in such times after the start.
        phase: f64,
    },
    /// Users, each of whom thinks, has a transfer, thinks again once it has ended, and so on.
    Users {
        /// How many.
        count: u64,
        /// The mean of the exponential times for which they think.
        think: Duration,
    },
    /// Times after the start, in order, and sizes in bytes.
    Listed(Vec<(Time, u64)>),
}

/// How many transfers arrive.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intensity {
    /// In a second, on average.
    Rate(f64),
    /// So many that what they send, with headers, is this part of the rate of the slowest link of their path.
    Load(f64),
}

/// A distribution of sizes in bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeDistribution {
    /// Always the same.
    Fixed(u64),
    /// Exponential.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// The mean of the sizes before they are cut off.
        mean: f64,
        /// The standard deviation of their natural logarithm.
        sigma: f64,
        /// The least size; smaller ones are drawn again.
        least: Option<f64>,
        /// The greatest.
        most: Option<f64>,
    },
    /// Pareto, with a greatest size or without.
    Pareto {
        /// The tail index.
        shape: f64,
        /// The least size.
        least: f64,
        /// The greatest.
        most: Option<f64>,
    },
    /// Points of a distribution function, which lines join: sizes, and the probability of sizes up to there.
    Empirical(Vec<(f64, f64)>),
}

/// The specification of a traffic source: a window-based TCP sender or a rate-based source, depending on the name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSpecification {
    /// The congestion control: one of [`crate::tcp::congestion`] or of [`crate::traffic`].
    pub name: String,
    /// The slow start, unless the congestion control has its own.
    pub slow_start: SlowStartChoice,
    /// The parameters of the congestion control. Those that are not given have their defaults.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// Index of the stack.
    pub stack: usize,
    /// Index of the plugin that its congestion control is; none if it is built in.
    #[serde(default)]
    pub plugin: Option<usize>,
}

/// The specification of the measurements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeSpecification {
    /// Whether queues are measured. If not, results contain no queues.
    pub queue_statistics: bool,
    /// The sampling interval of queue lengths.
    pub queue_series: Option<Duration>,
    /// The sampling interval of each flow's window, threshold, RTT and delivered bytes.
    pub flow_series: Option<Duration>,
    /// Whether samples of flows have the inner state of their congestion controls.
    #[serde(default)]
    pub flow_state: bool,
    /// Whether samples of queues have the inner state of their disciplines.
    #[serde(default)]
    pub queue_state: bool,
}

fn no_parameters() -> Value {
    Value::Object(serde_json::Map::new())
}
