//! A connection's two ends together: whatever happens between them, every byte arrives once and in order, or the connection
//! is recorded as given up.

mod fuzz;
mod properties;
mod rig;
