//! Pacing: segments are sent individually at a rate, as with Linux's fq (tcp_output.c, tcp_pacing_check; sch_fq.c).

use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::profile::PacingClock;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The pacing rate of an algorithm without one of its own as a percentage of cwnd / SRTT, in slow start and after it:
/// Linux tcp_input.c, tcp_update_pacing_rate; ip-sysctl, tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
const RATIO_IN_SLOW_START: u64 = 200;
const RATIO: u64 = 120;

/// The number of segments at the start of a connection that a host does not pace: Linux tcp_output.c,
/// tcp_update_skb_after_send, "Original sch_fq does not pace first 10 MSS".
const UNPACED_SEGMENTS: u64 = 10;

/// Determines when segments may be sent. The deadline, which all flows access, stands last, beside what each acknowledgement accesses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Pacer {
    /// Before this time, only the rest of a quantum may be sent.
    next: Time,
    /// Whether segments are ever paced.
    is_on: bool,
    /// Whether the stack paces algorithms without a pacing rate of their own.
    by_stack: bool,
    clock: PacingClock,
    /// Segments that leave together at most.
    burst: u64,
    /// Payload bytes that leave together with segmentation offload, whatever the algorithm wants.
    together: u64,
    /// Payload bytes of the quantum that may still be sent.
    quantum_left: u64,
    /// When the quantum began. With a host's clock it leaves at once.
    quantum_start: Time,
    /// By how much the quantum was late, as far as no wait was shortened by it.
    credit: Duration,
    /// Segments sent, with a host's clock up to the first that is paced.
    sent: u64,
    /// When the waiting segment may be sent, `NEVER` if none is waiting.
    deadline: Time,
}

impl Pacer {
    /// Creates the pacer of a new connection. Pacing may be requested by the algorithm or by the stack.
    pub(super) fn new(by_algorithm: bool, by_stack: bool, clock: PacingClock, burst: u64) -> Pacer {
        Pacer {
            is_on: by_algorithm || by_stack,
            by_stack,
            clock,
            burst,
            together: 0,
            deadline: Time::NEVER,
            next: Time::ZERO,
            quantum_left: 0,
            quantum_start: Time::ZERO,
            credit: Duration::ZERO,
            sent: 0,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// When the waiting segment may be sent, `NEVER` if none is waiting.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// How long the next segment has to wait, apart from the rest of a quantum.
    pub(super) fn wait(&self, now: Time) -> Duration {
        self.next.max(now).since(now)
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
        if now >= self.next {
            return false;
        }
        let is_cut = self.clock == PacingClock::Host && now > self.quantum_start;
        let holds = is_cut || self.quantum_left < payload;
        if holds {
            self.deadline = self.next;
        }
        holds
    }

    /// Whether a fast retransmit waits as other segments do (Linux tcp_output.c, tcp_xmit_retransmit_queue).
    pub(super) fn holds_back_repair(&mut self, payload: u64, now: Time) -> bool {
        self.clock == PacingClock::Host && self.is_on && self.holds_back(payload, now)
    }

    /// Ends the quantum: what is sent next is not contiguous. A host cuts it there.
    pub(super) fn end_quantum(&mut self) {
        if self.clock == PacingClock::Host {
            self.quantum_left = 0;
        }
    }

    /// When the next segment may be sent, apart from the rest of a quantum.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// The next quantum has at least `bytes` of payload.
    pub(super) fn send_together(&mut self, bytes: u64) {
        self.together = bytes;
    }

    /// The pacing rate that a stack computes, whether or not it paces.
    pub(super) fn rate_for_bursts(&self, algorithm: &Algorithm, window: &Window, srtt: Duration) -> Option<Rate> {
        Pacer { by_stack: true, ..*self }.rate(algorithm, window, srtt)
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
                self.quantum_left =
                    algorithm.pacing_quantum(window.mss).min(self.burst * window.mss).max(self.together);
                self.quantum_start = now;
                self.credit = now.since(self.next);
            }
            self.quantum_left = self.quantum_left.saturating_sub(payload);
            self.next = self.next.max(now) + self.corrected(wait);
        }
    }

