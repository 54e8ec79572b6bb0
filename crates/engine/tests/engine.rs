//! The engine's tests, all in one binary, so that the engine's code is optimised and linked only once.

mod congestion;
mod laws;
mod properties;
mod queues;
mod recovery;
mod support;
