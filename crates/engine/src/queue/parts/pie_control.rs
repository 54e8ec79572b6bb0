//! PIE on one FIFO (RFC 8033): decides which arrivals to drop or mark.
//!
//! The discipline `pie` applies it to a single queue. Disciplines with several queues have one control per queue.

use super::{Fifo, QueueRules};
use crate::packet::Packet;
use crate::queue::discipline::{Context, Queued};
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Bytes;

choice! {
    /// How PIE estimates the queueing delay.
    pub enum DelayEstimator {
        /// From the sojourn time of the packet sent last (RFC 8033 section 4.3).
        Sojourn = "sojourn",
        /// From the queue length and the measured departure rate (RFC 8033 section 5.2).
        DepartureRate = "departure_rate",
        /// The same with ns-3.30's measurement (pie-queue-disc.cc, DoDequeue).
        Ns3DepartureRate = "ns3_departure_rate",
    }
}

choice! {
    /// The steps by which PIE lowers its gains at low drop probabilities.
    pub enum PieScaling {
        /// Six steps, the first below 0.0001 %.
        Rfc8033 = "rfc8033",
        /// Two steps, below 1 % and below 10 %.
        Hpsr2013 = "hpsr2013",
        /// Three steps, the first below 0.1 %, and twice the gains from 10 % on.
        Ns3 = "ns3",
    }
}

impl PieScaling {
    /// The divisor of the change of the drop probability.
    fn divisor(self, probability: f64) -> f64 {
        // RFC 8033 section 4.2; Pan et al. (HPSR 2013), as Piotrowska (2021) section 4.1 gives it; ns-3.30 pie-queue-disc.cc,
        // CalculateP, whose further steps are for probabilities above 1.
        let steps: &[(f64, f64)] = match self {
            PieScaling::Rfc8033 => {
                &[(0.000001, 2048.0), (0.00001, 512.0), (0.0001, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)]
            }
            PieScaling::Hpsr2013 => &[(0.01, 8.0), (0.1, 2.0)],
            PieScaling::Ns3 => &[(0.001, 32.0), (0.01, 8.0), (0.1, 2.0), (f64::INFINITY, 0.5)],
        };
        steps.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
    }
}

parameters! {
    pub struct PieParameters {
        target: Duration = Duration::from_milliseconds(15), "Target queueing delay (QDELAY_REF)", "RFC 8033 section 4.2";
        update_interval: Duration = Duration::from_milliseconds(15), in 1e6..1e18, "How often the drop probability is updated (T_UPDATE)", "RFC 8033 section 4.2";
        alpha: f64 = 0.125, in 0..1000000, "Gain on the distance from the target, per second", "RFC 8033 appendix A";
        beta: f64 = 1.25, in 0..1000000, "Gain on the change of the delay, per second", "RFC 8033 appendix A";
        scaling: PieScaling = PieScaling::Rfc8033, "Steps by which the gains are lowered at low drop probabilities; ns3: by 32 below 0.1 %, and twice the gains from 10 % on", "RFC 8033 section 4.2; ns-3.30 pie-queue-disc.cc, CalculateP";
        maximum_burst: Duration = Duration::from_milliseconds(150), "Length of a burst that is not dropped (MAX_BURST)", "RFC 8033 section 4.4";
        mean_packet_size: Bytes = Bytes(1500), "No early drop while at most two packets of this size are queued (MEAN_PKTSIZE)", "RFC 8033 section 4.1 names no value, section 5.2 expects 1 or 1.5 KB; Linux takes the MTU";
        estimator: DelayEstimator = DelayEstimator::Sojourn, "How the queueing delay is estimated; ns3_departure_rate counts the first packet of a measurement too, weighs each with a half, and forgets the rate of a calm queue", "RFC 8033 section 4.3 allows both, appendix A uses timestamps; ns-3.30 pie-queue-disc.cc, DoDequeue and CalculateP";
        departure_threshold: Bytes = Bytes(16384), in 1..1e12, "Bytes in a measurement of the departure rate (DQ_THRESHOLD)", "RFC 8033 section 5.2 and appendix B";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8033 section 5.1: optional";
        mark_threshold: f64 = 0.1, in 0..1, "Drop probability from which ECN-capable packets are dropped too (mark_ecnth)", "RFC 8033 section 5.1";
        derandomise: bool = false, "Avoid drops too close together or too far apart", "RFC 8033 section 5.4: optional, off in ns-3";
        cap_adjustment: bool = true, "From a drop probability of 10 % on, raise it by at most two percentage points per update", "RFC 8033 section 5.5: optional, on in Linux and ns-3";
        high_delay: Duration = Duration::ZERO, "Queueing delay above which each update adds two more percentage points; zero disables this", "RFC 8033 has no such rule; Linux adds them above 250 ms, ns-3.30 above 200 ms";
        rules: QueueRules = QueueRules::Published, "Whose details: linux spares arrivals by the latest delay, ends the burst allowance by the time between departures, lets an idle probability decay by 1/64 while nothing is queued, lets a probability of 1 grow on, spaces drops as derandomise does, and has a high_delay of 250 ms", "RFC 8033 sections 4.1, 4.2 and 4.4; Linux, net/sched/sch_pie.c, pie_drop_early, pie_process_dequeue and pie_calculate_probability";
    }
}

