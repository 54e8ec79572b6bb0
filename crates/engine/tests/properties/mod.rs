//! Properties of every algorithm in the catalogue under random and fuzzed input.

mod congestion;
mod connection;
mod links;
mod queues;
mod rate;
mod sessions;
mod video;
