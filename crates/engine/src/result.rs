//! The result of a run. Values refer to the measuring window, unless their name contains `total`.

use crate::probe::{DelayStatistics, QueueStatistics, Series, Transfer};
use crate::tcp::sender::{SenderStatistics, State};
use crate::time::Time;
use crate::traffic::CallQuality;
use crate::video::Playback;

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// One for each flow, in the order of the specification.
    pub flows: Vec<FlowResult>,
    /// One for each link with a queue discipline, in the order of the specification. Empty if queues are not measured.
    pub queues: Vec<QueueResult>,
    /// The sampled series.
    pub series: Series,
    /// Transfers completed in the whole run, in order of completion.
    pub transfers: Vec<Transfer>,
    /// Number of events processed.
    pub events: u64,
    /// Data packets delivered to their receiving host in the whole run.
    pub data_packets_delivered: u64,
}

/// The result of a flow.
#[derive(Debug)]
pub struct FlowResult {
    /// Index of the flow's group in the specification.
    pub group: usize,
    /// Whether it has unlimited demand and is there for the measuring window ([`crate::simulation::long_lived`]).
    pub long_lived: bool,
    /// The start time of the flow.
    pub start: Time,
    /// When the flow was stopped, if it was still open then.
    pub stopped: Option<Time>,
    /// Payload bytes delivered to the receiving application in order, each counted once.
    pub bytes_delivered: u64,
    /// Payload bytes delivered since the start of the run.
    pub total_bytes_delivered: u64,
    /// Data packets dropped by queues or lost by links.
    pub packets_dropped: u64,
    /// Values specific to TCP flows.
    pub tcp: Option<TcpResult>,
    /// Counters of a rate-based sender.
    pub rate_based: Option<Box<SenderStatistics>>,
    /// One-way delays, where the flow's packets are not answered and some arrived. Most flows have none.
    pub delays: Option<Box<DelayStatistics>>,
    /// Transfers of limited size, where the flow has such.
    pub transfers: Option<TransferCounts>,
    /// Times from requests to their answers, of a flow of them.
    pub round_trips: Option<Box<DelayStatistics>>,
    /// What the listener hears, of a call.
    pub call: Option<Box<CallQuality>>,
    /// What the viewers have seen, of video.
    pub video: Option<Box<Playback>>,
}

/// The transfers of a flow, or of a group whose connections arrive.
#[derive(Clone, Copy, Debug)]
pub struct TransferCounts {
    /// Completed in the measuring window.
    pub completed: u64,
    /// Begun in the run and not completed at its end, those that were aborted included.
    pub unfinished: u64,
    /// Open on average over the measuring window.
    pub open_mean: f64,
}

impl FlowResult {
    /// The counters of the sender of either kind.
    pub fn statistics(&self) -> SenderStatistics {
        self.tcp.as_ref().map(|tcp| tcp.statistics).or(self.rate_based.as_deref().copied()).unwrap_or_default()
    }
}

/// Values specific to TCP flows.
#[derive(Debug)]
pub struct TcpResult {
    /// The state of the connection at the end.
    pub state: State,
    /// When the SYN was answered.
    pub established: Option<Time>,
    /// When the last byte was acknowledged.
    pub completed: Option<Time>,
    /// The counters of the sender.
    pub statistics: SenderStatistics,
}

/// The result of a queue.
#[derive(Debug)]
pub struct QueueResult {
    /// Index of the link in the specification.
    pub link: usize,
    /// Packets lost by the link itself in the whole run.
    pub link_losses: u64,
    /// The statistics of the queue.
    pub statistics: QueueStatistics,
}
