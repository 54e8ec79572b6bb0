//! CUBIC in the module for ns-3 of Levasseur, Claypool and Kinicki (WNS3 2014; tcp-cubic.cc as of 2017, for ns-3.27), after
//! Linux 3.11 and ns-2. A segment for each so many acknowledgements. Unlike Linux 6.1, it counts acknowledgements and
//! halves the number for delayed ones, except where it estimates Reno, which with delayed
//! acknowledgements thus grows half as fast; beyond the plateau it grows by at most 16 segments in 0.1 s; it has no fast
//! convergence; and a timeout forgets nothing unless it follows another.

use super::epoch::{Epoch, TIME_SHIFT, WINDOWS_AT_PLATEAU, in_1024ths};
use super::{CubicParameters, CubicState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// HZ.
const HZ: u64 = 1000;

/// ACK_RATIO_SHIFT: the unit of the segments that an acknowledgement covers.
const RATIO_SHIFT: u32 = 4;

/// m_maxIncrement, in segments for 0.1 s.
const GREATEST_INCREMENT: u64 = 16;

control! {
    Ns3Of2014(CubicParameters as parameters) {
        /// Acknowledgements since the window grew, and how many it takes: m_cWndCnt, m_acksNeeded.
        counted: u64,
        needed: u64,
        /// Segments that an acknowledgement covers, in sixteenths: m_delayedAck.
        ratio: u64 = 2 << RATIO_SHIFT,
        /// The window at the last loss, in segments.
        last_max: u64,
        /// The window, and the millisecond, for which `needed` was computed.
        computed_for: u64,
        computed_at: u64,
        epoch: Option<Epoch>,
        min_rtt: Option<Duration>,
        /// Until all that was sent before a timeout is acknowledged.
        timed_out: TimedOut = TimedOut::No,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimedOut {
    No,
    JustNow,
    Until(u64),
}

impl Ns3Of2014 {
    /// CubicUpdate.
    fn update(&mut self, cwnd: u64, now: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.uncounted += 1;
        }
        if self.computed_for == cwnd && now - self.computed_at <= HZ / 32 {
            return;
        }
        (self.computed_for, self.computed_at) = (cwnd, now);
        let CubicParameters { c, beta, reno_friendly, slowest_start, .. } = *self.parameters;
        let scale = in_1024ths(c);
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(now, cwnd, last_max, 1, scale));
        let min_rtt = self.min_rtt.unwrap_or_default();
        let t = ((now - epoch.start + milliseconds(min_rtt)) << TIME_SHIFT) / HZ;
        let height = epoch.distance(t, scale);
        let beyond = t >= epoch.k;
        let target = match (beyond, epoch.plateau.checked_sub(height)) {
            (true, _) => epoch.plateau + height,
            (false, Some(below)) => below,
            (false, None) => cwnd + 1,
        };
        let mut needed = if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        if beyond && self.min_rtt.is_some() {
            // A sample of no ticks counts as an eighth of one.
            let eighths = (8 * milliseconds(min_rtt)).max(1);
            needed = needed.max(cwnd * HZ * 8 / (10 * GREATEST_INCREMENT * eighths));
        }
        if last_max == 0 {
            needed = needed.min(slowest_start);
        }
        if reno_friendly && let Some(limit) = epoch.keep_up_with_reno(cwnd, beta) {
            needed = needed.min(limit);
        }
        self.needed = ((needed << RATIO_SHIFT) / self.ratio).max(1);
    }

    /// GetSsThresh, which undoes fast convergence.
    fn reduce(&mut self, window: &mut Window, beta: f64) {
        if self.timed_out != TimedOut::No {
            self.min_rtt = None;
            self.computed_for = 0;
        }
        self.epoch = None;
        self.last_max = window.cwnd / window.mss;
        window.set_ssthresh(self.last_max * in_1024ths(beta) / 1024 * window.mss);
    }
}

impl CongestionControl for Ns3Of2014 {
    /// CongestionAvoidance.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.update(window.cwnd / window.mss, clock(ack.now));
        if self.counted >= self.needed {
            window.cwnd += window.mss;
            self.counted = 0;
        } else {
            self.counted += 1;
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {
                self.reduce(window, self.parameters.beta_of(event))
            }
            CongestionEvent::Timeout => self.timed_out = TimedOut::JustNow,
            CongestionEvent::Spurious => {}
        }
    }

    /// Takes the segments that an acknowledgement covers, and an RTT but not within a second of the beginning of an epoch:
    /// PktsAcked, measure_delay.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if self.timed_out == TimedOut::JustNow {
            self.timed_out = TimedOut::Until(ack.nxt);
        }
        if matches!(self.timed_out, TimedOut::Until(end) if ack.una >= end) {
            self.timed_out = TimedOut::No;
        }
        if self.timed_out == TimedOut::No {
            self.ratio = (self.ratio + ack.acked / window.mss).saturating_sub(self.ratio >> RATIO_SHIFT).max(1);
        }
        let settled =
            self.epoch.is_none_or(|epoch| clock(ack.now) - epoch.start >= milliseconds(self.parameters.rtt_settling));
        if let Some(rtt) = ack.rtt.filter(|_| settled) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        CubicState::of_epoch(self.epoch.as_ref(), self.last_max, self.min_rtt, HZ).tell(tell);
    }
}

/// The clock, in milliseconds: tcp_time_stamp.
fn clock(now: Time) -> u64 {
    milliseconds(now.since(Time::ZERO))
}

/// A duration in whole milliseconds.
fn milliseconds(duration: Duration) -> u64 {
    duration.0 / Duration::from_milliseconds(1).0
}
