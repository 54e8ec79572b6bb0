//! Sampled series.

use crate::time::{Duration, Time};

/// A queue at an instant.
#[derive(Clone, Copy, Debug)]
pub struct QueueSample {
    /// When.
    pub time: Time,
    /// Which link's.
    pub link: usize,
    /// Packets queued.
    pub packets: u64,
    /// Bytes queued.
    pub bytes: u64,
    /// Packets dropped since the start of the run; none if queues are not measured.
    pub drops: Option<u64>,
}

/// A flow at an instant.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// When.
    pub time: Time,
    /// Which.
    pub flow: usize,
    /// Congestion window in bytes; of a rate-based sender what it may send in a round-trip time.
    pub cwnd: u64,
    /// Slow start threshold in bytes; none before the first congestion.
    pub ssthresh: Option<u64>,
    /// Latest RTT sample.
    pub rtt: Option<Duration>,
    /// Payload bytes delivered since the start of the run.
    pub bytes_delivered: u64,
    /// Payload bytes that have arrived since the start of the run, each once; those that wait for a gap to be filled too.
    pub bytes_received: u64,
}

/// All samples of a run, in the order of time.
#[derive(Debug, Default)]
pub struct Series {
    /// Of the queues.
    pub queues: Vec<QueueSample>,
    /// Of the flows.
    pub flows: Vec<FlowSample>,
}