/// Section 4.2: the factor by which an update without queueing delay multiplies the drop probability.
const DECAY: f64 = 0.98;
/// Section 4.1: below this drop probability no packet is dropped if the delay was below half the target.
const SAFE_PROBABILITY: f64 = 0.2;
/// Section 5.4: no packet is dropped until the accumulated drop probability reaches this value.
const DERANDOMISE_LOW: f64 = 0.85;
/// Section 5.4: a packet is always dropped when the accumulated drop probability reaches this value.
const DERANDOMISE_HIGH: f64 = 8.5;
/// Section 5.5: the drop probability from which the cap applies.
const CAP_FROM: f64 = 0.1;
/// Section 5.5: the maximum increase per update under the cap.
const CAP: f64 = 0.02;
/// The increase per update above [`PieParameters::high_delay`] (Linux, net/sched/sch_pie.c).
const HIGH_DELAY_STEP: f64 = 0.02;
/// As [`DECAY`], in Linux (pie_calculate_probability).
const DECAY_IN_LINUX: f64 = 1.0 - 1.0 / 64.0;
/// [`PieParameters::high_delay`] in Linux (pie_calculate_probability).
const HIGH_DELAY_IN_LINUX: Duration = Duration::from_milliseconds(250);
/// The greatest probability in Linux, which has 1 at bit 56 of 64 (include/net/pie.h, MAX_PROB).
const GREATEST_IN_LINUX: f64 = 256.0;
/// Section 5.2: the weight of a departure measurement is its threshold divided by this number of bytes.
const FULL_WEIGHT: u64 = 1 << 16;

impl PieParameters {
    /// The next drop probability, given the current one and the queueing delays at this update and the previous one
    /// (section 4.2).
    pub fn next_probability(&self, probability: f64, delay: Duration, delay_before: Duration) -> f64 {
        let mut next = probability + self.change(probability, [delay, delay_before]);
        // Section 4.2 and appendix A. Appendix B decays at any delay below half the target.
        if delay == Duration::ZERO && delay_before == Duration::ZERO {
            next *= DECAY;
        }
        let is_high = self.high_delay > Duration::ZERO && delay > self.high_delay;
        (next + high_delay_step(is_high)).clamp(0.0, 1.0)
    }

    /// The same in Linux (pie_calculate_probability), of a queue that is empty or not.
    fn next_probability_in_linux(&self, probability: f64, delays: [Duration; 2], is_empty: bool) -> f64 {
        let next = probability + self.change(probability, delays) + high_delay_step(delays[0] > HIGH_DELAY_IN_LINUX);
        let next = next.clamp(0.0, GREATEST_IN_LINUX);
        if delays == [Duration::ZERO; 2] && is_empty { next * DECAY_IN_LINUX } else { next }
    }

