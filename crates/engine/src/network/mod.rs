//! The network: nodes joined by links, and the paths of the flows.

mod drops;
mod foreseen_queue;
mod forwarding;
mod frames;
mod impairments;
mod link;
mod measured_queue;
mod round_trips;
mod routes;
mod trace;
mod transmitter;
mod varying;

pub use drops::Drops;
pub use foreseen_queue::ForeseenQueue;
pub use forwarding::Network;
pub use frames::FramedQueue;
pub use impairments::{Policer, Wire};
pub use link::{Arrived, Egress, InTransit, Link, Losses, Special};
pub use measured_queue::{Device, MeasuredQueue};
pub use round_trips::{RoundTrips, delay_over};
pub use routes::{END_OF_PATH, Hop, Routes};
pub use transmitter::Transmitter;
pub use varying::Varying;
