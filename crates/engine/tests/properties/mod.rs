//! What holds whatever happens: every algorithm of the catalogue on random and fuzzed inputs.

mod congestion;
mod connection;
mod queues;
mod rate;
