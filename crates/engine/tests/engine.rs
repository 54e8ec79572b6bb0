//! All tests of the engine in one binary, so that its code is optimised and linked only once.

mod congestion;
mod laws;
mod layers;
mod oracle;
mod properties;
mod queues;
mod recovery;
mod support;
