//! The distribution of sojourn times and delays.

use hdrhistogram::Histogram;

use crate::time::Duration;

/// Two significant digits: quantiles are within 1 %.
const SIGNIFICANT_DIGITS: u8 = 2;

/// Values below 2^8 each have a bucket; above, an octave has 2^7 of them, so that a bucket is narrower than 1 %.
const SUB_BUCKET_BITS: u32 = 7;

/// In nanoseconds: quarter of an hour. Longer sojourns count as this long.
const LONGEST: u64 = 900_000_000_000;

/// Counts of sojourn times by nanoseconds, in the buckets of a [`Histogram`] of two digits. Recording is on the path of
/// every packet and takes a fifth of what the library's does, which checks what is settled here.
#[derive(Debug, Default)]
pub(super) struct SojournCounts {
    counts: Vec<u64>,
}

impl SojournCounts {
    pub fn record(&mut self, sojourn: Duration) {
        let bucket = bucket((sojourn.0 / 1000).min(LONGEST));
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.record_longest(bucket),
        }
    }

    #[cold]
    fn record_longest(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// The same as a histogram, for its quantiles.
    pub fn histogram(&self) -> Histogram<u64> {
        histogram(self.counts.iter().copied().enumerate())
    }
}

/// Buckets and their counts as a histogram, for its quantiles.
pub(super) fn histogram(counts: impl Iterator<Item = (usize, u64)>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, LONGEST, SIGNIFICANT_DIGITS)
        .expect("the bounds and two significant digits are allowed");
    for (bucket, count) in counts {
        histogram.saturating_record_n(least_value(bucket), count);
    }
    histogram
}

/// The bucket of a time.
pub(super) fn bucket_of(time: Duration) -> usize {
    bucket((time.0 / 1000).min(LONGEST))
}

/// Octave by octave: values below 2^8 are their own bucket, a larger one is identified by its octave and its next seven bits.
fn bucket(nanoseconds: u64) -> usize {
    let octave = (nanoseconds >> SUB_BUCKET_BITS | 1).ilog2();
    ((octave as usize) << SUB_BUCKET_BITS) + (nanoseconds >> octave) as usize
}

fn least_value(bucket: usize) -> u64 {
    let octave = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
    ((bucket - (octave << SUB_BUCKET_BITS)) as u64) << octave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The buckets agree with those of a histogram that recorded every value, so quantiles are the same.
        #[test]
        fn histogram_buckets(nanoseconds in prop::collection::vec(0u64..2_000_000_000_000, 1..50)) {
            let mut counts = SojournCounts::default();
            let mut recorded = Histogram::<u64>::new_with_bounds(1, LONGEST, SIGNIFICANT_DIGITS).expect("bounds");
            for value in nanoseconds {
                counts.record(Duration(value * 1000));
                recorded.saturating_record(value.min(LONGEST));
            }
            let buckets = |histogram: &Histogram<u64>| -> Vec<(u64, u64)> {
                histogram.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
            };
            prop_assert_eq!(buckets(&counts.histogram()), buckets(&recorded));
        }

        /// Every value lies between the least value of its bucket and that of the next bucket.
        #[test]
        fn bucket_bounds(nanoseconds in 0u64..=LONGEST) {
            let bucket = bucket(nanoseconds);
            prop_assert!(least_value(bucket) <= nanoseconds && nanoseconds < least_value(bucket + 1));
        }
    }
}
