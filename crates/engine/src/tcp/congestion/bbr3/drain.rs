//! Drain (section 5.3.2): drains the queue that Startup has built.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

/// The maximum duration of Drain, in rounds.
const MOST_ROUNDS: u64 = 3;

impl Bbr3 {
    /// EnterDrain().
    pub(super) fn start_drain(&mut self, window: &mut Window) {
        self.transition_to(Mode::Drain);
        self.drain_start_round = self.rounds.count;
        window.ssthresh = self.inflight(self.bw, window.mss);
    }

    /// CheckDrainDone().
    pub(super) fn check_drain_done(&mut self, window: &Window, ack: &Sampled) {
        let takes_long = self.rounds.count > self.drain_start_round + MOST_ROUNDS;
        let is_drained = ack.delivery.in_flight <= self.inflight(self.bw, window.mss);
        if self.mode == Mode::Drain && (is_drained || takes_long) {
            self.start_down(ack.delivery.now, ack.delivery.total_delivered);
        }
    }
}
