//! HighSpeed TCP by the formulas of RFC 3649.

use super::HighSpeedParameters;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Published(HighSpeedParameters as parameters) {
        growth: Growth,
    }
}

impl Published {
    /// a(w): the growth per round trip, in segments, that gives an average window of w at the loss rate p(w) (section
    /// 7).
    fn increase_in_a_round(&self, w: f64) -> f64 {
        let HighSpeedParameters { low_window, p_factor, p_exponent, .. } = *self.parameters;
        if w <= low_window {
            return 1.0;
        }
        let p = p_factor / libm::pow(w, p_exponent);
        let b = self.parameters.decrease(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl CongestionControl for Published {
    /// Increases the window by a(w) / w for each acknowledged segment: w + a(w) / w (section 5).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let segments = self.increase_in_a_round(window.segments());
        self.growth.additive(window, segments, ack.credit);
    }

    /// Reduces the window to (1 - b(w)) w (section 5).
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let left = 1.0 - self.parameters.decrease(window.segments());
        window.set_ssthresh((left * flight_size as f64) as u64);
    }
}
