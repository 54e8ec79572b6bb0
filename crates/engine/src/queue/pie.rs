//! PIE (Proportional Integral controller Enhanced, RFC 8033): drops arrivals with a probability that a controller
//! adjusts so that the queueing delay approaches its target. The algorithm is in [`PieControl`].

use super::parts::PieControl;
use super::{BoundedFifo, Context, Fifo, Limit, QueueDiscipline, Queued};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::{Duration, Time};

pub use super::parts::{DelayEstimator, PieParameters, PieScaling};

inner_state! {
    PieState {
        drop_probability: "", "drop probability (PIE->drop_prob_)";
        delay: "s", "queueing delay by which it was last updated (current_qdelay)";
    }
}

state! {
    pub Pie(limit: Limit, parameters: PieParameters) {
        parameters: PieParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        control: PieControl = PieControl::new(&parameters),
    }
}

about! { Pie:
    name: "pie",
    aliases: ["proportional_integral_enhanced"],
    state: PieState,
    title: "PIE",
    class: "aqm",
    year: 2013,
    source: "RFC 8033",
    deviations: "with timestamps, a queue that runs empty has no delay, as in Linux and ns-3: otherwise the drop \
                 probability of an idle queue would never decay; always active (section 5.3 is optional)",
}

impl Pie {
    pub fn drop_probability(&self) -> f64 {
        self.control.drop_probability()
    }

    pub fn delay(&self) -> Duration {
        self.control.delay()
    }

    pub(super) fn line(&self) -> &Fifo {
        self.queue.line()
    }

    pub(super) fn may_drop(&self) -> bool {
        self.control.may_drop(self.queue.line(), &self.parameters)
    }
}

impl QueueDiscipline for Pie {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            self.control.on_overflow();
            return;
        }
        if self.control.admits(&mut packet, self.queue.line(), &self.parameters, context) {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let head = self.queue.pop()?;
        self.control.on_departure(&head, self.queue.line(), &self.parameters, context.now);
        Some(head)
    }

    lengths_of!(queue);

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.update_interval)
    }

    fn on_timer(&mut self, _now: Time) {
        self.control.update(self.queue.line(), &self.parameters);
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        let state = PieState { drop_probability: Some(self.drop_probability()), delay: Some(self.delay().seconds()) };
        state.tell(tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{DropCause, Outcome};
    use crate::random::{Purpose, Random};

    /// Enqueues packets and returns the number dropped early.
    fn early_drops(pie: &mut Pie, packets: u64, seed: u64) -> usize {
        let mut random = Random::stream(seed, Purpose::Queue, 0);
        let mut outcome = Outcome::default();
        for _ in 0..packets {
            pie.enqueue(Packet::FULL, &mut Context { now: Time::ZERO, random: &mut random, outcome: &mut outcome });
        }
        outcome.dropped.iter().filter(|dropped| dropped.cause == DropCause::Early).count()
    }

    fn pie_holding(packets: u64, limit: Limit, parameters: PieParameters) -> Pie {
        let mut pie = Pie::new(limit, parameters);
        for _ in 0..packets {
            pie.queue.push(Packet::FULL, Time::ZERO);
        }
        pie
    }

    /// RFC 8033 section 4.1: no early drop if the previous delay was below half the target and the drop probability is
    /// below 20 %, or if at most two packets are queued. Tested at these bounds.
    #[test]
    fn safeguard_bounds() {
        let drops = |probability, delay_before_us, queued| {
            let parameters = PieParameters { maximum_burst: Duration::ZERO, ..PieParameters::default() };
            let mut dropped = 0;
            for seed in 0..100 {
                let mut pie = pie_holding(queued, Limit::Packets(u64::MAX), parameters.clone());
                pie.control.probability = probability;
                pie.control.delay_before = Duration::from_microseconds(delay_before_us);
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

    /// RFC 8033 section 4.4: an arrival resets the burst allowance if the drop probability is zero and both delays are
    /// below half the target.
    #[test]
    fn burst_allowance_reset() {
        let renewed = |probability, delay_us, delay_before_us| {
            let mut pie = pie_holding(10, Limit::Packets(u64::MAX), PieParameters::default());
            pie.control.burst_allowance = Duration::ZERO;
            pie.control.probability = probability;
            pie.control.delay = Duration::from_microseconds(delay_us);
            pie.control.delay_before = Duration::from_microseconds(delay_before_us);
            early_drops(&mut pie, 1, 1);
            pie.control.burst_allowance == Duration::from_milliseconds(150)
        };
        assert!(renewed(0.0, 7_499, 7_499));
        assert!(!renewed(0.0, 7_500, 7_499));
        assert!(!renewed(0.0, 7_499, 7_500));
        assert!(!renewed(1e-9, 7_499, 7_499));
    }

    /// RFC 8033 section 5.4 and appendix B: with derandomisation, an arrival at a drop probability of zero and an
    /// overflow reset the accumulated probability.
    #[test]
    fn accumulated_probability_reset() {
        for seed in 0..20 {
            let drops_after = |disturb: fn(&mut Pie)| {
                let parameters =
                    PieParameters { maximum_burst: Duration::ZERO, derandomise: true, ..PieParameters::default() };
                let mut pie = pie_holding(10, Limit::Packets(14), parameters);
                pie.control.delay_before = Duration::from_milliseconds(20);
                pie.control.probability = 0.4;
                assert_eq!(early_drops(&mut pie, 2, seed), 0, "0.8 is too little");
                disturb(&mut pie);
                pie.control.probability = 0.4;
                pie.queue.pop();
                pie.queue.pop();
                early_drops(&mut pie, 2, seed)
            };
            let at_zero = |pie: &mut Pie| {
                pie.control.probability = 0.0;
                early_drops(pie, 1, 1);
            };
            let overflow = |pie: &mut Pie| {
                pie.queue.push(Packet::FULL, Time::ZERO);
                pie.queue.push(Packet::FULL, Time::ZERO);
                early_drops(pie, 1, 1);
                pie.queue.pop();
                pie.queue.pop();
            };
            assert_eq!(drops_after(at_zero), 0);
            assert_eq!(drops_after(overflow), 0);
            let certain = |pie: &mut Pie| pie.control.accumulated = 8.2;
            assert_eq!(drops_after(certain), 1);
        }
    }
}
