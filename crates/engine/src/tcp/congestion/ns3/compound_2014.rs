//! Compound in the module for ns-3.21 of Zhou, 2014 (github.com/CharlesZhoulll/ns3-tcpcompound, tcp-compound.cc). The loss
//! window has the low window's threshold to itself, and a loss leaves no delay window.
//!
//! A round trip ends with the acknowledgement of exactly the first segment sent in it (NewAck). An acknowledgement that covers that
//! segment and the next passes over it, and then no round trip ends until the next loss, nor does the delay window change.

use crate::tcp::congestion::Ack;
use crate::tcp::congestion::compound::CompoundParameters;
use crate::tcp::window::Window;
use crate::time::Duration;

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp::congestion) struct Compound2014 {
    /// In bytes; the rest of the window is the loss window.
    delay_window: u64,
    base_rtt: Option<Duration>,
    latest_rtt: Option<Duration>,
    /// None below the low window and after a loss.
    round: Option<Round>,
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number sent in it (m_begSndUna).
    begin: u64,
    /// The window at its start, in bytes (m_lastWindow).
    window: u64,
}

impl Compound2014 {
    /// Takes an RTT: ReceivedAck, UpdateBaseRtt.
    pub fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.latest_rtt = Some(rtt);
        }
    }

    /// Grows the window in congestion avoidance: NewAck.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack, parameters: &CompoundParameters) {
        let mss = window.mss;
        let loss_window = window.cwnd.saturating_sub(self.delay_window).max(mss);
        if loss_window / mss < parameters.low_window {
            window.cwnd += (mss * mss / loss_window).max(1);
            return;
        }
        let sum = window.cwnd;
        let round = *self.round.get_or_insert(Round { begin: ack.nxt, window: sum });
        window.cwnd += (mss * mss / sum).max(1);
        if ack.una == round.begin + mss {
            self.end_round(window, sum, round, ack, parameters);
        }
    }

    fn end_round(&mut self, window: &mut Window, sum: u64, round: Round, ack: &Ack, parameters: &CompoundParameters) {
        let (Some(base_rtt), Some(rtt)) = (self.base_rtt, self.latest_rtt) else { return };
        let mss = window.mss as f64;
        let sent = ((ack.nxt - round.begin) / window.mss) as f64;
        let diff = sum as f64 / mss - sent * base_rtt.seconds() / rtt.seconds();
        let change = if diff < parameters.gamma {
            let segments = (round.window / window.mss) as f64;
            (parameters.alpha * libm::pow(segments, parameters.k) - 1.0).max(0.0)
        } else {
            -parameters.zeta * diff
        };
        let delay_window = (self.delay_window as f64 + change * mss).max(0.0) as u64;
        window.cwnd = window.cwnd - self.delay_window + delay_window;
        self.delay_window = delay_window;
        self.round = Some(Round { begin: ack.nxt, window: window.cwnd });
    }

    /// A loss or marks: DupAck, and ResetCompound at the end of the recovery.
    pub fn reduce(&mut self, window: &mut Window, flight_size: u64) {
        self.forget();
        window.set_ssthresh(window.half(flight_size));
    }

    /// A loss or a timeout: ResetCompound.
    pub fn forget(&mut self) {
        (self.delay_window, self.round) = (0, None);
    }
}
