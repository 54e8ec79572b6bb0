//! The player: requests a segment when the one before has arrived and its buffer has room, and plays what it has.

use std::collections::VecDeque;

use super::rules::{Download, Rule, View};
use super::{Ladder, VideoSpecification};
use crate::time::{Duration, Time};

/// What the player does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It requests a segment of this many bytes.
    Request(u64),
    /// Its buffer is full, or plays what is left, until then.
    WaitUntil(Time),
    End,
}

/// What a viewer has seen since the start of the measuring window, or several viewers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playback {
    /// Videos that have begun to play, whenever that was.
    pub starts: u64,
    /// From the moments at which these were turned on to their first pictures, together.
    pub start_delays: Duration,
    /// How long video played.
    pub played: Duration,
    /// How long it stalled after its start.
    pub stalled: Duration,
    /// Stalls that began.
    pub stalls: u64,
    /// Changes of the bit rate from one segment to the next that played.
    pub switches: u64,
    /// The integral of the bit rate of what played, in bits times 10^12.
    pub picobits: u128,
    /// Segments that arrived.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Playback {
    /// What two viewers have seen, together.
    #[must_use]
    pub fn with(self, other: Playback) -> Playback {
        Playback {
            starts: self.starts + other.starts,
            start_delays: self.start_delays + other.start_delays,
            played: self.played + other.played,
            stalled: self.stalled + other.stalled,
            stalls: self.stalls + other.stalls,
            switches: self.switches + other.switches,
            picobits: self.picobits + other.picobits,
            segments: self.segments + other.segments,
            bytes: self.bytes + other.bytes,
        }
    }

    /// What remains of it in a measuring window that opens now: start delays are of the whole run.
    #[must_use]
    pub fn in_new_window(self) -> Playback {
        Playback { starts: self.starts, start_delays: self.start_delays, ..Playback::default() }
    }

    /// The mean start delay in seconds; none if nothing has begun to play.
    pub fn start_delay(&self) -> Option<f64> {
        (self.starts > 0).then(|| self.start_delays.seconds() / self.starts as f64)
    }

    /// The mean bit rate of what played, in bit/s; none if nothing did.
    pub fn mean_rate(&self) -> Option<f64> {
        let played = u128::from(self.played.0);
        let whole = self.picobits.checked_div(played)?;
        Some(whole as f64 + (self.picobits % played) as f64 / played as f64)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Playing,
    Stalled,
    Over,
}

state! {
    /// A player that is not yet turned on.
    pub Player(specification: &VideoSpecification) {
        ladder: Ladder = specification.ladder(),
        rule: Rule = Rule::new(&specification.rule, &ladder, specification.buffer),
        capacity: Duration = specification.buffer,
        start_after: Duration = specification.start_after,
        state: State = State::Starting,
        /// Rungs of the buffered segments, that which plays first.
        segments: VecDeque<usize>,
        /// What is left of the first.
        left: Duration,
        /// The rung, moment and size of the latest request.
        requested: Option<(usize, Time, u64)>,
        /// Segments that were requested.
        number: u64,
        /// Whether that has not arrived.
        awaits: bool,
        /// Segments that are yet to be requested; none of a video without end.
        missing: Option<u64> = specification.length.map(|length| length.0.div_ceil(specification.segment.0)),
        /// The rung that played last.
        shown: Option<usize>,
        turned_on: Time,
        /// The moment up to which everything has been counted.
        until: Time,
        counts: Playback,
    }
}

impl Player {
    pub fn turn_on(&mut self, now: Time) {
        (self.turned_on, self.until) = (now, now);
    }

    /// The video in the buffer that has not been played, as of the latest call.
    pub fn buffered(&self) -> Duration {
        self.ladder.segment() * (self.segments.len() as u64).saturating_sub(1) + self.left
    }

    /// What to do now that a connection is there or the buffer may have room.
    pub fn next(&mut self, now: Time) -> Next {
        self.play_until(now);
        if self.missing == Some(0) {
            let is_over = self.segments.is_empty();
            return if is_over { Next::End } else { Next::WaitUntil(now + self.buffered()) };
        }
        let wanted = self.buffered() + self.ladder.segment();
        if wanted > self.capacity {
            return Next::WaitUntil(now + (wanted - self.capacity));
        }
        let previous = self.requested.map(|(rung, ..)| rung);
        let (buffered, segment, missing) = (self.buffered(), self.number, self.missing);
        let rung = self.rule.choose(&View { ladder: &self.ladder, buffered, previous, segment, missing });
        let bytes = self.ladder.bytes(segment, rung);
        self.requested = Some((rung, now, bytes));
        self.number += 1;
        self.awaits = true;
        self.missing = self.missing.map(|missing| missing - 1);
        Next::Request(bytes)
    }

    /// The last byte of the requested segment has arrived.
    pub fn on_segment(&mut self, now: Time) -> Next {
        self.play_until(now);
        if let Some((rung, asked, bytes)) = self.requested.filter(|_| std::mem::take(&mut self.awaits)) {
            self.rule.on_download(&Download { bytes, time: now.since(asked) });
            self.counts.segments += 1;
            self.counts.bytes += bytes;
            if self.segments.is_empty() {
                self.left = self.ladder.segment();
            }
            self.segments.push_back(rung);
        }
        self.play_if_ready(now);
        self.next(now)
    }

    fn play_if_ready(&mut self, now: Time) {
        let has_no_more = self.missing == Some(0) || self.buffered() + self.ladder.segment() > self.capacity;
        if self.buffered() < self.start_after && !has_no_more {
            return;
        }
        match self.state {
            State::Starting => {
                self.counts.starts = 1;
                self.counts.start_delays = now.since(self.turned_on);
                self.state = State::Playing;
            }
            State::Stalled => self.state = State::Playing,
            State::Playing | State::Over => {}
        }
    }

    pub fn open_window(&mut self, now: Time) {
        self.play_until(now);
        self.counts = self.counts.in_new_window();
    }

    /// What the viewer has seen up to now.
    pub fn playback(&mut self, now: Time) -> Playback {
        self.play_until(now);
        self.counts
    }

    /// Counts what has happened since the latest call.
    fn play_until(&mut self, now: Time) {
        let mut time = now.since(self.until);
        self.until = now;
        while self.state == State::Playing && time > Duration::ZERO {
            let Some(&rung) = self.segments.front() else {
                if self.missing == Some(0) && !self.awaits {
                    self.state = State::Over;
                    break;
                }
                self.state = State::Stalled;
                self.counts.stalls += 1;
                break;
            };
            if self.left == self.ladder.segment() && self.shown.replace(rung).is_some_and(|before| before != rung) {
                self.counts.switches += 1;
            }
            let played = time.min(self.left);
            self.counts.played = self.counts.played + played;
            self.counts.picobits += u128::from(self.ladder.rate(rung).0) * u128::from(played.0);
            self.left = self.left - played;
            time = time - played;
            if self.left == Duration::ZERO {
                self.segments.pop_front();
                self.left = if self.segments.is_empty() { Duration::ZERO } else { self.ladder.segment() };
            }
        }
        if self.state == State::Stalled {
            self.counts.stalled = self.counts.stalled + time;
        }
    }
}
