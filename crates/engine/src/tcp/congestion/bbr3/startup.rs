//! Startup (section 5.3.1): the sending rate doubles every round trip until the pipe is full or the loss rate is too
//! high.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

/// Estimates from the growth of the delivery rate whether the pipe is full (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// BBR.full_bw: the baseline of the comparison, in bytes per second.
    baseline: f64,
    /// BBR.full_bw_count: the number of rounds without sufficient growth.
    count: u64,
    /// BBR.full_bw_now.
    pub(super) now: bool,
    /// BBR.full_bw_reached.
    pub(super) reached: bool,
}

impl FullBandwidth {
    /// ResetFullBW(): restarts the estimate from this delivery rate.
    pub(super) fn reset(&mut self, baseline: f64) {
        self.baseline = baseline;
        self.count = 0;
        self.now = false;
    }
}

impl Bbr3 {
    /// Checks whether the pipe is full (section 5.3.1.2). Also used by ProbeBW_UP.
    pub(super) fn check_full_bw_reached(&mut self, ack: &Sampled) {
        let round_start = self.round_start;
        let full_bw = &mut self.full_bw;
        if full_bw.now || !round_start || ack.app_limited {
            return;
        }
        if ack.rate >= self.parameters.full_bandwidth_threshold * full_bw.baseline {
            full_bw.reset(ack.rate);
            return;
        }
        full_bw.count += 1;
        full_bw.now = full_bw.count >= self.parameters.full_bandwidth_rounds;
        full_bw.reached |= full_bw.now;
    }

    /// Leaves Startup when the pipe is full or the loss rate is too high (section 5.3.1.1).
    pub(super) fn check_startup_done(&mut self, window: &mut Window, ack: &Sampled) {
        self.check_startup_high_loss(ack);
        if self.mode == Mode::Startup && self.full_bw.reached {
            self.start_drain(window);
        }
    }

    /// Checks for high loss in Startup (section 5.3.1.3). A loss round begins with the first loss, so its end is one
    /// full round of recovery later.
    fn check_startup_high_loss(&mut self, ack: &Sampled) {
        let in_recovery = ack.delivery.in_recovery && self.prior.was_in_recovery;
        if self.full_bw.reached
            || !(self.signals.loss_round_start && in_recovery)
            || self.signals.lost_ranges < self.parameters.startup_loss_ranges
            || !self.is_inflight_too_high(ack.sample.lost, ack.sample.in_flight_when_sent)
        {
            return;
        }
        self.undo.ends(Mode::Startup);
        self.full_bw.reached = true;
        self.bounds.inflight_longterm = self.bdp(self.bw, 1.0).max(self.signals.inflight_latest);
    }
}
