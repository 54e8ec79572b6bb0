//! What several disciplines are made of.

mod average_queue;
mod codel_control;
mod drop_curve;
mod drop_spacing;
mod fifo;
mod flow_hash;
mod flow_match;
mod flow_table;
mod ranking;
mod red_queue;

pub use average_queue::AverageQueue;
pub use codel_control::{CoDelControl, CoDelParameters};
pub use drop_curve::DropCurve;
pub use drop_spacing::DropSpacing;
pub use fifo::{Fifo, Queued};
pub use flow_hash::FlowHash;
pub use flow_match::draw_of_same_flow;
pub use flow_table::FlowTable;
pub use ranking::Ranking;
pub(crate) use red_queue::red_parameters;
pub use red_queue::{RedQueue, RedSettings};
