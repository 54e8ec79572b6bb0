//! Sampled series, and what is to be seen at a moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::queue::QueueTotals;
use crate::inner::Tell;
use crate::time::{Duration, Time};

/// A sample of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueSample {
    /// The time of the sample.
    pub time: Time,
    /// The index of the link.
    pub link: usize,
    /// Packets queued.
    pub packets: u64,
    /// Bytes queued.
    pub bytes: u64,
    /// Packets dropped since the start of the run, `None` if queues are not measured.
    pub drops: Option<u64>,
}

/// A sample of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// The time of the sample.
    pub time: Time,
    /// The index of the flow.
    pub flow: usize,
    /// Congestion window in bytes. For a rate-based sender, the bytes it may send per round-trip time.
    pub cwnd: u64,
    /// Slow start threshold in bytes, `None` before the first congestion event.
    pub ssthresh: Option<u64>,
    /// Latest RTT sample.
    pub rtt: Option<Duration>,
    /// Payload bytes delivered since the start of the run.
    pub bytes_delivered: u64,
    /// Payload bytes received since the start of the run, each counted once, including those above a gap.
    pub bytes_received: u64,
}

/// Whose inner state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// That of the congestion control of the flow with this index.
    Flow(usize),
    /// That of the discipline of the link with this index.
    Link(usize),
}

/// A value of the inner state of an algorithm.
#[derive(Clone, Debug)]
pub struct StateSample {
    /// The time of the sample.
    pub time: Time,
    /// Whose it is.
    pub whose: Whose,
    /// Which value.
    pub name: Arc<str>,
    /// What it was.
    pub value: f64,
}

/// Values of inner states, in the order in which they were told. Names are shared: there may be millions of values.
#[derive(Debug, Default)]
pub struct States {
    /// The values.
    pub samples: Vec<StateSample>,
    names: BTreeSet<Arc<str>>,
}

impl States {
    /// Takes what an algorithm tells.
    pub fn take(&mut self, time: Time, whose: Whose, ask: impl FnOnce(&mut Tell<'_>)) {
        let States { samples, names } = self;
        ask(&mut |name, value| {
            let known = names.get(name).cloned();
            let name = known.unwrap_or_else(|| {
                let name: Arc<str> = name.into();
                names.insert(Arc::clone(&name));
                name
            });
            samples.push(StateSample { time, whose, name, value });
        });
    }
}

/// All samples of a run, ordered by time.
#[derive(Debug, Default)]
pub struct Series {
    /// Samples of queues.
    pub queues: Vec<QueueSample>,
    /// Samples of flows.
    pub flows: Vec<FlowSample>,
    /// Inner states, where they are asked for.
    pub states: States,
}

/// A queue as it stands.
#[derive(Clone, Copy, Debug)]
pub struct QueueLook {
    /// Which link's.
    pub link: usize,
    /// Packets queued.
    pub packets: u64,
    /// Bytes queued.
    pub bytes: u64,
    /// What it did so far; none if queues are not measured.
    pub totals: Option<QueueTotals>,
}

/// A flow as it stands.
#[derive(Clone, Copy, Debug)]
pub struct FlowLook {
    /// Payload bytes delivered since the start of the run.
    pub bytes_delivered: u64,
    /// The state of its sender; none for a source that only sends.
    pub sample: Option<FlowSample>,
}
