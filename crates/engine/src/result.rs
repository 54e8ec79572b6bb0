//! What a run leaves: figures over the measuring window, unless a name says `total`.

use crate::probe::{DelayStatistics, QueueStatistics, Series};
use crate::tcp::sender::{SenderStatistics, State};
use crate::time::Time;

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// One for each flow, in the order of the specification.
    pub flows: Vec<FlowResult>,
    /// One for each link with a queue discipline, in the order of the specification; none if queues are not measured.
    pub queues: Vec<QueueResult>,
    /// Samples.
    pub series: Series,
    /// Events processed.
    pub events: u64,
    /// Data packets that reached their receiving host in the whole run.
    pub data_packets_delivered: u64,
}

/// A flow's result.
#[derive(Debug)]
pub struct FlowResult {
    /// Index of its group in the specification.
    pub group: usize,
    /// When it started.
    pub start: Time,
    /// When it was stopped, if it was still open then.
    pub stopped: Option<Time>,
    /// Payload bytes handed to the receiving application in order, each once.
    pub bytes_delivered: u64,
    /// The same since the start of the run.
    pub total_bytes_delivered: u64,
    /// Data packets that queues dropped or links lost.
    pub packets_dropped: u64,
    /// A TCP flow's own figures.
    pub tcp: Option<TcpResult>,
    /// What a rate-based sender counted.
    pub rate_based: Option<SenderStatistics>,
    /// One-way delays, where the flow's packets are not answered and some arrived. Most flows have none.
    pub delays: Option<Box<DelayStatistics>>,
}

impl FlowResult {
    /// What the sender counted, whichever it is.
    pub fn statistics(&self) -> SenderStatistics {
        self.tcp.as_ref().map(|tcp| tcp.statistics).or(self.rate_based).unwrap_or_default()
    }
}

/// What only a TCP flow has.
#[derive(Debug)]
pub struct TcpResult {
    /// Where the connection stood at the end.
    pub state: State,
    /// When its SYN was answered.
    pub established: Option<Time>,
    /// When its last byte was acknowledged.
    pub completed: Option<Time>,
    /// Counts.
    pub statistics: SenderStatistics,
}

/// A queue's result.
#[derive(Debug)]
pub struct QueueResult {
    /// Index of its link in the specification.
    pub link: usize,
    /// Packets that the link itself lost, in the whole run.
    pub link_losses: u64,
    /// The statistics.
    pub statistics: QueueStatistics,
}
