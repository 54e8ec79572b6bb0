//! The spacing of RED's drops: uniform instead of geometric (Floyd and Jacobson 1993).

/// Counts the arrivals since the latest drop.
#[derive(Clone, Debug, Default)]
pub struct DropSpacing {
    /// Whether the average queue length was above the minimum threshold at the previous arrival.
    counts: bool,
    /// Packets, or bytes in units of the mean packet size.
    count: f64,
}

impl DropSpacing {
    /// Stops counting: the average queue length is below the minimum threshold.
    pub fn stop(&mut self) {
        self.counts = false;
    }

    /// Restarts the count after a drop or mark.
    pub fn restart(&mut self) {
        self.count = 0.0;
    }

    /// Counts an arrival with the given weight. Returns whether it may be dropped: the first one above the threshold
    /// may not, as in ns-2's red.cc.
    pub fn count(&mut self, portion: f64) -> bool {
        if !self.counts {
            self.counts = true;
            self.count = portion;
            return false;
        }
        self.count += portion;
        true
    }

    /// The probability that makes the intervals between drops uniform on 1 to 1/p or, with `wait`, on 1/p to 2/p
    /// (ns-2's `modify_p`).
    pub fn spread(&self, probability: f64, wait: bool) -> f64 {
        let sum = self.count * probability;
        if wait && sum < 1.0 {
            0.0
        } else {
            let limit = if wait { 2.0 } else { 1.0 };
            if sum < limit { (probability / (limit - sum)).min(1.0) } else { 1.0 }
        }
    }
}
