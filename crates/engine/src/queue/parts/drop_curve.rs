//! The drop probability of RED and its variants, as a function of the average queue length.

/// Zero below the minimum threshold, linear between the thresholds, and the maximum drop probability at the maximum
/// threshold (Floyd and Jacobson 1993). Above the maximum threshold the probability is one or, in gentle mode,
/// increases linearly to one at twice the threshold (Floyd, "Recommendation on using the gentle variant of RED", 2000).
#[derive(Clone, Copy, Debug)]
pub struct DropCurve {
    minimum: f64,
    maximum: f64,
    maximum_probability: f64,
    gentle: bool,
}

impl DropCurve {
    pub fn new(minimum: f64, maximum: f64, maximum_probability: f64, gentle: bool) -> DropCurve {
        DropCurve { minimum, maximum, maximum_probability, gentle }
    }

    pub fn minimum(&self) -> f64 {
        self.minimum
    }

    pub fn maximum(&self) -> f64 {
        self.maximum
    }

    pub fn maximum_probability(&self) -> f64 {
        self.maximum_probability
    }

    pub fn set_thresholds(&mut self, minimum: f64, maximum: f64) {
        (self.minimum, self.maximum) = (minimum, maximum);
    }

    pub fn set_maximum_probability(&mut self, probability: f64) {
        self.maximum_probability = probability;
    }

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
