//! Sizes and rates, as newtypes so that the kind of a parameter follows from its Rust type.

use serde::{Deserialize, Serialize};

use crate::time::{Duration, PICOSECONDS_PER_SECOND};

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub u64);

impl Rate {
    /// The transmission time of `bytes` on a link of this rate, rounded up to a whole picosecond. Infinite at a rate of
    /// zero.
    pub fn transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration(u64::MAX);
        }
        // The bits of a packet in picoseconds fit into 64 bits. A wider division is several times slower.
        if let Some(picobits) = bytes.checked_mul(8 * PICOSECONDS_PER_SECOND) {
            return Duration(picobits.div_ceil(self.0));
        }
        let picobits = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        Duration(picobits.div_ceil(u128::from(self.0)) as u64)
    }
}
