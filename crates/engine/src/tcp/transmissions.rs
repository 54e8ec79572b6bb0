//! When each segment between SND.UNA and SND.NXT was last sent.

use super::segment_ring::SegmentRing;
use crate::time::Time;

/// The latest transmission of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transmission {
    pub sent: Time,
    /// Whether the segment had been sent before.
    pub again: bool,
}

/// The latest transmission of each segment.
#[derive(Clone, Debug)]
pub struct Transmissions(SegmentRing<Transmission>);

impl Transmissions {
    pub fn new() -> Transmissions {
        Transmissions(SegmentRing::new())
    }

    /// Records a transmission. `una` is the first unacknowledged segment, `nxt` the first that had not been sent before.
    pub fn on_sent(&mut self, index: u64, una: u64, nxt: u64, now: Time) {
        self.0.hold(una, index);
        self.0[index] = Transmission { sent: now, again: index < nxt };
    }

    /// That of a segment that is not forgotten yet.
    #[inline(always)]
    pub fn of(&self, index: u64) -> Transmission {
        self.0[index]
    }
}
