//! Startup (section 5.3.1): the rate doubles in every round trip until the pipe is full, or too much is lost.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

/// Whether the pipe is full, by the growth of the delivery rate (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// BBR.full_bw: what the rate is compared with.
    baseline: f64,
    /// BBR.full_bw_count: rounds of too little growth.
    count: u64,
    /// BBR.full_bw_now.
    pub(super) now: bool,
    /// BBR.full_bw_reached.
    pub(super) reached: bool,
}

impl FullBandwidth {
    /// ResetFullBW(): growth is looked for anew, from this rate.
    pub(super) fn reset(&mut self, baseline: f64) {
        self.baseline = baseline;
        self.count = 0;
        self.now = false;
    }
}

impl Bbr3 {
    /// Section 5.3.1.2. ProbeBW_UP asks for it too.
    pub(super) fn check_full_bw_reached(&mut self, ack: &Sampled) {
        let round_start = self.state.round_start;
        let full_bw = &mut self.state.full_bw;
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

    /// Section 5.3.1.1.
    pub(super) fn check_startup_done(&mut self, window: &mut Window, ack: &Sampled) {
        self.check_startup_high_loss(ack);
        if self.state.mode == Mode::Startup && self.state.full_bw.reached {
            self.start_drain(window);
        }
    }

    /// Section 5.3.1.3. A loss round begins with the first loss, so that its end is a full round of recovery later.
    fn check_startup_high_loss(&mut self, ack: &Sampled) {
        let in_recovery = ack.delivery.in_recovery && self.state.prior.was_in_recovery;
        if self.state.full_bw.reached
            || !(self.state.signals.loss_round_start && in_recovery)
            || self.state.signals.lost_ranges < self.parameters.startup_loss_ranges
            || !self.is_inflight_too_high(ack.sample.lost, ack.sample.in_flight_when_sent)
        {
            return;
        }
        self.state.undo.ends(Mode::Startup);
        self.state.full_bw.reached = true;
        self.state.bounds.inflight_longterm = self.bdp(self.state.bw, 1.0).max(self.state.signals.inflight_latest);
    }
}
