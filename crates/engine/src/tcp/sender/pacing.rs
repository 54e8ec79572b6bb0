//! Pacing: segments are sent individually at a rate, as with Linux's fq (tcp_output.c, tcp_pacing_check; sch_fq.c).

use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The pacing rate of an algorithm without one of its own as a percentage of cwnd / SRTT, in slow start and after it:
/// Linux tcp_input.c, tcp_update_pacing_rate; ip-sysctl, tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
const RATIO_IN_SLOW_START: u64 = 200;
const RATIO: u64 = 120;

/// Determines when segments may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Whether segments are ever paced.
    is_on: bool,
    /// Whether the stack paces algorithms without a pacing rate of their own.
    by_stack: bool,
    /// When the waiting segment may be sent, `NEVER` if none is waiting.
    deadline: Time,
    /// Before this time, only the rest of a quantum may be sent.
    next: Time,
    /// Payload bytes of the quantum that may still be sent.
    quantum_left: u64,
}

impl Pacer {
    /// Creates the pacer of a new connection. Pacing may be requested by the algorithm or by the stack.
    pub(super) fn new(by_algorithm: bool, by_stack: bool) -> Pacer {
        Pacer { is_on: by_algorithm || by_stack, by_stack, deadline: Time::NEVER, next: Time::ZERO, quantum_left: 0 }
    }

    /// Whether segments are ever paced.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// When the waiting segment may be sent, `NEVER` if none is waiting.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Clears the deadline: no segment is waiting.
    pub(super) fn clear(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Allows the next segment to be sent immediately.
    pub(super) fn let_pass(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Whether a segment with this payload has to wait. If so, sets the deadline.
    pub(super) fn holds_back(&mut self, payload: u64, now: Time) -> bool {
        let holds = now < self.next && self.quantum_left < payload;
        if holds {
            self.deadline = self.next;
        }
        holds
    }

    /// The pacing rate, `None` if segments are not paced or before it is known.
    pub(super) fn rate(&self, algorithm: &Algorithm, window: &Window, srtt: Duration) -> Option<Rate> {
        algorithm.pacing_rate(window, srtt).or_else(|| self.rate_of_stack(window, srtt))
    }

    /// The pacing rate of the stack for algorithms without one of their own, `None` before it is known.
    fn rate_of_stack(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        if !self.by_stack || srtt == Duration::ZERO {
            return None;
        }
        let ratio = if window.cwnd < window.ssthresh / 2 { RATIO_IN_SLOW_START } else { RATIO };
        let bits = u128::from(window.cwnd) * 8 * u128::from(ratio) / 100;
        let rate = bits * u128::from(Duration::from_seconds(1).0) / u128::from(srtt.0);
        Some(Rate(rate.clamp(1, u128::from(u64::MAX)) as u64))
    }

    /// Records that a segment with this payload and size on the wire was sent. The next one waits for its duration at
    /// the pacing rate. An algorithm's own rate refers to payload, as its measurements do: Linux tcp_output.c,
    /// tcp_update_skb_after_send.
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
