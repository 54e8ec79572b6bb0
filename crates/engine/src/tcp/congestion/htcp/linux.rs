//! H-TCP in Linux tcp_htcp.c: alpha and beta in 1/128, times in ticks, and a whole factor by which growth rises. The
//! time counts from the end of recovery; throughput and the share of queueing delay decide on beta only from the third
//! loss on.

use super::{HTcpParameters, HTcpState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{HZ, LossState, segments, set_ssthresh, ticks, ticks_of};
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The unit of alpha and beta, as a shift, and 1.
const SHIFT: u32 = 7;
const ONE: u64 = 1 << SHIFT;
/// How much one sample may raise the maximum RTT: tcp_htcp.c, measure_rtt.
const GREATEST_RISE: Duration = Duration::from_milliseconds(20);
/// The minimum RTT up to which beta is beta_min: htcp_beta_update.
const SHORT: Duration = Duration::from_milliseconds(10);
/// Minimum RTTs after recovery during which a throughput starts anew: measure_achieved_throughput.
const ROUNDS_AFTER_BACKOFF: u64 = 3;
/// Bounds of the reference RTT's ratio to the minimum RTT, in eighths: htcp_alpha_update.
const SCALES: (u64, u64) = (4, 80);

control! {
    /// htcp_init. Times are in ticks, throughputs in segments a second.
    Linux(HTcpParameters as parameters) {
        /// Segments acknowledged since the window last grew.
        count: u64,
        /// Segments that the latest acknowledgement in the state Open covers, until it has been counted, then 1: `pkts_acked`.
        latest: u64 = 1,
        alpha: u64 = ONE,
        beta: u64 = in_128ths(parameters.beta_min),
        /// Whether beta may follow the delay at the next loss: `modeswitch`.
        is_adaptive: bool,
        min_rtt: u64,
        /// Of samples outside recovery; it fades at each loss.
        max_rtt: u64,
        /// The end of the last recovery.
        last_congestion: u64,
        /// Whether a reduction has begun and no acknowledgement has arrived since outside recovery and the state Loss.
        is_reduced: bool = true,
        loss: LossState,
        throughput: Throughput,
        /// The end of the recovery before, which a spurious loss restores.
        before: Option<u64>,
    }
}

/// Bi, maxB and old_maxB, and the round they are measured in.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    segments: u64,
    start: u64,
    average: u64,
    greatest: u64,
    greatest_before: u64,
}

impl Linux {
    fn take_rtt(&mut self, rtt: u64, is_open: bool) {
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if !is_open {
            return;
        }
        self.max_rtt = self.max_rtt.max(self.min_rtt);
        if rtt > self.max_rtt && rtt <= self.max_rtt + ticks_of(GREATEST_RISE) {
            self.max_rtt = rtt;
        }
    }

    fn measure(&mut self, now: u64, round: u64) {
        let throughput = &mut self.throughput;
        let sample = throughput.segments * HZ / round;
        if (now - self.last_congestion) / self.min_rtt <= ROUNDS_AFTER_BACKOFF {
            throughput.average = sample;
            throughput.greatest = sample;
        } else {
            throughput.average = (3 * throughput.average + sample) / 4;
            throughput.greatest = throughput.greatest.max(throughput.average);
        }
        throughput.segments = 0;
        throughput.start = now;
    }

    /// htcp_beta_update.
    fn update_beta(&mut self) {
        let HTcpParameters { beta_min, beta_max, throughput_change, adaptive_backoff, .. } = *self.parameters;
        let least = in_128ths(beta_min);
        if adaptive_backoff {
            let now = self.throughput.greatest as f64;
            let before = self.throughput.greatest_before as f64;
            self.throughput.greatest_before = self.throughput.greatest;
            if (now - before).abs() > throughput_change * before {
                self.beta = least;
                self.is_adaptive = false;
                return;
            }
        }
        if self.is_adaptive && self.min_rtt > ticks_of(SHORT) && self.max_rtt > 0 {
            self.beta = ((self.min_rtt << SHIFT) / self.max_rtt).max(least).min(in_128ths(beta_max));
        } else {
            self.beta = least;
            self.is_adaptive = true;
        }
    }

