//! What is measured while a run runs: streaming statistics, sampled series and packets.

mod delay;
mod passage;
mod queue;
mod series;
mod sojourn;

pub use delay::{DelayProbe, DelayStatistics};
pub use passage::{End, Passage, Recorded};
pub use queue::{Counts, QueueProbe, QueueStatistics, QueueTotals, SojournTimes};
pub use series::{FlowSample, QueueSample, Series};
