//! The bit rates at which a video is to be had.

use crate::time::{Duration, PICOSECONDS_PER_SECOND};
use crate::units::Rate;

/// Bit rates in ascending order, and the duration of the segments. A place in it, from 0 for the lowest, is a rung.
#[derive(Clone, Debug)]
pub struct Ladder {
    rates: Vec<Rate>,
    segment: Duration,
}

impl Ladder {
    /// A ladder of rates that ascend; at least one.
    pub fn new(rates: Vec<Rate>, segment: Duration) -> Ladder {
        debug_assert!(!rates.is_empty() && rates.windows(2).all(|pair| pair[0] < pair[1]));
        Ladder { rates, segment }
    }

    /// The duration of a segment.
    pub fn segment(&self) -> Duration {
        self.segment
    }

    /// The highest rung.
    pub fn top(&self) -> usize {
        self.rates.len() - 1
    }

    /// The bit rate of a rung.
    pub fn rate(&self, rung: usize) -> Rate {
        self.rates[rung]
    }

    /// The bytes of a segment of a rung, all of which are encoded at a constant rate.
    pub fn bytes(&self, rung: usize) -> u64 {
        let picobits = u128::from(self.rates[rung].0) * u128::from(self.segment.0);
        let bytes = picobits.div_ceil(8 * u128::from(PICOSECONDS_PER_SECOND));
        u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
    }

    /// The highest rung below a rate in bit/s; the lowest if there is none.
    pub fn below(&self, rate: f64) -> usize {
        self.rates.partition_point(|there| (there.0 as f64) < rate).saturating_sub(1)
    }

    /// The lowest rung above a rate in bit/s; the highest if there is none.
    pub fn above(&self, rate: f64) -> usize {
        self.rates.partition_point(|there| (there.0 as f64) <= rate).min(self.top())
    }
}
