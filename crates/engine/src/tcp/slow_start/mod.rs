//! Slow start: how the window opens until the first congestion, and what ends it early.

mod hystart;

pub use hystart::HyStart;

use crate::about::About;
use crate::choice;
use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;

choice! {
    /// Which slow start a sender uses; any algorithm takes any.
    pub enum SlowStartKind {
        /// RFC 5681 section 3.1.
        Standard = "standard",
        /// Ha and Rhee 2011.
        HyStart = "hystart",
    }
}

impl SlowStartKind {
    /// All slow starts; the first is the default.
    pub const CATALOGUE: [About; 2] = [
        About {
            name: "standard",
            aliases: &[],
            title: "Standard slow start",
            class: "loss",
            year: 2009,
            source: "RFC 5681 section 3.1",
            departures: "none",
        },
        HyStart::ABOUT,
    ];
}

/// A sender's slow start.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// Grows until loss.
    Standard,
    /// Grows until acknowledgement trains or delays say that the pipe is full.
    HyStart(Box<HyStart>),
}

impl SlowStart {
    /// A fresh slow start.
    pub fn new(kind: SlowStartKind) -> SlowStart {
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::HyStart => SlowStart::HyStart(Box::default()),
        }
    }

    /// Grows the window by the bytes credited, as far as the threshold, and ends slow start if it should end. Returns the credit left over
    /// for congestion avoidance.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack) -> u64 {
        let growth = ack.credit.min(window.ssthresh - window.cwnd);
        window.cwnd += growth;
        if let SlowStart::HyStart(hystart) = self
            && hystart.pipe_is_full(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
        ack.credit - growth
    }

    /// Slow start begins anew after a timeout.
    pub fn restart(&mut self) {
        if let SlowStart::HyStart(hystart) = self {
            **hystart = HyStart::default();
        }
    }
}
