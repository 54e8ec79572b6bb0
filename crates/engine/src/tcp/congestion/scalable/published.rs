//! Scalable TCP as in the paper: the window grows by a segments for each that is acknowledged.

use super::ScalableParameters;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Published(ScalableParameters as parameters) {
        growth: Growth,
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let segments = (self.parameters.a * window.segments()).max(1.0);
        self.growth.additive(window, segments, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        window.set_ssthresh(((1.0 - self.parameters.b) * flight_size as f64) as u64);
    }
}
