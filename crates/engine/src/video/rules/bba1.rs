//! BBA-1: BBA-0 for segments of variable bit rates. The buffer maps to the size of the next segment instead of to its rate, and the
//! reservoir is what the segments to come need (Huang, Johari, McKeown, Trunnell and Watson, SIGCOMM 2014, section 5).

use super::View;
use crate::time::{Duration, PICOSECONDS_PER_SECOND};
use crate::video::Ladder;

/// The bounds of the reservoir (section 5.1), and the buffer for which they are, in seconds.
const LEAST_RESERVOIR: Duration = Duration::from_seconds(8);
const MOST_RESERVOIR: u64 = 140;
const THEIR_BUFFER: u64 = 240;

/// The share of the buffer at which the map reaches the highest rate (section 4: 216 s of 240 s).
const FULL: (u64, u64) = (9, 10);

/// How far ahead segments are looked at, in buffers (section 5.1: 480 s with a buffer of 240 s).
const AHEAD: u64 = 2;

/// The chunk map of figure 13, whose reservoir follows the video.
#[derive(Clone, Copy, Debug)]
pub struct ChunkMap {
    capacity: Duration,
    /// The mean sizes of segments of the lowest and of the highest rate: Chunkmin and Chunkmax.
    least: f64,
    most: f64,
}

impl ChunkMap {
    /// `capacity` is the video that the player's buffer holds.
    pub fn new(ladder: &Ladder, capacity: Duration) -> ChunkMap {
        let (least, most) = (ladder.mean_bytes(0) as f64, ladder.mean_bytes(ladder.top()) as f64);
        ChunkMap { capacity, least, most }
    }

    /// The buffer from which on the map is at the highest rate.
    pub fn full(&self) -> Duration {
        Duration(self.capacity.0 / FULL.1 * FULL.0)
    }

    /// The reservoir before a segment: what the next two buffers' worth of segments of the lowest rate take from the buffer, at a
    /// capacity of that rate, beyond what they bring. Within its bounds.
    pub fn reservoir(&self, view: &View) -> Duration {
        let segment = view.ladder.segment();
        let least = LEAST_RESERVOIR.max(segment);
        let ahead = (AHEAD * self.capacity.0 / segment.0).min(view.missing.unwrap_or(u64::MAX));
        let Some(bytes) = view.ladder.bytes_of_lowest(view.segment, ahead) else { return least };
        let takes = bytes * 8 * u128::from(PICOSECONDS_PER_SECOND) / u128::from(view.ladder.rate(0).0);
        let needs = takes.saturating_sub(u128::from(segment.0) * u128::from(ahead));
        let most =
            Duration(self.capacity.0 / THEIR_BUFFER * MOST_RESERVOIR).min(Duration::from_seconds(MOST_RESERVOIR));
        Duration(u64::try_from(needs).unwrap_or(u64::MAX)).min(most).max(least)
    }

    /// The greatest size allowed for a buffer level, in bytes: f(B).
    pub fn size(&self, buffered: Duration, reservoir: Duration) -> f64 {
        let full = self.full();
        if buffered <= reservoir {
            return self.least;
        }
        if buffered >= full {
            return self.most;
        }
        let share = (buffered - reservoir).0 as f64 / (full - reservoir).0 as f64;
        self.least + share * (self.most - self.least)
    }

    /// Algorithm 1 with sizes of the next segment for rates: the rate stays until the map crosses that at the next higher or lower one.
    pub fn choose(&self, view: &View) -> usize {
        let (ladder, previous, reservoir) = (view.ladder, view.previous.unwrap_or(0), self.reservoir(view));
        if view.buffered <= reservoir {
            return 0;
        }
        if view.buffered >= self.full() {
            return ladder.top();
        }
        let mapped = self.size(view.buffered, reservoir);
        let size = |rung: usize| ladder.bytes(view.segment, rung) as f64;
        if mapped >= size((previous + 1).min(ladder.top())) {
            (0..=ladder.top()).rev().find(|rung| size(*rung) < mapped).unwrap_or(0)
        } else if mapped <= size(previous.saturating_sub(1)) {
            (0..=ladder.top()).find(|rung| size(*rung) > mapped).unwrap_or(ladder.top())
        } else {
            previous
        }
    }
}

#[derive(Clone, Debug)]
pub struct Bba1 {
    map: ChunkMap,
}

about! { Bba1:
    name: "bba1",
    title: "BBA-1, buffer-based with sizes of segments",
    class: "buffer",
    year: 2014,
    source: "Huang, Johari, McKeown, Trunnell and Watson, \"A Buffer-Based Approach to Rate Adaptation\", SIGCOMM 2014, section 5",
    deviations: "The paper's bound of the reservoir, 140 s, is that of a buffer of 240 s; in a smaller one it is as large a part.",
}

impl Bba1 {
    pub fn new(map: ChunkMap) -> Bba1 {
        Bba1 { map }
    }

    pub fn choose(&self, view: &View) -> usize {
        self.map.choose(view)
    }
}
