//! What is measured while a run runs: streaming statistics and sampled series.

mod queue;
mod series;
mod sojourn;

pub use queue::{Counts, QueueProbe, QueueStatistics, QueueTotals, SojournTimes};
pub use series::{FlowSample, QueueSample, Series};
