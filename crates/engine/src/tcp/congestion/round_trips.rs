//! Round-trip times per round, as used by Vegas and its derivatives: the minimum of a round and the minimum of the
//! connection.

use super::Ack;
use crate::time::Duration;

/// The minimum number of samples in a round. Two could both be from delayed acknowledgements (Linux tcp_vegas.c).
const LEAST_SAMPLES: u64 = 3;

/// The round-trip times of a connection.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    min_rtt: Option<Duration>,
    round: Option<Round>,
    /// Whether they are forgotten when segments leave while none is in flight, as in Linux (tcp_vegas.c, tcp_vegas_cwnd_event).
    is_forgetful: bool,
    /// Whether the segments that leave next are the only ones in flight.
    is_idle: bool,
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number after the round.
    end: u64,
    samples: u64,
    min_rtt: Duration,
}

/// The result of a round.
#[derive(Clone, Copy, Debug)]
pub enum RoundEnd {
    /// The round has too few samples.
    Unmeasured,
    /// The round has enough samples.
    Measured(RoundTrip),
}

/// Round-trip times at the end of a round.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// Minimum of the connection (base RTT).
    pub min_rtt: Duration,
    /// Minimum of the round.
    pub min_rtt_of_round: Duration,
}

impl RoundTrip {
    /// The number of whole segments of a window of `segments` that the path holds without a queue: window * base RTT /
    /// RTT.
    pub fn without_queue(&self, segments: u64) -> u64 {
        (u128::from(segments) * u128::from(self.min_rtt.0) / u128::from(self.min_rtt_of_round.0)) as u64
    }

    /// The queueing delay.
    pub fn queueing(&self) -> Duration {
        self.min_rtt_of_round - self.min_rtt
    }
}

impl RoundTrips {
    /// Those of a connection that begins.
    pub fn new(is_forgetful: bool) -> RoundTrips {
        RoundTrips { is_forgetful, ..RoundTrips::default() }
    }

    /// Takes the RTT sample of an acknowledgement. A sample of zero is ignored. Once forgotten, the round ends with the first
    /// acknowledgement of what was sent since then.
    pub fn take(&mut self, ack: &Ack) {
        if self.is_idle {
            let round = Round { end: ack.una - ack.acked, samples: 0, min_rtt: Duration(u64::MAX) };
            (self.min_rtt, self.round) = (None, Some(round));
        }
        // Linux tcp_output.c, tcp_event_data_sent: CA_EVENT_TX_START.
        self.is_idle = self.is_forgetful && ack.in_flight == 0;
        let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) else { return };
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        if let Some(round) = &mut self.round {
            round.samples += 1;
            round.min_rtt = round.min_rtt.min(rtt);
        }
    }

    /// The least RTT (base RTT).
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Round-trip times of the round so far, if it has a sample.
    pub fn so_far(&self) -> Option<RoundTrip> {
        let round = self.round.filter(|round| round.samples > 0)?;
        Some(RoundTrip { min_rtt: self.min_rtt?, min_rtt_of_round: round.min_rtt })
    }

    /// The result of the round, if this acknowledgement ends it. Starts the next round.
    pub fn end_round(&mut self, ack: &Ack) -> Option<RoundEnd> {
        let ended = match self.round {
            Some(round) if ack.una <= round.end => return None,
            ended => ended,
        };
        self.round = Some(Round { end: ack.nxt, samples: 0, min_rtt: Duration(u64::MAX) });
        let round = ended?;
        Some(match self.min_rtt {
            Some(min_rtt) if round.samples >= LEAST_SAMPLES => {
                RoundEnd::Measured(RoundTrip { min_rtt, min_rtt_of_round: round.min_rtt })
            }
            _ => RoundEnd::Unmeasured,
        })
    }

    /// Nothing counts as in flight after a timeout.
    pub fn on_timeout(&mut self) {
        self.is_idle = self.is_forgetful;
    }

    /// Discards the round, since congestion has changed the window during it.
    pub fn abandon_round(&mut self) {
        self.round = None;
    }
}
