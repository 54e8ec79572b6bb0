//! TCP, composed: a sender of slow start, window rule, recovery and timeout; a receiver; a stack profile beside them.

mod ack_delay;
pub mod advertisement;
pub mod congestion;
pub mod connection;
pub mod ecn;
pub mod flight;
pub mod governor;
pub mod offload;
pub mod profile;
pub mod receive_window;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod scoreboard;
mod segment_ring;
mod send_buffer;
pub mod sender;
pub mod slow_start;
mod timer_wheel;
mod transmissions;
pub mod window;
