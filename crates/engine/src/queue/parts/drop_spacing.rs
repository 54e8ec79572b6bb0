//! How RED spaces its drops: uniformly instead of geometrically (Floyd and Jacobson 1993).

/// Counts what came since the last drop.
#[derive(Clone, Debug, Default)]
pub struct DropSpacing {
    /// Whether the average has been above the minimum threshold since the packet before.
    counts: bool,
    /// Packets, or bytes in packets of the mean size.
    count: f64,
}

impl DropSpacing {
    /// The average is below the minimum threshold.
    pub fn stop(&mut self) {
        self.counts = false;
    }

    /// A packet was dropped or marked.
    pub fn restart(&mut self) {
        self.count = 0.0;
    }

    /// A packet came that counts for so much. Whether it may be dropped: the first one above the threshold is not, as in
    /// ns-2's red.cc.
    pub fn count(&mut self, portion: f64) -> bool {
        if !self.counts {
            self.counts = true;
            self.count = portion;
            return false;
        }
        self.count += portion;
        true
    }

    /// The probability that makes intervals between drops uniform on 1 to 1/p; or, with `wait`, on 1/p to 2/p (ns-2's
    /// `modify_p`).
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
