//! TCP-LP as in the paper, of delays that the receiver reports.

use super::{LpParameters, LpState};
use crate::inner::{Tell, flag};
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::{Ack, CongestionControl, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Published(LpParameters as parameters) {
        additive: AdditiveIncrease,
        delays: Option<Delays>,
        /// When the window was last reduced.
        reduced: Option<Time>,
        /// The end of the inference phase.
        inference_ends: Time,
    }
}

/// The one-way delays of the connection, in seconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    smoothed: f64,
    least: f64,
    /// The second largest delay. The largest may be an outlier.
    great: f64,
    greatest: f64,
}

impl Delays {
    fn new(delay: f64) -> Delays {
        Delays { smoothed: delay, least: delay, great: delay, greatest: delay }
    }

    fn take(&mut self, delay: f64, gamma: f64) {
        self.least = self.least.min(delay);
        self.great = self.great.max(delay.min(self.greatest));
        self.greatest = self.greatest.max(delay);
        self.smoothed += gamma * (delay - self.smoothed);
    }

    /// Early congestion indication: d > d_min + (d_max - d_min) delta.
    fn indicate_congestion(&self, delta: f64) -> bool {
        self.smoothed > self.least + (self.great - self.least) * delta
    }
}

impl Published {
    /// Halves the window, or sets it to one segment during the inference phase after the previous indication: the queue
    /// is then due to other flows.
    fn give_way(&mut self, window: &mut Window, ack: &Ack) {
        let share = if ack.now < self.inference_ends { 0 } else { window.cwnd / 2 };
        window.cwnd = share.max(window.mss);
        // Lowering ssthresh keeps the reduced window out of slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.additive.restart();
        self.reduced = Some(ack.now);
        self.inference_ends = ack.now + ack.srtt * self.parameters.inference;
    }
}

impl CongestionControl for Published {
    /// Grows as Reno outside the inference phase.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let indicated = self.delays.is_some_and(|delays| delays.indicate_congestion(self.parameters.delta));
        let reduced_lately = self.reduced.is_some_and(|reduced| ack.now < reduced + ack.srtt);
        if indicated && !reduced_lately {
            self.give_way(window, ack);
        } else if ack.now >= self.inference_ends {
            self.additive.increase(window, ack.credit);
        }
    }

    /// Reduces the window to half the flight size (RFC 5681 equation 4).
    fn reduce(&mut self, window: &mut Window, flight_size: u64, now: Time) {
        self.additive.restart();
        self.reduced = Some(now);
        window.set_ssthresh(flight_size / 2);
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        let Some(delay) = ack.one_way_delay.map(Duration::seconds) else { return };
        match &mut self.delays {
            Some(delays) => delays.take(delay, self.parameters.gamma),
            None => self.delays = Some(Delays::new(delay)),
        }
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, now: Time, tell: &mut Tell<'_>) {
        let state = LpState {
            phase: Some(flag(now < self.inference_ends)),
            smoothed_delay: self.delays.map(|delays| delays.smoothed),
            min_delay: self.delays.map(|delays| delays.least),
            max_delay: self.delays.map(|delays| delays.great),
        };
        state.tell(tell);
    }
}
