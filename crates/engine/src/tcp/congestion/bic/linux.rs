//! BIC in Linux tcp_bic.c: a segment for each so many acknowledged, a number that is divided by the segments that an
//! acknowledgement covers. It was meant for counting acknowledgements; since Linux counts segments, the window grows
//! that much faster.

use super::{BicParameters, BicState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{HZ, LossState, Steps, acked_segments, segments, set_ssthresh, ticks};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::Time;

/// Segments acknowledged for one of growth at most, before the first loss: tcp_bic.c, bictcp_update.
const MOST_BEFORE_LOSS: u64 = 20;
/// The unit of the average of segments that an acknowledgement covers, and what is assumed before any: ACK_RATIO_SHIFT,
/// bictcp_reset.
const RATIO_SHIFT: u32 = 4;
const FIRST_RATIO: u64 = 2 << RATIO_SHIFT;

control! {
    Linux(BicParameters as parameters) {
        steps: Steps,
        /// Segments acknowledged for one of growth: `cnt`.
        every: u64,
        /// The window of the last loss; zero before the first and after a timeout.
        last_max: u64,
        /// The window, and the tick, for which `every` was computed.
        computed_for: u64,
        computed_at: u64,
        /// Segments that an acknowledgement covers, on average, in sixteenths: `delayed_ack`.
        ratio: u64 = FIRST_RATIO,
        loss: LossState,
    }
}

impl Linux {
    /// bictcp_update.
    fn every(&self, cwnd: u64) -> u64 {
        let parameters = &*self.parameters;
        // The module returns before it divides by the ratio.
        if cwnd <= parameters.low_window as u64 {
            return cwnd;
        }
        let max_increment = parameters.max_increment as u64;
        let factor = parameters.search_factor as u64;
        let smooth = cwnd * parameters.smooth_part as u64 / factor;
        let last_max = self.last_max;
        let every = if cwnd < last_max {
            match (last_max - cwnd) / factor {
                0 | 1 => smooth,
                step => cwnd / step.min(max_increment),
            }
        } else if cwnd < last_max + factor {
            smooth
        } else if cwnd < last_max + max_increment * (factor - 1) {
            cwnd * (factor - 1) / (cwnd - last_max)
        } else {
            cwnd / max_increment
        };
        let every = if last_max == 0 { every.min(MOST_BEFORE_LOSS) } else { every };
        ((every << RATIO_SHIFT) / self.ratio).max(1)
    }
}

impl CongestionControl for Linux {
    /// bictcp_cong_avoid.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let (cwnd, now) = (segments(window), ticks(ack.now));
        if self.computed_for != cwnd || now - self.computed_at > HZ / 32 {
            self.computed_for = cwnd;
            self.computed_at = now;
            self.every = self.every(cwnd);
        }
        self.steps.additive(window, self.every, acked_segments(window, ack));
    }

    /// bictcp_recalc_ssthresh.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let BicParameters { beta, low_window, fast_convergence, .. } = *self.parameters;
        let beta = (beta * 1024.0).round() as u64;
        let cwnd = segments(window);
        let gives_way = fast_convergence && cwnd < self.last_max;
        self.last_max = if gives_way { cwnd * (1024 + beta) / 2048 } else { cwnd };
        self.steps.restart();
        let flight = flight_size / window.mss;
        set_ssthresh(window, if cwnd <= low_window as u64 { flight / 2 } else { flight * beta / 1024 });
    }

    /// bictcp_reset.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        let mut loss = self.loss.clone();
        loss.begin();
        *self = Linux { loss, ..Linux::new(self.parameters.clone()) };
    }

    /// bictcp_acked, which leaves out acknowledgements in the states Disorder and Loss.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if !self.loss.on_ack(ack) && !ack.follows_gap {
            self.ratio = self.ratio + ack.acked.div_ceil(window.mss) - (self.ratio >> RATIO_SHIFT);
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        BicState { w_max: (self.last_max > 0).then_some(self.last_max as f64) }.tell(tell);
    }
}
