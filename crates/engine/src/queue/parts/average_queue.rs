//! The average length of a queue that RED and its kin go by: an exponentially weighted moving average over the arrivals
//! (Floyd and Jacobson 1993).

use crate::time::{Duration, Time};

/// How many round-trip times the average's time constant is, if its weight is automatic (ns-2.35, queue/red.cc).
const ROUND_TRIPS: f64 = 10.0;

/// See the module. In the unit in which it is told the length: packets or bytes.
#[derive(Clone, Debug, Default)]
pub struct AverageQueue {
    value: f64,
    weight: f64,
    /// What an idle second adds to the logarithm of the average.
    decay: f64,
    idle_since: Option<Time>,
}

impl AverageQueue {
    /// The weight for which the time constant is ten round-trip times: at 100 ms the 1 - exp(-1/C) of Floyd, Gummadi and
    /// Shenker 2001.
    pub fn automatic_weight(round_trip_time: Duration, packets_per_second: f64) -> f64 {
        -libm::expm1(-1.0 / (ROUND_TRIPS * round_trip_time.seconds() * packets_per_second))
    }

    /// Sets the weight of an arrival, and how many packets the link could send in a second.
    pub fn configure(&mut self, weight: f64, packets_per_second: f64) {
        self.weight = weight;
        self.decay = libm::log1p(-weight) * packets_per_second;
    }

    /// A packet finds the queue of this length.
    pub fn on_arrival(&mut self, length: f64, now: Time) {
        if self.idle_since.is_some() {
            self.value = self.at(now);
            self.idle_since = None;
        } else {
            self.sample(length);
        }
    }

    /// Takes in a length.
    pub fn sample(&mut self, length: f64) {
        self.value += self.weight * (length - self.value);
    }

    /// The link found nothing to send.
    pub fn on_idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    /// What the latest arrival left.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// What an arrival now would leave if the link has been idle, as if it had sent packets all the time.
    pub fn at(&self, now: Time) -> f64 {
        match self.idle_since {
            Some(since) if self.value > 0.0 && now > since => {
                self.value * libm::exp(self.decay * now.since(since).seconds())
            }
            _ => self.value,
        }
    }
}
