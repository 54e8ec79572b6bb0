//! Rules that choose the bit rate of the next segment, one file each.
//!
//! A rule sees the player's buffer and how long segments took. To add one: write its file, and name it in the two enums below.

mod bba0;
mod bba2;
mod bola;
mod throughput;

use serde::Deserialize;

use super::Ladder;
use crate::time::Duration;
pub use bba0::{Bba0, RateMap};
pub use bba2::Bba2;
pub use bola::{Bola, utility};
pub use throughput::Throughput;

/// What a rule sees when the next segment is to be requested.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The bit rates to choose from.
    pub ladder: &'a Ladder,
    /// The video in the buffer that has not been played.
    pub buffered: Duration,
    /// The rung of the segment before; none before the first.
    pub previous: Option<usize>,
}

/// A segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Download {
    /// Its size.
    pub bytes: u64,
    /// From its request to its last byte.
    pub time: Duration,
}

/// A rule and its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleSpecification {
    /// See [`Bba0`].
    Bba0 {
        /// The buffer below which the lowest rate is chosen.
        reservoir: Duration,
        /// The buffer above the reservoir over which the rate rises to the highest.
        cushion: Duration,
    },
    /// See [`Bba2`].
    Bba2,
    /// See [`Bola`].
    Bola,
    /// See [`Throughput`].
    Throughput,
}

/// A rule at work.
#[derive(Clone, Debug)]
pub enum Rule {
    /// See [`Bba0`].
    Bba0(Bba0),
    /// See [`Bba2`].
    Bba2(Bba2),
    /// See [`Bola`].
    Bola(Bola),
    /// See [`Throughput`].
    Throughput(Throughput),
}

impl Rule {
    /// The rule of a player whose buffer holds so much video.
    pub fn new(specification: &RuleSpecification, ladder: &Ladder, capacity: Duration) -> Rule {
        match *specification {
            RuleSpecification::Bba0 { reservoir, cushion } => Rule::Bba0(Bba0::new(RateMap { reservoir, cushion })),
            RuleSpecification::Bba2 => Rule::Bba2(Bba2::new(ladder, capacity)),
            RuleSpecification::Bola => Rule::Bola(Bola::for_buffer(ladder, capacity)),
            RuleSpecification::Throughput => Rule::Throughput(Throughput::default()),
        }
    }

    /// The rung of the next segment.
    pub fn choose(&mut self, view: &View) -> usize {
        match self {
            Rule::Bba0(rule) => rule.choose(view),
            Rule::Bba2(rule) => rule.choose(view),
            Rule::Bola(rule) => rule.choose(view),
            Rule::Throughput(rule) => rule.choose(view),
        }
    }

    /// A segment has arrived.
    pub fn on_download(&mut self, download: &Download) {
        match self {
            Rule::Bba0(_) | Rule::Bola(_) => {}
            Rule::Bba2(rule) => rule.on_download(download),
            Rule::Throughput(rule) => rule.on_download(download),
        }
    }
}
