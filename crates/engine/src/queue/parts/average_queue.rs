//! The average queue length of RED and its variants: an exponentially weighted moving average, updated on arrival
//! (Floyd and Jacobson 1993).

use crate::time::{Duration, Time};

/// The time constant of the automatic weight, in round-trip times (ns-2.35, queue/red.cc).
const ROUND_TRIPS: f64 = 10.0;

/// The average queue length, in the unit of its samples: packets or bytes.
#[derive(Clone, Debug, Default)]
pub struct AverageQueue {
    value: f64,
    weight: f64,
    /// The change of the average's logarithm per second of idle time.
    decay: f64,
    idle_since: Option<Time>,
}

impl AverageQueue {
    /// The weight with a time constant of ten round-trip times. At 100 ms this is the 1 - exp(-1/C) of Floyd, Gummadi
    /// and Shenker 2001.
    pub fn automatic_weight(round_trip_time: Duration, packets_per_second: f64) -> f64 {
        -libm::expm1(-1.0 / (ROUND_TRIPS * round_trip_time.seconds() * packets_per_second))
    }

    /// Sets the weight of a sample and the rate of the link, in packets per second.
    pub fn configure(&mut self, weight: f64, packets_per_second: f64) {
        self.weight = weight;
        self.decay = libm::log1p(-weight) * packets_per_second;
    }

    /// Updates the average for an arrival at a queue of this length.
    pub fn on_arrival(&mut self, length: f64, now: Time) {
        if self.idle_since.is_some() {
            self.value = self.at(now);
            self.idle_since = None;
        } else {
            self.sample(length);
        }
    }

    pub fn sample(&mut self, length: f64) {
        self.value += self.weight * (length - self.value);
    }

    pub fn on_idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    /// The average now. While the link is idle, it decays as if packets were departing at the link's rate.
    pub fn at(&self, now: Time) -> f64 {
        match self.idle_since {
            Some(since) if self.value > 0.0 && now > since => {
                self.value * libm::exp(self.decay * now.since(since).seconds())
            }
            _ => self.value,
        }
    }
}
