//! The average loss interval: RFC 5348 sections 5.3 to 5.5. A loss interval is the number of packets from the first
//! packet of a loss event to the first packet of the next.

use std::collections::VecDeque;

/// A loss interval that has ended: I_i, i > 0.
#[derive(Clone, Copy, Debug)]
struct Interval {
    length: f64,
    /// DF_i.
    discount: f64,
}

/// The completed loss intervals, the most recent first.
#[derive(Clone, Debug)]
pub struct Intervals {
    weights: Vec<f64>,
    ended: VecDeque<Interval>,
    /// THRESHOLD of section 5.5, `None` without history discounting.
    discount_threshold: Option<f64>,
}

/// The weights w_0 to w_(n-1) of section 5.4.
fn weights(n: u64) -> Vec<f64> {
    let n = n as f64;
    (0..n as u64).map(|i| i as f64).map(|i| if i < n / 2.0 { 1.0 } else { 2.0 * (n - i) / (n + 2.0) }).collect()
}

impl Intervals {
    pub fn new(number: u64, discount_threshold: Option<f64>) -> Intervals {
        Intervals { weights: weights(number), ended: VecDeque::new(), discount_threshold }
    }

    /// Ends an interval. Its discount factor is applied to the history (end of section 5.5).
    pub fn end(&mut self, length: f64) {
        let general = self.general_discount(length);
        for interval in &mut self.ended {
            interval.discount *= general;
        }
        self.ended.truncate(self.weights.len() - 1);
        self.ended.push_front(Interval { length, discount: 1.0 });
    }

    /// The loss event rate with a current interval of this many packets; 0 before the first loss event.
    pub fn loss_event_rate(&self, current: f64) -> f64 {
        if self.ended.is_empty() {
            return 0.0;
        }
        let general = self.general_discount(current);
        // In I_tot0, i runs to k - 1: the current interval replaces the oldest.
        let counted = self.ended.len() - 1;
        let with_current =
            self.ended.iter().take(counted).zip(&self.weights[1..]).fold(
                Mean { total: current * self.weights[0], weight: self.weights[0] },
                |mean, (interval, weight)| mean.add(interval.length, weight * interval.discount * general),
            );
        let mean = self.of_ended().length().max(with_current.length());
        // An interval has at least one packet.
        1.0 / mean.max(1.0)
    }

    /// DF of section 5.5 with a current interval of this many packets.
    fn general_discount(&self, current: f64) -> f64 {
        let Some(threshold) = self.discount_threshold.filter(|_| !self.ended.is_empty()) else {
            return 1.0;
        };
        let twice = 2.0 * self.of_ended().length();
        if current > twice { (twice / current).max(threshold) } else { 1.0 }
    }

    /// The weighted mean of I_1 to I_k.
    fn of_ended(&self) -> Mean {
        let start = Mean { total: 0.0, weight: 0.0 };
        self.ended
            .iter()
            .zip(&self.weights)
            .fold(start, |mean, (interval, weight)| mean.add(interval.length, weight * interval.discount))
    }
}

/// I_tot and W_tot.
#[derive(Clone, Copy, Debug)]
struct Mean {
    total: f64,
    weight: f64,
}

impl Mean {
    fn add(self, length: f64, weight: f64) -> Mean {
        Mean { total: self.total + length * weight, weight: self.weight + weight }
    }

    fn length(self) -> f64 {
        self.total / self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(measured: f64, expected: f64) {
        assert!((measured / expected - 1.0).abs() < 1e-12, "{measured}, expected {expected}");
    }

    /// A history of these intervals, the oldest first.
    fn ended(lengths: &[f64], discount_threshold: Option<f64>) -> Intervals {
        let mut intervals = Intervals::new(8, discount_threshold);
        for length in lengths {
            intervals.end(*length);
        }
        intervals
    }

    /// The eight weights printed in section 5.4.
    #[test]
    fn published_weights() {
        for (weight, printed) in weights(8).into_iter().zip([1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]) {
            close(weight, printed);
        }
        assert_eq!(weights(8).len(), 8);
    }

    /// Without a loss event the loss event rate is zero.
    #[test]
    fn rate_without_losses() {
        assert!(ended(&[], None).loss_event_rate(1e6) < f64::MIN_POSITIVE);
    }

    /// The weights sum to 6, and the mean of eight intervals of 100 packets is 100.
    #[test]
    fn equal_intervals() {
        close(ended(&[100.0; 8], None).loss_event_rate(1.0), 0.01);
        close(ended(&[100.0; 3], None).loss_event_rate(100.0), 0.01);
        close(ended(&[100.0], None).loss_event_rate(50.0), 0.01);
    }

    /// Section 5.4: for intervals from 80 (the newest) to 10 (the oldest) the weighted sum is 80 + 70 + 60 + 50 + 0.8 *
    /// 40 + 0.6 * 30 + 0.4 * 20 + 0.2 * 10 = 320.
    #[test]
    fn weighted_mean() {
        let intervals = ended(&[1000.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0], None);
        close(intervals.loss_event_rate(1.0), 6.0 / 320.0);
    }

    /// Section 5.4: the current interval counts only if it raises the mean. With ten intervals of 100 it does from a
    /// length of 100 on: (200 + 5 * 100) / 6, since it has a weight of 1 and the oldest interval, of weight 0.2, is
    /// dropped.
    #[test]
    fn current_interval() {
        let intervals = ended(&[100.0; 10], None);
        close(intervals.loss_event_rate(99.0), 0.01);
        close(intervals.loss_event_rate(200.0), 6.0 / 700.0);
    }

    /// Section 5.4: the newest interval has 1 / (0.75 n) of the total weight, so that the mean changes slowly.
    #[test]
    fn newest_interval_weight() {
        let mut intervals = ended(&[100.0; 8], None);
        intervals.end(160.0);
        close(intervals.loss_event_rate(1.0), 1.0 / 110.0);
    }

    /// Section 5.5 with a current interval of 4 I_mean: DF = 2 I_mean / I_0 = 0.5 halves the other intervals' weight of
    /// 5: (400 + 0.5 * 500) / (1 + 0.5 * 5).
    #[test]
    fn history_discounting() {
        let intervals = ended(&[100.0; 8], Some(0.25));
        close(intervals.loss_event_rate(400.0), 3.5 / 650.0);
        // Up to twice the mean nothing is discounted.
        close(intervals.loss_event_rate(200.0), 6.0 / 700.0);
        // THRESHOLD: at most to a quarter.
        close(intervals.loss_event_rate(4000.0), 2.25 / 4125.0);
    }

    /// End of section 5.5: when the interval of 400 ends, the older ones keep its discount of 0.5. So I_1 = 400 has
    /// weight 1, and seven intervals of 100 have half of 1, 1, 1, 0.8, 0.6, 0.4, 0.2.
    #[test]
    fn persistent_discount() {
        let mut intervals = ended(&[100.0; 8], Some(0.25));
        intervals.end(400.0);
        close(intervals.loss_event_rate(1.0), (1.0 + 2.5) / (400.0 + 250.0));
        let mut undiscounted = ended(&[100.0; 8], None);
        undiscounted.end(400.0);
        close(undiscounted.loss_event_rate(1.0), 6.0 / (400.0 + 500.0));
    }
}
