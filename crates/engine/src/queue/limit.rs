//! The limit of a queue.

use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterKind, ParameterType};
use crate::units::Bytes;

/// The maximum length of a queue. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Packets(u64),
    Bytes(u64),
}

impl Limit {
    /// Whether a queue of this length exceeds the limit.
    pub fn would_be_exceeded(self, packets: u64, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit,
            Limit::Bytes(limit) => bytes > limit,
        }
    }

    pub fn in_bytes(self, packet_size: Bytes) -> u64 {
        match self {
            Limit::Packets(packets) => packets.saturating_mul(packet_size.0),
            Limit::Bytes(bytes) => bytes,
        }
    }

    pub fn in_packets(self, packet_size: Bytes) -> f64 {
        match self {
            Limit::Packets(packets) => packets as f64,
            Limit::Bytes(bytes) => bytes as f64 / packet_size.0 as f64,
        }
    }
}

impl ParameterType for Limit {
    const KIND: ParameterKind = ParameterKind::QueueLength;
}
