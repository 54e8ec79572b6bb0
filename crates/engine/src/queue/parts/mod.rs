//! Components shared by several disciplines.

mod average_queue;
mod bounded;
mod chains;
mod cobalt_control;
mod codel_control;
mod drop_curve;
mod drop_spacing;
mod fifo;
mod flow_hash;
mod flow_match;
mod flow_queues;
mod flow_table;
mod highest;
mod hungriest;
mod periodic;
mod pie_control;
mod red_queue;
mod rotation;

pub use average_queue::AverageQueue;
pub use bounded::{BoundedFifo, admits};
pub use chains::Chains;
pub use cobalt_control::{CobaltControl, CobaltParameters, CobaltSettings};
pub use codel_control::{CoDelControl, CoDelParameters, CoDelRules, DropPolicy};
pub use drop_curve::DropCurve;
pub use drop_spacing::DropSpacing;
pub use fifo::{Fifo, Queued};
pub use flow_hash::FlowHash;
pub use flow_match::draw_of_same_flow;
pub use flow_queues::{FlowQueues, Measure};
pub use flow_table::FlowTable;
pub use highest::Highest;
pub use hungriest::{ConnectionKind, GuessParameters, GuessedHungriest, NamedHungriest};
pub use periodic::Periodic;
pub use pie_control::{DelayEstimator, PieControl, PieParameters, PieScaling};
pub use red_queue::{RedParameters, RedQueue};
pub use rotation::Rotation;
