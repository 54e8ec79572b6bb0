//! BBA-2: BBA-0 with a small reservoir, and a start in which the rate rises as long as segments arrive much faster than they play
//! (Huang, Johari, McKeown, Trunnell and Watson, SIGCOMM 2014, sections 5 and 6).
//!
//! Segments of a constant bit rate all have the size that their rate says, so that the paper's chunk map is the rate map, and its
//! computed reservoir is at its lower bound. Outage protection (section 7.1), which moves the map, is left out.

use super::{Download, RateMap, View};
use crate::time::Duration;
use crate::video::Ladder;

/// The lower bound of the reservoir (section 5.1).
const LEAST_RESERVOIR: Duration = Duration::from_seconds(8);

/// The share of the buffer at which the map reaches the highest rate (section 4: 216 s of 240 s).
const FULL: (u64, u64) = (9, 10);

/// What the buffer must gain by a segment, in durations of it, for the rate to rise: with an empty buffer, and at the end of the
/// cushion (section 6: downloads eight times, and twice, as fast as the video plays).
const GAIN_WHEN_EMPTY: f64 = 0.875;
const GAIN_WHEN_FULL: f64 = 0.5;

/// The rule.
#[derive(Clone, Debug)]
pub struct Bba2 {
    map: RateMap,
    segment: Duration,
    starts: bool,
    /// How long the latest segment took.
    took: Option<Duration>,
}

impl Bba2 {
    /// The rule of a player whose buffer holds so much video.
    pub fn new(ladder: &Ladder, capacity: Duration) -> Bba2 {
        let reservoir = LEAST_RESERVOIR.max(ladder.segment());
        let cushion = Duration(capacity.0 / FULL.1 * FULL.0) - reservoir;
        Bba2 { map: RateMap { reservoir, cushion }, segment: ladder.segment(), starts: true, took: None }
    }

    /// The rate map of the steady state.
    pub fn map(&self) -> &RateMap {
        &self.map
    }

    /// The gain of a segment above which the rate rises, in durations of the segment, with so much buffered.
    pub fn gain_needed(&self, buffered: Duration) -> f64 {
        let full = (self.map.reservoir + self.map.cushion).0 as f64;
        let share = (buffered.0 as f64 / full).min(1.0);
        GAIN_WHEN_EMPTY - share * (GAIN_WHEN_EMPTY - GAIN_WHEN_FULL)
    }

    /// The rung of the next segment.
    pub fn choose(&mut self, view: &View) -> usize {
        let mapped = self.map.choose(view);
        let (Some(previous), Some(took)) = (view.previous, self.took) else { return 0 };
        if took > self.segment || mapped > previous {
            self.starts = false;
        }
        if !self.starts {
            return mapped;
        }
        let gain = 1.0 - took.0 as f64 / self.segment.0 as f64;
        let rises = gain > self.gain_needed(view.buffered);
        (previous + usize::from(rises)).min(view.ladder.top())
    }

    /// A segment has arrived.
    pub fn on_download(&mut self, download: &Download) {
        self.took = Some(download.time);
    }
}
