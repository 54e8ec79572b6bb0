//! What a run is: one fully specified simulation. All figures are SI integers: picoseconds, bytes, bits per second.

use serde::Deserialize;
use serde_json::Value;

use crate::tcp::slow_start::SlowStartKind;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

/// A run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// Seed of all random streams.
    pub seed: u64,
    /// When the run ends.
    pub duration: Time,
    /// When the measuring window opens; it lasts to the end.
    pub warm_up: Time,
    /// Each packet leaves a sender after a random time below this, in order: ns-2's `overhead_`, the remedy for phase
    /// effects (Floyd and Jacobson 1991). Zero turns it off.
    pub sender_overhead: Duration,
    /// Names of hosts and routers.
    pub nodes: Vec<String>,
    /// One entry a direction.
    pub links: Vec<LinkSpecification>,
    /// Stack settings, shared by flows; see [`crate::tcp::profile::StackProfile`].
    pub stacks: Vec<Value>,
    /// Groups of like flows.
    pub flows: Vec<FlowSpecification>,
    /// What is sampled.
    pub probe: ProbeSpecification,
    /// Congestion controls and queue disciplines from outside the engine: their sources, which whoever makes them reads
    /// ([`crate::plugin::Plugins`]).
    #[serde(default)]
    pub plugins: Vec<Value>,
}

/// A link in one direction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpecification {
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// Its capacity.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Duration,
    /// The discipline at its egress; none is an unlimited FIFO that is not measured.
    pub queue: Option<QueueSpecification>,
    /// Packets that the device below the discipline takes from it and holds besides the one it transmits: a NIC's ring.
    #[serde(default)]
    pub device_queue: u64,
    /// Packets it loses by plan.
    pub drop: Option<LossPattern>,
    /// Share of all packets that it loses at random, on the wire.
    #[serde(default)]
    pub loss: f64,
    /// What changes while the run lasts, in order of time.
    #[serde(default)]
    pub changes: Vec<LinkChange>,
}

/// What a link is from a moment on; what is not named stays as it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// The moment.
    pub at: Time,
    /// Its capacity, also for what remains of a packet in transmission. At zero it holds its packets.
    pub rate: Option<Rate>,
    /// Its propagation delay, for packets whose transmission ends from then on.
    pub delay: Option<Duration>,
    /// Share of the packets that it loses at random, of those whose transmission ends from then on.
    pub loss: Option<f64>,
}

impl LinkSpecification {
    /// Whether it never loses a packet by itself.
    pub fn is_lossless(&self) -> bool {
        self.drop.is_none() && self.loss == 0.0 && self.changes.iter().all(|change| change.loss.is_none())
    }
}

/// A queue discipline.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpecification {
    /// Its name.
    pub name: String,
    /// How much it holds; unlimited if none.
    pub limit: Option<QueueLimit>,
    /// Its parameters, those left out having their defaults.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// Index of the plugin that it is; none if it is built in.
    #[serde(default)]
    pub plugin: Option<usize>,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
    /// So many products of the link's rate and the longest base round-trip time of the flows that cross it.
    BandwidthDelayProducts(f64),
}

/// Which of the data packets that come to a link are lost; the first is number 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossPattern {
    /// Every n-th packet.
    Every(u64),
    /// These.
    Listed(Vec<u64>),
}

/// A group of like flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpecification {
    /// How many.
    pub count: u64,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// Name of the group in the results.
    pub group: String,
    /// Earliest start.
    pub start: Time,
    /// Starts are uniform over this time from `start` on.
    pub start_within: Duration,
    /// When those that are still open are aborted.
    pub stop: Option<Time>,
    /// Payload of each flow; none sends to the end of the run.
    pub size: Option<Bytes>,
    /// What sends.
    pub source: SourceSpecification,
}

/// What sends: a TCP sender with a window, or a rate-based source, as the name says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSpecification {
    /// Its congestion control: one of [`crate::tcp::congestion`] or of [`crate::traffic`].
    pub name: String,
    /// Its slow start, if the congestion control leaves that to the sender.
    pub slow_start: SlowStartKind,
    /// Parameters of the congestion control, those left out having their defaults.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// Index of its stack.
    pub stack: usize,
    /// Index of the plugin that its congestion control is; none if it is built in.
    #[serde(default)]
    pub plugin: Option<usize>,
}

/// What is sampled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeSpecification {
    /// Whether queues are measured; without it results have no queues.
    pub queue_statistics: bool,
    /// How often queue lengths are sampled.
    pub queue_series: Option<Duration>,
    /// How often each flow's window, threshold, RTT and delivered bytes are sampled.
    pub flow_series: Option<Duration>,
}

fn no_parameters() -> Value {
    Value::Object(serde_json::Map::new())
}
