//! A sender of which only the congestion control and the slow start are real: it is told what happens.

use crate::random::Random;
use crate::tcp::congestion::{Ack, Algorithm, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs};
use crate::tcp::flight::Phase;
use crate::tcp::profile::{Counting, StackProfile};
use crate::tcp::slow_start::{SlowStart, SlowStartChoice};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

use super::Standing;

/// See the module.
#[derive(Debug)]
pub(super) struct Lane {
    algorithm: Algorithm,
    slow_start: SlowStart,
    needs: Needs,
    counting: Counting,
    abe: bool,
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
            algorithm,
            slow_start: SlowStart::new(slow_start),
            needs,
            counting: profile.counting,
            abe: profile.abe,
            window: Window { cwnd: profile.initial_window * mss, ssthresh: u64::MAX, mss },
        }
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn standing(&self, srtt: Duration) -> Standing {
        let pacing = if self.needs.pacing { self.algorithm.pacing_rate(&self.window, srtt) } else { None };
        Standing { window: self.window, pacing }
    }

    pub(super) fn pacing_quantum(&self) -> u64 {
        self.algorithm.pacing_quantum(self.window.mss)
    }

    /// A segment is found lost.
    pub(super) fn lose(&mut self, lost: &LostSegment) {
        if self.needs.deliveries {
            self.algorithm.on_segment_lost(&mut self.window, lost);
        }
    }

    /// Marks that are to be answered.
    pub(super) fn answer_marks(&mut self, now: Time) {
        let event = CongestionEvent::Ecn { flight_size: self.window.cwnd, abe: self.abe };
        self.algorithm.on_congestion(&mut self.window, event, now);
        self.fall();
    }

    /// Fast recovery begins.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        let event = CongestionEvent::Loss { flight_size: self.window.cwnd };
        self.algorithm.on_congestion(&mut self.window, event, now);
        self.fall();
    }

    /// The window falls to the threshold.
    pub(super) fn fall(&mut self) {
        if !self.needs.governs {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
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
            let event = CongestionEvent::Loss { flight_size: self.window.cwnd };
            self.algorithm.on_congestion(&mut self.window, event, now);
        }
        self.algorithm.on_congestion(&mut self.window, CongestionEvent::Timeout, now);
        self.slow_start.restart();
        self.window.cwnd = self.window.mss;
    }

    /// Segments leave after a pause.
    pub(super) fn restart(&mut self, now: Time) {
        if self.needs.deliveries {
            self.algorithm.on_restart(&mut self.window, now);
        }
    }

    /// An acknowledgement of new data outside of fast recovery. Its credit is what it delivers, from which this sender
    /// computes its own.
    pub(super) fn acknowledge(&mut self, ack: &Ack, phase: Phase) {
        let counted = if self.counting == Counting::Segments { ack.credit } else { ack.acked };
        let mut ack = Ack { credit: self.counting.credit(counted, &self.window, phase), ..*ack };
        let window = &mut self.window;
        self.algorithm.on_ack(window, &ack);
        if self.needs.governs || ack.marked > 0 {
            return;
        }
        self.slow_start.grow(&mut self.algorithm, window, &mut ack);
    }

    /// Any acknowledgement.
    pub(super) fn deliver(&mut self, delivery: &Delivery) {
        if self.needs.deliveries {
            self.algorithm.on_delivery(&mut self.window, delivery);
        }
    }
}
