//! Vegas as ns-2.35 has it: tcp/tcp-vegas.cc, VegasTcpAgent::recv.

use super::{VegasParameters, VegasState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// What an acknowledgement adds to the window until the next round trip ends (`v_incr_`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Increment {
    /// Nothing.
    #[default]
    None,
    /// A segment over the window, so that a round trip adds one segment.
    Linear,
    /// A segment.
    Doubling,
}

control! {
    Ns2(VegasParameters as parameters) {
        /// The least RTT (`v_baseRTT_`).
        base: Option<Duration>,
        /// The next segment to send when the round trip began (`v_begseq_`).
        begun: u64,
        /// RTT samples of this round trip, added and counted (`v_sumRTT_`, `v_cntRTT_`).
        sum: Duration,
        samples: u64,
        /// The segments too many of the round trip that has ended, rounded to the nearest (`delta`), until the window is set.
        ended: Option<i64>,
        /// Whether slow start grows in this round trip (`v_inc_flag_`).
        grows: bool,
        increment: Increment,
        /// Whether a fast recovery has just set the window, which is no slow start from then on.
        recovered: bool,
        /// The window at the latest loss.
        before: u64,
    }
}

impl Ns2 {
    fn end_round_trip(&mut self, mss: u64, ack: &Ack) {
        let mean = self.sum.0.checked_div(self.samples).map(Duration).or(ack.rtt);
        let sent = ack.nxt.saturating_sub(self.begun) / mss;
        self.begun = ack.nxt;
        (self.sum, self.samples) = (Duration::ZERO, 0);
        let Some(rtt) = mean.filter(|rtt| *rtt > Duration::ZERO) else { return };
        // With a segment in flight there is no queue of one's own.
        let base = if sent <= 1 { rtt } else { self.base.map_or(rtt, |base| base.min(rtt)) };
        self.base = Some(base);
        // last_ack_ is the last segment acknowledged, so that its difference from the next to send is one more than is in flight.
        let expected = (ack.nxt.saturating_sub(ack.una) / mss + 1) as f64;
        let actual = sent as f64 * base.0 as f64 / rtt.0 as f64;
        self.ended = Some((expected - actual + 0.5) as i64);
    }

    fn grow(&mut self, window: &mut Window) {
        match self.increment {
            Increment::None => {}
            Increment::Linear => window.cwnd += window.mss * window.mss / window.cwnd,
            Increment::Doubling if window.in_slow_start() => window.cwnd += window.mss,
            Increment::Doubling => self.increment = Increment::None,
        }
    }
}

impl CongestionControl for Ns2 {
    /// Sets the window once a round trip, and grows it.
    fn increase(&mut self, window: &mut Window, _ack: &Ack) {
        if std::mem::take(&mut self.recovered) {
            window.ssthresh = window.least_ssthresh();
        }
        if let Some(delta) = self.ended.take() {
            self.increment = Increment::None;
            if delta > self.parameters.beta as i64 {
                window.cwnd = window.cwnd.saturating_sub(window.mss).max(2 * window.mss);
            } else if delta < self.parameters.alpha as i64 {
                self.increment = Increment::Linear;
            }
        }
        self.grow(window);
    }

    /// A fast retransmission keeps all but a share of the window, in whole segments, and at least two. A timeout halves it.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if event.flight_size().is_some() {
            let segments = window.cwnd / window.mss;
            let kept = segments - (segments as f64 * self.parameters.decrease) as u64;
            window.set_ssthresh(if segments <= 3 { window.least_ssthresh() } else { kept * window.mss });
            self.recovered = true;
            self.before = window.cwnd;
        } else if event == CongestionEvent::Timeout {
            window.set_ssthresh(window.half(self.before));
            self.recovered = false;
        }
    }

    /// The sample of the acknowledgement that ends a round trip counts for the next.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if ack.una > self.begun {
            self.end_round_trip(window.mss, ack);
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.sum = self.sum + rtt;
            self.samples += 1;
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
    }

    /// Sets the window once a round trip, and grows it.
    fn increase_in_slow_start(&mut self, window: &mut Window, _ack: &Ack) -> Option<u64> {
        if let Some(delta) = self.ended.take() {
            self.grows = !self.grows;
            self.increment = Increment::None;
            if self.grows && delta > self.parameters.gamma as i64 {
                window.ssthresh = window.least_ssthresh();
                window.cwnd = (window.cwnd - window.cwnd / 8).max(2 * window.mss);
            } else if self.grows {
                self.increment = Increment::Doubling;
            }
        }
        self.grow(window);
        Some(0)
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        VegasState { base_rtt: self.base.map(Duration::seconds), diff: None }.tell(tell);
    }
}
