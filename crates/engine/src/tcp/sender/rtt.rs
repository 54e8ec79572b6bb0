//! Round-trip time samples, by timestamps (RFC 7323) or by timing a segment at a time (Karn's algorithm).

use crate::time::{Duration, Time};

/// The segment whose round trip is timed when there are no timestamps: only if it was sent once.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedSegment {
    end: u64,
    sent: Time,
}

/// What samples come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum RttSampler {
    /// The timestamps that acknowledgements echo.
    Timestamps {
        /// Tick of the timestamp clock; zero for an exact one.
        tick: Duration,
        /// The latest tick that was looked up.
        latest: Time,
    },
    /// A timed segment.
    Segment(Option<TimedSegment>),
}

impl RttSampler {
    pub(super) fn new(has_timestamps: bool, tick: Duration) -> RttSampler {
        if has_timestamps { RttSampler::Timestamps { tick, latest: Time::ZERO } } else { RttSampler::Segment(None) }
    }

    /// What the timestamp clock shows: the time, in whole ticks.
    pub(super) fn timestamp(&mut self, now: Time) -> Time {
        match self {
            RttSampler::Timestamps { tick, latest } if tick.0 > 0 => {
                if now.since(*latest) >= *tick {
                    *latest = Time(now.0 - now.0 % tick.0);
                }
                *latest
            }
            _ => now,
        }
    }

    /// When the tick was over that an echoed timestamp shows; none without timestamps. An exact clock's ticks last for no time:
    /// what it shows then ends before the next instant.
    pub(super) fn end_of_tick(&self, echo: Time) -> Option<Time> {
        match self {
            RttSampler::Timestamps { tick, .. } => Some(echo + (*tick).max(Duration(1))),
            RttSampler::Segment(_) => None,
        }
    }

    /// Whether the next new segment is to be timed.
    pub(super) fn awaits_segment(&self) -> bool {
        matches!(self, RttSampler::Segment(None))
    }

    /// That segment, up to `end`, is sent.
    pub(super) fn time_segment(&mut self, end: u64, now: Time) {
        *self = RttSampler::Segment(Some(TimedSegment { end, sent: now }));
    }

    /// A segment is retransmitted: whatever is timed may be acknowledged late because of this loss.
    pub(super) fn on_retransmitted(&mut self) {
        if let RttSampler::Segment(timed) = self {
            *timed = None;
        }
    }

    /// The sample of an acknowledgement of new data up to `number`.
    pub(super) fn sample(&mut self, number: u64, echo: Time, now: Time) -> Option<Duration> {
        match self {
            RttSampler::Timestamps { .. } => self.sample_by_timestamps(echo, now),
            RttSampler::Segment(timed) => {
                let sent = timed.filter(|timed| number >= timed.end)?.sent;
                *timed = None;
                Some(now.since(sent))
            }
        }
    }

    /// The sample of the answer to a SYN, which may have been retransmitted.
    pub(super) fn sample_of_syn(&mut self, echo: Time, was_lost: bool, now: Time) -> Option<Duration> {
        match self {
            RttSampler::Timestamps { .. } => self.sample_by_timestamps(echo, now),
            RttSampler::Segment(_) => (!was_lost).then(|| now.since(echo)),
        }
    }

    /// A sample of no tick is none.
    fn sample_by_timestamps(&mut self, echo: Time, now: Time) -> Option<Duration> {
        Some(self.timestamp(now).since(echo)).filter(|rtt| *rtt > Duration::ZERO)
    }
}
