//! What several disciplines are made of.

mod codel_control;
mod fifo;
mod flow_hash;
mod flow_table;
mod hungriest;
mod periodic;

pub use codel_control::{CoDelControl, CoDelParameters, DropPolicy};
pub use fifo::{Fifo, Queued};
pub use flow_hash::FlowHash;
pub use flow_table::FlowTable;
pub use hungriest::{ConnectionKind, GuessedHungriest, NamedHungriest};
pub use periodic::Periodic;
