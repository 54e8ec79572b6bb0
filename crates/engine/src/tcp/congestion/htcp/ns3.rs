//! H-TCP in ns-3 tcp-htcp.cc: each acknowledgement grows the window as Reno's and by alpha bytes besides, where the paper's
//! alpha is of segments a round trip. The share that a loss leaves has no bounds, and changes with throughput only where that
//! has at least doubled.

use super::{HTcpParameters, HTcpState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    /// Throughputs are in bytes a second.
    Ns3(HTcpParameters as parameters) {
        alpha: f64,
        beta: f64,
        /// Zero before the first loss: m_lastCon.
        last_congestion: Time,
        /// Since the last loss.
        min_rtt: Option<Duration>,
        max_rtt: Duration,
        acked: u64,
        throughput: u64,
        throughput_before: u64,
    }
}

impl Ns3 {
    fn update_alpha(&mut self, now: Time) {
        let since = now.since(self.last_congestion).seconds();
        let d = (since - self.parameters.delta_l.seconds()).max(0.0);
        self.alpha = (2.0 * (1.0 - self.beta) * (1.0 + 10.0 * d + 0.25 * d * d)).max(1.0);
    }
}

impl CongestionControl for Ns3 {
    /// CongestionAvoidance.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if ack.credit > 0 {
            let reno = (window.mss * window.mss) as f64 / window.cwnd as f64;
            window.cwnd += (reno + self.alpha).max(1.0) as u64;
        }
    }

    /// GetSsThresh.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, now: Time) {
        self.last_congestion = now;
        self.beta = self.parameters.beta_min;
        let before = self.throughput_before;
        if before > 0
            && self.throughput > before
            // A quotient of integers.
            && ((self.throughput - before) / before) as f64 <= self.parameters.throughput_change
            && let Some(min_rtt) = self.min_rtt
        {
            self.beta = min_rtt.seconds() / self.max_rtt.seconds();
        }
        self.update_alpha(now);
        window.set_ssthresh((flight_size as f64 * self.beta) as u64);
        self.min_rtt = None;
        self.max_rtt = Duration::ZERO;
        self.throughput_before = self.throughput;
        self.throughput = 0;
        self.acked = 0;
    }

    /// PktsAcked.
    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        self.acked += ack.acked;
        let since = ack.now.since(self.last_congestion).seconds();
        self.throughput = (self.acked as f64 / since.max(f64::MIN_POSITIVE)) as u64;
        self.update_alpha(ack.now);
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
            self.max_rtt = self.max_rtt.max(rtt);
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = HTcpState {
            alpha: Some(self.alpha),
            beta: Some(self.beta),
            min_rtt: self.min_rtt.map(Duration::seconds),
            max_rtt: self.min_rtt.map(|_| self.max_rtt.seconds()),
        };
        state.tell(tell);
    }
}
