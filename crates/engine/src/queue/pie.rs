//! PIE (Proportional Integral controller Enhanced, RFC 8033): drop arrivals with a probability that a controller
//! adjusts so that the queueing delay nears its target.

use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Bytes;
use crate::{choice, parameters};

choice! {
    /// How PIE learns the queueing delay.
    pub enum DelayEstimator {
        /// From the time the last packet sent was queued (RFC 8033 section 4.3).
        Sojourn = "sojourn",
        /// From the queue's length and the measured departure rate (RFC 8033 section 5.2).
        DepartureRate = "departure_rate",
    }
}

choice! {
    /// The steps in which PIE lowers its gains when it drops little.
    pub enum PieScaling {
        /// Six steps, the first below 0.0001 %.
        Rfc8033 = "rfc8033",
        /// Two steps, below 1 % and below 10 %.
        Hpsr2013 = "hpsr2013",
    }
}

impl PieScaling {
    /// What the change of the drop probability is divided by.
    fn divisor(self, probability: f64) -> f64 {
        // RFC 8033 section 4.2; Pan et al. (HPSR 2013), as Piotrowska (2021) section 4.1 gives it.
        let steps: &[(f64, f64)] = match self {
            PieScaling::Rfc8033 => {
                &[(0.000001, 2048.0), (0.00001, 512.0), (0.0001, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)]
            }
            PieScaling::Hpsr2013 => &[(0.01, 8.0), (0.1, 2.0)],
        };
        steps.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
    }
}

parameters! {
    /// PIE's parameters.
    pub struct PieParameters {
        target: Duration = Duration::from_milliseconds(15), "Queueing delay to aim at (QDELAY_REF)", "RFC 8033 section 4.2";
        update_interval: Duration = Duration::from_milliseconds(15), in 1e6..1e18, "How often the drop probability is updated (T_UPDATE)", "RFC 8033 section 4.2";
        alpha: f64 = 0.125, in 0..1000000, "Gain on the distance from the target, per second", "RFC 8033 appendix A";
        beta: f64 = 1.25, in 0..1000000, "Gain on the change of the delay, per second", "RFC 8033 appendix A";
        scaling: PieScaling = PieScaling::Rfc8033, "Steps in which a low drop probability lowers the gains", "RFC 8033 section 4.2";
        maximum_burst: Duration = Duration::from_milliseconds(150), "Length of a burst that is let through (MAX_BURST)", "RFC 8033 section 4.4";
        mean_packet_size: Bytes = Bytes(1500), "No early drop while at most two packets of this size are queued (MEAN_PKTSIZE)", "RFC 8033 section 4.1 names no value, section 5.2 expects 1 or 1.5 KB; Linux takes the MTU";
        estimator: DelayEstimator = DelayEstimator::Sojourn, "How the queueing delay is learnt", "RFC 8033 section 4.3 allows both, appendix A uses timestamps";
        departure_threshold: Bytes = Bytes(16384), in 1..1e12, "Bytes in a measurement of the departure rate (DQ_THRESHOLD)", "RFC 8033 section 5.2 and appendix B";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8033 section 5.1: optional";
        mark_threshold: f64 = 0.1, in 0..1, "Drop probability from which ECN-capable packets are dropped too (mark_ecnth)", "RFC 8033 section 5.1";
        derandomise: bool = false, "Keep drops from coming too close together or too far apart", "RFC 8033 section 5.4: optional, off in ns-3";
        cap_adjustment: bool = true, "From a drop probability of 10 % on, raise it by at most two points an update", "RFC 8033 section 5.5: optional, on in Linux and ns-3";
        high_delay: Duration = Duration::ZERO, "Queueing delay above which each update adds another two points; zero for never", "RFC 8033 has no such rule; Linux adds them above 250 ms, ns-3.30 above 200 ms";
    }
}

