//! Pacing: segments leave one by one at a rate, as Linux's fq lets them go (tcp_output.c, tcp_pacing_check; sch_fq.c).

use super::Sender;
use crate::packet::Packet;
use crate::tcp::congestion::CongestionControl;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Shares of cwnd / SRTT at which an algorithm without a rate of its own is paced, in slow start and after it, in percent:
/// Linux tcp_input.c, tcp_update_pacing_rate; ip-sysctl, tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
const RATIO_IN_SLOW_START: u64 = 200;
const RATIO: u64 = 120;

impl Sender {
    /// Whether it is ever paced.
    pub fn is_paced(&self) -> bool {
        self.is_paced
    }

    /// The rate at which segments leave; none if they are not paced, or before it is known.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.algorithm.pacing_rate(&self.window, self.rto.srtt()).or_else(|| self.pacing_rate_of_stack())
    }

    /// The rate at which segments leave where the algorithm has none of its own; none before it is known.
    fn pacing_rate_of_stack(&self) -> Option<Rate> {
        let srtt = self.rto.srtt();
        if !self.profile.pacing || srtt == Duration::ZERO {
            return None;
        }
        let ratio = if self.window.cwnd < self.window.ssthresh / 2 { RATIO_IN_SLOW_START } else { RATIO };
        let bits = u128::from(self.window.cwnd) * 8 * u128::from(ratio) / 100;
        let rate = bits * u128::from(Duration::from_seconds(1).0) / u128::from(srtt.0);
        Some(Rate(rate.clamp(1, u128::from(u64::MAX)) as u64))
    }

    /// A segment of this payload and size on the wire was sent: the next one waits as long as it takes at the pacing rate.
    /// An algorithm's own rate is of payload, because its measurements are: Linux tcp_output.c, tcp_update_skb_after_send.
    pub(super) fn pace(&mut self, payload: u64, size: u64, now: Time) {
        let of_algorithm = self.algorithm.pacing_rate(&self.window, self.rto.srtt());
        let wait = of_algorithm
            .map(|rate| rate.transmission_time(payload))
            .or_else(|| self.pacing_rate_of_stack().map(|rate| rate.transmission_time(size)));
        if let Some(wait) = wait {
            if now >= self.next_release {
                self.quantum_left = self.algorithm.pacing_quantum(self.window.mss);
            }
            self.quantum_left = self.quantum_left.saturating_sub(payload);
            self.next_release = self.next_release.max(now) + wait;
        }
    }

    /// The time of a paced segment has come.
    pub fn on_release(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.release = Time::NEVER;
        self.send(now, outbox);
    }
}
