//! The network: nodes joined by links, and the paths of the flows.

mod link;
mod routes;

pub use link::{Egress, InTransit, Link, Losses, MeasuredQueue};
pub use routes::{END_OF_PATH, Routes};
