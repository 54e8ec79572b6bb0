//! BIC by fractions of a segment.

use super::{BicParameters, BicState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::Time;

/// Minimum growth per round trip before the first loss, as a share of the window: Linux tcp_bic.c, bictcp_update.
const LEAST_GROWTH_BEFORE_LOSS: f64 = 0.05;

control! {
    Published(BicParameters as parameters) {
        growth: Growth,
        /// W_max: the window of the last loss, `None` before the first loss and after a timeout.
        w_max: Option<f64>,
    }
}

impl Published {
    /// The growth per round trip, in segments (Linux tcp_bic.c, bictcp_update).
    fn increase_in_a_round(&self, w: f64) -> f64 {
        let BicParameters { max_increment, low_window, smooth_part, search_factor, .. } = *self.parameters;
        if w <= low_window {
            return 1.0;
        }
        let Some(w_max) = self.w_max else {
            return (w / (search_factor - 1.0)).min(max_increment).max(LEAST_GROWTH_BEFORE_LOSS * w);
        };
        let smooth = search_factor / smooth_part;
        if w < w_max {
            let step = (w_max - w) / search_factor;
            if step <= 1.0 { smooth } else { step.min(max_increment) }
        } else if w < w_max + search_factor {
            smooth
        } else {
            ((w - w_max) / (search_factor - 1.0)).min(max_increment)
        }
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let segments = self.increase_in_a_round(window.segments());
        self.growth.additive(window, segments, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let BicParameters { beta, low_window, fast_convergence, .. } = *self.parameters;
        let w = window.segments();
        let gives_way = fast_convergence && self.w_max.is_some_and(|w_max| w < w_max);
        self.w_max = Some(if gives_way { w * (1.0 + beta) / 2.0 } else { w });
        let left = if w <= low_window { 0.5 } else { beta };
        window.set_ssthresh((left * flight_size as f64) as u64);
    }

    /// The search restarts (Linux tcp_bic.c, bictcp_state).
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.w_max = None;
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        BicState { w_max: self.w_max }.tell(tell);
    }
}
