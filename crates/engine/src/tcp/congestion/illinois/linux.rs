//! TCP Illinois in Linux tcp_illinois.c: alpha in 1/128 and beta in 1/64, from RTTs of every acknowledgement, those
//! during recovery included, so that the queue of an overshoot is the maximum delay from then on.

use super::{IllinoisParameters, IllinoisState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{microseconds, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Units of alpha and beta, as shifts: ALPHA_SHIFT and BETA_SHIFT.
const ALPHA_SHIFT: u32 = 7;
const BETA_SHIFT: u32 = 6;
/// Reno's: ALPHA_BASE and BETA_BASE.
const RENO_ALPHA: u64 = 1 << ALPHA_SHIFT;
const RENO_BETA: u64 = 1 << (BETA_SHIFT - 1);

control! {
    /// tcp_illinois_init. Times are in microseconds.
    Linux(IllinoisParameters as parameters) {
        /// Segments acknowledged since the window last grew.
        count: u64,
        alpha: u64 = in_alphas(parameters.alpha_max),
        beta: u64 = RENO_BETA,
        min_rtt: u64 = u64::MAX,
        max_rtt: u64,
        /// Sum and number of the samples of this round, and the first sequence number after it.
        sum: u64,
        samples: u64,
        end: u64,
        was_delayed: bool,
        fast_rounds: u64,
        /// Whether the acknowledgement being processed has been seen.
        is_seen: bool,
    }
}

impl Linux {
    /// tcp_illinois_acked.
    fn take_rtt(&mut self, rtt: Duration) {
        let rtt = microseconds(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.sum += rtt;
        self.samples += 1;
    }

    fn start_round(&mut self, end: u64) {
        self.end = end;
        self.sum = 0;
        self.samples = 0;
    }

    /// update_params.
    fn update(&mut self, cwnd: u64) {
        if (cwnd as f64) < self.parameters.window_threshold {
            self.alpha = RENO_ALPHA;
            self.beta = RENO_BETA;
        } else if let Some(mean) = self.sum.checked_div(self.samples) {
            let delay = mean - self.min_rtt;
            let greatest = self.max_rtt - self.min_rtt;
            self.set_alpha(delay, greatest);
            self.beta = beta(delay, greatest, &self.parameters);
        }
    }

    /// alpha().
    fn set_alpha(&mut self, delay: u64, greatest: u64) {
        let parameters = &*self.parameters;
        let (least, most) = (in_alphas(parameters.alpha_min).max(1), in_alphas(parameters.alpha_max));
        let low = (parameters.eta_1 * greatest as f64) as u64;
        if delay > low {
            self.was_delayed = true;
            let range = greatest - low;
            self.alpha = range * most / (range + (delay - low) * (most - least) / least);
            return;
        }
        if self.was_delayed {
            self.fast_rounds += 1;
            if self.fast_rounds < parameters.theta {
                return;
            }
            self.fast_rounds = 0;
            self.was_delayed = false;
        }
        self.alpha = most;
    }
}

impl CongestionControl for Linux {
    /// Grows the window by what this acknowledgement covers: tcp_illinois_cong_avoid. What is more than a step is forgotten with
    /// each step.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = segments(window);
        self.count += ack.acked.div_ceil(window.mss);
        let growth = (self.count * self.alpha) >> ALPHA_SHIFT;
        if growth >= cwnd {
            window.cwnd += growth / cwnd * window.mss;
            self.count = 0;
        }
    }

    /// tcp_illinois_ssthresh.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let flight = flight_size / window.mss;
        set_ssthresh(window, flight - ((flight * self.beta) >> BETA_SHIFT));
        self.count = 0;
    }

    /// tcp_illinois_state.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.alpha = RENO_ALPHA;
        self.beta = RENO_BETA;
        self.fast_rounds = 0;
        self.was_delayed = false;
        self.start_round(self.end);
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.take_rtt(rtt);
        }
        self.is_seen = true;
        if ack.una > self.end {
            self.update(segments(window));
            self.start_round(ack.nxt);
        }
    }

    /// Any acknowledgement that `on_ack` has not seen gives an RTT only.
    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        let newest = delivery.rate.and_then(|rate| rate.rtt);
        if let Some(rtt) = newest.or(delivery.rtt)
            && !self.is_seen
        {
            self.take_rtt(rtt);
        }
        self.is_seen = false;
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let of = |microseconds: u64| (self.max_rtt > 0).then_some(microseconds as f64 / 1e6);
        let state = IllinoisState {
            alpha: Some(self.alpha as f64 / RENO_ALPHA as f64),
            beta: Some(self.beta as f64 / f64::from(1_u32 << BETA_SHIFT)),
            base_rtt: of(self.min_rtt),
            max_rtt: of(self.max_rtt),
        };
        state.tell(tell);
    }
}

fn in_alphas(alpha: f64) -> u64 {
    (alpha * f64::from(1_u32 << ALPHA_SHIFT)) as u64
}

/// beta(): between beta_min and beta_max, in 1/64.
fn beta(delay: u64, greatest: u64, parameters: &IllinoisParameters) -> u64 {
    let in_betas = |beta: f64| (beta * f64::from(1_u32 << BETA_SHIFT)) as u64;
    let (least, most) = (in_betas(parameters.beta_min), in_betas(parameters.beta_max));
    let low = (parameters.eta_2 * greatest as f64) as u64;
    let high = (parameters.eta_3 * greatest as f64) as u64;
    if delay <= low {
        least
    } else if delay >= high || high <= low {
        most
    } else {
        (least * high + (most - least) * delay - most * low) / (high - low)
    }
}
