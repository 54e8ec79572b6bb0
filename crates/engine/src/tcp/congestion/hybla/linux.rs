//! Hybla in Linux tcp_hybla.c: each acknowledgement increases the window once, however many segments it covers, by steps
//! of 1/128 segment. Rho is in eighths, follows the minimum of the smoothed RTT, and is also the initial window.

use super::{HyblaParameters, HyblaState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{LossState, Steps, acked_segments, microseconds, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The unit of increments, as a shift: 128.
const STEP: u64 = 128;
/// The greatest whole part of rho that slow start uses: tcp_hybla.c, hybla_cong_avoid.
const GREATEST_EXPONENT: u64 = 16;

control! {
    Linux(HyblaParameters as parameters) {
        /// `snd_cwnd_cnt`.
        steps: Steps,
        /// Growth that has not yet made a segment: `snd_cwnd_cents`.
        cents: u64,
        /// In eighths.
        rho: u64,
        min_srtt: Option<Duration>,
        /// In which it grows as Reno.
        loss: LossState,
    }
}

impl Linux {
    /// Takes the smoothed RTT of an acknowledgement: hybla_recalc_param.
    fn take_srtt(&mut self, srtt: Duration) {
        if srtt > Duration::ZERO && self.min_srtt.is_none_or(|min_srtt| srtt < min_srtt) {
            self.min_srtt = Some(srtt);
            self.rho = (8 * microseconds(srtt) / microseconds(self.parameters.rtt0)).max(8);
        }
    }

    fn add(&mut self, window: &mut Window, increment: u64) {
        self.cents += increment % STEP;
        let whole = self.cents / STEP;
        if whole > 0 {
            self.steps.restart();
        }
        self.cents %= STEP;
        window.cwnd += (increment / STEP + whole) * window.mss;
    }
}

impl CongestionControl for Linux {
    /// rho^2 / W segments.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = segments(window);
        if self.loss.lasts(ack) {
            return self.steps.additive(window, cwnd, acked_segments(window, ack));
        }
        let increment = 2 * self.rho * self.rho / cwnd;
        if increment < STEP {
            self.steps.count += 1;
        }
        self.add(window, increment);
        // A window whose increment is below the unit grows as Reno's.
        if increment == 0 && self.steps.count >= segments(window) {
            window.cwnd += window.mss;
            self.steps.restart();
        }
    }

    /// Sets ssthresh to half the flight size: tcp_reno_ssthresh, in whole segments.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        set_ssthresh(window, flight_size / window.mss / 2);
        self.steps.restart();
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.loss.begin();
    }

    /// Sets the initial window to the whole part of rho: hybla_init.
    fn on_established(&mut self, window: &mut Window, srtt: Duration, _now: Time) {
        self.rho = 8;
        self.take_srtt(srtt);
        window.cwnd = self.rho / 8 * window.mss;
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        self.take_srtt(ack.srtt);
        self.loss.on_ack(ack);
    }

    /// 2^rho - 1 segments, with the fraction of rho in eighths.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        if self.loss.lasts(ack) {
            let growth = ack.credit.min(window.ssthresh - window.cwnd);
            window.cwnd += growth;
            return Some(ack.credit - growth);
        }
        let fraction = (STEP as f64 * libm::exp2((self.rho % 8) as f64 / 8.0)) as u64;
        let increment = (fraction << (self.rho / 8).min(GREATEST_EXPONENT)) - STEP;
        self.add(window, increment);
        window.cwnd = window.cwnd.min(window.ssthresh).min(self.parameters.slow_start_ceiling * window.mss);
        Some(0)
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let min_rtt = self.min_srtt.map(Duration::seconds);
        HyblaState { rho: Some(self.rho as f64 / 8.0), min_rtt }.tell(tell);
    }
}
