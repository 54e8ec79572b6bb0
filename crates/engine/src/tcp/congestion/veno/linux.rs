//! Veno in Linux tcp_veno.c: the backlog is of the least RTT since the window last could grow, in half segments; on a congested
//! path the window grows at every other time that its segments have been acknowledged, and the acknowledgement that finds
//! them does not count. It is Reno in any state but Open.

use super::{VenoParameters, VenoState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{LossState, Steps, acked_segments, microseconds, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The backlog, in half segments, from which the path counts as congested: beta.
const CONGESTED: u64 = 3 << 1;
/// As many samples are too few: tcp_veno_cong_avoid.
const FEW_SAMPLES: u64 = 2;

control! {
    /// tcp_veno_init.
    Linux(VenoParameters) {
        /// `snd_cwnd_cnt`.
        steps: Steps,
        /// The least RTT of the connection, and that since the window last could grow, in microseconds and never zero.
        least: u64 = u64::MAX,
        latest: u64 = u64::MAX,
        samples: u64,
        /// Half segments.
        backlog: u64,
        /// Whether the window grows the next time: `inc`.
        grows: bool = true,
        loss: LossState,
        /// Whether `on_ack` has taken the acknowledgement.
        is_taken: bool,
        is_recovering: bool,
    }
}

impl Linux {
    /// tcp_veno_pkts_acked.
    fn take(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            let rtt = microseconds(rtt) + 1;
            self.least = self.least.min(rtt);
            self.latest = self.latest.min(rtt);
            self.samples += 1;
        }
    }
}

impl CongestionControl for Linux {
    /// tcp_veno_cong_avoid, which is for slow start too.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let mut acked = acked_segments(window, ack);
        let is_reno = self.loss.lasts(ack) || self.samples <= FEW_SAMPLES;
        if !is_reno {
            let cwnd = segments(window);
            let target = ((u128::from(cwnd) * u128::from(self.least)) << 1) / u128::from(self.latest);
            self.backlog = (cwnd << 1) - (target as u64).min(cwnd << 1);
        }
        // Reno leaves the samples as they are in another state than Open, and only there.
        if !self.loss.lasts(ack) {
            self.latest = u64::MAX;
        }
        if window.in_slow_start() {
            let growth = acked.min((window.ssthresh - window.cwnd).div_ceil(window.mss));
            window.cwnd = (window.cwnd + growth * window.mss).min(window.ssthresh);
            acked -= growth;
            if acked == 0 {
                return;
            }
        }
        let cwnd = segments(window);
        if is_reno || self.backlog < CONGESTED {
            self.steps.additive(window, cwnd, acked);
        } else if self.steps.count >= cwnd {
            if self.grows {
                window.cwnd += window.mss;
            }
            self.grows = !self.grows;
            self.steps.restart();
        } else {
            self.steps.count += acked;
        }
    }

    /// Leaves four fifths of the window, or half of it on a congested path: tcp_veno_ssthresh.
    fn reduce(&mut self, window: &mut Window, _flight_size: u64, _now: Time) {
        let cwnd = segments(window);
        set_ssthresh(window, if self.backlog < CONGESTED { cwnd * 4 / 5 } else { cwnd / 2 });
        self.steps.restart();
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.steps.restart();
        self.loss.begin();
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        self.take(ack.rtt);
        self.loss.on_ack(ack);
        self.is_taken = true;
    }

    /// The acknowledgement that ends slow start grows the window further.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.increase(window, ack);
        Some(0)
    }

    /// At the end of a recovery the samples begin anew: tcp_veno_state.
    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        if !std::mem::take(&mut self.is_taken) {
            self.take(delivery.rtt);
        }
        if self.is_recovering && !delivery.in_recovery {
            self.latest = u64::MAX;
        }
        self.is_recovering = delivery.in_recovery;
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let base_rtt = (self.least < u64::MAX).then_some(self.least as f64 / 1e6);
        VenoState { base_rtt, backlog: Some(self.backlog as f64 / 2.0) }.tell(tell);
    }
}
