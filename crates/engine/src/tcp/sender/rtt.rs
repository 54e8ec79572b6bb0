//! Round-trip time samples, by timestamps (RFC 7323) or by timing a segment at a time (Karn's algorithm).

use crate::time::{Duration, Time};

/// The segment whose round trip is timed when there are no timestamps: only if it was sent once.
#[derive(Clone, Copy, Debug)]
struct TimedSegment {
    end: u64,
    sent: Time,
}

/// The timestamp clock and what it is to measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttSampler {
    has_timestamps: bool,
    /// Tick of the timestamp clock; zero for an exact one.
    tick: Duration,
    /// The latest tick that was looked up.
    latest: Time,
    timed: Option<TimedSegment>,
}

impl RttSampler {
    pub(super) fn new(has_timestamps: bool, tick: Duration) -> RttSampler {
        let tick = if has_timestamps { tick } else { Duration::ZERO };
        RttSampler { has_timestamps, tick, latest: Time::ZERO, timed: None }
    }

    /// What the timestamp clock shows: the time, in whole ticks.
    pub(super) fn timestamp(&mut self, now: Time) -> Time {
        let tick = self.tick.0;
        if tick == 0 {
            return now;
        }
        if now.since(self.latest).0 >= tick {
            self.latest = Time(now.0 - now.0 % tick);
        }
        self.latest
    }

    /// When the tick was over that an echoed timestamp shows; none without timestamps. An exact clock's ticks last for no time:
    /// what it shows then ends before the next instant.
    pub(super) fn end_of_tick(&self, echo: Time) -> Option<Time> {
        self.has_timestamps.then_some(echo + self.tick.max(Duration(1)))
    }

    /// Whether the next new segment is to be timed.
    pub(super) fn awaits_segment(&self) -> bool {
        !self.has_timestamps && self.timed.is_none()
    }

    /// That segment, up to `end`, is sent.
    pub(super) fn time_segment(&mut self, end: u64, now: Time) {
        self.timed = Some(TimedSegment { end, sent: now });
    }

    /// Something is sent again: whatever is timed may be acknowledged late because of this loss.
    pub(super) fn on_retransmitted(&mut self) {
        self.timed = None;
    }

    /// The sample of an acknowledgement of new data up to `number`.
    pub(super) fn sample(&mut self, number: u64, echo: Time, now: Time) -> Option<Duration> {
        if self.has_timestamps {
            return self.sample_by_timestamps(echo, now);
        }
        let timed = self.timed.filter(|timed| number >= timed.end)?;
        self.timed = None;
        Some(now.since(timed.sent))
    }

    /// The sample of the answer to a SYN, which may have been sent again.
    pub(super) fn sample_of_syn(&mut self, echo: Time, was_lost: bool, now: Time) -> Option<Duration> {
        if self.has_timestamps {
            return self.sample_by_timestamps(echo, now);
        }
        (!was_lost).then(|| now.since(echo))
    }

    /// A sample of no tick is none.
    fn sample_by_timestamps(&mut self, echo: Time, now: Time) -> Option<Duration> {
        Some(self.timestamp(now).since(echo)).filter(|rtt| *rtt > Duration::ZERO)
    }
}
