//! CUBIC in Linux tcp_cubic.c: a segment for each so many acknowledged, a number that is computed at most once a tick.
//! Unlike RFC 9438's, Reno's estimate grows by 3 (1 - beta) / (1 + beta) segments a round trip for ever, and before the
//! first loss the window grows by at least a twentieth a round trip.

use super::epoch::{Epoch, TIME_SHIFT, WINDOWS_AT_PLATEAU, in_1024ths};
use super::{CubicParameters, CubicState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{HZ, Steps, acked_segments, segments, set_ssthresh, ticks, ticks_of};
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Segments acknowledged for one of growth at least: tcp_cubic.c, bictcp_update.
const LEAST: u64 = 2;

control! {
    Linux(CubicParameters as parameters) {
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
}

impl Linux {
    /// bictcp_update.
    fn update(&mut self, cwnd: u64, acked: u64, now: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.uncounted += acked;
        }
        if self.computed_for == cwnd && now - self.computed_at <= HZ / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.computed_at {
            self.computed_for = cwnd;
            self.computed_at = now;
            self.every = self.cubic(cwnd, acked, now);
        }
        if self.parameters.reno_friendly {
            let limit = self.epoch.as_mut().and_then(|epoch| epoch.keep_up_with_reno(cwnd, self.parameters.beta));
            self.every = limit.map_or(self.every, |limit| self.every.min(limit));
        }
        self.every = self.every.max(LEAST);
    }

    /// Segments for one of growth, by the cubic function one minimum RTT ahead.
    fn cubic(&mut self, cwnd: u64, acked: u64, now: u64) -> u64 {
        let scale = in_1024ths(self.parameters.c);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(now, cwnd, last_max, acked, scale));
        let since = now - epoch.start + self.min_rtt.map_or(0, ticks_of);
        let t = (since << TIME_SHIFT) / HZ;
        let distance = epoch.distance(t, scale);
        let target = if t < epoch.k { epoch.plateau.saturating_sub(distance) } else { epoch.plateau + distance };
        let every = if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        if last_max == 0 { every.min(self.parameters.slowest_start) } else { every }
    }

    /// cubictcp_recalc_ssthresh.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, beta: f64) {
        let (cwnd, beta) = (segments(window), in_1024ths(beta));
        let gives_way = self.parameters.fast_convergence && cwnd < self.last_max;
        self.last_max = if gives_way { cwnd * (1024 + beta) / 2048 } else { cwnd };
        self.epoch = None;
        self.steps.restart();
        set_ssthresh(window, flight_size / window.mss * beta / 1024);
    }
}

impl CongestionControl for Linux {
    /// cubictcp_cong_avoid.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let acked = acked_segments(window, ack);
        self.update(segments(window), acked, ticks(ack.now));
        self.steps.additive(window, self.every, acked);
    }

    /// A timeout forgets everything: bictcp_reset.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                self.reduce(window, flight_size, self.parameters.beta_of(event))
            }
            CongestionEvent::Timeout => *self = Linux::new(self.parameters.clone()),
            CongestionEvent::Spurious => {}
        }
    }

    /// Takes the minimum RTT, but not at the beginning of an epoch: cubictcp_acked.
    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let settling = ticks_of(self.parameters.rtt_settling);
        if self.epoch.is_none_or(|epoch| ticks(ack.now) - epoch.start >= settling) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    /// The idle time does not count: cubictcp_cwnd_event.
    fn on_idle(&mut self, _window: &mut Window, idle: Duration, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + ticks_of(idle)).min(ticks(now));
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        CubicState::of_epoch(self.epoch.as_ref(), self.last_max, self.min_rtt, HZ).tell(tell);
    }
}
