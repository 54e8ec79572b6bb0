//! Veno as in the paper, and as ns-3 has it, which grows as Reno on a congested path too.

use super::{Rules, VenoParameters, VenoState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Published(VenoParameters as parameters) {
        growth: Growth,
        /// The base RTT.
        min_rtt: Option<Duration>,
        /// N: the queued part of the window according to the latest RTT sample, in segments.
        backlog: f64,
        /// Whether it grows on every other acknowledgement only while the path is congested.
        slows: bool = parameters.rules == Rules::Published,
        /// Whether the next acknowledgement leaves the window unchanged if the path is congested.
        skips: bool,
    }
}

impl Published {
    fn is_congested(&self) -> bool {
        self.backlog >= self.parameters.beta
    }
}

impl CongestionControl for Published {
    /// Grows as Reno, on a congested path only on every other acknowledgement (Fu and Liew 2003).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if self.slows && self.is_congested() {
            self.skips = !self.skips;
            if !self.skips {
                return;
            }
        }
        self.growth.additive(window, 1.0, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let left = if self.is_congested() { 0.5 } else { self.parameters.random_loss_factor };
        window.set_ssthresh((left * flight_size as f64) as u64);
    }

    /// Updates the backlog: N = (W / BaseRTT - W / RTT) BaseRTT.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
            self.min_rtt = Some(min_rtt);
            self.backlog = window.segments() * (1.0 - min_rtt.seconds() / rtt.seconds());
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        VenoState { base_rtt: self.min_rtt.map(Duration::seconds), backlog: Some(self.backlog) }.tell(tell);
    }
}
