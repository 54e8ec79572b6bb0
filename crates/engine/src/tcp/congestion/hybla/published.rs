//! Hybla as in the paper: the window grows for each byte that is credited.

use super::{HyblaParameters, HyblaState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The rho from which the growth per segment in slow start, 2^rho - 1, exceeds any window.
const GREATEST_EXPONENT: f64 = 32.0;

control! {
    Published(HyblaParameters as parameters) {
        growth: Growth,
        min_rtt: Option<Duration>,
    }
}

impl Published {
    /// rho = RTT / RTT0, at least one.
    fn rho(&self) -> f64 {
        self.min_rtt.map_or(1.0, |rtt| (rtt.seconds() / self.parameters.rtt0.seconds()).max(1.0))
    }
}

impl CongestionControl for Published {
    /// Increases the window by rho^2 / W for each credited segment.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let rho = self.rho();
        let bytes = rho * rho * ack.credit as f64 / window.segments();
        self.growth.add(window, bytes);
    }

    /// Reduces the window to half the flight size, as Reno does.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        window.set_ssthresh(flight_size / 2);
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    /// Increases the window by 2^rho - 1 segments for each credited segment.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        let factor = libm::exp2(self.rho().min(GREATEST_EXPONENT)) - 1.0;
        let ceiling = window.ssthresh.min(self.parameters.slow_start_ceiling * window.mss);
        let room = ceiling.saturating_sub(window.cwnd) as f64;
        let wanted = factor * ack.credit as f64;
        self.growth.add(window, wanted.min(room));
        Some(((wanted - room).max(0.0) / factor) as u64)
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        HyblaState { rho: Some(self.rho()), min_rtt: self.min_rtt.map(Duration::seconds) }.tell(tell);
    }
}
