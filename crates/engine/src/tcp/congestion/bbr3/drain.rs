//! Drain (section 5.3.2): drains the queue that Startup has built.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

/// The maximum duration of Drain, in rounds.
const MOST_ROUNDS: u64 = 3;

impl Bbr3 {
    /// EnterDrain().
    pub(super) fn start_drain(&mut self, window: &mut Window) {
        self.state.transition_to(Mode::Drain);
        self.state.drain_start_round = self.state.rounds.count;
        window.ssthresh = self.inflight(self.state.bw, window.mss);
    }

    /// CheckDrainDone().
    pub(super) fn check_drain_done(&mut self, window: &Window, ack: &Sampled) {
        let takes_long = self.state.rounds.count > self.state.drain_start_round + MOST_ROUNDS;
        let is_drained = ack.delivery.in_flight <= self.inflight(self.state.bw, window.mss);
        if self.state.mode == Mode::Drain && (is_drained || takes_long) {
            self.start_down(ack.delivery.now, ack.delivery.total_delivered);
        }
    }
}