    /// htcp_alpha_update.
    fn update_alpha(&mut self, now: Time) {
        let mut factor = 1;
        let since = (ticks(now) - self.last_congestion).saturating_sub(ticks_of(self.parameters.delta_l));
        if since > 0 {
            let half = since / 2;
            factor = 1 + (10 * since + half * half / HZ) / HZ;
        }
        if self.parameters.rtt_scaling && self.min_rtt > 0 {
            // In eighths; the reference is 100 ms.
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(SCALES.0, SCALES.1);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = (2 * factor * (ONE - self.beta)).max(1);
    }
}

impl CongestionControl for Linux {
    /// Grows the window by a segment at most; this acknowledgement then is not counted. One that ends a recovery or
    /// comes in the state Disorder counts for a segment, however many it covers: htcp_cong_avoid.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if (self.count * self.alpha) >> SHIFT >= segments(window) {
            window.cwnd += window.mss;
            self.count = 0;
            self.update_alpha(ack.now);
        } else {
            self.count += self.latest;
        }
        self.latest = 1;
    }

    /// htcp_recalc_ssthresh, htcp_param_update and htcp_reset. A spurious loss restores the time only, since
    /// the other values that htcp_cwnd_undo restores were kept after the reduction.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        if let Some(flight_size) = event.flight_size() {
            self.update_beta();
            self.update_alpha(now);
            if self.max_rtt > self.min_rtt {
                self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
            }
            self.before = Some(self.last_congestion);
            self.last_congestion = ticks(now);
            self.is_reduced = true;
            self.count = 0;
            set_ssthresh(window, (flight_size / window.mss * self.beta) >> SHIFT);
        }
        match event {
            CongestionEvent::Timeout => {
                self.is_reduced = true;
                self.loss.begin();
            }
            CongestionEvent::Spurious => {
                if let Some(before) = self.before.take() {
                    self.last_congestion = before;
                    self.is_reduced = false;
                }
            }
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {}
        }
    }

    /// measure_achieved_throughput.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        let now = ticks(ack.now);
        let is_open = !self.loss.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.take_rtt(ticks_of(rtt), is_open);
        }
        if !is_open {
            return;
        }
        if self.is_reduced {
            self.is_reduced = false;
            self.before = None;
            self.last_congestion = now;
            self.throughput.segments = 0;
            self.throughput.start = now;
            return;
        }
        let acked = ack.acked.div_ceil(window.mss);
        if !ack.follows_gap {
            self.latest = acked;
        }
        self.throughput.segments += acked;
        let round = now - self.throughput.start;
        let whole = segments(window).saturating_sub((self.alpha >> SHIFT).max(1));
        if self.throughput.segments >= whole && round >= self.min_rtt && self.min_rtt > 0 {
            self.measure(now, round.max(1));
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let seconds = |ticks: u64| (ticks > 0).then_some(ticks as f64 / HZ as f64);
        let state = HTcpState {
            alpha: Some(self.alpha as f64 / ONE as f64),
            beta: Some(self.beta as f64 / ONE as f64),
            min_rtt: seconds(self.min_rtt),
            max_rtt: seconds(self.max_rtt),
        };
        state.tell(tell);
    }
}

fn in_128ths(share: f64) -> u64 {
    (share * ONE as f64) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const MSS: u64 = 1000;

    /// measure_achieved_throughput and htcp_cong_avoid by hand, with a window of ten segments, alpha 128 and acknowledgements of two:
    /// that which ends a recovery covers ten, but counts as one. So the fifth after it makes 11, and the sixth grows the window.
    /// If it counted for ten, the first after it would.
    #[test]
    fn end_of_recovery_counts_once() {
        let mut htcp = Linux::new(Arc::default());
        let mut window = Window { cwnd: 20 * MSS, ssthresh: u64::MAX, mss: MSS };
        htcp.on_congestion(&mut window, CongestionEvent::Loss { flight_size: 20 * MSS }, Time::ZERO);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 10 * MSS);
        let mut acknowledge = |segments: u64, follows_gap: bool| {
            let acked = segments * MSS;
            let ack = Ack {
                acked,
                una: 100 * MSS,
                rtt: Some(Duration::from_milliseconds(40)),
                follows_gap,
                ..Ack::default()
            };
            htcp.on_ack(&window, &ack);
            htcp.increase(&mut window, &ack);
            window.cwnd / MSS
        };
        assert_eq!(acknowledge(10, true), 10);
        let windows: Vec<u64> = (0..6).map(|_| acknowledge(2, false)).collect();
        assert_eq!(windows, [10, 10, 10, 10, 10, 11]);
    }
}
