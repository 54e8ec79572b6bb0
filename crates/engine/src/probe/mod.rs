//! Measurements during a run: streaming statistics, sampled series and packet records.

mod delay;
mod drop_runs;
mod loss_epochs;
mod passage;
mod queue;
mod series;
mod sojourn;
mod transfers;

pub use delay::{DelayProbe, DelayStatistics};
pub use loss_epochs::{LossEpochs, Synchronisation};
pub use passage::{End, Passage, Recorded};
pub use queue::{Counts, QueueProbe, QueueStatistics, QueueTotals, SojournTimes};
pub use series::{FlowLook, FlowSample, QueueLook, QueueSample, Series, StateSample, States, Whose};
pub use transfers::{CLASSES, Transfer, Transfers};
