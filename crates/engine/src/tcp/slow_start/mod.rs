//! Slow start: how the window opens until the first congestion, and what ends it early.

mod hystart;
mod hystartpp;

pub use hystart::HyStart;
pub use hystartpp::HyStartPlusPlus;

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
        /// RFC 9406.
        HyStartPlusPlus = "hystart++",
    }
}

impl SlowStartKind {
    /// All slow starts; the first is the default.
    pub const CATALOGUE: [About; 3] = [
        About {
            name: "standard",
            aliases: &[],
            title: "Standard slow start",
            class: "loss",
            year: 2009,
            source: "RFC 5681 section 3.1",
            deviations: "none",
        },
        HyStart::ABOUT,
        HyStartPlusPlus::ABOUT,
    ];
}

/// A sender's slow start.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// Grows until loss.
    Standard,
    /// Grows until acknowledgement trains or delays say that the pipe is full.
    HyStart(Box<HyStart>),
    /// Slows down when delays say that the pipe is full, and ends if they still say so some rounds later.
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl SlowStart {
    /// A fresh slow start.
    pub fn new(kind: SlowStartKind) -> SlowStart {
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::HyStart => SlowStart::HyStart(Box::default()),
            SlowStartKind::HyStartPlusPlus => SlowStart::HyStartPlusPlus(Box::default()),
        }
    }

    /// Grows the window by the bytes credited, as far as the threshold, and ends slow start if it should end. Returns the credit left over
    /// for congestion avoidance.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack) -> u64 {
        let is_first = window.ssthresh == u64::MAX;
        let credit = match self {
            SlowStart::HyStartPlusPlus(hystart) if is_first => hystart.growth(window, ack),
            _ => ack.credit,
        };
        let growth = credit.min(window.ssthresh - window.cwnd);
        window.cwnd += growth;
        let has_ended = match self {
            SlowStart::Standard => false,
            SlowStart::HyStart(hystart) => hystart.pipe_is_full(window, ack),
            SlowStart::HyStartPlusPlus(hystart) => is_first && hystart.has_ended(ack),
        };
        if has_ended {
            window.ssthresh = window.cwnd;
        }
        credit - growth
    }

    /// Slow start begins anew after a timeout.
    pub fn restart(&mut self) {
        if let SlowStart::HyStart(hystart) = self {
            **hystart = HyStart::default();
        }
    }
}
