//! Round-trip times from the times at which segments were sent (Linux tcp_input.c, tcp_clean_rtx_queue, tcp_sacktag_one and
//! tcp_ack_update_rtt). A segment that was sent again gives none (Karn's algorithm).

use crate::tcp::transmissions::{Transmission, Transmissions};
use crate::time::{Duration, Time};

/// Tick of the timestamps that serve where no segment gives a sample: Linux include/net/tcp.h, TCP_TS_HZ.
const TICK: Duration = Duration::from_milliseconds(1);

/// The round-trip times of one acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Samples {
    /// That of the first segment, for the retransmission timeout.
    pub first: Duration,
    /// That of the last segment, for congestion control.
    pub last: Duration,
}

/// The times at which the first and the last of some segments were sent.
#[derive(Clone, Copy, Debug, Default)]
struct Span(Option<((u64, Time), (u64, Time))>);

impl Span {
    fn take(&mut self, index: u64, sent: Time) {
        let segment = (index, sent);
        match &mut self.0 {
            None => self.0 = Some((segment, segment)),
            Some((first, _)) if index < first.0 => *first = segment,
            Some((_, last)) if index > last.0 => *last = segment,
            Some(_) => {}
        }
    }
}

/// What the current acknowledgement delivers, and when that was sent.
#[derive(Debug)]
pub(super) struct SegmentTimes {
    /// Only if the recovery does not know them.
    transmissions: Option<Transmissions>,
    acknowledged: Span,
    sacked: Span,
    /// Whether it acknowledges a segment that was sent again.
    is_ambiguous: bool,
}

impl SegmentTimes {
    /// `records`: whether to record when segments are sent, since the recovery does not.
    pub(super) fn new(records: bool) -> SegmentTimes {
        SegmentTimes {
            transmissions: records.then(Transmissions::new),
            acknowledged: Span::default(),
            sacked: Span::default(),
            is_ambiguous: false,
        }
    }

    /// Records a transmission. `una` is the first unacknowledged segment, `nxt` the first that had not been sent before.
    pub(super) fn on_sent(&mut self, index: u64, una: u64, nxt: u64, now: Time) {
        if let Some(transmissions) = &mut self.transmissions {
            transmissions.on_sent(index, una, nxt, now);
        }
    }

    /// Records the delivery of a segment, which the current acknowledgement either covers or SACKs. `known` is what the recovery knows
    /// of its latest transmission.
    pub(super) fn on_delivered(&mut self, index: u64, known: Option<Transmission>, is_sacked: bool) {
        let recorded = || self.transmissions.as_ref().map(|transmissions| transmissions.of(index));
        let Some(Transmission { sent, again }) = known.or_else(recorded) else { return };
        match (again, is_sacked) {
            (true, true) => {}
            (true, false) => self.is_ambiguous = true,
            (false, true) => self.sacked.take(index, sent),
            (false, false) => self.acknowledged.take(index, sent),
        }
    }

    /// The samples of the current acknowledgement. `echo` is its echoed timestamp, if it acknowledges new data and there are
    /// timestamps: it serves where all that is acknowledged was sent again.
    pub(super) fn take_samples(&mut self, echo: Option<Time>, now: Time) -> Option<Samples> {
        let acknowledged = std::mem::take(&mut self.acknowledged).0.filter(|_| !self.is_ambiguous);
        let sacked = std::mem::take(&mut self.sacked).0;
        self.is_ambiguous = false;
        if let (Some((first, _)), Some((_, last))) = (acknowledged.or(sacked), sacked.or(acknowledged)) {
            return Some(Samples { first: now.since(first.1), last: now.since(last.1) });
        }
        let ticks = now.0 / TICK.0 - echo?.0 / TICK.0;
        let rtt = TICK * ticks.max(1);
        Some(Samples { first: rtt, last: rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Segments 0 to 5 are sent 2 ms apart, and segment 1 again after 30 ms.
    fn times() -> SegmentTimes {
        let mut times = SegmentTimes::new(true);
        (0..6).for_each(|index| times.on_sent(index, 0, index, at(2 * index)));
        times.on_sent(1, 0, 6, at(30));
        times
    }

    /// Linux tcp_input.c, tcp_clean_rtx_queue and tcp_ack_update_rtt, by hand: a delayed acknowledgement of two segments gives
    /// the time of the first to the timeout and of the last to congestion control; SACKed segments count for the latter
    /// before acknowledged ones; after a retransmission only SACKed segments and the timestamp, in milliseconds, count.
    #[test]
    fn first_and_last_segments() {
        let milliseconds = |first, last| {
            let [first, last] = [first, last].map(Duration::from_milliseconds);
            Some(Samples { first, last })
        };
        for (acknowledged, sacked, echo, expected) in [
            (vec![2, 3], vec![], Some(at(4)), milliseconds(46, 44)),
            (vec![0], vec![2, 4], Some(at(0)), milliseconds(50, 42)),
            (vec![], vec![4, 5, 2, 3], None, milliseconds(46, 40)),
            (vec![0, 1], vec![], Some(at(30)), milliseconds(20, 20)),
            (vec![0, 1], vec![3], Some(at(30)), milliseconds(44, 44)),
            (vec![0, 1], vec![], None, None),
            (vec![], vec![1], None, None),
        ] {
            let mut times = times();
            acknowledged.iter().for_each(|index| times.on_delivered(*index, None, false));
            sacked.iter().for_each(|index| times.on_delivered(*index, None, true));
            assert_eq!(times.take_samples(echo, at(50)), expected, "{acknowledged:?} and SACKs of {sacked:?}");
            assert_eq!(times.take_samples(None, at(51)), None, "one acknowledgement's segments count once");
        }
    }
}
