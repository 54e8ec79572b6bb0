//! The queue of RED, used by several disciplines: a FIFO, its average length and the early drops.

use super::red_linux::{LinuxRed, Selected};
use super::{AverageQueue, BoundedFifo, DropCurve, DropSpacing, Fifo, QueueRules};
use crate::packet::Packet;
use crate::queue::discipline::{Context, Queued};
use crate::queue::limit::Limit;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct RedParameters {
        min: Limit = Limit::Packets(0), "Average queue from which packets are dropped (thresh_); \"0 packets\": what the link sends in half the target delay, at least five packets", "automatic as in ns-2.35, ns-default.tcl and red.cc; Floyd, Gummadi and Shenker 2001";
        max: Limit = Limit::Packets(0), "Average queue at which the drop probability is maximum_probability (maxthresh_); \"0 packets\": three times min", "automatic as in ns-2.35, ns-default.tcl and red.cc; Floyd, Gummadi and Shenker 2001";
        weight: f64 = 0.0, in 0..1, "Weight of an arrival in the average queue (q_weight_); 0: time constant of ten round-trip times", "automatic as in ns-2.35, ns-default.tcl and red.cc; Floyd and Jacobson 1993 have 0.002";
        maximum_probability: f64 = 0.1, in 0..1, "Drop probability at max (max_p, 1/linterm_)", "ns-2.35, ns-default.tcl; Floyd and Jacobson 1993 have 0.02";
        gentle: bool = true, "Raise the drop probability to 1 between max and twice max, not at max", "Floyd, \"Recommendation on using the gentle variant of RED\", 2000; ns-2.35, ns-default.tcl";
        wait: bool = true, "Keep at least the reciprocal of the drop probability, in packets, between drops", "ns-2.35, ns-default.tcl; not in Floyd and Jacobson 1993";
        byte_mode: bool = true, "Drop a packet with a probability in proportion to its size (bytes_)", "ns-2.35, ns-default.tcl; RFC 7141 advises against it";
        queue_in_bytes: bool = true, "Measure the queue in bytes, not in packets (queue_in_bytes_)", "ns-2.35, ns-default.tcl";
        mean_packet_size: Bytes = Bytes(1500), in 1..65535, "Packet size assumed by thresholds, weight and byte_mode (mean_pktsize_)", "the size of full packets, so that max_p is the drop probability at max; 500 B in ns-2.35 and ns-3";
        target_delay: Duration = Duration::from_milliseconds(5), "Target delay, half of which is the automatic min (targetdelay_)", "ns-2.35, ns-default.tcl; Floyd, Gummadi and Shenker 2001";
        round_trip_time: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Round-trip time assumed by the automatic weight", "Floyd, Gummadi and Shenker 2001; ns-2.35, red.cc";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them (setbit_)", "ns-2.35, ns-default.tcl";
        hard_drop: bool = true, "While the average is above max, drop ECN-capable packets too", "ns-3 (UseHardDrop); ns-2.35 does the same with its mark_p_ of 0.1, which is its max_p; off in Linux";
        rules: QueueRules = QueueRules::Published, "Whose arithmetic: linux has integers, a weight that is a power of two, one random interval from each drop to the next, and, as below htb, an average that does not change while the queue is empty; a limit in packets is of so many of mean_packet_size, in bytes; without gentle, wait, byte_mode and queue_in_bytes", "Floyd and Jacobson 1993; Linux, include/net/red.h, red_calc_qavg_no_idle_time and red_action";
    }
}

/// The lowest automatic minimum threshold, in packets (ns-2's red.cc).
const LEAST_MINIMUM: f64 = 5.0;
/// The automatic maximum threshold, as a multiple of the minimum threshold (Floyd, Gummadi and Shenker 2001).
const MAXIMUM_TO_MINIMUM: f64 = 3.0;

