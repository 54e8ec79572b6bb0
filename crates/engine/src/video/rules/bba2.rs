//! BBA-2: BBA-1 with a start in which the rate rises as long as segments arrive much faster than they play (Huang, Johari, McKeown,
//! Trunnell and Watson, SIGCOMM 2014, section 6).

use super::{ChunkMap, Download, View};
use crate::time::Duration;
use crate::video::Ladder;

/// What the buffer must gain by a segment, in durations of it, for the rate to rise: with an empty buffer, and at the end of the
/// cushion (section 6: downloads eight times, and twice, as fast as the video plays).
const GAIN_WHEN_EMPTY: f64 = 0.875;
const GAIN_WHEN_FULL: f64 = 0.5;

#[derive(Clone, Debug)]
pub struct Bba2 {
    map: ChunkMap,
    segment: Duration,
    starts: bool,
    /// How long the latest segment took.
    took: Option<Duration>,
}

about! { Bba2:
    name: "bba2",
    title: "BBA-2, buffer-based with a fast start",
    class: "buffer",
    year: 2014,
    source: "Huang, Johari, McKeown, Trunnell and Watson, \"A Buffer-Based Approach to Rate Adaptation\", SIGCOMM 2014, section 6",
    deviations: "Without outage protection (section 7.1). The reservoir as in BBA-1.",
}

impl Bba2 {
    pub fn new(ladder: &Ladder, capacity: Duration) -> Bba2 {
        Bba2 { map: ChunkMap::new(ladder, capacity), segment: ladder.segment(), starts: true, took: None }
    }

    /// The map of the steady state.
    pub fn map(&self) -> &ChunkMap {
        &self.map
    }

    /// The gain of a segment above which the rate rises, in durations of the segment.
    pub fn gain_needed(&self, buffered: Duration) -> f64 {
        let share = (buffered.0 as f64 / self.map.full().0 as f64).min(1.0);
        GAIN_WHEN_EMPTY - share * (GAIN_WHEN_EMPTY - GAIN_WHEN_FULL)
    }

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

    pub fn on_download(&mut self, download: &Download) {
        self.took = Some(download.time);
    }
}
