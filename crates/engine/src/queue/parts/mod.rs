//! What several disciplines are made of.

mod chains;
mod cobalt_control;
mod codel_control;
mod fifo;
mod flow_hash;
mod flow_queues;
mod flow_table;
mod longest;
mod pie_control;
mod rotation;

pub use chains::Chains;
pub use cobalt_control::{CobaltControl, CobaltSettings};
pub use codel_control::{CoDelControl, CoDelParameters};
pub use fifo::{Fifo, Queued};
pub use flow_hash::FlowHash;
pub use flow_queues::{FlowQueues, Measure};
pub use flow_table::FlowTable;
pub use pie_control::{DelayEstimator, PieControl, PieParameters, PieScaling};
pub use rotation::Rotation;