/// Section 4.2: what is left of the drop probability after an update without queueing delay.
const DECAY: f64 = 0.98;
/// Section 4.1: below this drop probability nothing is dropped if the delay was below half the target.
const SAFE_PROBABILITY: f64 = 0.2;
/// Section 5.4: no drop until the drop probabilities of the arrivals add up to this.
const DERANDOMISE_LOW: f64 = 0.85;
/// Section 5.4: a drop for sure when they add up to this.
const DERANDOMISE_HIGH: f64 = 8.5;
/// Section 5.5: the drop probability from which the cap holds.
const CAP_FROM: f64 = 0.1;
/// Section 5.5: the most an update may add then.
const CAP: f64 = 0.02;
/// What an update adds above [`PieParameters::high_delay`] (Linux, net/sched/sch_pie.c).
const HIGH_DELAY_STEP: f64 = 0.02;
/// Section 5.2: the weight of a departure measurement is its threshold over this many bytes.
const FULL_WEIGHT: u64 = 1 << 16;

impl PieParameters {
    /// The drop probability that follows `probability`, given the current queueing delay and the one of the update
    /// before (section 4.2).
    pub fn next_probability(&self, probability: f64, delay: Duration, delay_before: Duration) -> f64 {
        let (current, before, target) = (delay.seconds(), delay_before.seconds(), self.target.seconds());
        let mut change = self.alpha * (current - target) + self.beta * (current - before);
        change /= self.scaling.divisor(probability);
        if self.cap_adjustment && probability >= CAP_FROM {
            change = change.min(CAP);
        }
        let mut next = probability + change;
        // Section 4.2 and appendix A; appendix B decays below half the target already.
        if delay == Duration::ZERO && delay_before == Duration::ZERO {
            next *= DECAY;
        }
        if self.high_delay > Duration::ZERO && delay > self.high_delay {
            next += HIGH_DELAY_STEP;
        }
        next.clamp(0.0, 1.0)
    }
}

/// How long [`PieParameters::departure_threshold`] bytes take to depart (section 5.2).
///
/// As in appendix B: section 5.2's text ends a measurement at the first packet that does not complete it.
#[derive(Debug, Default)]
struct DepartureRate {
    /// Since when, and how many bytes, if a measurement is under way.
    measurement: Option<(Time, u64)>,
    /// Smoothed over the measurements.
    average: Option<Duration>,
}

impl DepartureRate {
    fn on_departure(&mut self, now: Time, size: u64, bytes_queued: u64, threshold: u64) {
        if let Some((start, bytes)) = &mut self.measurement {
            *bytes += size;
            if *bytes >= threshold {
                let sample = now.since(*start);
                self.average = Some(match self.average {
                    None => sample,
                    Some(average) => smooth(average, sample, threshold.min(FULL_WEIGHT)),
                });
                self.measurement = None;
            }
        }
        // The first packet opens the measurement and is not counted: its departure ends before the time does.
        if self.measurement.is_none() && bytes_queued >= threshold {
            self.measurement = Some((now, 0));
        }
    }

    /// Little's law: how long the queued bytes take.
    fn delay(&self, bytes_queued: u64, threshold: u64) -> Duration {
        let average = u128::from(self.average.unwrap_or(Duration::ZERO).0);
        Duration((u128::from(bytes_queued) * average / u128::from(threshold)) as u64)
    }
}

fn smooth(average: Duration, sample: Duration, weight: u64) -> Duration {
    let sum = u128::from(sample.0) * u128::from(weight) + u128::from(average.0) * u128::from(FULL_WEIGHT - weight);
    Duration((sum / u128::from(FULL_WEIGHT)) as u64)
}

/// See the module.
#[derive(Debug)]
pub struct Pie {
    limit: Limit,
    parameters: PieParameters,
    queue: Fifo,
    probability: f64,
    delay: Duration,
    delay_before: Duration,
    burst_allowance: Duration,
    accumulated: f64,
    departure_rate: DepartureRate,
}

impl Pie {
    /// What it is.
    pub const ABOUT: About = About {
        name: "pie",
        aliases: &["proportional_integral_enhanced"],
        title: "PIE",
        class: "aqm",
        year: 2013,
        source: "RFC 8033",
        departures: "with timestamps, a queue that runs empty has no delay, as in Linux and ns-3: else the drop \
                     probability of an idle queue would never decay; always active (section 5.3 is optional)",
    };

