//! CUBIC in ns-3.48 tcp-cubic.cc: a segment for each so many acknowledged. As in Linux, Reno's estimate grows by
//! 3 (1 - beta) / (1 + beta) segments a round trip for ever, and before the first loss the window grows by at least a
//! twentieth a round trip. Unlike there, the number is computed at each acknowledgement, the window grows by at most one
//! segment at each, and segments that were counted before a loss or a timeout still count after it.

use super::{CubicParameters, CubicState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Segments acknowledged for one of growth, without a target above the window, as so many windows; and at least: Update.
const WINDOWS_AT_PLATEAU: u64 = 100;
const LEAST: u64 = 2;

control! {
    Ns3(CubicParameters as parameters) {
        /// Segments acknowledged that have not yet increased the window: m_cWndCnt.
        counted: u64,
        /// The window of the last loss; zero before the first. A timeout keeps it.
        last_max: u64,
        epoch: Option<Epoch>,
        min_rtt: Option<Duration>,
    }
}

/// From the first acknowledgement that may grow the window after a loss on.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// The time to the plateau in seconds, and the window there.
    k: f64,
    plateau: u64,
    /// Reno's estimated window, and the segments acknowledged that have not yet increased it.
    reno: u64,
    uncounted: u64,
}

impl Epoch {
    /// Segments acknowledged for one of growth at which the window follows Reno's estimate, if that is larger.
    fn reno_limit(&mut self, cwnd: u64, beta: f64) -> Option<u64> {
        // Windows acknowledged for one segment of growth, (1 + beta) / (3 (1 - beta)), in eighths.
        let scale = (8.0 * (1.0 + beta) / 3.0 / (1.0 - beta).max(f64::MIN_POSITIVE)) as u64;
        let step = (cwnd.saturating_mul(scale) >> 3).max(1);
        if self.uncounted > step {
            let steps = (self.uncounted - 1) / step;
            self.uncounted -= steps * step;
            self.reno += steps;
        }
        (self.reno > cwnd).then(|| cwnd / (self.reno - cwnd))
    }
}

impl Ns3 {
    /// Segments acknowledged for one of growth: Update.
    fn update(&mut self, cwnd: u64, acked: u64, now: Time) -> u64 {
        let CubicParameters { c, beta, reno_friendly, slowest_start, .. } = *self.parameters;
        let last_max = self.last_max;
        if let Some(epoch) = &mut self.epoch {
            epoch.uncounted += acked;
        }
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            k: libm::cbrt(last_max.saturating_sub(cwnd) as f64 / c),
            plateau: last_max.max(cwnd),
            reno: cwnd,
            uncounted: acked,
        });
        let t = (now.since(epoch.start) + self.min_rtt.unwrap_or_default()).seconds();
        let from_plateau = (t - epoch.k).abs();
        let height = (c * from_plateau * from_plateau * from_plateau) as u64;
        let target =
            if t < epoch.k { epoch.plateau.saturating_sub(height) } else { epoch.plateau.saturating_add(height) };
        let mut every = if target > cwnd { cwnd / (target - cwnd) } else { WINDOWS_AT_PLATEAU * cwnd };
        if last_max == 0 {
            every = every.min(slowest_start);
        }
        if reno_friendly && let Some(limit) = epoch.reno_limit(cwnd, beta) {
            every = every.min(limit);
        }
        every.max(LEAST)
    }

    /// GetSsThresh.
    fn reduce(&mut self, window: &mut Window, beta: f64) {
        let cwnd = window.cwnd / window.mss;
        let gives_way = self.parameters.fast_convergence && cwnd < self.last_max;
        self.last_max = if gives_way { (cwnd as f64 * (1.0 + beta) / 2.0) as u64 } else { cwnd };
        self.epoch = None;
        window.set_ssthresh((cwnd as f64 * beta) as u64 * window.mss);
    }
}

impl CongestionControl for Ns3 {
    /// IncreaseWindow.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let acked = ack.credit / window.mss;
        if acked == 0 {
            return;
        }
        self.counted += acked;
        let every = self.update(window.cwnd / window.mss, acked, ack.now);
        if self.counted >= every {
            window.cwnd += window.mss;
            self.counted -= every;
        }
    }

    /// A timeout forgets the minimum RTT: CubicReset.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {
                self.reduce(window, self.parameters.beta_of(event))
            }
            CongestionEvent::Timeout => self.min_rtt = None,
            CongestionEvent::Spurious => {}
        }
    }

    /// Takes the minimum RTT, but not at the beginning of an epoch: PktsAcked.
    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        if self.epoch.is_none_or(|epoch| ack.now.since(epoch.start) >= self.parameters.rtt_settling) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let epoch = self.epoch.as_ref();
        let state = CubicState {
            w_max: (self.last_max > 0).then_some(self.last_max as f64),
            k: epoch.map(|epoch| epoch.k),
            epoch_start: epoch.map(|epoch| epoch.start.seconds()),
            w_est: epoch.map(|epoch| epoch.reno as f64),
            min_rtt: self.min_rtt.map(Duration::seconds),
        };
        state.tell(tell);
    }
}
