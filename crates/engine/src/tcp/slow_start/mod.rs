//! Slow start: the growth of the window until the first congestion event, and its early end.

mod hystart;
mod hystartpp;

pub use hystart::HyStart;
pub use hystartpp::HyStartPlusPlus;

use crate::about::About;
use crate::choice;
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;

choice! {
    /// The slow start of a sender. Each can be combined with any congestion control.
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
    /// All slow start algorithms. The first is the default.
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

/// The slow start state of a sender.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// Grows until a loss.
    Standard,
    /// Ends when acknowledgement trains or delays indicate that the pipe is full.
    HyStart(Box<HyStart>),
    /// Grows more slowly when delays indicate that the pipe is full, and ends if they still do some rounds later.
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl SlowStart {
    /// Creates the initial state.
    pub fn new(kind: SlowStartKind) -> SlowStart {
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::HyStart => SlowStart::HyStart(Box::default()),
            SlowStartKind::HyStartPlusPlus => SlowStart::HyStartPlusPlus(Box::default()),
        }
    }

    /// Increases the window by the credited bytes, up to ssthresh, and ends slow start if it should end. Returns the
    /// credit left for congestion avoidance.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack) -> u64 {
        if let SlowStart::HyStart(hystart) = self
            && hystart.pipe_is_full(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
        let is_first = window.ssthresh == u64::MAX;
        let credit = match self {
            SlowStart::HyStartPlusPlus(hystart) if is_first => hystart.growth(window, ack),
            _ => ack.credit,
        };
        let growth = credit.min(window.ssthresh - window.cwnd);
        window.cwnd += growth;
        if let SlowStart::HyStartPlusPlus(hystart) = self
            && is_first
            && hystart.has_ended(ack)
        {
            window.ssthresh = window.cwnd;
        }
        credit - growth
    }

    /// Grows the window by an acknowledgement that may: below ssthresh by the algorithm's own slow start or else by this one, and
    /// by the algorithm's congestion avoidance with the credit that is left.
    #[inline(always)]
    pub fn grow(&mut self, algorithm: &mut impl CongestionControl, window: &mut Window, ack: &mut Ack) {
        if window.in_slow_start() {
            ack.credit = algorithm.increase_in_slow_start(window, ack).unwrap_or_else(|| self.increase(window, ack));
        }
        if ack.credit > 0 && !window.in_slow_start() {
            algorithm.increase(window, ack);
        }
    }

    /// Restarts slow start after a timeout.
    pub fn restart(&mut self) {
        if let SlowStart::HyStart(hystart) = self {
            **hystart = HyStart::default();
        }
    }
}
