//! The probability with which RED and its kin drop, as a function of the average queue.

/// Nothing below the minimum threshold, a maximum probability at the maximum threshold, and in between a line (Floyd and
/// Jacobson 1993). Beyond, everything; or, when gentle, all the more up to twice the threshold (Floyd,
/// "Recommendation on using the gentle variant of RED", 2000).
#[derive(Clone, Copy, Debug)]
pub struct DropCurve {
    minimum: f64,
    maximum: f64,
    maximum_probability: f64,
    gentle: bool,
}

impl DropCurve {
    /// A curve with these thresholds.
    pub fn new(minimum: f64, maximum: f64, maximum_probability: f64, gentle: bool) -> DropCurve {
        DropCurve { minimum, maximum, maximum_probability, gentle }
    }

    /// The minimum threshold.
    pub fn minimum(&self) -> f64 {
        self.minimum
    }

    /// The maximum threshold.
    pub fn maximum(&self) -> f64 {
        self.maximum
    }

    /// The probability at the maximum threshold.
    pub fn maximum_probability(&self) -> f64 {
        self.maximum_probability
    }

    /// Moves the thresholds.
    pub fn set_thresholds(&mut self, minimum: f64, maximum: f64) {
        (self.minimum, self.maximum) = (minimum, maximum);
    }

    /// Sets the probability at the maximum threshold.
    pub fn set_maximum_probability(&mut self, probability: f64) {
        self.maximum_probability = probability;
    }

    /// The probability at this average.
    pub fn probability(&self, average: f64) -> f64 {
        if average < self.minimum {
            0.0
        } else if average < self.maximum {
            self.maximum_probability * (average - self.minimum) / (self.maximum - self.minimum)
        } else if self.gentle && average < 2.0 * self.maximum {
            let excess = (average - self.maximum) / self.maximum;
            self.maximum_probability + (1.0 - self.maximum_probability) * excess
        } else {
            1.0
        }
    }
}
