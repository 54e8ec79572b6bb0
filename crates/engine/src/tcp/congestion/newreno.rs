//! New Reno: the congestion avoidance of RFC 5681 with the recovery of RFC 6582 (which the stack profile chooses).

use std::sync::Arc;

use super::{Ack, CongestionControl};
use crate::about::About;
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::Time;

parameters! {
    /// New Reno has nothing to set.
    pub struct NewRenoParameters {}
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// Credited bytes that have not yet made a segment's growth.
    uncounted: u64,
}

impl NewReno {
    /// What it is.
    pub const ABOUT: About = About {
        name: "newreno",
        aliases: &["new-reno", "nreno"],
        title: "New Reno",
        class: "loss",
        year: 2012,
        source: "RFC 5681 section 3.1 (window), RFC 6582 (recovery without SACK)",
        departures: "none; with a SACK profile the recovery is RFC 6675's or PRR's, as the profile says",
    };

    /// A fresh New Reno.
    pub fn new(_parameters: Arc<NewRenoParameters>) -> NewReno {
        NewReno::default()
    }
}

impl CongestionControl for NewReno {
    /// One segment for each window's worth of credited bytes (RFC 5681 section 3.1, the recommended counting).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.uncounted += ack.credit;
        if self.uncounted >= window.cwnd {
            self.uncounted -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// Half the flight size (RFC 5681 equation 4).
    fn reduce(&mut self, window: &Window, flight_size: u64, _now: Time) -> u64 {
        self.uncounted = 0;
        (flight_size / 2).max(window.least_ssthresh())
    }
}