/// What RED goes by on a link, with the automatic values.
#[derive(Clone, Copy, Debug)]
pub struct RedSettings {
    /// The threshold from which packets are dropped, in bytes or packets as configured.
    pub minimum: f64,
    /// That at which the drop probability is `maximum_probability`, likewise.
    pub maximum: f64,
    /// The weight of an arrival in the average.
    pub weight: f64,
}

impl RedParameters {
    /// What they are on a link of this rate.
    pub fn settings(&self, rate: Rate) -> RedSettings {
        let packets_per_second = self.packets_per_second(rate);
        let set = |limit: Limit| {
            let packets = limit.in_packets(self.mean_packet_size);
            (packets > 0.0).then(|| packets * self.unit())
        };
        let minimum = set(self.min).unwrap_or_else(|| {
            let half_of_target = self.target_delay.seconds() * packets_per_second / 2.0;
            half_of_target.max(LEAST_MINIMUM) * self.unit()
        });
        let weight = if self.weight > 0.0 {
            self.weight
        } else {
            AverageQueue::automatic_weight(self.round_trip_time, packets_per_second)
        };
        RedSettings { minimum, maximum: set(self.max).unwrap_or(MAXIMUM_TO_MINIMUM * minimum), weight }
    }

    /// The mean packet size, in the unit of the queue length.
    pub fn unit(&self) -> f64 {
        if self.queue_in_bytes { self.mean_packet_size.0 as f64 } else { 1.0 }
    }

    /// The limit of the queue, which Linux's is in bytes (net/sched/sch_red.c, red_change, bfifo).
    fn limit(&self, limit: Limit) -> Limit {
        match self.rules {
            QueueRules::Published => limit,
            QueueRules::Linux => Limit::Bytes(limit.in_bytes(self.mean_packet_size)),
        }
    }

    /// The bytes of that unit.
    pub fn bytes(&self) -> f64 {
        self.mean_packet_size.0 as f64 / self.unit()
    }

    fn packets_per_second(&self, rate: Rate) -> f64 {
        rate.0 as f64 / (8.0 * self.mean_packet_size.0 as f64)
    }
}

state! {
    /// A queue managed by RED. Until the rate of the link is known, no packet is dropped early.
    pub RedQueue(limit: Limit, parameters: RedParameters) {
        parameters: RedParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(parameters.limit(limit)),
        average: AverageQueue,
        curve: DropCurve = DropCurve::new(f64::INFINITY, f64::INFINITY, parameters.maximum_probability, parameters.gentle),
        spacing: DropSpacing,
        /// By Linux's rules, once the thresholds are known.
        linux: Option<LinuxRed>,
    }
}

impl RedQueue {
    /// Sets the values that depend on the rate of the link. Linux's are those of the first rate: `tc` computes them, and `htb` does
    /// not tell RED of a change (net/sched/sch_htb.c, htb_change_class).
    pub fn set_link_rate(&mut self, rate: Rate) {
        let RedSettings { minimum, maximum, weight } = self.parameters.settings(rate);
        self.average.configure(weight, self.parameters.packets_per_second(rate));
        self.curve.set_thresholds(minimum, maximum);
        if self.parameters.rules == QueueRules::Linux && self.linux.is_none() {
            let bytes = self.parameters.bytes();
            let probability = self.parameters.maximum_probability;
            self.linux = Some(LinuxRed::new(weight, minimum * bytes, maximum * bytes, probability));
        }
    }

