//! CUBIC in Linux tcp_cubic.c: a segment for each so many acknowledged, a number that is computed at most once a tick.
//! Unlike RFC 9438's, Reno's estimate grows by 3 (1 - beta) / (1 + beta) segments a round trip for ever, and before the
//! first loss the window grows by at least a twentieth a round trip.

use super::time::{HZ, ticks, ticks_of};
use super::{Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::Ack;
use crate::tcp::congestion::cubic::CubicParameters;
use crate::tcp::congestion::cubic_epoch::{Epoch, TIME_SHIFT, WINDOWS_AT_PLATEAU, in_1024ths};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Segments acknowledged for one of growth at least: tcp_cubic.c, bictcp_update.
const LEAST: u64 = 2;

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
            let limit = self.epoch.as_mut().and_then(|epoch| epoch.keep_up_with_reno(cwnd, parameters.beta));
            self.every = limit.map_or(self.every, |limit| self.every.min(limit));
        }
        self.every = self.every.max(LEAST);
    }

    /// Segments for one of growth, by the cubic function one minimum RTT ahead.
    fn cubic(&mut self, cwnd: u64, acked: u64, now: u64, parameters: &CubicParameters) -> u64 {
        let scale = in_1024ths(parameters.c);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(now, cwnd, last_max, acked, scale));
        let since = now - epoch.start + self.min_rtt.map_or(0, ticks_of);
        let t = (since << TIME_SHIFT) / HZ;
        let distance = epoch.distance(t, scale);
        let target = if t < epoch.k { epoch.plateau.saturating_sub(distance) } else { epoch.plateau + distance };
        let every = if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        if last_max == 0 { every.min(parameters.slowest_start) } else { every }
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

    /// Nothing was sent for this time, which does not count: cubictcp_cwnd_event.
    pub fn on_idle(&mut self, idle: Duration, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + ticks_of(idle)).min(ticks(now));
        }
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
