//! Compound as in the paper, with the draft's estimator, rounds and tuning of gamma.

use super::{CompoundParameters, CompoundState, GammaRule};
use crate::inner::Tell;
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Published(CompoundParameters as parameters) {
        /// Increase rule of the loss window, which is the window less the delay window.
        additive: AdditiveIncrease,
        /// The delay window, in bytes.
        dwnd: u64,
        /// The current backlog threshold, in segments.
        gamma: f64 = parameters.gamma,
        /// The backlog of an emulated Reno flow at the end of the last round, in segments. `None` after a loss.
        diff_reno: Option<f64>,
        /// The base RTT.
        min_rtt: Option<Duration>,
        round: Option<Round>,
    }
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number after the round.
    end: u64,
    /// The window at its start, in bytes.
    window: u64,
}

impl Published {
    /// Updates the delay window after a round (Tan et al. 2006; draft section 3).
    fn end_round(&mut self, window: &mut Window, round: Round, srtt: Duration) {
        let Some(min_rtt) = self.min_rtt else { return };
        let mss = window.mss as f64;
        let win = round.window as f64 / mss;
        if win <= self.parameters.low_window as f64 {
            self.dwnd = 0;
            return;
        }
        // (expected - actual) base RTT, with expected = win / base RTT and actual = win / srtt, for a window of one
        // segment.
        let backlog = (1.0 - min_rtt.seconds() / srtt.seconds()).max(0.0);
        let diff = win * backlog;
        self.diff_reno = Some((win - self.dwnd as f64 / mss) * backlog);

        let change = if diff < self.gamma {
            (self.parameters.alpha * libm::pow(win, self.parameters.k) - 1.0).max(0.0)
        } else {
            -self.parameters.zeta * diff
        };
        let dwnd = (self.dwnd as f64 + change * mss).round() as u64;
        window.cwnd = window.cwnd - self.dwnd + dwnd;
        // Lowering ssthresh keeps the reduced window out of slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.dwnd = dwnd;
    }

    /// Tunes gamma to a value below the backlog of a Reno flow (draft section 5).
    fn tune_gamma(&mut self) {
        let CompoundParameters { gamma_rule, gamma_low, gamma_high, lambda, .. } = *self.parameters;
        if let Some(diff_reno) = self.diff_reno.take()
            && gamma_rule == GammaRule::Tuned
        {
            let sample = 0.75 * diff_reno;
            self.gamma = (self.gamma * (1.0 - lambda) + lambda * sample).max(gamma_low).min(gamma_high);
        }
    }
}

impl CongestionControl for Published {
    /// The loss window grows by one segment per round: draft equation 2.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.additive.increase(window, ack.credit);
        match self.round {
            Some(round) if ack.una <= round.end => return,
            Some(round) => self.end_round(window, round, ack.srtt),
            // The window after a recovery can have any value.
            None => self.dwnd = self.dwnd.min(window.cwnd.saturating_sub(window.least_ssthresh())),
        }
        self.round = Some(Round { end: ack.nxt, window: window.cwnd });
    }

    /// Halves the loss window and reduces the sum to 1 - beta of its value (Tan et al. 2006).
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.tune_gamma();
        self.round = None;
        let loss_window = window.cwnd.saturating_sub(self.dwnd);
        let loss_flight = u128::from(flight_size) * u128::from(loss_window) / u128::from(window.cwnd);
        self.additive.restart();
        let loss_window = window.half(loss_flight as u64);
        let sum = loss_window.max((flight_size as f64 * (1.0 - self.parameters.beta)) as u64);
        self.dwnd = sum - loss_window;
        window.set_ssthresh(sum);
    }

    /// The delay window is zero, as in slow start, and the path may have changed (draft section 3).
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        (self.dwnd, self.min_rtt) = (0, None);
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = CompoundState {
            dwnd: Some(self.dwnd as f64),
            gamma: Some(self.gamma),
            diff_reno: self.diff_reno,
            base_rtt: self.min_rtt.map(Duration::seconds),
        };
        state.tell(tell);
    }
}