    /// The wait after a segment, as the clock makes it.
    fn corrected(&mut self, wait: Duration) -> Duration {
        if self.clock == PacingClock::Exact {
            return wait;
        }
        self.sent = (self.sent + 1).min(UNPACED_SEGMENTS);
        if self.sent < UNPACED_SEGMENTS {
            return Duration::ZERO;
        }
        let shortened = Duration(wait.0 / 2).min(self.credit);
        self.credit = self.credit - shortened;
        wait - shortened
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::Delivery;
    use serde_json::json;

    /// 1000 bytes of cwnd a millisecond are paced at 1.2 times that, so that 1200 bytes take a millisecond.
    const WINDOW: Window = Window { cwnd: 1000, ssthresh: 1000, mss: 1000 };
    const SRTT: Duration = Duration::from_milliseconds(1);
    const SIZE: u64 = 1200;

    fn at(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(microseconds)
    }

    /// When the segment after those sent at these times may be sent, in microseconds.
    fn next_after(clock: PacingClock, sent: impl IntoIterator<Item = u64>) -> u64 {
        let algorithm = Algorithm::new("newreno", &json!({})).expect("a name of the catalogue");
        let mut pacer = Pacer::new(false, true, clock, 1);
        for time in sent {
            assert!(!pacer.holds_back(SIZE, at(time)), "at {time} us");
            pacer.on_sent(&algorithm, &WINDOW, SRTT, (SIZE, SIZE), at(time));
        }
        pacer.next.since(Time::ZERO).0 / Duration::from_microseconds(1).0
    }

    /// A burst ends with the algorithm's quantum, two segments here (Linux tcp_bbr.c, bbr_tso_segs_goal), or before, where the
    /// host hands over single segments.
    #[test]
    fn bursts() {
        let mut algorithm = Algorithm::new("bbr", &json!({})).expect("a name of the catalogue");
        let mut window = Window { cwnd: 1000, ssthresh: u64::MAX, mss: 1000 };
        algorithm.on_delivery(&mut window, &Delivery { srtt: SRTT, ..Delivery::default() });
        for (burst, most) in [(127, 2), (1, 1)] {
            let mut pacer = Pacer::new(true, false, PacingClock::Exact, burst);
            let mut sent = 0;
            while !pacer.holds_back(1000, at(0)) {
                pacer.on_sent(&algorithm, &window, SRTT, (1000, SIZE), at(0));
                sent += 1;
            }
            assert_eq!(sent, most);
        }
    }

    /// The wait is what is left of the interval after the latest segment, a millisecond here.
    #[test]
    fn wait() {
        let algorithm = Algorithm::new("newreno", &json!({})).expect("a name of the catalogue");
        let mut pacer = Pacer::new(false, true, PacingClock::Exact, 1);
        assert_eq!(pacer.wait(at(0)), Duration::ZERO);
        pacer.on_sent(&algorithm, &WINDOW, SRTT, (SIZE, SIZE), at(0));
        assert_eq!(pacer.wait(at(300)), Duration::from_microseconds(700));
        assert_eq!(pacer.wait(at(2000)), Duration::ZERO);
    }

    /// Linux tcp_output.c, tcp_update_skb_after_send, by hand: a segment that is late shortens the wait after it by as much, at
    /// most by half, and the first nine are not paced. An exact clock paces each.
    #[test]
    fn credit_for_late_segments() {
        let unpaced = [0; 9];
        let after = |late: &[u64]| next_after(PacingClock::Host, unpaced.iter().chain(late).copied());
        assert_eq!(after(&[]), 0);
        assert_eq!(after(&[0]), 1000);
        assert_eq!(after(&[0, 1000]), 2000);
        assert_eq!(after(&[0, 1300]), 1300 + 700);
        assert_eq!(after(&[0, 5000]), 5000 + 500);
        assert_eq!(after(&[0, 5000, 5500]), 6500);
        assert_eq!(next_after(PacingClock::Exact, [0]), 1000);
        assert_eq!(next_after(PacingClock::Exact, [0, 5000]), 6000);
    }
}
