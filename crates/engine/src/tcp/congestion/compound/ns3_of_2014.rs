//! Compound in the module for ns-3.21 of Zhou, 2014 (github.com/CharlesZhoulll/ns3-tcpcompound, tcp-compound.cc). The loss
//! window has the low window's threshold to itself, and a loss leaves no delay window.
//!
//! A round trip ends with the acknowledgement of exactly the first segment sent in it (NewAck). An acknowledgement that covers that
//! segment and the next passes over it, and then no round trip ends until the next loss, nor does the delay window change.

use super::{CompoundParameters, CompoundState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Ns3Of2014(CompoundParameters as parameters) {
        /// In bytes; the rest of the window is the loss window.
        delay_window: u64,
        base_rtt: Option<Duration>,
        latest_rtt: Option<Duration>,
        /// None below the low window and after a loss.
        round: Option<Round>,
    }
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number sent in it (m_begSndUna).
    begin: u64,
    /// The window at its start, in bytes (m_lastWindow).
    window: u64,
}

impl Ns3Of2014 {
    fn end_round(&mut self, window: &mut Window, sum: u64, round: Round, ack: &Ack) {
        let CompoundParameters { alpha, zeta, k, gamma, .. } = *self.parameters;
        let (Some(base_rtt), Some(rtt)) = (self.base_rtt, self.latest_rtt) else { return };
        let mss = window.mss as f64;
        let sent = ((ack.nxt - round.begin) / window.mss) as f64;
        let diff = sum as f64 / mss - sent * base_rtt.seconds() / rtt.seconds();
        let change = if diff < gamma {
            let segments = (round.window / window.mss) as f64;
            (alpha * libm::pow(segments, k) - 1.0).max(0.0)
        } else {
            -zeta * diff
        };
        let delay_window = (self.delay_window as f64 + change * mss).max(0.0) as u64;
        window.cwnd = window.cwnd - self.delay_window + delay_window;
        self.delay_window = delay_window;
        self.round = Some(Round { begin: ack.nxt, window: window.cwnd });
    }

    /// ResetCompound.
    fn forget(&mut self) {
        (self.delay_window, self.round) = (0, None);
    }
}

impl CongestionControl for Ns3Of2014 {
    /// NewAck.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let mss = window.mss;
        let loss_window = window.cwnd.saturating_sub(self.delay_window).max(mss);
        if loss_window / mss < self.parameters.low_window {
            window.cwnd += (mss * mss / loss_window).max(1);
            return;
        }
        let sum = window.cwnd;
        let round = *self.round.get_or_insert(Round { begin: ack.nxt, window: sum });
        window.cwnd += (mss * mss / sum).max(1);
        if ack.una == round.begin + mss {
            self.end_round(window, sum, round, ack);
        }
    }

    /// DupAck.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.forget();
        window.set_ssthresh(window.half(flight_size));
    }

    /// ResetCompound, as at the end of the recovery.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.forget();
    }

    /// Takes an RTT: ReceivedAck, UpdateBaseRtt.
    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.latest_rtt = Some(rtt);
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = CompoundState {
            dwnd: Some(self.delay_window as f64),
            gamma: Some(self.parameters.gamma),
            diff_reno: None,
            base_rtt: self.base_rtt.map(Duration::seconds),
        };
        state.tell(tell);
    }
}
