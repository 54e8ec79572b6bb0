//! Rules that choose the bit rate of the next segment, one file each.
//!
//! A rule sees the player's buffer and how long segments took. To add one: write its file, and name it in the two enums below.

mod bba0;
mod bba1;
mod bba2;
mod bola;
mod throughput;

use serde::Deserialize;

use super::Ladder;
use crate::about::{About, Listed};
use crate::time::Duration;
pub use bba0::{Bba0, RateMap};
pub use bba1::{Bba1, ChunkMap};
pub use bba2::Bba2;
pub use bola::{Bola, utility};
pub use throughput::Throughput;

/// What a rule sees when the next segment is to be requested.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub ladder: &'a Ladder,
    /// The video in the buffer that has not been played.
    pub buffered: Duration,
    /// The rung of the segment before; none before the first.
    pub previous: Option<usize>,
    /// The next segment, counted from zero.
    pub segment: u64,
    /// How many are to come, the next among them; none of a video without end.
    pub missing: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Download {
    pub bytes: u64,
    /// From its request to its last byte.
    pub time: Duration,
}

/// A rule and its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleSpecification {
    Bba0 {
        /// The buffer below which the lowest rate is chosen.
        reservoir: Duration,
        /// The buffer above the reservoir over which the rate rises to the highest.
        cushion: Duration,
    },
    Bba1,
    Bba2,
    Bola,
    Throughput,
}

/// A rule at work.
#[derive(Clone, Debug)]
pub enum Rule {
    Bba0(Bba0),
    Bba1(Bba1),
    Bba2(Bba2),
    Bola(Bola),
    Throughput(Throughput),
}

impl Rule {
    pub fn catalogue() -> [&'static About; 5] {
        [&Bba0::ABOUT, &Bba1::ABOUT, &Bba2::ABOUT, &Bola::ABOUT, &Throughput::ABOUT]
    }

    /// `capacity` is the video that the player's buffer holds.
    pub fn new(specification: &RuleSpecification, ladder: &Ladder, capacity: Duration) -> Rule {
        match *specification {
            RuleSpecification::Bba0 { reservoir, cushion } => Rule::Bba0(Bba0::new(RateMap { reservoir, cushion })),
            RuleSpecification::Bba1 => Rule::Bba1(Bba1::new(ChunkMap::new(ladder, capacity))),
            RuleSpecification::Bba2 => Rule::Bba2(Bba2::new(ladder, capacity)),
            RuleSpecification::Bola => Rule::Bola(Bola::for_buffer(ladder, capacity)),
            RuleSpecification::Throughput => Rule::Throughput(Throughput::default()),
        }
    }

    /// The rung of the next segment.
    pub fn choose(&mut self, view: &View) -> usize {
        dispatch!(self, Rule [Bba0 Bba1 Bba2 Bola Throughput], rule => rule.choose(view))
    }

    /// A segment has arrived.
    pub fn on_download(&mut self, download: &Download) {
        match self {
            Rule::Bba0(_) | Rule::Bba1(_) | Rule::Bola(_) => {}
            Rule::Bba2(rule) => rule.on_download(download),
            Rule::Throughput(rule) => rule.on_download(download),
        }
    }
}
