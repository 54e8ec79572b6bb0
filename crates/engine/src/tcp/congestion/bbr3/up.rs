//! ProbeBW_UP (section 5.3.3.4): sends above the estimated bandwidth until the pipe is full or the loss rate is too
//! high.

use super::down::AckPhase;
use super::{Bbr3, Mode, Sampled, UNBOUNDED};
use crate::tcp::window::Window;

/// Maximum of BBR.bw_probe_up_rounds.
const MOST_ROUNDS: u32 = 30;

/// The growth rate of the long-term bound, which doubles every round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    /// BBR.bw_probe_up_rounds.
    rounds: u32,
    /// BBR.bw_probe_up_acks, in bytes.
    acked: u64,
    /// BBR.probe_up_cnt: the number of bytes acknowledged per segment of growth.
    acked_per_increment: u64,
}

impl Default for Slope {
    fn default() -> Slope {
        Slope { rounds: 0, acked: 0, acked_per_increment: UNBOUNDED }
    }
}

impl Slope {
    /// Stops the growth of the bound.
    pub(super) fn stop(&mut self) {
        self.acked_per_increment = UNBOUNDED;
    }

    /// Restarts the growth for the next probe.
    pub(super) fn restart(&mut self) {
        self.rounds = 0;
        self.acked = 0;
    }

    /// RaiseInflightLongtermSlope() of section 5.3.3.9.
    fn raise(&mut self, window: &Window) {
        let growth_this_round = 1 << self.rounds;
        self.rounds = (self.rounds + 1).min(MOST_ROUNDS);
        self.acked_per_increment = (window.cwnd / growth_this_round).max(window.mss);
    }

    /// The growth of the bound for these bytes delivered, in segments.
    fn increments(&mut self, delivered: u64) -> u64 {
        self.acked += delivered;
        let increments = self.acked / self.acked_per_increment;
        self.acked %= self.acked_per_increment;
        increments
    }
}

impl Bbr3 {
    /// StartProbeBW_UP() of section 5.3.3.9.
    pub(super) fn start_up(&mut self, window: &Window, ack: &Sampled) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(ack.delivery.total_delivered);
        self.full_bw.reset(ack.rate);
        self.transition_to(Mode::Up);
        self.slope.raise(window);
    }

    /// The part of UpdateProbeBWCyclePhase() for ProbeBW_UP.
    pub(super) fn update_up(&mut self, window: &Window, ack: &Sampled) {
        if self.is_time_to_go_down(window, ack) {
            self.cycle.prev_probe_too_high = false;
            self.start_down(ack.delivery.now, ack.delivery.total_delivered);
        }
    }

    /// IsTimeToGoDown() of section 5.3.3.9.
    fn is_time_to_go_down(&mut self, window: &Window, ack: &Sampled) -> bool {
        let is_limited = self.is_cwnd_limited();
        if self.cycle.prev_probe_too_high && ack.delivery.in_flight >= self.bounds.inflight_longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if is_limited && window.cwnd >= self.bounds.inflight_longterm {
            self.full_bw.reset(ack.rate);
            return false;
        }
        self.full_bw.now
    }

    /// ProbeInflightLongtermUpward() of section 5.3.3.9.
    pub(super) fn probe_inflight_longterm_upward(&mut self, window: &Window, ack: &Sampled) {
        if !self.is_cwnd_limited() || window.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.bounds.inflight_longterm += self.slope.increments(ack.delivery.delivered) * window.mss;
        if self.round_start {
            self.slope.raise(window);
        }
    }
}