    /// An empty queue.
    pub fn new(limit: Limit, parameters: PieParameters) -> Pie {
        Pie {
            limit,
            queue: Fifo::default(),
            probability: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst_allowance: parameters.maximum_burst,
            accumulated: 0.0,
            departure_rate: DepartureRate::default(),
            parameters,
        }
    }

    /// The drop probability now.
    pub fn drop_probability(&self) -> f64 {
        self.probability
    }

    /// The queueing delay as estimated last.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    fn is_short(&self, delay: Duration) -> bool {
        delay * 2 < self.parameters.target
    }

    /// What is queued.
    pub(super) fn line(&self) -> &Fifo {
        &self.queue
    }

    /// Whether an arrival is exposed to the drop probability.
    pub(super) fn may_drop(&self) -> bool {
        self.burst_allowance == Duration::ZERO && self.probability > 0.0 && !self.is_safe()
    }

    /// Whether nothing is dropped early whatever the drop probability (section 4.1).
    fn is_safe(&self) -> bool {
        self.is_short(self.delay_before) && self.probability < SAFE_PROBABILITY
            || self.queue.bytes() <= 2 * self.parameters.mean_packet_size.0
    }

    /// Whether to drop or mark an arrival (appendix A's `drop_early`, with section 5.4 from appendix B).
    fn selects(&mut self, random: &mut Random) -> bool {
        if self.is_safe() {
            return false;
        }
        if self.parameters.derandomise {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < DERANDOMISE_LOW {
                return false;
            }
            if self.accumulated >= DERANDOMISE_HIGH {
                return true;
            }
        }
        random.unit() < self.probability
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if self.limit.is_exceeded_by(&packet, &self.queue) {
            context.drop(packet, DropCause::Overflow, None);
            self.accumulated = 0.0;
            return;
        }
        if self.probability == 0.0 && self.is_short(self.delay) && self.is_short(self.delay_before) {
            self.burst_allowance = self.parameters.maximum_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.selects(context.random) {
            self.accumulated = 0.0;
            let may_mark = self.parameters.ecn && self.probability < self.parameters.mark_threshold;
            if !(may_mark && context.mark(&mut packet)) {
                context.drop(packet, DropCause::Early, None);
                return;
            }
        }
        self.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let head = self.queue.pop()?;
        match self.parameters.estimator {
            DelayEstimator::Sojourn if self.queue.packets() == 0 => self.delay = Duration::ZERO,
            DelayEstimator::Sojourn => self.delay = context.now.since(head.since),
            DelayEstimator::DepartureRate => self.departure_rate.on_departure(
                context.now,
                u64::from(head.packet.size),
                self.queue.bytes(),
                self.parameters.departure_threshold.0,
            ),
        }
        Some(head)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.update_interval)
    }

    fn on_timer(&mut self, _now: Time) {
        if self.parameters.estimator == DelayEstimator::DepartureRate {
            self.delay = self.departure_rate.delay(self.queue.bytes(), self.parameters.departure_threshold.0);
        }
        self.probability = self.parameters.next_probability(self.probability, self.delay, self.delay_before);
        self.delay_before = self.delay;
        self.burst_allowance = self.burst_allowance - self.parameters.update_interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{OptionsHandle, flags};
    use crate::queue::Outcome;
    use crate::random::Purpose;

    const PACKET: Packet = Packet {
        number: 0,
        stamp: Time::ZERO,
        flow: 0,
        hop: 0,
        options: OptionsHandle::NONE,
        size: 1500,
        flags: flags::DATA,
    };

    /// Offers packets, and counts those dropped early.
    fn early_drops(pie: &mut Pie, packets: u64, seed: u64) -> usize {
        let mut random = Random::stream(seed, Purpose::Queue, 0);
        let mut outcome = Outcome::default();
        for _ in 0..packets {
            pie.enqueue(PACKET, &mut Context { now: Time::ZERO, random: &mut random, outcome: &mut outcome });
        }
        outcome.dropped.iter().filter(|dropped| dropped.cause == DropCause::Early).count()
    }

    fn pie_holding(packets: u64, limit: Limit, parameters: PieParameters) -> Pie {
        let mut pie = Pie::new(limit, parameters);
        for _ in 0..packets {
            pie.queue.push(PACKET, Time::ZERO);
        }
        pie
    }

    /// RFC 8033 section 4.1: nothing is dropped early while the delay was below half the target and the drop
    /// probability below 20 %, nor while at most two packets are queued.
    #[test]
    fn safeguards_hold_up_to_their_bounds() {
        let drops = |probability, delay_before_us, queued| {
            let parameters = PieParameters { maximum_burst: Duration::ZERO, ..PieParameters::default() };
            let mut dropped = 0;
            for seed in 0..100 {
                let mut pie = pie_holding(queued, Limit::Packets(u64::MAX), parameters.clone());
                pie.probability = probability;
                pie.delay_before = Duration::from_microseconds(delay_before_us);
                dropped += early_drops(&mut pie, 1, seed);
            }
            dropped
        };
        assert_eq!(drops(0.199, 7_499, 10), 0);
        assert!(drops(0.2, 7_499, 10) > 0, "20 %");
        assert!(drops(0.199, 7_500, 10) > 0, "half the target");
        assert_eq!(drops(0.9, 100_000, 2), 0);
        assert!(drops(0.9, 100_000, 3) > 0, "three packets");
    }

    /// RFC 8033 section 4.4: an arrival renews the burst allowance if there is no drop probability and both delays
    /// are below half the target.
    #[test]
    fn burst_allowance_is_renewed_when_congestion_is_gone() {
        let renewed = |probability, delay_us, delay_before_us| {
            let mut pie = pie_holding(10, Limit::Packets(u64::MAX), PieParameters::default());
            pie.burst_allowance = Duration::ZERO;
            pie.probability = probability;
            pie.delay = Duration::from_microseconds(delay_us);
            pie.delay_before = Duration::from_microseconds(delay_before_us);
            early_drops(&mut pie, 1, 1);
            pie.burst_allowance == Duration::from_milliseconds(150)
        };
        assert!(renewed(0.0, 7_499, 7_499));
        assert!(!renewed(0.0, 7_500, 7_499));
        assert!(!renewed(0.0, 7_499, 7_500));
        assert!(!renewed(1e-9, 7_499, 7_499));
    }

    /// RFC 8033 section 5.4 and appendix B: derandomised, an arrival at a drop probability of zero and an overflow
    /// start the sum anew.
    #[test]
    fn sum_of_probabilities_starts_anew() {
        for seed in 0..20 {
            let drops_after = |disturb: fn(&mut Pie)| {
                let parameters =
                    PieParameters { maximum_burst: Duration::ZERO, derandomise: true, ..PieParameters::default() };
                let mut pie = pie_holding(10, Limit::Packets(14), parameters);
                pie.delay_before = Duration::from_milliseconds(20);
                pie.probability = 0.4;
                assert_eq!(early_drops(&mut pie, 2, seed), 0, "0.8 is too little");
                disturb(&mut pie);
                pie.probability = 0.4;
                pie.queue.pop();
                pie.queue.pop();
                early_drops(&mut pie, 2, seed)
            };
            let at_zero = |pie: &mut Pie| {
                pie.probability = 0.0;
                early_drops(pie, 1, 1);
            };
            let overflow = |pie: &mut Pie| {
                pie.limit = Limit::Packets(0);
                early_drops(pie, 1, 1);
                pie.limit = Limit::Packets(14);
            };
            assert_eq!(drops_after(at_zero), 0);
            assert_eq!(drops_after(overflow), 0);
            let certain = |pie: &mut Pie| pie.accumulated = 8.2;
            assert_eq!(drops_after(certain), 1);
        }
    }
}
