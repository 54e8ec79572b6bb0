//! How many flows lose packets in the same congestion epoch at a queue.

use std::sync::Arc;

use crate::time::{Duration, Time};
use crate::units::Rate;

state! {
    /// Congestion epochs of a queue. One begins when a long-lived flow loses a data packet outside of any, and lasts a round trip:
    /// the base round-trip time, and the time that the queue, as it is then, takes to be sent. A flow cannot respond sooner.
    pub LossEpochs(base: Duration, rate: Rate, long_lived: Arc<[bool]>, crossing: u64) {
        /// The longest base round-trip time of the flows that cross the link.
        base: Duration = base,
        rate: Rate = rate,
        /// Of every flow of the run, whether it counts.
        long_lived: Arc<[bool]> = long_lived,
        /// How many of these cross the link.
        crossing: u64 = crossing,
        ends: Time,
        epochs: u64,
        /// Flows that lost packets, added up over epochs.
        losers: u64,
        /// Of every flow the number of the latest epoch in which it lost; empty before the first loss.
        latest: Vec<u64>,
    }
}

/// Over the epochs in the measuring window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synchronisation {
    /// How many there were.
    pub epochs: u64,
    /// The mean share of the flows that lost packets in an epoch.
    pub share: f64,
}

impl LossEpochs {
    /// A flow loses a data packet; the queue holds so many bytes.
    pub fn on_loss(&mut self, flow: u32, queued: u64, now: Time) {
        let flow = flow as usize;
        // Connections that arrive by themselves have numbers beyond those of the flows.
        if !self.long_lived.get(flow).is_some_and(|is_long_lived| *is_long_lived) {
            return;
        }
        if self.latest.is_empty() {
            self.latest = vec![0; self.long_lived.len()];
        }
        if now >= self.ends {
            self.epochs += 1;
            self.ends = now + self.base + self.rate.transmission_time(queued);
        }
        if self.latest[flow] != self.epochs {
            self.latest[flow] = self.epochs;
            self.losers += 1;
        }
    }

    /// The measuring window opens: counts begin anew.
    pub fn open_window(&mut self) {
        (self.ends, self.epochs, self.losers) = (Time::ZERO, 0, 0);
        self.latest.fill(0);
    }

    /// What was measured in the window; none if nothing was lost.
    pub fn synchronisation(&self) -> Option<Synchronisation> {
        let flows = self.epochs * self.crossing;
        (flows > 0).then(|| Synchronisation { epochs: self.epochs, share: self.losers as f64 / flows as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epoch lasts 100 ms and the 10 ms of 10 queued packets. Of three flows two lose in the first, one of them twice, and
    /// one in the second: (2/3 + 1/3) / 2. The fourth flow does not count, and no connection that arrived.
    #[test]
    fn shares_of_epochs() {
        let flows: Arc<[bool]> = [true, true, true, false].into();
        let mut epochs = LossEpochs::new(Duration::from_milliseconds(100), Rate(12_000_000), flows, 3);
        let at = |milliseconds: u64| Time::ZERO + Duration::from_milliseconds(milliseconds);
        epochs.on_loss(0, 15_000, at(5));
        epochs.open_window();
        for (milliseconds, flow) in [(0, 3), (10, 0), (20, 1), (119, 1), (120, 2), (130, 3), (131, 1 << 31)] {
            epochs.on_loss(flow, 15_000, at(milliseconds));
        }
        assert_eq!(epochs.synchronisation(), Some(Synchronisation { epochs: 2, share: 0.5 }));
    }
}
