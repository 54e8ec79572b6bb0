//! ProbeBW_REFILL (section 5.3.3.3): one round trip without short-term bounds, so that a probe starts with a full pipe.

use super::down::AckPhase;
use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

impl Bbr3 {
    /// StartProbeBW_REFILL() of section 5.3.3.9.
    pub(super) fn start_refill(&mut self, total_delivered: u64) {
        let state = &mut *self.state;
        state.bounds.reset_short_term();
        state.slope.restart();
        state.cycle.prev_probe_precautionary = false;
        state.cycle.ack_phase = AckPhase::Idle;
        state.rounds.restart(total_delivered);
        state.transition_to(Mode::Refill);
    }

    /// The part of UpdateProbeBWCyclePhase() for ProbeBW_REFILL, which lasts one round.
    pub(super) fn update_refill(&mut self, window: &Window, ack: &Sampled) {
        if self.state.round_start {
            self.state.cycle.is_probe_sample = true;
            self.start_up(window, ack);
        }
    }
}
