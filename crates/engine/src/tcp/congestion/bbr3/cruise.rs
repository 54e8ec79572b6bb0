//! ProbeBW_CRUISE (section 5.3.3.2): sends at the estimated bandwidth, with headroom for other flows, until the next
//! bandwidth probe is due.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;

impl Bbr3 {
    /// StartProbeBW_CRUISE() of section 5.3.3.9.
    pub(super) fn start_cruise(&mut self) {
        self.transition_to(Mode::Cruise);
    }

    /// The part of UpdateProbeBWCyclePhase() for ProbeBW_CRUISE.
    pub(super) fn update_cruise(&mut self, window: &Window, ack: &Sampled) {
        if self.is_time_to_probe(window, ack.delivery.now) {
            self.start_refill(ack.delivery.total_delivered);
        }
    }
}
