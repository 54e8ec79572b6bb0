//! How much a queue may hold.

use serde::{Deserialize, Serialize};

use crate::parameter::{Kind, ParameterType};
use crate::units::Bytes;

/// How much a queue holds; the packet being transmitted has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether so much is more than it.
    pub fn would_be_exceeded(self, packets: u64, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit,
            Limit::Bytes(limit) => bytes > limit,
        }
    }

    /// The same in bytes, packets being of this size.
    pub fn in_bytes(self, packet_size: Bytes) -> u64 {
        match self {
            Limit::Packets(packets) => packets.saturating_mul(packet_size.0),
            Limit::Bytes(bytes) => bytes,
        }
    }

    /// The same in packets of this size.
    pub fn in_packets(self, packet_size: Bytes) -> f64 {
        match self {
            Limit::Packets(packets) => packets as f64,
            Limit::Bytes(bytes) => bytes as f64 / packet_size.0 as f64,
        }
    }
}

impl ParameterType for Limit {
    const KIND: Kind = Kind::QueueLength;
}
