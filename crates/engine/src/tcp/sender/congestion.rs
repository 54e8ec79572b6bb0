//! The sender's response to congestion: passes the event to the algorithm, reduces the window, and starts or undoes
//! recovery.

use super::Sender;
use crate::packet::Packet;
use crate::tcp::flight::Arrival;
use crate::tcp::recovery::{Entry, Immediate};
use crate::time::Time;

impl Sender {
    /// Starts recovery from a loss that the current acknowledgement shows.
    pub(super) fn enter_recovery(&mut self, arrival: &Arrival, now: Time, outbox: &mut Vec<Packet>) {
        let nxt = self.next_sequence();
        let is_reducing = self.recovery.is_reducing();
        let governor = &mut self.governor;
        let entry = self.recovery.enter(&mut self.flight, arrival, nxt, |flight| {
            let flight_size = flight.flight_size();
            governor.on_loss(&mut flight.window, flight_size, now);
        });
        self.statistics.fast_recoveries += 1;
        match entry {
            Entry::StartOver => self.start_over(now, outbox),
            Entry::Repair { first } => {
                if !is_reducing {
                    self.marks.on_reduced(nxt);
                }
                let mss = self.flight.window.mss;
                if first != Immediate::Nothing && !self.pacer.holds_back_repair(mss, now) {
                    self.send_at_once(first, now, outbox);
                }
            }
        }
    }

    /// Restarts slow start from one segment. All data not known to be delivered is retransmitted.
    pub(super) fn start_over(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let nxt = self.next_sequence();
        self.governor.on_timeout(&mut self.flight.window, now);
        self.marks.on_reduced(nxt);
        let repeats = self.retries > 1;
        self.recovery.on_timeout(&mut self.flight, nxt, repeats, &self.rto, now);
        // A retransmission by timeout is not delayed by pacing: Linux tcp_timer.c, tcp_retransmit_timer.
        self.pacer.let_pass(now);
        self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.5) and (5.6)
        if self.flight.scoreboard.pipe() > 0 {
            // The remaining data in flight may fill the window of one segment. The first segment is sent nevertheless:
            // RFC 6298 (5.4).
            self.retransmit(self.flight.scoreboard.una(), now, outbox);
        }
        self.send(now, outbox);
    }

    /// Lowers ssthresh on a retransmission timeout.
    pub(super) fn reduce_on_timeout(&mut self, now: Time) {
        self.recovery.before_reduction(&self.flight);
        let flight_size = self.flight.flight_size();
        self.governor.on_loss(&mut self.flight.window, flight_size, now);
    }

    /// Reduces the window when marks are reported, at most once per window of data.
    pub(super) fn on_marks(&mut self, now: Time) {
        self.recovery.confirm_reduction();
        if self.marks.are_answered(self.flight.una) || !self.flight.is_open() {
            return;
        }
        let flight_size = self.flight.flight_size();
        self.statistics.mark_reductions += 1;
        if self.profile.prr_on_marks && !self.flight.settings.is_governed {
            let nxt = self.next_sequence();
            if self.recovery.start_reduction(&self.flight, nxt) {
                self.governor.on_marks(&mut self.flight.window, flight_size, now);
                return self.marks.on_reduced(nxt);
            }
        }
        self.governor.on_marks(&mut self.flight.window, flight_size, now);
        self.reduce();
    }

    /// Reduces the window after a tail loss probe repaired a loss. The flight size is that before the acknowledgement,
    /// which delivered this number of segments and often covers all of it.
    pub(super) fn on_probe_repaired(&mut self, delivered: u64, now: Time) {
        let window = self.flight.window;
        let flight_size = (self.flight.flight_size() + delivered * window.mss).min(window.cwnd);
        self.governor.on_loss(&mut self.flight.window, flight_size, now);
        self.reduce();
    }

    /// Reduces the window at once.
    fn reduce(&mut self) {
        self.governor.reduce(&mut self.flight.window);
        self.marks.on_reduced(self.next_sequence());
    }

    /// Undoes a spurious reduction: restores the window to at least its earlier size.
    pub(super) fn take_back(&mut self, cwnd: u64, ssthresh: u64, now: Time) {
        if self.recovery.ends_with_undo(&self.flight) {
            self.recovery.leave(&mut self.flight);
        }
        self.governor.on_spurious(&mut self.flight.window, cwnd, ssthresh, now);
        self.retries = 0;
        self.statistics.undone_reductions += 1;
    }

    /// Reports each lost segment to the algorithm, if it requests this.
    #[inline(always)]
    pub(super) fn report_losses(&mut self, now: Time) {
        if self.watches && self.flight.scoreboard.has_unreported_losses() {
            self.report_each_loss(now);
        }
    }

    fn report_each_loss(&mut self, now: Time) {
        let Some(estimator) = &mut self.delivery else { return };
        while let Some(index) = self.flight.scoreboard.next_unreported_loss() {
            let lost = estimator.on_lost(index, now);
            self.governor.on_segment_lost(&mut self.flight.window, &lost);
        }
    }
}
