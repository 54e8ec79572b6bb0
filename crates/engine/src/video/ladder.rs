//! The bit rates at which a video is to be had.

use std::sync::Arc;

use crate::time::{Duration, PICOSECONDS_PER_SECOND};
use crate::units::Rate;

/// Of each segment its bytes at each bit rate.
pub type SegmentSizes = Arc<Vec<Vec<u64>>>;

/// Bit rates in ascending order, and the duration of the segments. A place in it, from 0 for the lowest, is a rung.
#[derive(Clone, Debug)]
pub struct Ladder {
    rates: Vec<Rate>,
    segment: Duration,
    /// Of each segment the bytes at each bit rate; none if all of a rate are of the same size.
    sizes: Option<SegmentSizes>,
}

impl Ladder {
    /// A ladder of rates that ascend; at least one.
    pub fn new(rates: Vec<Rate>, segment: Duration) -> Ladder {
        debug_assert!(!rates.is_empty() && rates.windows(2).all(|pair| pair[0] < pair[1]));
        Ladder { rates, segment, sizes: None }
    }

    /// The same with segments of variable bit rates, of which the rates are nominal: of each segment its bytes at each rate. They begin
    /// again at their end.
    #[must_use]
    pub fn with_sizes(self, sizes: SegmentSizes) -> Ladder {
        debug_assert!(!sizes.is_empty() && sizes.iter().all(|row| row.len() == self.rates.len()));
        Ladder { sizes: Some(sizes), ..self }
    }

    /// The bytes of `count` segments of the lowest rung from `from` on; none if all are of the same size.
    pub fn bytes_of_lowest(&self, from: u64, count: u64) -> Option<u128> {
        let sizes = self.sizes.as_ref()?;
        let length = sizes.len() as u64;
        let sum = |rows: &mut dyn Iterator<Item = u64>| -> u128 {
            rows.map(|row| u128::from(sizes[(row % length) as usize][0])).sum()
        };
        let start = from % length;
        let whole = sum(&mut (0..length)) * u128::from(count / length);
        Some(whole + sum(&mut (start..start + count % length)))
    }

    pub fn segment(&self) -> Duration {
        self.segment
    }

    pub fn top(&self) -> usize {
        self.rates.len() - 1
    }

    pub fn rate(&self, rung: usize) -> Rate {
        self.rates[rung]
    }

    /// The bytes of a segment, counted from zero, at a rung.
    pub fn bytes(&self, segment: u64, rung: usize) -> u64 {
        let sizes = self.sizes.as_ref();
        sizes.map_or_else(|| self.mean_bytes(rung), |sizes| sizes[(segment % sizes.len() as u64) as usize][rung])
    }

    /// The bytes of a segment at the nominal rate of a rung.
    pub fn mean_bytes(&self, rung: usize) -> u64 {
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
