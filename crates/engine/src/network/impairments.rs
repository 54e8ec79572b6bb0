//! What happens to packets on a link besides queueing, transmission and delay.

use crate::random::{Purpose, Random};
use crate::specification::{BurstLoss, Impairments, JitterDistribution, JitterSpecification, PolicerSpecification};
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};

/// A token bucket that drops the packets for which it has no tokens: one rate and two colours (RFC 2697 without the
/// excess burst, as Linux's `police` and routers' policers do).
#[derive(Debug)]
pub struct Policer {
    rate: u64,
    burst: u128,
    /// In bits times picoseconds per second, so that all arithmetic is exact.
    tokens: u128,
    since: Time,
}

impl Policer {
    pub fn new(specification: PolicerSpecification) -> Policer {
        let burst = scaled(specification.burst.0);
        Policer { rate: specification.rate.0, burst, tokens: burst, since: Time::ZERO }
    }

    /// Whether a packet of this size conforms; it takes its tokens if it does.
    pub fn admits(&mut self, size: u16, now: Time) -> bool {
        let gained = u128::from(self.rate) * u128::from(now.since(self.since).0);
        self.tokens = (self.tokens + gained).min(self.burst);
        self.since = now;
        let needed = scaled(u64::from(size));
        let admitted = needed <= self.tokens;
        if admitted {
            self.tokens -= needed;
        }
        admitted
    }
}

fn scaled(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND)
}

/// Losses in bursts: the chain of Gilbert and Elliott. It begins in the good state. A packet is lost or not by the state that
/// it finds, and then the chain takes a step.
#[derive(Debug)]
pub struct Bursts {
    model: BurstLoss,
    is_bad: bool,
    random: Random,
}

impl Bursts {
    /// A chain in its good state.
    pub fn new(model: BurstLoss, random: Random) -> Bursts {
        Bursts { model, is_bad: false, random }
    }

    /// Whether the next packet is lost.
    pub fn takes(&mut self) -> bool {
        let (loss, step) =
            if self.is_bad { (self.model.inside, self.model.leave) } else { (self.model.outside, self.model.enter) };
        let lost = self.random.unit() < loss;
        self.is_bad ^= self.random.unit() < step;
        lost
    }
}

/// A random delay.
#[derive(Debug)]
pub struct Jitter {
    specification: JitterSpecification,
    random: Random,
}

impl Jitter {
    fn draw(&mut self) -> Duration {
        let JitterSpecification { distribution, mean, .. } = self.specification;
        match distribution {
            JitterDistribution::Uniform => self.random.below(mean + mean),
            JitterDistribution::Exponential => self.random.exponential(mean),
        }
    }
}

/// An event that befalls each packet with some probability.
#[derive(Debug)]
struct Chance {
    probability: f64,
    random: Random,
}

impl Chance {
    fn strikes(&mut self) -> bool {
        self.random.unit() < self.probability
    }
}

/// The impairments of a link behind its queue. Each draws from a random stream of its own, so that one more does not change what
/// the others draw.
#[derive(Debug, Default)]
pub struct Wire {
    bursts: Option<Bursts>,
    bit_errors: Option<Chance>,
    duplication: Option<Chance>,
    jitter: Option<Jitter>,
    slot: Duration,
}

impl Wire {
    pub fn new(impairments: &Impairments, seed: u64, link: u64) -> Wire {
        let stream = |purpose| Random::stream(seed, purpose, link);
        let chance =
            |probability: f64, purpose| (probability > 0.0).then(|| Chance { probability, random: stream(purpose) });
        Wire {
            bursts: impairments.burst_loss.map(|model| Bursts::new(model, stream(Purpose::BurstLoss))),
            bit_errors: chance(impairments.bit_error_ratio, Purpose::BitErrors),
            duplication: chance(impairments.duplication, Purpose::Duplication),
            jitter: impairments.jitter.map(|specification| Jitter { specification, random: stream(Purpose::Jitter) }),
            slot: impairments.slot,
        }
    }

