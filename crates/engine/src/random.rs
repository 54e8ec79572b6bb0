//! Random streams. Each purpose has a stream of its own, so that adding a probe, a flow or a queue does not change the
//! draws of the others.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2019) seeded through SplitMix64. Both are fixed because results
//! must be identical on every machine and in every later version.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::time::Duration;

/// The purpose of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Start times of flows. One stream per flow.
    FlowStart = 1,
    /// Draws of queue disciplines. One stream per link.
    Queue = 2,
    /// Draws of traffic sources. One stream per flow.
    Source = 3,
    /// The sender's processing overhead. One stream per flow.
    SenderOverhead = 4,
    /// Draws of congestion controls. One stream per flow.
    CongestionControl = 5,
    /// On and off periods of traffic sources. One stream per flow.
    OnOff = 6,
    /// Packets lost by links. One stream per link.
    Loss = 7,
    /// Losses in bursts. One stream per link.
    BurstLoss = 8,
    /// Bit errors. One stream per link.
    BitErrors = 9,
    /// Packets that arrive twice. One stream per link.
    Duplication = 10,
    /// Random delays of links. One stream per link.
    Jitter = 11,
    /// Times between arrivals of transfers. One stream per group.
    Arrivals = 12,
    /// Sizes of transfers. One stream per group.
    Sizes = 13,
    /// Draws of applications. One stream per session.
    Session = 14,
    /// Draws of congestion controls that are the same for all flows.
    CommonControl = 15,
    /// By how much later a link's repeated changes are. One stream per pair of nodes.
    Changes = 16,
}

#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Random {
        let mixed = split_mix(split_mix(split_mix(seed) ^ purpose as u64) ^ index);
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [0, `limit`), zero if `limit` is zero.
    pub fn below(&mut self, limit: Duration) -> Duration {
        Duration(((u128::from(self.0.next_u64()) * u128::from(limit.0)) >> 64) as u64)
    }

    /// Uniform in 0, 1, ... `count` - 1, zero if `count` is zero.
    pub fn index(&mut self, count: u64) -> u64 {
        self.below(Duration(count)).0
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_seconds_f64(-libm::log(1.0 - self.unit()) * mean.seconds())
    }
}

/// A step of SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference output of SplitMix64 from state 1234567 (Vigna's splitmix64.c).
    #[test]
    fn splitmix_reference() {
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
    }

    /// Streams of different purposes and of different indices have different first values.
    #[test]
    fn distinct_streams() {
        let mut first = Vec::new();
        for purpose in [
            Purpose::FlowStart,
            Purpose::Queue,
            Purpose::Source,
            Purpose::SenderOverhead,
            Purpose::CongestionControl,
            Purpose::OnOff,
            Purpose::Loss,
            Purpose::BurstLoss,
            Purpose::BitErrors,
            Purpose::Duplication,
            Purpose::Jitter,
            Purpose::Arrivals,
            Purpose::Sizes,
            Purpose::Session,
            Purpose::CommonControl,
        ] {
            for index in 0..50 {
                first.push(Random::stream(7, purpose, index).0.next_u64());
            }
        }
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 750);
    }

    /// The means of uniform and exponential samples are within three standard errors of the expected ones.
    #[test]
    fn sample_means() {
        let mut random = Random::stream(1, Purpose::Source, 0);
        let draws = 200_000;
        let mean = Duration::from_milliseconds(10);
        let uniform: f64 = (0..draws).map(|_| random.below(mean).seconds()).sum::<f64>() / f64::from(draws);
        let exponential: f64 = (0..draws).map(|_| random.exponential(mean).seconds()).sum::<f64>() / f64::from(draws);
        // Three standard errors: sd/sqrt(n) is 6.5 us for the uniform, 22 us for the exponential.
        assert!((uniform - 0.005).abs() < 20e-6, "{uniform}");
        assert!((exponential - 0.010).abs() < 67e-6, "{exponential}");
    }
}
