//! CUBIC in Linux tcp_cubic.c: a segment for each so many acknowledged, a number that is computed at most once a tick.
//! Unlike RFC 9438's, Reno's estimate grows by 3 (1 - beta) / (1 + beta) segments a round trip for ever, and before the
//! first loss the window grows by at least a twentieth a round trip.

use super::time::{HZ, ticks, ticks_of};
use super::{Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::Ack;
use crate::tcp::congestion::cubic::CubicParameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Segments acknowledged for one of growth: without a target above the window, as so many windows; and at least.
/// tcp_cubic.c, bictcp_update.
const WINDOWS_AT_PLATEAU: u64 = 100;
const LEAST: u64 = 2;

/// BICTCP_HZ: the unit of time of the cubic function is 2^-10 s.
const TIME_SHIFT: u32 = 10;
/// The time from which any window that could occur is below the target; more would not fit. In that unit.
const LONGEST: u64 = 1 << 18;

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub struct CubicSteps {
    steps: Steps,
    /// Segments acknowledged for one of growth: `cnt`.
    every: u64,
    /// The window of the last loss; zero before the first and after a timeout.
    last_max: u64,
    /// The window, and the tick, for which `every` was computed.
    computed_for: u64,
    computed_at: u64,
    epoch: Option<Epoch>,
    min_rtt: Option<Duration>,
}

/// From the first acknowledgement that may grow the window after a loss on.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// In ticks.
    start: u64,
    /// The time to the plateau, in 2^-10 s, and the window there.
    k: u64,
    plateau: u64,
    /// Reno's estimated window, and the segments acknowledged that have not yet increased it.
    reno: u64,
    uncounted: u64,
}

impl CubicSteps {
    /// Grows the window in congestion avoidance: cubictcp_cong_avoid.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack, parameters: &CubicParameters) {
        let acked = acked_segments(window, ack);
        self.update(segments(window), acked, ticks(ack.now), parameters);
        self.steps.additive(window, self.every, acked);
    }

    /// bictcp_update.
    fn update(&mut self, cwnd: u64, acked: u64, now: u64, parameters: &CubicParameters) {
        if let Some(epoch) = &mut self.epoch {
            epoch.uncounted += acked;
        }
        if self.computed_for == cwnd && now - self.computed_at <= HZ / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.computed_at {
            self.computed_for = cwnd;
            self.computed_at = now;
            self.every = self.cubic(cwnd, acked, now, parameters);
        }
        if parameters.reno_friendly {
            self.keep_up_with_reno(cwnd, parameters.beta);
        }
        self.every = self.every.max(LEAST);
    }

    /// Segments for one of growth, by the cubic function one minimum RTT ahead.
    fn cubic(&mut self, cwnd: u64, acked: u64, now: u64, parameters: &CubicParameters) -> u64 {
        // bic_scale * 10, of 1024.
        let scale = (parameters.c * 1024.0).round() as u64;
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            k: libm::cbrt(last_max.saturating_sub(cwnd) as f64 * cube_factor(scale)) as u64,
            plateau: last_max.max(cwnd),
            reno: cwnd,
            uncounted: acked,
        });
        let since = now - epoch.start + self.min_rtt.map_or(0, ticks_of);
        let t = (since << TIME_SHIFT) / HZ;
        let from_plateau = t.abs_diff(epoch.k).min(LONGEST);
        let height = scale.saturating_mul(from_plateau * from_plateau * from_plateau) >> (10 + 3 * TIME_SHIFT);
        let target = if t < epoch.k { epoch.plateau.saturating_sub(height) } else { epoch.plateau + height };
        let every = if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        if last_max == 0 { every.min(parameters.slowest_start) } else { every }
    }

    fn keep_up_with_reno(&mut self, cwnd: u64, beta: f64) {
        let Some(epoch) = &mut self.epoch else { return };
        // beta_scale, of 8: windows acknowledged for one segment of growth, (1 + beta) / (3 (1 - beta)).
        let beta = in_1024ths(beta).min(1023);
        let window_scale = 8 * (1024 + beta) / 3 / (1024 - beta);
        let step = ((cwnd * window_scale) >> 3).max(1);
        if epoch.uncounted > step {
            let steps = (epoch.uncounted - 1) / step;
            epoch.uncounted -= steps * step;
            epoch.reno += steps;
        }
        if epoch.reno > cwnd {
            self.every = self.every.min(cwnd / (epoch.reno - cwnd));
        }
    }

    /// A loss or marks: cubictcp_recalc_ssthresh.
    pub fn reduce(&mut self, window: &mut Window, flight_size: u64, beta: f64, fast_convergence: bool) {
        let (cwnd, beta) = (segments(window), in_1024ths(beta));
        let gives_way = fast_convergence && cwnd < self.last_max;
        self.last_max = if gives_way { cwnd * (1024 + beta) / 2048 } else { cwnd };
        self.epoch = None;
        self.steps.restart();
        set_ssthresh(window, flight_size / window.mss * beta / 1024);
    }

    /// A timeout forgets everything: bictcp_reset.
    pub fn reset(&mut self) {
        *self = CubicSteps::default();
    }

    /// Takes the minimum RTT, but not at the beginning of an epoch: cubictcp_acked.
    pub fn take_rtt(&mut self, rtt: Duration, now: Time, settling: Duration) {
        if self.epoch.is_none_or(|epoch| ticks(now) - epoch.start >= ticks_of(settling)) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }
}

/// The inverse of the scale, for times in 2^-10 s: tcp_cubic.c, cubictcp_register.
fn cube_factor(scale: u64) -> f64 {
    ((1_u64 << (10 + 3 * TIME_SHIFT)) / scale.max(1)) as f64
}

/// BICTCP_BETA_SCALE.
fn in_1024ths(beta: f64) -> u64 {
    (beta * 1024.0).round() as u64
}
