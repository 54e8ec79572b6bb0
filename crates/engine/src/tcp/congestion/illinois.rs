//! TCP Illinois: Liu, Basar and Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for
//! high-speed networks", VALUETOOLS 2006. Losses trigger a reduction. The queueing delay determines the growth rate and
//! the size of the reduction.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::Rules;
use super::linux::illinois::IllinoisSteps;
use super::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Reno's increase and decrease, used for small windows and after timeouts (Linux tcp_illinois.c, ALPHA_BASE and
/// BETA_BASE).
const RENO_ALPHA: f64 = 1.0;
const RENO_BETA: f64 = 0.5;

parameters! {
    /// Parameters of TCP Illinois.
    pub struct IllinoisParameters {
        alpha_min: f64 = 0.3, in 0.001 .. 1, "Growth per round trip at maximum delay, in segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, ALPHA_MIN";
        alpha_max: f64 = 10.0, in 1.001 .. 1000, "Growth per round trip without delay, in segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, ALPHA_MAX";
        beta_min: f64 = 0.125, in 0 .. 0.5, "Decrease on loss without delay, as a share of the window", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, BETA_MIN";
        beta_max: f64 = 0.5, in 0.5 .. 1, "Decrease on loss at high delay, as a share of the window", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, BETA_MAX";
        eta_1: f64 = 0.01, in 0 .. 0.99, "Share of the maximum delay up to which growth is maximal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, alpha";
        eta_2: f64 = 0.1, in 0 .. 0.5, "Share of the maximum delay up to which the decrease is minimal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, beta";
        eta_3: f64 = 0.8, in 0.5 .. 1, "Share of the maximum delay from which the decrease is maximal", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, beta";
        window_threshold: f64 = 15.0, in 0 .. 1000000, "Window, in segments, below which it behaves like Reno", "Linux tcp_illinois.c, win_thresh";
        theta: u64 = 5, in 1 .. 1000000, "Round trips with low delay after which growth is maximal again", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, theta";
        rules: Rules = Rules::Published, "Whose arithmetic: linux takes RTTs during recovery too, and has alpha in 1/128, beta in 1/64 and whole segments", "Liu, Basar and Srikant 2006; Linux tcp_illinois.c, tcp_illinois_acked and tcp_illinois_cong_avoid";
    }
}

/// The TCP Illinois congestion control.
#[derive(Clone, Debug)]
pub struct Illinois {
    parameters: Arc<IllinoisParameters>,
    growth: Growth,
    alpha: f64,
    beta: f64,
    /// The base RTT.
    min_rtt: Option<Duration>,
    max_rtt: Duration,
    round: Round,
    /// Whether the delay has been high since alpha was last at its maximum.
    was_delayed: bool,
    /// The number of low-delay round trips since then.
    fast_rounds: u64,
    /// By the rules of Linux.
    linux: Option<IllinoisSteps>,
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

impl Listed for Illinois {
    const ABOUT: About = About {
        name: "illinois",
        aliases: &[],
        title: "TCP Illinois",
        class: "hybrid",
        year: 2006,
        source: "Liu, Basar and Srikant, VALUETOOLS 2006; Linux net/ipv4/tcp_illinois.c",
        deviations: "the window never grows faster than in slow start; RTT samples during fast recovery are ignored; \
                     with rules = \"linux\" they are taken, so that the queue of a slow start that overshoots is the \
                     maximum delay from then on, as in Linux",
    };
}

impl Illinois {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<IllinoisParameters>) -> Illinois {
        Illinois {
            alpha: parameters.alpha_max,
            beta: RENO_BETA,
            linux: (parameters.rules == Rules::Linux).then(|| IllinoisSteps::new(&parameters)),
            parameters,
            growth: Growth::default(),
            min_rtt: None,
            max_rtt: Duration::ZERO,
            round: Round::default(),
            was_delayed: false,
            fast_rounds: 0,
        }
    }

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

impl CongestionControl for Illinois {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack);
        }
        self.growth.additive(window, self.alpha, ack.credit);
    }

    /// After a timeout alpha and beta are those of Reno (Linux tcp_illinois.c, tcp_illinois_state).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(linux) = &mut self.linux {
            return linux.on_congestion(window, event);
        }
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                window.set_ssthresh(((1.0 - self.beta) * flight_size as f64) as u64);
            }
            CongestionEvent::Timeout => {
                self.alpha = RENO_ALPHA;
                self.beta = RENO_BETA;
                self.was_delayed = false;
                self.fast_rounds = 0;
                self.round = Round { end: self.round.end, ..Round::default() };
            }
            CongestionEvent::Spurious => {}
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.on_ack(window, ack, &self.parameters);
        }
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

    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        if let Some(linux) = &mut self.linux {
            linux.on_delivery(delivery);
        }
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: self.linux.is_some(), ..Needs::default() }
    }
}
