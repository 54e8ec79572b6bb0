//! A sender of which only the governor of the window is real: it is told what happens.

use crate::random::Random;
use crate::tcp::congestion::{Ack, Algorithm, CongestionControl, Delivery, LostSegment, Needs};
use crate::tcp::flight::Phase;
use crate::tcp::governor::Governor;
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartChoice;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

use super::Standing;

/// See the module.
#[derive(Debug)]
pub(super) struct Lane {
    governor: Governor,
    needs: Needs,
    window: Window,
}

impl Lane {
    pub(super) fn new(
        mut algorithm: Algorithm,
        slow_start: SlowStartChoice,
        profile: &StackProfile,
        random: Random,
    ) -> Lane {
        let needs = algorithm.needs();
        algorithm.take_flow(0);
        if needs.random {
            algorithm.take_random(random);
        }
        let mss = profile.segment_size.0;
        Lane {
            governor: Governor::new(algorithm, slow_start, profile),
            needs,
            window: Window { cwnd: profile.initial_window * mss, ssthresh: u64::MAX, mss },
        }
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn standing(&self, srtt: Duration) -> Standing {
        let algorithm = self.governor.algorithm();
        let pacing = if self.needs.pacing { algorithm.pacing_rate(&self.window, srtt) } else { None };
        Standing { window: self.window, pacing }
    }

    pub(super) fn pacing_quantum(&self) -> u64 {
        self.governor.algorithm().pacing_quantum(self.window.mss)
    }

    /// A segment is found lost.
    pub(super) fn lose(&mut self, lost: &LostSegment) {
        self.governor.on_segment_lost(&mut self.window, lost);
    }

    /// Marks that are to be answered.
    pub(super) fn answer_marks(&mut self, now: Time) {
        let flight_size = self.window.cwnd;
        self.governor.on_marks(&mut self.window, flight_size, now);
        self.fall();
    }

    /// Fast recovery begins.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        let flight_size = self.window.cwnd;
        self.governor.on_loss(&mut self.window, flight_size, now);
        self.fall();
    }

    /// The window falls to the threshold.
    pub(super) fn fall(&mut self) {
        self.governor.reduce(&mut self.window);
    }

    /// Fast recovery has ended: Linux tcp_input.c, tcp_end_cwnd_reduction.
    pub(super) fn leave_recovery(&mut self) {
        if !self.needs.governs {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// The retransmission timer expired. The threshold falls for the first time since new data was acknowledged.
    pub(super) fn time_out(&mut self, is_first: bool, now: Time) {
        if is_first {
            let flight_size = self.window.cwnd;
            self.governor.on_loss(&mut self.window, flight_size, now);
        }
        self.governor.on_timeout(&mut self.window, now);
        self.window.cwnd = self.window.mss;
    }

    /// Segments leave after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        self.governor.on_restart(&mut self.window, now);
    }

    /// An acknowledgement of new data outside of fast recovery. Its credit is what it delivers, from which this sender
    /// computes its own.
    pub(super) fn acknowledge(&mut self, ack: &Ack, phase: Phase) {
        let credit = self.governor.credit(ack.acked, ack.credit, &self.window, phase);
        self.governor.on_ack(&mut self.window, &mut Ack { credit, ..*ack }, true);
    }

    /// Any acknowledgement.
    pub(super) fn deliver(&mut self, delivery: &Delivery) {
        self.governor.on_delivery(&mut self.window, delivery);
    }
}
