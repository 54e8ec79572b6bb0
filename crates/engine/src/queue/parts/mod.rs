//! What several disciplines are made of.

mod codel_control;
mod fifo;
mod flow_hash;
mod flow_table;
mod pie_control;

pub use codel_control::{CoDelControl, CoDelParameters};
pub use fifo::{Fifo, Queued};
pub use flow_hash::FlowHash;
pub use flow_table::FlowTable;
pub use pie_control::{DelayEstimator, PieControl, PieParameters, PieScaling};
