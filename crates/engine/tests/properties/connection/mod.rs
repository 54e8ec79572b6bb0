//! Both ends of a connection together: for any loss, reordering and duplication every byte arrives once and in order,
//! or the connection is recorded as aborted.

mod properties;
mod rig;