    /// Whether the next packet, of this many bytes, is lost.
    pub fn takes(&mut self, size: u16) -> bool {
        let in_burst = self.bursts.as_mut().is_some_and(Bursts::takes);
        let is_wrong = self.bit_errors.as_mut().is_some_and(|errors| {
            let intact = libm::pow(1.0 - errors.probability, f64::from(8 * u32::from(size)));
            errors.random.unit() >= intact
        });
        in_burst || is_wrong
    }

    /// Whether the next packet arrives twice.
    pub fn duplicates(&mut self) -> bool {
        self.duplication.as_mut().is_some_and(Chance::strikes)
    }

    /// By how much the impairments delay the next packet, which would else arrive at `arrival`.
    pub fn delay(&mut self, arrival: Time) -> Duration {
        let jitter = self.jitter.as_mut().map_or(Duration::ZERO, Jitter::draw);
        if self.slot == Duration::ZERO {
            return jitter;
        }
        let ready = arrival + jitter;
        let into = Duration(ready.0 % self.slot.0);
        if into == Duration::ZERO { jitter } else { jitter + (self.slot - into) }
    }

    /// Whether packets may overtake one another.
    pub fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(|jitter| jitter.specification.reorders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Rate};

    fn second(seconds: f64) -> Time {
        Time((seconds * PICOSECONDS_PER_SECOND as f64) as u64)
    }

    /// Haßlinger and Hohlfeld (2008), section 3: the share of losses is that of the stationary chain, and with certain losses in
    /// the bad state and none in the good one, the mean run of losses is 1 / leave packets and of others 1 / enter. Within four
    /// standard deviations of 2,000 independent cycles.
    #[test]
    fn losses_in_bursts() {
        let share = |enter: f64, leave: f64, inside: f64, outside: f64| {
            let model = BurstLoss { enter, leave, inside, outside };
            let mut bursts = Bursts::new(model, Random::stream(5, Purpose::BurstLoss, 0));
            let packets = 2_000 * (1.0 / enter + 1.0 / leave) as usize;
            let lost: Vec<bool> = (0..packets).map(|_| bursts.takes()).collect();
            let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
            (lost.iter().filter(|lost| **lost).count() as f64, packets as f64, runs as f64)
        };
        for (enter, leave) in [(0.01, 0.2), (0.001, 0.5), (0.05, 0.05)] {
            let (lost, packets, runs) = share(enter, leave, 1.0, 0.0);
            let tolerance = 4.0 / 2_000f64.sqrt();
            assert!(
                (lost / packets / (enter / (enter + leave)) - 1.0).abs() < 2f64.sqrt() * tolerance,
                "{lost} of {packets}"
            );
            assert!((lost / runs * leave - 1.0).abs() < tolerance, "{lost} in {runs} runs");
            let (lost, packets, _) = share(enter, leave, 0.5, 0.1);
            let expected = (0.1 * leave + 0.5 * enter) / (enter + leave);
            assert!(
                (lost / packets / expected - 1.0).abs() < 2f64.sqrt() * tolerance,
                "{lost} of {packets}, not {expected}"
            );
        }
    }

    /// RFC 2697 by hand: a bucket of 3000 bytes that gains 1000 bytes a second admits two packets of 1500 bytes at once, the next
    /// after 1.5 s, and one of 1000 bytes a second later; a packet larger than the bucket never.
    #[test]
    fn token_bucket() {
        let mut policer = Policer::new(PolicerSpecification { rate: Rate(8_000), burst: Bytes(3_000) });
        let packets = [(0.0, 1500), (0.0, 1500), (0.0, 40), (1.49, 1500), (1.5, 1500), (2.4, 1000), (2.5, 1000)];
        let admitted: Vec<bool> = packets.iter().map(|(time, size)| policer.admits(*size, second(*time))).collect();
        assert_eq!(admitted, [true, true, false, false, true, false, true]);
        assert!(!policer.admits(3_001, second(1_000.0)));
        assert!(policer.admits(3_000, second(1_000.0)), "no more than the burst, however long it waits");
    }
}
