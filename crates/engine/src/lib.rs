//! Sojourn's engine: a packet-level simulator of TCP congestion control and queue disciplines.
//!
//! It performs no I/O, reads no clock and writes no log. The result of a run is a pure function of its specification,
//! including the seed, byte for byte.

#[macro_use]
pub mod about;
#[macro_use]
mod dispatch;
#[macro_use]
pub mod inner;
#[macro_use]
pub mod parameter;
#[macro_use]
mod state;

mod agenda;
pub mod application;
pub mod catalogue;
pub mod columns;
pub mod failure;
pub mod framing;
mod line;
pub mod network;
pub mod numbers;
pub mod oracle;
pub mod packet;
pub mod plugin;
pub mod probe;
pub mod queue;
pub mod random;
pub mod result;
pub mod simulation;
pub mod specification;
pub mod tcp;
pub mod time;
pub mod traffic;
pub mod units;
pub mod video;
pub mod workload;
