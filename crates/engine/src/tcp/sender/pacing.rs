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
    /// The rate at which segments leave; none before it is known.
    fn pacing_rate(&self) -> Option<Rate> {
        let srtt = self.rto.srtt();
        let rate = self.algorithm.pacing_rate(&self.window, srtt);
        if rate.is_some() || !self.profile.pacing || srtt == Duration::ZERO {
            return rate;
        }
        let ratio = if self.window.cwnd < self.window.ssthresh / 2 { RATIO_IN_SLOW_START } else { RATIO };
        let bits = u128::from(self.window.cwnd) * 8 * u128::from(ratio) / 100;
        let rate = bits * u128::from(Duration::from_seconds(1).0) / u128::from(srtt.0);
        Some(Rate(rate.clamp(1, u128::from(u64::MAX)) as u64))
    }

    /// A segment of this size was sent: the next one waits as long as it takes at the pacing rate.
    pub(super) fn pace(&mut self, size: u64, now: Time) {
        if let Some(rate) = self.pacing_rate() {
            self.next_release = self.next_release.max(now) + rate.transmission_time(size);
        }
    }

    /// The time of a paced segment has come.
    pub fn on_release(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.release = Time::NEVER;
        self.send(now, outbox);
    }
}