    pub fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.linux.is_some() {
            return self.enqueue_in_linux(packet, context);
        }
        self.enqueue_with(packet, 1.0, context);
    }

    /// Linux's red_enqueue: RED's decision precedes the limit.
    fn enqueue_in_linux(&mut self, packet: Packet, context: &mut Context) {
        let Some(red) = &mut self.linux else { return };
        red.on_arrival(self.queue.bytes());
        let selected = red.selects(|| (context.random.bits() >> 32) as u32);
        self.admit_in_linux(packet, selected, context);
    }

    /// Queues, drops or marks an arrival that Linux's RED has selected, or has not.
    pub fn admit_in_linux(&mut self, mut packet: Packet, selected: Option<Selected>, context: &mut Context) {
        if let Some(selected) = selected {
            let may_mark = selected == Selected::Early || !self.parameters.hard_drop;
            if !context.mark_or_drop(&mut packet, self.parameters.ecn && may_mark, None) {
                return;
            }
        }
        if self.queue.admits(&packet, context) {
            self.queue.push(packet, context.now);
        }
    }

    /// Queues, drops or marks an arrival with the drop probability multiplied by `times`.
    pub fn enqueue_with(&mut self, packet: Packet, times: f64, context: &mut Context) {
        self.on_arrival(context.now);
        self.admit(packet, times, context);
    }

    /// Updates the average queue length on an arrival. The first step of [`RedQueue::enqueue_with`].
    pub fn on_arrival(&mut self, now: Time) {
        self.average.on_arrival(self.length(), now);
    }

    /// The queue length, in bytes or packets as configured.
    fn length(&self) -> f64 {
        if self.parameters.queue_in_bytes { self.queue.bytes() as f64 } else { self.queue.packets() as f64 }
    }

    /// Queues, drops or marks an arrival. The second step of [`RedQueue::enqueue_with`].
    pub fn admit(&mut self, mut packet: Packet, times: f64, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            self.spacing.restart();
            return;
        }
        if self.selects(&packet, self.length(), times, context) {
            self.spacing.restart();
            let may_mark = !self.parameters.hard_drop || self.average.value() < self.curve.maximum();
            if !context.mark_or_drop(&mut packet, self.parameters.ecn && may_mark, None) {
                return;
            }
        }
        self.queue.push(packet, context.now);
    }

    /// Whether to drop or mark an arrival (ns-2's `enque` and `drop_early`).
    fn selects(&mut self, packet: &Packet, length: f64, times: f64, context: &mut Context) -> bool {
        // An arrival at an empty queue is not dropped, nor one that finds a single packet if packets are counted.
        if self.average.value() < self.curve.minimum() || length <= 1.0 {
            self.spacing.stop();
            return false;
        }
        let probability = self.curve.probability(self.average.value());
        if probability >= 1.0 {
            return true;
        }
        let portion = if self.parameters.byte_mode {
            f64::from(packet.size) / self.parameters.mean_packet_size.0 as f64
        } else {
            1.0
        };
        if !self.spacing.count(portion) {
            return false;
        }
        let spread = self.spacing.spread(probability, self.parameters.wait);
        // A drop that is due is not delayed because the packet is small.
        let chance = if spread < 1.0 { spread * portion * times } else { 1.0 };
        context.random.unit() < chance
    }

    pub fn dequeue(&mut self, now: Time) -> Option<Queued> {
        let head = self.queue.pop();
        if head.is_none() {
            self.average.on_idle(now);
        }
        head
    }

    pub fn line(&self) -> &Fifo {
        self.queue.line()
    }

    pub fn remove(&mut self, position: u64) -> Option<Queued> {
        self.queue.line_mut().remove(position)
    }

    pub fn packets(&self) -> u64 {
        self.queue.packets()
    }

    pub fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// The limit, in the unit of the queue length.
    pub fn limit(&self) -> f64 {
        self.queue.limit().in_packets(self.parameters.mean_packet_size) * self.parameters.unit()
    }

    pub fn average(&self) -> &AverageQueue {
        &self.average
    }

    /// The average queue, by whichever rules; by Linux's in bytes.
    pub fn average_length(&self) -> f64 {
        self.linux.as_ref().map_or_else(|| self.average.value(), LinuxRed::average)
    }

    pub fn curve(&self) -> &DropCurve {
        &self.curve
    }

    pub fn curve_mut(&mut self) -> &mut DropCurve {
        &mut self.curve
    }
}
