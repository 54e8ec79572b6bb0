//! Window inflation, by which fast recovery without SACK continues to send (RFC 5681 section 3.2, RFC 6582 section
//! 3.2).

use super::{Next, lost_then_new};
use crate::tcp::flight::Flight;

/// The congestion window, inflated by the segments that have left the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inflation {
    window: u64,
}

impl Inflation {
    /// Enters fast recovery. The window includes the duplicate acknowledgements that triggered it (RFC 5681 section 3.2
    /// step 3).
    pub fn enter(ssthresh: u64, duplicate_acks: u64, mss: u64) -> Inflation {
        Inflation { window: ssthresh + duplicate_acks * mss }
    }

    /// The inflated window in bytes.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Inflates the window for a duplicate acknowledgement (RFC 5681 section 3.2 step 4).
    pub fn on_duplicate(&mut self, mss: u64) {
        self.window += mss;
    }

    /// Deflates the window on a partial acknowledgement by the bytes acknowledged, less one segment (RFC 6582 section
    /// 3.2 step 3).
    pub fn on_partial(&mut self, acked: u64, mss: u64) {
        self.window = self.window.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
    }

    /// The congestion window after a full acknowledgement: the first option of RFC 6582 section 3.2 step 3, which
    /// avoids bursts.
    pub fn exit(ssthresh: u64, flight_size: u64, mss: u64) -> u64 {
        ssthresh.min(flight_size.max(mss) + mss)
    }
}

/// Enters fast recovery of Reno or New Reno. Returns `None` if the algorithm sets the window.
pub(super) fn enter(flight: &mut Flight, reduce: impl FnOnce(&mut Flight)) -> Option<Inflation> {
    flight.scoreboard.start_episode();
    flight.scoreboard.mark_first_lost();
    reduce(flight);
    if flight.settings.is_governed {
        return None;
    }
    let window = &mut flight.window;
    window.cwnd = window.ssthresh;
    Some(Inflation::enter(window.ssthresh, flight.duplicate_acks, window.mss))
}

/// The segment to send next. With an inflated window, only new data: retransmissions are triggered by acknowledgements,
/// regardless of the window.
pub(super) fn next_segment(inflation: Option<&Inflation>, flight: &mut Flight, has_new: bool) -> Option<Next> {
    match inflation {
        Some(_) => has_new.then_some(Next::New),
        None => lost_then_new(flight, has_new),
    }
}
