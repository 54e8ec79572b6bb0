//! The engine's tests, all in one binary: the engine's code is optimised and linked once for all of them.

mod congestion;
mod laws;
mod properties;
mod queues;
mod recovery;
mod support;
