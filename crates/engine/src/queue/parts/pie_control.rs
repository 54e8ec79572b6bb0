//! PIE's control of a line of packets (RFC 8033): which arrivals are dropped or marked.
//!
//! The discipline `pie` is this over one line; disciplines with many lines have a control for each.

use super::{Fifo, Queued};
use crate::packet::Packet;
use crate::queue::discipline::Context;
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
    /// Parameters of PIE.
    pub struct PieParameters {
        target: Duration = Duration::from_milliseconds(15), "Target queueing delay (QDELAY_REF)", "RFC 8033 section 4.2";
        update_interval: Duration = Duration::from_milliseconds(15), in 1e6..1e18, "How often the drop probability is updated (T_UPDATE)", "RFC 8033 section 4.2";
        alpha: f64 = 0.125, in 0..1000000, "Gain on the distance from the target, per second", "RFC 8033 appendix A";
        beta: f64 = 1.25, in 0..1000000, "Gain on the change of the delay, per second", "RFC 8033 appendix A";
        scaling: PieScaling = PieScaling::Rfc8033, "Steps by which the gains are lowered at low drop probabilities", "RFC 8033 section 4.2";
        maximum_burst: Duration = Duration::from_milliseconds(150), "Length of a burst that is not dropped (MAX_BURST)", "RFC 8033 section 4.4";
        mean_packet_size: Bytes = Bytes(1500), "No early drop while at most two packets of this size are queued (MEAN_PKTSIZE)", "RFC 8033 section 4.1 names no value, section 5.2 expects 1 or 1.5 KB; Linux takes the MTU";
        estimator: DelayEstimator = DelayEstimator::Sojourn, "How the queueing delay is estimated", "RFC 8033 section 4.3 allows both, appendix A uses timestamps";
        departure_threshold: Bytes = Bytes(16384), in 1..1e12, "Bytes in a measurement of the departure rate (DQ_THRESHOLD)", "RFC 8033 section 5.2 and appendix B";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8033 section 5.1: optional";
        mark_threshold: f64 = 0.1, in 0..1, "Drop probability from which ECN-capable packets are dropped too (mark_ecnth)", "RFC 8033 section 5.1";
        derandomise: bool = false, "Avoid drops too close together or too far apart", "RFC 8033 section 5.4: optional, off in ns-3";
        cap_adjustment: bool = true, "From a drop probability of 10 % on, raise it by at most two percentage points per update", "RFC 8033 section 5.5: optional, on in Linux and ns-3";
        high_delay: Duration = Duration::ZERO, "Queueing delay above which each update adds two more percentage points; zero disables this", "RFC 8033 has no such rule; Linux adds them above 250 ms, ns-3.30 above 200 ms";
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

    fn is_short(&self, delay: Duration) -> bool {
        delay * 2 < self.target
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

/// Where the control of one line stands.
#[derive(Debug)]
pub struct PieControl {
    pub(in crate::queue) probability: f64,
    pub(in crate::queue) delay: Duration,
    pub(in crate::queue) delay_before: Duration,
    pub(in crate::queue) burst_allowance: Duration,
    pub(in crate::queue) accumulated: f64,
    departure_rate: DepartureRate,
}

impl PieControl {
    /// Of an empty line.
    pub fn new(parameters: &PieParameters) -> PieControl {
        PieControl {
            probability: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst_allowance: parameters.maximum_burst,
            accumulated: 0.0,
            departure_rate: DepartureRate::default(),
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

    /// Whether an update would change nothing that matters, if the line is empty: the next arrival renews the burst
    /// allowance.
    pub fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.delay == Duration::ZERO && self.delay_before == Duration::ZERO
    }

    /// A packet found no room.
    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// Whether this arrival may join the line; if not it is dropped.
    pub fn admits(
        &mut self,
        packet: &mut Packet,
        queue: &Fifo,
        parameters: &PieParameters,
        context: &mut Context,
    ) -> bool {
        if self.probability == 0.0 && parameters.is_short(self.delay) && parameters.is_short(self.delay_before) {
            self.burst_allowance = parameters.maximum_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.selects(queue, parameters, context.random) {
            self.accumulated = 0.0;
            let may_mark = parameters.ecn && self.probability < parameters.mark_threshold;
            return context.mark_or_drop(packet, may_mark, None);
        }
        true
    }

    /// A packet has left the line.
    pub fn on_departure(&mut self, head: &Queued, queue: &Fifo, parameters: &PieParameters, now: Time) {
        match parameters.estimator {
            DelayEstimator::Sojourn if queue.packets() == 0 => self.delay = Duration::ZERO,
            DelayEstimator::Sojourn => self.delay = now.since(head.since),
            DelayEstimator::DepartureRate => self.departure_rate.on_departure(
                now,
                u64::from(head.packet.size),
                queue.bytes(),
                parameters.departure_threshold.0,
            ),
        }
    }

    /// The drop probability is due for an update.
    pub fn update(&mut self, queue: &Fifo, parameters: &PieParameters) {
        if parameters.estimator == DelayEstimator::DepartureRate {
            self.delay = self.departure_rate.delay(queue.bytes(), parameters.departure_threshold.0);
        }
        self.probability = parameters.next_probability(self.probability, self.delay, self.delay_before);
        self.delay_before = self.delay;
        self.burst_allowance = self.burst_allowance - parameters.update_interval;
    }

    /// Whether an arrival is exposed to the drop probability.
    pub fn may_drop(&self, queue: &Fifo, parameters: &PieParameters) -> bool {
        self.burst_allowance == Duration::ZERO && self.probability > 0.0 && !self.is_safe(queue, parameters)
    }

    /// Whether nothing is dropped early whatever the drop probability (section 4.1).
    fn is_safe(&self, queue: &Fifo, parameters: &PieParameters) -> bool {
        parameters.is_short(self.delay_before) && self.probability < SAFE_PROBABILITY
            || queue.bytes() <= 2 * parameters.mean_packet_size.0
    }

    /// Whether to drop or mark an arrival (appendix A's `drop_early`, with section 5.4 from appendix B).
    fn selects(&mut self, queue: &Fifo, parameters: &PieParameters, random: &mut Random) -> bool {
        if self.is_safe(queue, parameters) {
            return false;
        }
        if parameters.derandomise {
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
