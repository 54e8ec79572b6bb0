//! Scalable TCP in Linux tcp_scalable.c: whole segments.

use super::{Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub struct ScalableSteps {
    steps: Steps,
}

impl ScalableSteps {
    /// A segment for each 1 / a acknowledged, or for each window if that is smaller: tcp_scalable_cong_avoid.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack, a: f64) {
        let every = segments(window).min((1.0 / a).round() as u64);
        self.steps.additive(window, every, acked_segments(window, ack));
    }

    /// A loss or marks at this flight size: tcp_scalable_ssthresh.
    pub fn reduce(&mut self, window: &mut Window, flight_size: u64, b: f64) {
        let flight = flight_size / window.mss;
        set_ssthresh(window, flight - (flight as f64 * b) as u64);
        self.steps.restart();
    }
}
