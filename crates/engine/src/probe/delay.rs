//! One-way delays of a flow's packets, and how much they vary from one packet to the next.

use hdrhistogram::Histogram;

use super::sojourn::{bucket_of, histogram};
use crate::time::Duration;

/// The part of the delays that a trimmed mean is taken of: TMP of draft-ietf-ippm-responsiveness-08, section 5.2.
const UNTRIMMED: f64 = 0.95;

/// What is counted of the packets that arrive. Most flows have delays within a few octaves, so only the buckets between the
/// least and the greatest are kept.
#[derive(Debug, Default)]
pub struct DelayProbe {
    packets: u64,
    sum: u128,
    least: Duration,
    greatest: Duration,
    /// Counts of delays by bucket, from this one on.
    first_bucket: usize,
    counts: Vec<u32>,
    /// The delay of the packet that arrived before, in the window or not.
    previous: Option<Duration>,
    differences: u64,
    difference_sum: u128,
}

impl DelayProbe {
    /// A packet arrived that had been sent so long ago.
    // Not inlined, so that the loop over events, into which everything is, stays as it is for TCP.
    #[inline(never)]
    pub fn record(&mut self, delay: Duration) {
        self.least = if self.packets == 0 { delay } else { self.least.min(delay) };
        self.greatest = self.greatest.max(delay);
        self.packets += 1;
        self.sum += u128::from(delay.0);
        if let Some(previous) = self.previous.replace(delay) {
            self.differences += 1;
            self.difference_sum += u128::from(delay.0.abs_diff(previous.0));
        }
        let bucket = bucket_of(delay);
        match bucket.checked_sub(self.first_bucket).and_then(|place| self.counts.get_mut(place)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.extend_to(bucket),
        }
    }

    #[cold]
    fn extend_to(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first_bucket = bucket;
        }
        if bucket < self.first_bucket {
            self.counts.splice(..0, std::iter::repeat_n(0, self.first_bucket - bucket));
            self.first_bucket = bucket;
        }
        let place = bucket - self.first_bucket;
        self.counts.resize(self.counts.len().max(place + 1), 0);
        self.counts[place] = 1;
    }

    /// The measuring window opens: counts begin anew.
    pub fn open_window(&mut self) {
        *self = DelayProbe { previous: self.previous, ..DelayProbe::default() };
    }

    /// Delays in seconds, within 1 % and in ascending order, and how many packets had each.
    pub fn counts(&self) -> Vec<(f64, u64)> {
        let (least, greatest) = (self.least.seconds(), self.greatest.seconds());
        let seconds = |nanoseconds: u64| (nanoseconds as f64 * 1e-9).clamp(least, greatest);
        let histogram = self.histogram();
        histogram.iter_recorded().map(|bucket| (seconds(bucket.value_iterated_to()), bucket.count_at_value())).collect()
    }

    /// The mean of the shortest of them, a share of all, in seconds.
    fn trimmed_mean(&self, share: f64) -> f64 {
        let mut left = (self.packets as f64 * share).ceil().max(1.0);
        let (mut sum, mut taken) = (0.0, 0.0);
        for (delay, count) in self.counts() {
            let part = left.min(count as f64);
            sum += delay * part;
            taken += part;
            left -= part;
        }
        sum / taken
    }

    fn histogram(&self) -> Histogram<u64> {
        let counts = self.counts.iter().enumerate();
        histogram(counts.map(|(place, count)| (self.first_bucket + place, u64::from(*count))))
    }

    /// What was measured in the window; none if no packet arrived.
    pub fn statistics(&self) -> Option<DelayStatistics> {
        let greatest = self.greatest.seconds();
        let histogram = self.histogram();
        let quantile = |quantile: f64| (histogram.value_at_quantile(quantile) as f64 * 1e-9).min(greatest);
        (self.packets > 0).then(|| DelayStatistics {
            packets: self.packets,
            mean: self.sum as f64 / self.packets as f64 * 1e-12,
            min: self.least.seconds(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: greatest,
            trimmed_mean: self.trimmed_mean(UNTRIMMED),
            jitter: (self.differences > 0).then(|| self.difference_sum as f64 / self.differences as f64 * 1e-12),
        })
    }
}

/// One-way delays in seconds, from the source that sends a packet to its arrival at the receiver; quantiles within 1 %.
#[derive(Clone, Copy, Debug)]
pub struct DelayStatistics {
    /// Packets that arrived.
    pub packets: u64,
    /// Mean.
    pub mean: f64,
    /// The shortest.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
    /// Mean of the shortest 95 %, within 1 %.
    pub trimmed_mean: f64,
    /// Mean of |D(i - 1, i)|, the difference between the delays of a packet and of the one that arrived before it (RFC 3550,
    /// section 6.4.1, which smooths the same with a gain of 1/16); none until two arrived.
    pub jitter: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Mean, extremes, jitter and quantiles are those of the sorted list of all delays in the window.
        #[test]
        fn delays_as_sorted_list(
            before in prop::collection::vec(1_000u64..2_000_000_000, 0..5),
            delays in prop::collection::vec(1_000u64..2_000_000_000, 1..200),
        ) {
            let mut probe = DelayProbe::default();
            before.iter().for_each(|nanoseconds| probe.record(Duration(nanoseconds * 1000)));
            probe.open_window();
            delays.iter().for_each(|nanoseconds| probe.record(Duration(nanoseconds * 1000)));
            let seen = probe.statistics().expect("packets arrived");
            let mut sorted: Vec<f64> = delays.iter().map(|nanoseconds| *nanoseconds as f64 * 1e-9).collect();
            let arrived: Vec<f64> = before.iter().rev().take(1).chain(&delays).map(|delay| *delay as f64 * 1e-9).collect();
            let steps: Vec<f64> = arrived.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
            sorted.sort_by(f64::total_cmp);
            let close = |found: f64, wanted: f64, tolerance: f64| (found - wanted).abs() <= tolerance * wanted;
            prop_assert_eq!(seen.packets, delays.len() as u64);
            prop_assert!(close(seen.mean, sorted.iter().sum::<f64>() / sorted.len() as f64, 1e-9));
            prop_assert!(close(seen.min, sorted[0], 1e-9) && close(seen.max, sorted[sorted.len() - 1], 1e-9));
            let kept = &sorted[..(0.95 * sorted.len() as f64).ceil() as usize];
            prop_assert!(close(seen.trimmed_mean, kept.iter().sum::<f64>() / kept.len() as f64, 0.01));
            for (found, share) in [(seen.p50, 0.5), (seen.p95, 0.95), (seen.p99, 0.99)] {
                let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
                prop_assert!(close(found, sorted[rank - 1], 0.01), "{found} for {}", sorted[rank - 1]);
            }
            match seen.jitter {
                None => prop_assert!(steps.is_empty()),
                Some(jitter) => prop_assert!(close(jitter, steps.iter().sum::<f64>() / steps.len() as f64, 1e-6)),
            }
        }
    }
}
