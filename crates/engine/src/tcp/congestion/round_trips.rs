//! Round-trip times by rounds, as Vegas and its descendants take them: the minimum of a round beside that of all.

use super::Ack;
use crate::time::Duration;

/// Samples that a round must have: two may both be of delayed acknowledgements (Linux tcp_vegas.c).
const LEAST_SAMPLES: u64 = 3;

/// The round-trip times of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    min_rtt: Option<Duration>,
    round: Option<Round>,
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Last sequence number of the round, plus one.
    end: u64,
    samples: u64,
    min_rtt: Duration,
}

/// What a round that ended has shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum RoundEnd {
    /// Too few samples to tell anything.
    Unmeasured,
    /// Enough samples.
    Measured(RoundTrip),
}

/// Round-trip times at the end of a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// Minimum of the connection: the papers' base RTT.
    pub min_rtt: Duration,
    /// Minimum of the round.
    pub min_rtt_of_round: Duration,
}

impl RoundTrip {
    /// Whole segments of a window of `segments` that the path holds without a queue: window * base RTT / RTT.
    pub fn without_queue(&self, segments: u64) -> u64 {
        (u128::from(segments) * u128::from(self.min_rtt.0) / u128::from(self.min_rtt_of_round.0)) as u64
    }

    /// Time spent in queues.
    pub fn queueing(&self) -> Duration {
        self.min_rtt_of_round - self.min_rtt
    }
}

impl RoundTrips {
    /// Takes the sample of an acknowledgement. One of no time tells nothing.
    pub fn take(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) else { return };
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        if let Some(round) = &mut self.round {
            round.samples += 1;
            round.min_rtt = round.min_rtt.min(rtt);
        }
    }

    /// What the round shows, if this acknowledgement ends it; the next begins.
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

    /// The round goes no further: congestion has changed the window in the middle of it.
    pub fn abandon_round(&mut self) {
        self.round = None;
    }
}
