//! TCP Prague as in L4STeam/linux of August 2020, version 0.5 of net/ipv4/tcp_prague.c: reductions and growth are collected, and
//! move the window by a segment with an acknowledgement once they come to one.

use super::kernel::{self, LEAST, ONE, Share, UNIT};
use super::{PragueParameters, PragueState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::segments;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Bits of alpha (PRAGUE_ALPHA_BITS).
const ALPHA_BITS: u32 = 20;

control! {
    Linux2020(PragueParameters as parameters) {
        share: Share = Share::new(ALPHA_BITS, 1.0),
        /// What the window is to change by, in 2^-20 segments (cwnd_cnt).
        carry: i64,
        /// The window and the carry before the latest loss.
        before_loss: (u64, i64),
        /// The pacing rate, in bytes a second.
        rate: u64,
    }
}

impl Linux2020 {
    pub fn alpha(&self) -> f64 {
        self.share.alpha()
    }

    /// prague_update_cwnd.
    fn update_window(&mut self, window: &mut Window, delivery: &Delivery) {
        let (delivered, marked) = self.share.count(window, delivery);
        self.share.path_marks |= marked > 0;
        let mut acked = delivered.saturating_sub(marked);
        if acked > 0 && !self.share.in_loss && delivery.uses_window {
            if window.in_slow_start() {
                acked = kernel::slow_start(window, acked);
                if acked == 0 {
                    return self.share.update_increase(&self.parameters);
                }
            }
            let cwnd = segments(window);
            self.carry += ((acked * self.share.increase + cwnd / 2) / cwnd).max(acked) as i64;
        }
        self.step(window);
    }

    /// Moves the window by a segment.
    fn step(&mut self, window: &mut Window) {
        if self.carry <= -(ONE as i64) {
            self.carry += ONE as i64;
            window.cwnd -= window.mss;
            if segments(window) < LEAST {
                window.cwnd = LEAST * window.mss;
                self.carry = 0;
            }
            window.ssthresh = window.cwnd;
        } else if self.carry >= ONE as i64 {
            self.carry -= ONE as i64;
            window.cwnd += window.mss;
        } else {
            return;
        }
        self.share.update_increase(&self.parameters);
    }

    /// prague_update_pacing_rate.
    fn update_rate(&mut self, window: &Window, in_flight: u64) {
        let most = segments(window).max(in_flight / window.mss);
        let doubled = u32::from(kernel::is_far_below_threshold(window));
        self.rate = kernel::rate_of(most << doubled, window, self.share.srtt);
    }
}

impl CongestionControl for Linux2020 {
    fn increase(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// The threshold stays: it follows the window (prague_ssthresh).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { .. } => {
                self.before_loss = (window.cwnd, self.carry);
                self.carry -= ((segments(window) << (UNIT - 1)) as i64) + (self.carry >> 1);
                self.share.in_loss = true;
                self.share.update_increase(&self.parameters);
            }
            CongestionEvent::Ecn { .. } => {
                if self.share.may_reduce(window, &self.parameters, now) {
                    self.carry -= self.share.reduction(segments(window) << UNIT) as i64;
                }
            }
            CongestionEvent::Spurious => {
                self.carry += self.carry - self.before_loss.1;
                window.cwnd = window.cwnd.max(self.before_loss.0);
            }
            CongestionEvent::Timeout => {}
        }
    }

    fn on_established(&mut self, window: &mut Window, srtt: Duration, _now: Time) {
        self.share.srtt = kernel::eighths(srtt);
        self.update_rate(window, 0);
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.update_window(window, delivery);
        if self.share.end_round(window, &self.parameters, delivery) {
            self.share.begin_round(window, &self.parameters, delivery.nxt);
        }
        self.update_rate(window, delivery.in_flight);
    }

    fn pacing_rate(&self, _window: &Window, srtt: Duration) -> Option<Rate> {
        (srtt > Duration::ZERO).then_some(Rate(self.rate.max(1).saturating_mul(8)))
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        kernel::quantum(self.rate, mss)
    }

    fn needs(&self) -> Needs {
        kernel::needs()
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        PragueState { alpha: Some(self.alpha()), rounds: Some(self.share.rounds as f64) }.tell(tell);
    }
}
