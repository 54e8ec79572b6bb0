//! What Linux reports of a connection in its `tcp_info` (include/uapi/linux/tcp.h), as far as this sender has it.

use super::{Sender, State};
use crate::tcp::flight::Phase;
use crate::tcp::scoreboard::FIRST_DATA;
use crate::time::Duration;
use crate::units::Rate;

/// What is being repaired: Linux's `tcpi_ca_state`, where there is no state for what only may be a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    None,
    /// Losses, without a timeout.
    Recovery,
    /// Everything, after a timeout.
    Loss,
}

/// The state of a connection. Counts of segments and bytes are since it was opened or, if later, since the measuring window
/// opened, but for `bytes_acknowledged`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpInfo {
    /// Where the connection stands.
    pub state: State,
    /// What is being repaired.
    pub repair: Repair,
    /// Timeouts in a row.
    pub retries: u64,
    /// Doublings of the timeout.
    pub backoff: u32,
    /// The timeout.
    pub rto: Duration,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt: Option<f64>,
    /// Its variation.
    pub rttvar: Option<f64>,
    /// Minimum RTT.
    pub min_rtt: Option<Duration>,
    /// Payload of a full segment.
    pub mss: u64,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes; none before the first congestion.
    pub ssthresh: Option<u64>,
    /// Segments sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Of these, segments that are selectively acknowledged.
    pub sacked: u64,
    /// Segments considered lost.
    pub lost: u64,
    /// Segments sent again and not acknowledged since.
    pub retransmitted: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Payload bytes cumulatively acknowledged.
    pub bytes_acknowledged: u64,
    /// The rate at which segments leave; none without pacing.
    pub pacing_rate: Option<Rate>,
}

impl Sender {
    /// Its state as Linux would report it.
    pub fn info(&self) -> TcpInfo {
        let window = self.flight.window;
        let (estimator, counts) = (self.rto.estimator(), &self.statistics);
        let acknowledged = self.flight.una - FIRST_DATA;
        TcpInfo {
            state: self.state,
            repair: match self.flight.phase {
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
            // The FIN is no payload.
            bytes_acknowledged: self.size.map_or(acknowledged, |size| acknowledged.min(size)),
            pacing_rate: self.pacer.rate(&self.algorithm, &window, self.rto.srtt()),
        }
    }
}

/// Numbers of states in Linux (include/net/tcp_states.h). A sender whose FIN is acknowledged waits for the other's.
impl State {
    /// As `tcpi_state` has it.
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
    /// As `tcpi_ca_state` has it (enum `tcp_ca_state`).
    pub fn number_in_linux(self) -> u8 {
        match self {
            Repair::None => 0,
            Repair::Recovery => 3,
            Repair::Loss => 4,
        }
    }
}
