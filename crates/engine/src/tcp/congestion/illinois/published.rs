//! Illinois as in the paper: alpha and beta follow the delay exactly, RTTs during recovery left out.

use super::{IllinoisParameters, IllinoisState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Reno's increase and decrease, used for small windows and after timeouts (Linux tcp_illinois.c, ALPHA_BASE and
/// BETA_BASE).
const RENO_ALPHA: f64 = 1.0;
const RENO_BETA: f64 = 0.5;

control! {
    Published(IllinoisParameters as parameters) {
        growth: Growth,
        alpha: f64 = parameters.alpha_max,
        beta: f64 = RENO_BETA,
        /// The base RTT.
        min_rtt: Option<Duration>,
        max_rtt: Duration,
        round: Round,
        /// Whether the delay has been high since alpha was last at its maximum.
        was_delayed: bool,
        /// The number of low-delay round trips since then.
        fast_rounds: u64,
    }
}

/// The round-trip times in a window of data.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The first sequence number after the round.
    end: u64,
    samples: u64,
    /// Sum of the samples, in seconds.
    sum: f64,
}

impl Published {
    /// Sets alpha and beta from the average and the maximum queueing delay.
    fn end_round(&mut self, window: &Window) {
        if window.segments() < self.parameters.window_threshold {
            self.alpha = RENO_ALPHA;
            self.beta = RENO_BETA;
        } else if let Some(min_rtt) = self.min_rtt
            && self.round.samples > 0
        {
            let average = self.round.sum / self.round.samples as f64;
            let delay = (average - min_rtt.seconds()).max(0.0);
            let greatest = self.max_rtt.seconds() - min_rtt.seconds();
            self.set_alpha(delay, greatest);
            self.beta = self.decrease(delay, greatest);
        }
    }

    /// kappa_1 / (kappa_2 + d_a) between alpha_max at d_1 and alpha_min at d_m (f_1 of Liu, Basar and Srikant 2006).
    fn set_alpha(&mut self, delay: f64, greatest: f64) {
        let IllinoisParameters { alpha_min, alpha_max, eta_1, theta, .. } = *self.parameters;
        let low = eta_1 * greatest;
        if delay > low {
            self.was_delayed = true;
            let range = greatest - low;
            self.alpha = range * alpha_max / (range + (delay - low) * (alpha_max - alpha_min) / alpha_min);
            return;
        }
        if self.was_delayed {
            self.fast_rounds += 1;
            if self.fast_rounds < theta {
                return;
            }
        }
        self.fast_rounds = 0;
        self.was_delayed = false;
        self.alpha = alpha_max;
    }

    /// kappa_3 + kappa_4 d_a between beta_min at d_2 and beta_max at d_3 (f_2 of Liu, Basar and Srikant 2006).
    fn decrease(&self, delay: f64, greatest: f64) -> f64 {
        let IllinoisParameters { beta_min, beta_max, eta_2, eta_3, .. } = *self.parameters;
        let (low, high) = (eta_2 * greatest, eta_3 * greatest);
        if delay <= low {
            beta_min
        } else if delay >= high {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (delay - low) / (high - low)
        }
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.additive(window, self.alpha, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        window.set_ssthresh(((1.0 - self.beta) * flight_size as f64) as u64);
    }

    /// Alpha and beta are those of Reno (Linux tcp_illinois.c, tcp_illinois_state).
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.alpha = RENO_ALPHA;
        self.beta = RENO_BETA;
        self.was_delayed = false;
        self.fast_rounds = 0;
        self.round = Round { end: self.round.end, ..Round::default() };
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
            self.max_rtt = self.max_rtt.max(rtt);
            self.round.samples += 1;
            self.round.sum += rtt.seconds();
        }
        if ack.una > self.round.end {
            self.end_round(window);
            self.round = Round { end: ack.nxt, ..Round::default() };
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = IllinoisState {
            alpha: Some(self.alpha),
            beta: Some(self.beta),
            base_rtt: self.min_rtt.map(Duration::seconds),
            max_rtt: self.min_rtt.map(|_| self.max_rtt.seconds()),
        };
        state.tell(tell);
    }
}