    /// How far the delays, the current one and that before, move the drop probability.
    fn change(&self, probability: f64, [delay, delay_before]: [Duration; 2]) -> f64 {
        let (current, before, target) = (delay.seconds(), delay_before.seconds(), self.target.seconds());
        let change = self.alpha * (current - target) + self.beta * (current - before);
        let change = change / self.scaling.divisor(probability);
        if self.cap_adjustment && probability >= CAP_FROM { change.min(CAP) } else { change }
    }

    fn is_short(&self, delay: Duration) -> bool {
        delay * 2 < self.target
    }
}

fn high_delay_step(is_high: bool) -> f64 {
    if is_high { HIGH_DELAY_STEP } else { 0.0 }
}

/// The time in which [`PieParameters::departure_threshold`] bytes depart (section 5.2).
///
/// As in appendix B: the text of section 5.2 ends a measurement at the first packet that does not complete it.
#[derive(Debug, Default)]
struct DepartureRate {
    /// The start and byte count of the measurement in progress.
    measurement: Option<(Time, u64)>,
    /// The average over the measurements.
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
        // The first packet starts the measurement and is not counted: its departure precedes the measured time.
        if self.measurement.is_none() && bytes_queued >= threshold {
            self.measurement = Some((now, 0));
        }
    }

    /// The time in which the queued bytes depart, by Little's law.
    fn delay(&self, bytes_queued: u64, threshold: u64) -> Duration {
        let average = u128::from(self.average.unwrap_or(Duration::ZERO).0);
        Duration((u128::from(bytes_queued) * average / u128::from(threshold)) as u64)
    }
}

fn smooth(average: Duration, sample: Duration, weight: u64) -> Duration {
    let sum = u128::from(sample.0) * u128::from(weight) + u128::from(average.0) * u128::from(FULL_WEIGHT - weight);
    Duration((sum / u128::from(FULL_WEIGHT)) as u64)
}

/// The departure rate in ns-3.30 (pie-queue-disc.cc, DoDequeue).
///
/// The packet that starts a measurement counts, unless the measurement follows another at once. A measurement has the weight 1/2.
#[derive(Debug, Default)]
struct Ns3DepartureRate {
    /// The start and byte count of the measurement in progress.
    measurement: Option<(Time, u64)>,
    /// The average, in bytes per picosecond.
    average: Option<f64>,
}

impl Ns3DepartureRate {
    fn on_departure(&mut self, now: Time, size: u64, bytes_queued: u64, threshold: u64) {
        if self.measurement.is_none() && bytes_queued >= threshold {
            self.measurement = Some((now, 0));
        }
        let Some((start, bytes)) = &mut self.measurement else { return };
        *bytes += size;
        if *bytes < threshold {
            return;
        }
        let time = now.since(*start);
        if time > Duration::ZERO {
            let sample = *bytes as f64 / time.0 as f64;
            self.average = Some(self.average.map_or(sample, |average| 0.5 * average + 0.5 * sample));
        }
        self.measurement = (bytes_queued > threshold).then_some((now, 0));
    }

    fn delay(&self, bytes_queued: u64) -> Duration {
        Duration(self.average.map_or(0, |rate| (bytes_queued as f64 / rate) as u64))
    }

    /// Forgets the average. A measurement in progress keeps its start, but not its bytes.
    fn forget(&mut self) {
        self.average = None;
        if let Some((_, bytes)) = &mut self.measurement {
            *bytes = 0;
        }
    }
}

state! {
    /// The state of the control of one FIFO.
    pub PieControl(parameters: &PieParameters) {
        pub(in crate::queue) probability: f64,
        pub(in crate::queue) delay: Duration,
        pub(in crate::queue) delay_before: Duration,
        pub(in crate::queue) burst_allowance: Duration = parameters.maximum_burst,
        pub(in crate::queue) accumulated: f64,
        departure_rate: DepartureRate,
        departure_rate_of_ns3: Ns3DepartureRate,
        /// The latest departure since the state was that of a new queue, in Linux.
        departed: Option<Time>,
    }
}

