//! The state of a connection as in Linux's `tcp_info` (include/uapi/linux/tcp.h), as far as this sender has it.

use super::{Sender, State};
use crate::tcp::flight::Phase;
use crate::tcp::scoreboard::FIRST_DATA;
use crate::time::Duration;
use crate::units::Rate;

/// The recovery state: Linux's `tcpi_ca_state`, without the states for possible losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// No recovery.
    None,
    /// Marks reduce the window in proportion to what is delivered.
    Reduction,
    /// Recovery from losses without a timeout.
    Recovery,
    /// Recovery after a timeout.
    Loss,
}

/// The state of a connection. Counters of segments and bytes, except `bytes_acknowledged`, start when the connection is
/// opened or, if later, when the measuring window starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpInfo {
    pub state: State,
    pub repair: Repair,
    /// Consecutive timeouts.
    pub retries: u64,
    /// Doublings of the timeout.
    pub backoff: u32,
    pub rto: Duration,
    /// Smoothed round-trip time, in seconds. `None` before the first sample.
    pub srtt: Option<f64>,
    /// Round-trip time variation, in seconds. `None` before the first sample.
    pub rttvar: Option<f64>,
    pub min_rtt: Option<Duration>,
    /// Payload of a full segment, in bytes.
    pub mss: u64,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes, `None` before the first congestion event.
    pub ssthresh: Option<u64>,
    /// Segments sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Outstanding segments that are SACKed.
    pub sacked: u64,
    /// Outstanding segments considered lost.
    pub lost: u64,
    /// Outstanding segments retransmitted and not acknowledged since.
    pub retransmitted: u64,
    /// Data segments sent, including retransmissions.
    pub segments_sent: u64,
    /// Data segments retransmitted.
    pub retransmissions: u64,
    /// Payload bytes cumulatively acknowledged.
    pub bytes_acknowledged: u64,
    /// The pacing rate, `None` without pacing.
    pub pacing_rate: Option<Rate>,
}

impl Sender {
    /// The state as Linux would report it.
    pub fn info(&self) -> TcpInfo {
        let window = self.flight.window;
        let (estimator, counts) = (self.rto.estimator(), &self.statistics);
        let acknowledged = self.flight.una - FIRST_DATA;
        TcpInfo {
            state: self.state,
            repair: match self.flight.phase {
                Phase::Open if self.recovery.is_reducing() => Repair::Reduction,
                Phase::Open => Repair::None,
                Phase::Recovery => Repair::Recovery,
                Phase::Loss => Repair::Loss,
            },
            retries: self.retries,
            backoff: self.rto.backoff(),
            rto: self.rto.timeout(&self.profile.rto_limits()),
            srtt: estimator.srtt(),
            rttvar: estimator.rttvar(),
            min_rtt: (counts.rtt_samples > 0).then_some(counts.min_rtt),
            mss: window.mss,
            cwnd: window.cwnd,
            ssthresh: (window.ssthresh != u64::MAX).then_some(window.ssthresh),
            outstanding: self.flight.scoreboard.outstanding(),
            sacked: self.flight.scoreboard.sacked(),
            lost: self.flight.scoreboard.lost(),
            retransmitted: self.flight.scoreboard.retransmitted(),
            segments_sent: counts.segments_sent,
            retransmissions: counts.retransmissions,
            // The FIN is not payload.
            bytes_acknowledged: self.size().map_or(acknowledged, |size| acknowledged.min(size)),
            pacing_rate: self.pacer.rate(self.governor.algorithm(), &window, self.rto.srtt()),
        }
    }
}

/// State numbers in Linux (include/net/tcp_states.h). A sender whose FIN is acknowledged is in FIN-WAIT-2.
impl State {
    /// The value of `tcpi_state`.
    pub fn number_in_linux(self) -> u8 {
        match self {
            State::Established => 1,
            State::SynSent => 2,
            State::Completed => 5,
            State::Closed | State::Stopped | State::Aborted(_) => 7,
        }
    }
}

impl Repair {
    /// The value of `tcpi_ca_state` (enum `tcp_ca_state`).
    pub fn number_in_linux(self) -> u8 {
        match self {
            Repair::None => 0,
            Repair::Reduction => 2,
            Repair::Recovery => 3,
            Repair::Loss => 4,
        }
    }
}
