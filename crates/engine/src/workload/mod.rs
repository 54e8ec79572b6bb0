//! Workloads: when transfers arrive, and how much each of them sends.

mod arrivals;
mod sizes;

pub use arrivals::{Arrival, Arrivals, SlowestLink, flows_a_second, load, most_of_users};
pub use sizes::Sizes;
