//! Veno in Linux tcp_veno.c: the backlog is of the least RTT since the window last could grow, in half segments; on a congested
//! path the window grows at every other time that its segments have been acknowledged, and the acknowledgement that finds
//! them does not count. It is Reno in any state but Open.

use super::time::microseconds;
use super::{LossState, Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionEvent, Delivery};
use crate::tcp::window::Window;
use crate::time::Duration;

/// The backlog, in half segments, from which the path counts as congested: beta.
const CONGESTED: u64 = 3 << 1;
/// As many samples are too few: tcp_veno_cong_avoid.
const FEW_SAMPLES: u64 = 2;

/// The state of a connection: struct veno.
#[derive(Clone, Debug)]
pub struct VenoSteps {
    /// `snd_cwnd_cnt`.
    steps: Steps,
    /// The least RTT of the connection, and that since the window last could grow, in microseconds and never zero.
    least: u64,
    latest: u64,
    samples: u64,
    /// Half segments.
    backlog: u64,
    /// Whether the window grows the next time: `inc`.
    grows: bool,
    loss: LossState,
    /// Whether `on_ack` has taken the acknowledgement.
    is_taken: bool,
    is_recovering: bool,
}

impl Default for VenoSteps {
    /// tcp_veno_init.
    fn default() -> VenoSteps {
        VenoSteps {
            steps: Steps::default(),
            least: u64::MAX,
            latest: u64::MAX,
            samples: 0,
            backlog: 0,
            grows: true,
            loss: LossState::default(),
            is_taken: false,
            is_recovering: false,
        }
    }
}

impl VenoSteps {
    /// tcp_veno_pkts_acked.
    fn take(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            let rtt = microseconds(rtt) + 1;
            self.least = self.least.min(rtt);
            self.latest = self.latest.min(rtt);
            self.samples += 1;
        }
    }

    /// An acknowledgement of new data outside recovery.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.take(ack.rtt);
        self.loss.on_ack(ack);
        self.is_taken = true;
    }

    /// Any acknowledgement. At the end of a recovery the samples begin anew: tcp_veno_state.
    pub fn on_delivery(&mut self, delivery: &Delivery) {
        if !std::mem::take(&mut self.is_taken) {
            self.take(delivery.rtt);
        }
        if self.is_recovering && !delivery.in_recovery {
            self.latest = u64::MAX;
        }
        self.is_recovering = delivery.in_recovery;
    }

    /// Grows the window, also in slow start: tcp_veno_cong_avoid.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack) {
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
    pub fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent) {
        match event {
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {
                let cwnd = segments(window);
                set_ssthresh(window, if self.backlog < CONGESTED { cwnd * 4 / 5 } else { cwnd / 2 });
                self.steps.restart();
            }
            CongestionEvent::Timeout => {
                self.steps.restart();
                self.loss.begin();
            }
            CongestionEvent::Spurious => {}
        }
    }
}
