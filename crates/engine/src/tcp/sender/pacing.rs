//! Pacing: segments leave one by one at a rate, as Linux's fq lets them go (tcp_output.c, tcp_pacing_check; sch_fq.c).

use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Shares of cwnd / SRTT at which an algorithm without a rate of its own is paced, in slow start and after it, in percent:
/// Linux tcp_input.c, tcp_update_pacing_rate; ip-sysctl, tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
const RATIO_IN_SLOW_START: u64 = 200;
const RATIO: u64 = 120;

/// Says when segments may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Whether segments are ever paced.
    is_on: bool,
    /// Whether the stack paces algorithms that have no rate of their own.
    by_stack: bool,
    /// When the segment that waits may leave; `NEVER` when none waits.
    deadline: Time,
    /// Before this nothing may leave but the rest of a quantum.
    next: Time,
    /// Payload of the quantum that may still leave.
    quantum_left: u64,
}

impl Pacer {
    /// Of a new connection. The algorithm may want pacing, and the stack.
    pub(super) fn new(by_algorithm: bool, by_stack: bool) -> Pacer {
        Pacer { is_on: by_algorithm || by_stack, by_stack, deadline: Time::NEVER, next: Time::ZERO, quantum_left: 0 }
    }

    /// Whether segments are ever paced.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// When the segment that waits may leave; `NEVER` when none waits.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// No segment waits any more.
    pub(super) fn clear(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// The next segment does not wait.
    pub(super) fn let_pass(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Whether a segment of this payload has to wait, until the deadline then.
    pub(super) fn holds_back(&mut self, payload: u64, now: Time) -> bool {
        let holds = now < self.next && self.quantum_left < payload;
        if holds {
            self.deadline = self.next;
        }
        holds
    }

    /// The rate at which segments leave; none if they are not paced, or before it is known.
    pub(super) fn rate(&self, algorithm: &Algorithm, window: &Window, srtt: Duration) -> Option<Rate> {
        algorithm.pacing_rate(window, srtt).or_else(|| self.rate_of_stack(window, srtt))
    }

    /// The rate at which segments leave where the algorithm has none of its own; none before it is known.
    fn rate_of_stack(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        if !self.by_stack || srtt == Duration::ZERO {
            return None;
        }
        let ratio = if window.cwnd < window.ssthresh / 2 { RATIO_IN_SLOW_START } else { RATIO };
        let bits = u128::from(window.cwnd) * 8 * u128::from(ratio) / 100;
        let rate = bits * u128::from(Duration::from_seconds(1).0) / u128::from(srtt.0);
        Some(Rate(rate.clamp(1, u128::from(u64::MAX)) as u64))
    }

    /// A segment of this payload and size on the wire was sent: the next one waits as long as it takes at the pacing rate.
    /// An algorithm's own rate is of payload, because its measurements are: Linux tcp_output.c, tcp_update_skb_after_send.
    pub(super) fn on_sent(
        &mut self,
        algorithm: &Algorithm,
        window: &Window,
        srtt: Duration,
        (payload, size): (u64, u64),
        now: Time,
    ) {
        let wait = algorithm
            .pacing_rate(window, srtt)
            .map(|rate| rate.transmission_time(payload))
            .or_else(|| self.rate_of_stack(window, srtt).map(|rate| rate.transmission_time(size)));
        if let Some(wait) = wait {
            if now >= self.next {
                self.quantum_left = algorithm.pacing_quantum(window.mss);
            }
            self.quantum_left = self.quantum_left.saturating_sub(payload);
            self.next = self.next.max(now) + wait;
        }
    }
}
