//! A reduction of the window in proportion to what is delivered, of a fast recovery or, outside of one, after marks.

use super::ProportionalRateReduction;
use crate::tcp::flight::{Arrival, Flight, Phase};
use crate::tcp::window::Window;

state! {
    pub(super) Reduction() {
        /// That of the current episode, `None` if there is none or the algorithm sets the window.
        proportional: Option<ProportionalRateReduction>,
        /// SND.NXT when marks began the reduction that is under way outside fast recovery: Linux's state CWR.
        marked_at: Option<u64>,
    }
}

impl Reduction {
    /// Whether marks reduce the window.
    pub(super) fn is_of_marks(&self) -> bool {
        self.marked_at.is_some()
    }

    /// Starts to reduce the window after marks: Linux tcp_input.c, tcp_enter_cwr. `nxt` is SND.NXT.
    pub(super) fn start_of_marks(&mut self, flight: &Flight, nxt: u64) {
        self.proportional = Some(ProportionalRateReduction::new(flight.window.cwnd));
        self.marked_at = Some(nxt);
    }

    /// Ends it once the segment that announces it has been acknowledged: Linux tcp_input.c, tcp_fastretrans_alert.
    pub(super) fn end_of_marks(&mut self, flight: &mut Flight) {
        if self.marked_at.is_some_and(|nxt| flight.una > nxt) {
            self.forget();
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    /// A fast recovery of what was sent below `nxt`, which is SND.NXT, begins: it goes on with a reduction that marks began, or `reduce`
    /// sets the threshold (Linux tcp_input.c, tcp_enter_recovery). Returns the window before that.
    pub(super) fn enter(
        &mut self,
        flight: &mut Flight,
        arrival: &Arrival,
        nxt: u64,
        reduce: impl FnOnce(&mut Flight),
    ) -> Option<Window> {
        if let Some(marked_at) = self.marked_at.take() {
            self.reduce(flight, arrival);
            flight.begin_recovery(marked_at);
            return None;
        }
        let before = flight.window;
        reduce(flight);
        // At the end of a recovery the acknowledgement of its last data may show no further loss.
        let safe = ProportionalRateReduction::is_safe(arrival);
        self.proportional =
            (!flight.settings.is_governed).then(|| ProportionalRateReduction::enter(flight, arrival, safe));
        flight.begin_recovery(nxt);
        Some(before)
    }

    pub(super) fn end(&mut self) {
        self.proportional = None;
    }

    pub(super) fn forget(&mut self) {
        self.proportional = None;
        self.marked_at = None;
    }

    /// Continues it with an acknowledgement that starts no recovery.
    pub(super) fn reduce(&mut self, flight: &mut Flight, arrival: &Arrival) {
        if let Some(proportional) = &mut self.proportional {
            proportional.reduce(flight, arrival);
        }
    }

    pub(super) fn on_sent(&mut self, payload: u64) {
        if let Some(proportional) = &mut self.proportional {
            proportional.on_sent(payload);
        }
    }

    /// Whether marks are reducing the current window of data.
    pub(super) fn marks_reduce_window(&self, flight: &Flight) -> bool {
        self.marked_at.is_some_and(|nxt| flight.una < nxt)
    }

    /// Whether the current window of data has reduced the window before a timeout: Linux tcp_input.c, tcp_enter_loss.
    pub(super) fn has_reduced(&self, flight: &Flight) -> bool {
        flight.phase == Phase::Recovery || self.marks_reduce_window(flight)
    }
}
