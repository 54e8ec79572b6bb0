//! Video with an adaptive bit rate: a player that fetches segment after segment of fixed duration, each at one of the bit rates of a
//! ladder, and the rules that choose which. State machines without a clock or a network: time is an argument, and what carries the
//! requests is the owner's affair.

mod ladder;
mod player;
pub mod rules;

use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use crate::time::Duration;
use crate::units::Rate;
pub use ladder::{Ladder, SegmentSizes};
pub use player::{Next, Playback, Player};

/// What a viewer watches, and with what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoSpecification {
    pub rule: rules::RuleSpecification,
    /// The bit rates of the segments, ascending.
    pub ladder: Vec<Rate>,
    /// Of each segment, its bytes at each of the bit rates, which are then nominal; none if all segments of a rate have the same size.
    #[serde(default, deserialize_with = "shared")]
    pub sizes: Option<SegmentSizes>,
    pub segment: Duration,
    /// The video that the player's buffer holds.
    pub buffer: Duration,
    /// The video that is buffered before it is played, at the start and after a stall.
    pub start_after: Duration,
    /// How long it is, in whole segments; none if it does not end.
    pub length: Option<Duration>,
}

/// What all viewers share.
fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SegmentSizes>, D::Error> {
    Ok(Option::<Vec<Vec<u64>>>::deserialize(deserializer)?.map(Arc::new))
}

impl VideoSpecification {
    pub fn ladder(&self) -> Ladder {
        let ladder = Ladder::new(self.ladder.clone(), self.segment);
        match &self.sizes {
            Some(sizes) => ladder.with_sizes(Arc::clone(sizes)),
            None => ladder,
        }
    }

    pub fn check(&self) -> Result<(), String> {
        if self.ladder.is_empty() {
            return Err("ladder: give at least one bit rate".to_owned());
        }
        if self.ladder[0].0 == 0 || self.ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("ladder: bit rates must be above 0 and ascend".to_owned());
        }
        let is_row =
            |row: &Vec<u64>| row.len() == self.ladder.len() && row.iter().all(|size| (1..=1 << 53).contains(size));
        if self.sizes.as_ref().is_some_and(|sizes| sizes.is_empty() || !sizes.iter().all(is_row)) {
            return Err("sizes: each segment must have 1 to 2^53 bytes at each bit rate".to_owned());
        }
        if self.segment == Duration::ZERO {
            return Err("segment: must be above 0".to_owned());
        }
        if self.buffer < self.segment {
            return Err("buffer: must hold at least one segment".to_owned());
        }
        if self.length == Some(Duration::ZERO) {
            return Err("length: must be above 0".to_owned());
        }
        Ok(())
    }
}
