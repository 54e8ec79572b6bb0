//! H-TCP as in the paper and the draft: alpha and beta of exact times and throughputs.

use super::{HTcpParameters, HTcpState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Share of the maximum queueing delay that is kept after a congestion event: Linux tcp_htcp.c, htcp_param_update.
const RTT_MEMORY: f64 = 0.95;
/// Weight of a new sample in the average throughput: Linux tcp_htcp.c, measure_achieved_throughput.
const THROUGHPUT_WEIGHT: f64 = 0.25;
/// Reference round-trip time of RTT scaling, in seconds, and the bounds of the factor: Linux tcp_htcp.c,
/// htcp_alpha_update.
const REFERENCE_RTT: f64 = 0.1;
const MIN_RTT_FACTOR: f64 = 0.1;
const MAX_RTT_FACTOR: f64 = 2.0;

control! {
    Published(HTcpParameters as parameters) {
        growth: Growth,
        beta: f64 = parameters.beta_min,
        /// Time of the last congestion event, or of the first acknowledgement.
        last_congestion: Option<Time>,
        min_rtt: Option<Duration>,
        max_rtt: Duration,
        round: Option<Round>,
        throughput: Throughput,
        /// The maximum throughput before the last congestion event, in bytes per second.
        throughput_before: Option<f64>,
    }
}

/// The bytes acknowledged in a round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    start: Time,
    /// The first sequence number after the round.
    end: u64,
    bytes: u64,
}

/// Throughput since the last congestion event, in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    average: Option<f64>,
    greatest: Option<f64>,
}

impl Throughput {
    fn take(&mut self, sample: f64) {
        let average = self.average.map_or(sample, |average| average + THROUGHPUT_WEIGHT * (sample - average));
        self.average = Some(average);
        self.greatest = Some(self.greatest.map_or(average, |greatest| greatest.max(average)));
    }
}

impl Published {
    /// alpha: the growth per round trip, in segments, 2 (1 - beta) (1 + 10 (D - D_L) + ((D - D_L) / 2)^2), where D is
    /// the time since the last congestion event.
    fn alpha(&self, now: Time) -> f64 {
        let since = self.last_congestion.map_or(Duration::ZERO, |time| now.since(time));
        let d = (since.seconds() - self.parameters.delta_l.seconds()).max(0.0);
        let mut alpha = 1.0 + 10.0 * d + 0.25 * d * d;
        if let Some(min_rtt) = self.min_rtt
            && self.parameters.rtt_scaling
        {
            let factor = min_rtt.seconds() / REFERENCE_RTT;
            alpha = (alpha * factor.clamp(MIN_RTT_FACTOR, MAX_RTT_FACTOR)).max(1.0);
        }
        2.0 * (1.0 - self.beta) * alpha
    }

    /// Share of the window kept after a loss. It just drains the queue, unless the throughput has changed.
    fn backoff(&self) -> f64 {
        let HTcpParameters { beta_min, beta_max, throughput_change, adaptive_backoff, .. } = *self.parameters;
        let is_steady = match (self.throughput.greatest, self.throughput_before) {
            (Some(now), Some(before)) => (now - before).abs() <= throughput_change * before,
            _ => false,
        };
        match self.min_rtt {
            Some(min_rtt) if adaptive_backoff && is_steady => {
                (min_rtt.seconds() / self.max_rtt.seconds()).min(beta_max).max(beta_min)
            }
            _ => beta_min,
        }
    }

    fn measure_rtt(&mut self, rtt: Duration) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        self.max_rtt = self.max_rtt.max(rtt);
    }

    fn measure_throughput(&mut self, window: &Window, ack: &Ack) {
        if let Some(round) = &mut self.round {
            // A cumulative acknowledgement after a recovery also covers data delivered long before.
            round.bytes += ack.acked.min(window.cwnd);
            if ack.una <= round.end || ack.now == round.start {
                return;
            }
            self.throughput.take(round.bytes as f64 / ack.now.since(round.start).seconds());
        }
        self.round = Some(Round { start: ack.now, end: ack.nxt, bytes: 0 });
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let alpha = self.alpha(ack.now);
        self.growth.additive(window, alpha, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, now: Time) {
        self.beta = self.backoff();
        self.throughput_before = self.throughput.greatest.or(self.throughput_before);
        self.throughput = Throughput::default();
        self.round = None;
        self.last_congestion = Some(now);
        if let Some(min_rtt) = self.min_rtt {
            let queueing = self.max_rtt.seconds() - min_rtt.seconds();
            self.max_rtt = min_rtt + Duration::from_seconds_f64(RTT_MEMORY * queueing);
        }
        window.set_ssthresh((self.beta * flight_size as f64) as u64);
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.last_congestion.get_or_insert(ack.now);
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt);
        }
        self.measure_throughput(window, ack);
    }

    fn tell_state(&self, _window: &Window, now: Time, tell: &mut Tell<'_>) {
        let state = HTcpState {
            alpha: Some(self.alpha(now)),
            beta: Some(self.beta),
            min_rtt: self.min_rtt.map(Duration::seconds),
            max_rtt: self.min_rtt.map(|_| self.max_rtt.seconds()),
        };
        state.tell(tell);
    }
}
