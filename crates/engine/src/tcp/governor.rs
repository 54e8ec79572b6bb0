//! The governor of a sender's window: in which order the congestion control and slow start hear what happened, and how the
//! window then moves.
//!
//! | What happens | Hooks, in order |
//! |---|---|
//! | the handshake is done | `on_established` |
//! | an acknowledgement shows that the latest loss was none | `on_congestion` for the spurious loss, once the window is back; then as any |
//! | any acknowledgement | `on_segment_lost` for each segment that it shows to be lost |
//! | it reports marks, once a window of data | `on_congestion` for the marks |
//! | it begins fast recovery | `on_congestion` for the loss; if slow start is to start over, for that too |
//! | or it acknowledges new data outside fast recovery | `on_ack`; then, if the window may grow, slow start (or `increase_in_slow_start`), `increase`, or both |
//! | after all of these | `on_delivery` |
//! | the retransmission timer expires | `on_congestion` for the loss if it is the first timeout of a segment, and for the timeout; then `on_segment_lost` for each segment |
//! | the application has data again after a pause | `on_idle`; then the window falls if the pause was long, unless the algorithm governs |
//! | segments leave after none was in flight for want of data | `on_restart` |
//! | a segment is to be paced | `pacing_rate`, `pacing_quantum` |
//!
//! `docs/your-own-algorithm.md` shows this table.
//!
//! A lowered threshold moves the window when the recovery says so: at once ([`Governor::reduce`]), or over a round trip. An
//! algorithm that governs ([`Needs::governs`]) sets the window alone, but for the single segment after a timeout.

use crate::tcp::congestion::{Ack, Algorithm, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs};
use crate::tcp::flight::Phase;
use crate::tcp::profile::{Counting, StackProfile};
use crate::tcp::slow_start::{SlowStart, SlowStartChoice};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The algorithm stands last, since most have fewer fields than there is room for.
#[derive(Debug)]
#[repr(C)]
pub struct Governor {
    counting: Counting,
    abe: bool,
    governs: bool,
    grows_beside_marks: bool,
    hears_in_recovery: bool,
    hears_deliveries: bool,
    slow_start: SlowStart,
    algorithm: Algorithm,
}

impl Governor {
    /// The governor of a new connection of this stack.
    pub fn new(algorithm: Algorithm, slow_start: impl Into<SlowStartChoice>, profile: &StackProfile) -> Governor {
        let Needs { governs, deliveries, growth_beside_marks, acks_in_recovery, .. } = algorithm.needs();
        Governor {
            algorithm,
            slow_start: SlowStart::new(slow_start),
            counting: profile.counting,
            abe: profile.abe,
            governs,
            grows_beside_marks: growth_beside_marks,
            hears_in_recovery: acks_in_recovery,
            hears_deliveries: deliveries,
        }
    }

    #[inline(always)]
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// The handshake is done, with this smoothed round-trip time, or zero if it gave none.
    pub fn on_established(&mut self, window: &mut Window, srtt: Duration, now: Time) {
        self.algorithm.on_established(window, srtt, now);
    }

    /// The credit for growth of an acknowledgement of new data.
    #[inline(always)]
    pub fn credit(&self, acked: u64, delivered: u64, window: &Window, phase: Phase) -> u64 {
        let counted = if self.counting == Counting::Segments { delivered } else { acked };
        self.counting.credit(counted, window, phase)
    }

    /// New data is acknowledged. `may_grow` says whether the sender used its window, outside fast recovery.
    #[inline(always)]
    pub fn on_ack(&mut self, window: &mut Window, ack: &mut Ack, may_grow: bool) {
        self.algorithm.on_ack(window, ack);
        if may_grow {
            self.grow(window, ack);
        }
    }

    /// Whether the algorithm measures in fast recovery, too, and while a reduction after marks lasts.
    #[inline(always)]
    pub fn hears_in_recovery(&self) -> bool {
        self.hears_in_recovery
    }

    /// Grows the window, but not on an acknowledgement that reports marks (RFC 3168 section 6.1.2), or only by what was not marked.
    #[inline(always)]
    pub fn grow(&mut self, window: &mut Window, ack: &mut Ack) {
        if !self.governs && (ack.marked == 0 || self.is_partly_unmarked(ack)) {
            self.slow_start.grow(&mut self.algorithm, window, ack);
        }
    }

    /// Takes what was marked off the credit of an acknowledgement. Returns whether the rest may grow the window.
    fn is_partly_unmarked(&self, ack: &mut Ack) -> bool {
        ack.credit = ack.credit.saturating_sub(ack.marked);
        self.grows_beside_marks && ack.credit > 0
    }

    /// Segments were lost. The recovery decides when the window falls.
    pub fn on_loss(&mut self, window: &mut Window, flight_size: u64, now: Time) {
        self.lower_threshold(window, CongestionEvent::Loss { flight_size }, now);
    }

    /// Marks are to be answered. The recovery decides when the window falls.
    pub fn on_marks(&mut self, window: &mut Window, flight_size: u64, now: Time) {
        self.lower_threshold(window, CongestionEvent::Ecn { flight_size, abe: self.abe }, now);
    }

    /// Has the algorithm lower the threshold, to whole segments if the stack counts in them.
    fn lower_threshold(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        self.algorithm.on_congestion(window, event, now);
        let Window { ssthresh, mss, .. } = *window;
        if self.counting == Counting::Segments && ssthresh != u64::MAX {
            window.ssthresh = ssthresh - ssthresh % mss;
        }
    }

    /// The window falls to the threshold at once.
    pub fn reduce(&self, window: &mut Window) {
        if !self.governs {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
    }

    /// Slow start starts over; the recovery sets the window to one segment.
    pub fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.algorithm.on_congestion(window, CongestionEvent::Timeout, now);
        self.slow_start.restart();
    }

    /// The latest reduction was spurious: the window and the threshold are again what they were then, at least.
    pub fn on_spurious(&mut self, window: &mut Window, cwnd: u64, ssthresh: u64, now: Time) {
        if !self.governs {
            window.cwnd = window.cwnd.max(cwnd);
        }
        window.ssthresh = window.ssthresh.max(ssthresh);
        self.algorithm.on_congestion(window, CongestionEvent::Spurious, now);
    }

    /// A segment is found lost.
    #[inline(always)]
    pub fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        if self.hears_deliveries {
            self.algorithm.on_segment_lost(window, lost);
        }
    }

    /// Any acknowledgement, once it has begun or ended a recovery.
    #[inline(always)]
    pub fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.hears_deliveries {
            self.algorithm.on_delivery(window, delivery);
        }
    }

    /// Segments leave after none was in flight for want of data.
    pub fn on_restart(&mut self, window: &mut Window, now: Time) {
        if self.hears_deliveries {
            self.algorithm.on_restart(window, now);
        }
    }

    /// The application has data again, and none was sent for this time.
    pub fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        self.algorithm.on_idle(window, idle, now);
    }
}
