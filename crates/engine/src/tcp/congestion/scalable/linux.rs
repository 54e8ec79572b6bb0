//! Scalable TCP in Linux tcp_scalable.c: whole segments.

use super::ScalableParameters;
use crate::tcp::congestion::kernel::{Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Linux(ScalableParameters as parameters) {
        steps: Steps,
    }
}

impl CongestionControl for Linux {
    /// A segment for each 1 / a acknowledged, or for each window if that is smaller: tcp_scalable_cong_avoid.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let every = segments(window).min((1.0 / self.parameters.a).round() as u64);
        self.steps.additive(window, every, acked_segments(window, ack));
    }

    /// tcp_scalable_ssthresh.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let flight = flight_size / window.mss;
        set_ssthresh(window, flight - (flight as f64 * self.parameters.b) as u64);
        self.steps.restart();
    }
}
