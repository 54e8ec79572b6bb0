//! ProbeBW_REFILL (section 5.3.3.3): one round trip without short-term bounds, so that a probe starts with a full pipe.

use super::down::AckPhase;
use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

impl Bbr3 {
    /// StartProbeBW_REFILL() of section 5.3.3.9.
    pub(super) fn start_refill(&mut self, total_delivered: u64) {
        self.bounds.reset_short_term();
        self.slope.restart();
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Idle;
        self.rounds.restart(total_delivered);
        self.transition_to(Mode::Refill);
    }

    /// The part of UpdateProbeBWCyclePhase() for ProbeBW_REFILL, which lasts one round.
    pub(super) fn update_refill(&mut self, window: &Window, ack: &Sampled) {
        if self.round_start {
            self.cycle.is_probe_sample = true;
            self.start_up(window, ack);
        }
    }
}
