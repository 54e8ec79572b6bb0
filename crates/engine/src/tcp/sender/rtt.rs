//! Round-trip time samples, from timestamps (RFC 7323) or by timing one segment at a time (Karn's algorithm).

use crate::tcp::profile::StackProfile;
use crate::time::{Duration, Time};

/// The segment timed in the absence of timestamps. Only a segment sent once is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedSegment {
    end: u64,
    sent: Time,
}

/// The source of samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum RttSampler {
    /// The timestamps echoed in acknowledgements.
    Timestamps {
        /// Tick of the timestamp clock, zero for an exact clock.
        tick: Duration,
        /// What a sample of zero ticks counts as; zero if it is not used.
        least: Duration,
        /// The latest tick that was read.
        latest: Time,
    },
    /// A timed segment.
    Segment(Option<TimedSegment>),
}

impl RttSampler {
    pub(super) fn new(profile: &StackProfile) -> RttSampler {
        if profile.timestamps {
            let (tick, least) = (profile.timestamp_clock, profile.zero_rtt);
            RttSampler::Timestamps { tick, least, latest: Time::ZERO }
        } else {
            RttSampler::Segment(None)
        }
    }

    /// The reading of the timestamp clock: the time rounded down to a tick.
    pub(super) fn timestamp(&mut self, now: Time) -> Time {
        match self {
            RttSampler::Timestamps { tick, latest, .. } if tick.0 > 0 => {
                if now.since(*latest) >= *tick {
                    *latest = start_of_tick(now, *tick);
                }
                *latest
            }
            _ => now,
        }
    }

    /// The end of the tick of an echoed timestamp, `None` without timestamps. A tick of an exact clock ends before the
    /// next instant.
    pub(super) fn end_of_tick(&self, echo: Time) -> Option<Time> {
        match self {
            RttSampler::Timestamps { tick, .. } => Some(echo + (*tick).max(Duration(1))),
            RttSampler::Segment(_) => None,
        }
    }

    /// Whether to time the next new segment.
    pub(super) fn awaits_segment(&self) -> bool {
        matches!(self, RttSampler::Segment(None))
    }

    /// Starts timing that segment, which ends at `end`.
    pub(super) fn time_segment(&mut self, end: u64, now: Time) {
        *self = RttSampler::Segment(Some(TimedSegment { end, sent: now }));
    }

    /// Stops timing on a retransmission: the timed segment may be acknowledged late because of the loss.
    pub(super) fn on_retransmitted(&mut self) {
        if let RttSampler::Segment(timed) = self {
            *timed = None;
        }
    }

    /// The sample of an acknowledgement of new data up to `number`.
    pub(super) fn sample(&mut self, number: u64, echo: Time, now: Time) -> Option<Duration> {
        match self {
            RttSampler::Timestamps { least, .. } => {
                let least = *least;
                self.sample_by_timestamps(echo, least, now)
            }
            RttSampler::Segment(timed) => {
                let sent = timed.filter(|timed| number >= timed.end)?.sent;
                *timed = None;
                Some(now.since(sent))
            }
        }
    }

    /// The sample from the answer to a SYN, or to the answer to one, which may have been retransmitted. The end that opens passively
    /// says when it sent its own.
    pub(super) fn sample_of_syn(&mut self, echo: Time, was_lost: bool, now: Time) -> Option<Duration> {
        match self {
            RttSampler::Timestamps { tick, least, .. } => {
                let (echo, least) = (start_of_tick(echo, *tick), *least);
                self.sample_by_timestamps(echo, least, now)
            }
            RttSampler::Segment(_) => (!was_lost).then(|| now.since(echo)),
        }
    }

    /// A sample of zero ticks is ignored, unless there is a least sample.
    fn sample_by_timestamps(&mut self, echo: Time, least: Duration, now: Time) -> Option<Duration> {
        Some(self.timestamp(now).since(echo).max(least)).filter(|rtt| *rtt > Duration::ZERO)
    }
}

/// The time rounded down to a tick of a clock, zero for an exact one.
fn start_of_tick(time: Time, tick: Duration) -> Time {
    if tick.0 == 0 { time } else { Time(time.0 - time.0 % tick.0) }
}