impl PieControl {
    pub fn drop_probability(&self) -> f64 {
        self.probability
    }

    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Whether an update of an empty queue has no effect: the next arrival resets the burst allowance.
    pub fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.delay == Duration::ZERO && self.delay_before == Duration::ZERO
    }

    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// Whether to queue an arrival. If not, it is dropped.
    pub fn admits(
        &mut self,
        packet: &mut Packet,
        queue: &Fifo,
        parameters: &PieParameters,
        context: &mut Context,
    ) -> bool {
        if parameters.rules == QueueRules::Published && self.is_calm(parameters) {
            self.burst_allowance = parameters.maximum_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.selects(queue, parameters, context.random) {
            self.accumulated = 0.0;
            let may_mark = parameters.ecn && self.probability < parameters.mark_threshold;
            return context.mark_or_drop(packet, may_mark, None);
        }
        true
    }

    /// Whether the queue may have a burst again (section 4.4).
    fn is_calm(&self, parameters: &PieParameters) -> bool {
        self.probability == 0.0 && parameters.is_short(self.delay) && parameters.is_short(self.delay_before)
    }

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
            DelayEstimator::Ns3DepartureRate => self.departure_rate_of_ns3.on_departure(
                now,
                u64::from(head.packet.size),
                queue.bytes(),
                parameters.departure_threshold.0,
            ),
        }
        if parameters.rules == QueueRules::Linux {
            if let Some(departed) = self.departed.replace(now) {
                self.burst_allowance = self.burst_allowance - now.since(departed);
            }
            if self.is_at_rest() {
                self.restart_in_linux(parameters);
            }
        }
    }

    /// Linux's pie_vars_init.
    fn restart_in_linux(&mut self, parameters: &PieParameters) {
        self.burst_allowance = parameters.maximum_burst;
        self.accumulated = 0.0;
        self.departed = None;
    }

    pub fn update(&mut self, queue: &Fifo, parameters: &PieParameters) {
        match parameters.estimator {
            DelayEstimator::Sojourn => {}
            DelayEstimator::DepartureRate => {
                self.delay = self.departure_rate.delay(queue.bytes(), parameters.departure_threshold.0);
            }
            DelayEstimator::Ns3DepartureRate => self.delay = self.departure_rate_of_ns3.delay(queue.bytes()),
        }
        if parameters.rules == QueueRules::Linux {
            return self.update_in_linux(queue, parameters);
        }
        self.probability = parameters.next_probability(self.probability, self.delay, self.delay_before);
        if parameters.estimator == DelayEstimator::Ns3DepartureRate && self.is_calm(parameters) {
            self.departure_rate_of_ns3.forget();
        }
        self.delay_before = self.delay;
        self.burst_allowance = self.burst_allowance - parameters.update_interval;
    }

    fn update_in_linux(&mut self, queue: &Fifo, parameters: &PieParameters) {
        let delays = [self.delay, self.delay_before];
        self.probability = parameters.next_probability_in_linux(self.probability, delays, queue.packets() == 0);
        if self.is_calm(parameters) {
            self.restart_in_linux(parameters);
        }
        self.delay_before = self.delay;
    }

    /// Whether the drop probability applies to an arrival.
    pub fn may_drop(&self, queue: &Fifo, parameters: &PieParameters) -> bool {
        self.burst_allowance == Duration::ZERO && self.probability > 0.0 && !self.is_safe(queue, parameters)
    }

    /// Whether no packet is dropped early at any drop probability (section 4.1).
    fn is_safe(&self, queue: &Fifo, parameters: &PieParameters) -> bool {
        let delay = match parameters.rules {
            QueueRules::Published => self.delay_before,
            QueueRules::Linux => self.delay,
        };
        parameters.is_short(delay) && self.probability < SAFE_PROBABILITY
            || queue.bytes() <= 2 * parameters.mean_packet_size.0
    }

    /// Whether to drop or mark an arrival (`drop_early` of appendix A, with section 5.4 from appendix B).
    fn selects(&mut self, queue: &Fifo, parameters: &PieParameters, random: &mut Random) -> bool {
        if self.is_safe(queue, parameters) {
            return false;
        }
        if parameters.derandomise || parameters.rules == QueueRules::Linux {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn linux() -> PieParameters {
        PieParameters { rules: QueueRules::Linux, ..PieParameters::default() }
    }

    fn queue_of(packets: u64) -> Fifo {
        let mut queue = Fifo::default();
        (0..packets).for_each(|_| queue.push(Packet::FULL, Time::ZERO));
        queue
    }

    /// pie_drop_early spares arrivals while the latest delay is below half the target, RFC 8033 section 4.1 while that at the
    /// latest update was.
    #[test]
    fn sparing_delay() {
        let (short, long) = (Duration::from_milliseconds(7), Duration::from_milliseconds(8));
        for (delay, delay_before, by_linux) in [(short, long, true), (long, short, false)] {
            for (parameters, expected) in [(linux(), by_linux), (PieParameters::default(), !by_linux)] {
                let mut control = PieControl::new(&parameters);
                (control.delay, control.delay_before) = (delay, delay_before);
                assert_eq!(control.is_safe(&queue_of(10), &parameters), expected);
            }
        }
    }

    /// pie_process_dequeue takes the time between departures from the burst allowance, idle time included; an update of a calm
    /// queue restores it (pie_calculate_probability). By RFC 8033 section 4.4 it falls at updates.
    #[test]
    fn burst_allowance() {
        let parameters = linux();
        let mut control = PieControl::new(&parameters);
        let departure = |control: &mut PieControl, milliseconds: u64| {
            let head = Queued { packet: Packet::FULL, since: Time::ZERO };
            let now = Time::ZERO + Duration::from_milliseconds(milliseconds);
            control.on_departure(&head, &queue_of(10), &parameters, now);
        };
        departure(&mut control, 20);
        assert_eq!(control.burst_allowance, Duration::from_milliseconds(150));
        departure(&mut control, 60);
        control.update(&queue_of(10), &parameters);
        assert_eq!(control.burst_allowance, Duration::from_milliseconds(110));
        (control.probability, control.delay, control.delay_before) = (0.0, Duration::ZERO, Duration::ZERO);
        control.update(&queue_of(10), &parameters);
        assert_eq!(control.burst_allowance, Duration::from_milliseconds(150));
    }

    /// pie_calculate_probability by hand. A probability of 1 grows on, by at most two points an update, and by two more above
    /// 250 ms; one that decays loses 1/64, but not while packets are queued.
    #[test]
    fn probability_in_linux() {
        let parameters = linux();
        let next = |probability, delay: u64, is_empty| {
            parameters.next_probability_in_linux(probability, [Duration::from_milliseconds(delay); 2], is_empty)
        };
        assert_eq!(next(1.0, 235, true), 1.02);
        assert_eq!(next(1.0, 271, true), 1.04);
        let falling = 0.5 - 0.125 * 0.015;
        assert_eq!(next(0.5, 0, true), falling * 63.0 / 64.0);
        assert_eq!(next(0.5, 0, false), falling);
        assert_eq!(PieParameters::default().next_probability(1.0, Duration(u64::MAX / 8), Duration::ZERO), 1.0);
    }

    /// ns-3.30's DoDequeue by hand, 1500 bytes each millisecond and a threshold of 10,000: seven packets make a measurement. The first
    /// measurement lasts six milliseconds, which is 1750 bytes each, that after it seven, and the average is 1625.
    #[test]
    fn departure_rate_in_ns3() {
        let mut rate = Ns3DepartureRate::default();
        let mut depart = |from: u64, to: u64| {
            for milliseconds in from..to {
                rate.on_departure(Time::ZERO + Duration::from_milliseconds(milliseconds), 1500, 17_500, 10_000);
            }
            rate.delay(17_500).seconds()
        };
        assert_eq!(depart(0, 6), 0.0);
        assert!((depart(6, 7) - 0.010).abs() < 1e-9);
        assert!((depart(7, 14) - 17.5 / 1625.0).abs() < 1e-9);
        rate.forget();
        assert_eq!(rate.delay(17_500), Duration::ZERO);
    }
}
