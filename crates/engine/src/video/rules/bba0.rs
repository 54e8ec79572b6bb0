//! BBA-0: the bit rate is a function of the buffer alone (Huang, Johari, McKeown, Trunnell and Watson, "A Buffer-Based Approach to
//! Rate Adaptation: Evidence from a Large Video Streaming Service", SIGCOMM 2014, section 4).

use super::View;
use crate::time::Duration;
use crate::video::Ladder;

/// The rate map of figure 6: the lowest rate up to the reservoir, the highest from the cushion's end on, and a line between.
#[derive(Clone, Copy, Debug)]
pub struct RateMap {
    /// The buffer below which the map is at the lowest rate.
    pub reservoir: Duration,
    /// The buffer above the reservoir over which it rises.
    pub cushion: Duration,
}

impl RateMap {
    /// The rate for a buffer level, in bit/s: f(B).
    pub fn rate(&self, ladder: &Ladder, buffered: Duration) -> f64 {
        let (least, most) = (ladder.rate(0).0 as f64, ladder.rate(ladder.top()).0 as f64);
        if buffered <= self.reservoir {
            return least;
        }
        if buffered >= self.reservoir + self.cushion {
            return most;
        }
        let share = (buffered - self.reservoir).0 as f64 / self.cushion.0 as f64;
        least + share * (most - least)
    }

    /// Algorithm 1: the rate stays until the map crosses the next higher or lower one.
    pub fn choose(&self, view: &View) -> usize {
        let View { ladder, buffered, previous, .. } = *view;
        let previous = previous.unwrap_or(0);
        if buffered <= self.reservoir {
            return 0;
        }
        if buffered >= self.reservoir + self.cushion {
            return ladder.top();
        }
        let mapped = self.rate(ladder, buffered);
        let higher = ladder.rate((previous + 1).min(ladder.top())).0 as f64;
        let lower = ladder.rate(previous.saturating_sub(1)).0 as f64;
        if mapped >= higher {
            ladder.below(mapped)
        } else if mapped <= lower {
            ladder.above(mapped)
        } else {
            previous
        }
    }
}

#[derive(Clone, Debug)]
pub struct Bba0 {
    map: RateMap,
}

about! { Bba0:
    name: "bba0",
    title: "BBA-0, buffer-based",
    class: "buffer",
    year: 2014,
    source: "Huang, Johari, McKeown, Trunnell and Watson, \"A Buffer-Based Approach to Rate Adaptation\", SIGCOMM 2014, section 4",
    deviations: "",
}

impl Bba0 {
    pub fn new(map: RateMap) -> Bba0 {
        Bba0 { map }
    }

    pub fn choose(&self, view: &View) -> usize {
        self.map.choose(view)
    }
}
