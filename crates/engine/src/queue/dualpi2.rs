//! DualPI2: the dual-queue coupled AQM of L4S (RFC 9332), as in its appendix A. Packets of scalable congestion controls
//! have a queue of their own, which marks early and has priority. A PI controller on the other queue, the Classic one,
//! also determines the marking of the L4S queue, so that flows of both kinds get similar rates.
//!
//! With rules `linux` it decides as net/sched/sch_dualpi2.c of Linux 6.17 and later does.

use std::collections::VecDeque;

use super::parts::{QueueRules, admits};
use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::inner::Tell;
use crate::packet::{Packet, flags};
use crate::time::{Duration, Time};

choice! {
    /// Which of the two queues is served when both hold packets.
    pub enum DualQueueScheduler {
        /// Weighted round robin.
        Wrr = "wrr",
        /// The queue with the longer delay, after the time shift is added to the delay of the L4S queue.
        TimeShiftedFifo = "time_shifted_fifo",
    }
}

parameters! {
    pub struct DualPi2Parameters {
        target: Duration = Duration::from_milliseconds(15), "Target delay of the Classic queue", "RFC 9332 appendix A; Linux net/sched/sch_dualpi2.c";
        update_interval: Duration = Duration::from_milliseconds(15), in 1e6..1e18, "How often the base probability is updated (Tupdate)", "RFC 9332 appendix A: the lesser of the target and a third of the greatest round-trip time; 16 ms in Linux";
        alpha: f64 = 0.15, in 0..1000000, "Gain on the distance from the target, per second", "RFC 9332 appendix A: 0.1 Tupdate / RTT_max^2, RTT_max being 100 ms; 0.16 in Linux";
        beta: f64 = 3.0, in 0..1000000, "Gain on the change of the delay, per second", "RFC 9332 appendix A: 0.3 / RTT_max; 3.2 in Linux";
        coupling_factor: f64 = 2.0, in 0.01..100, "Ratio of the L4S queue's mark probability to the base probability (k)", "RFC 9332 appendix A; Linux net/sched/sch_dualpi2.c";
        minimum_threshold: Duration = Duration::from_microseconds(800), "Delay of the L4S queue above which its own AQM marks (minTh)", "RFC 9332 appendix A; a step at 1 ms in Linux";
        range: Duration = Duration::from_microseconds(400), "Further delay at which that AQM marks every packet; zero for a step", "RFC 9332 appendix A; a step in Linux";
        minimum_packets: u64 = 1, "Packets remaining in the L4S queue up to which its own AQM marks nothing (Th_len); with rules linux, how many have to be in that queue when one arrives for that AQM to mark it (min_qlen_step)", "RFC 9332 appendix A; 0 in Linux";
        scheduler: DualQueueScheduler = DualQueueScheduler::Wrr, "Which queue is served when both hold packets", "RFC 9332 leaves it open; weighted round robin in Linux, a time-shifted FIFO in ns-3";
        classic_share: f64 = 0.1, in 0..1, "Share of the link that weighted round robin reserves for the Classic queue", "Linux net/sched/sch_dualpi2.c: 10 %";
        time_shift: Duration = Duration::from_milliseconds(50), "Time by which the time-shifted FIFO favours L4S packets", "ns-3 dual-pi2-queue-disc.cc, Tshift";
        rules: QueueRules = QueueRules::Published, "Whose rules: linux marks and drops at random, not if less than two packets of 1500 bytes are left in both queues, and its weighted round robin begins with the L4S queue", "RFC 9332 appendix A (recur, scheduler); Linux 7.3 net/sched/sch_dualpi2.c, must_drop, do_step_aqm and dualpi2_calculate_c_protection";
    }
}

inner_state! {
    DualPi2State {
        base_probability: "", "base probability (p')";
        classic_probability: "", "probability with which Classic packets are marked or dropped (p_C)";
        coupled_probability: "", "coupled probability with which L4S packets are marked (p_CL)";
        l4s_probability: "", "probability with which the next L4S packet is marked, the greater of that and its own queue's (p_L)";
        l4s_delay: "s", "sojourn time of the head of the L4S queue, 0 if it is empty";
        classic_delay: "s", "sojourn time of the head of the Classic queue, 0 if it is empty";
    }
}

/// The mark probability of the L4S queue that defines overload (p_Lmax, appendix A).
const L4S_SATURATION: f64 = 1.0;

/// Bytes of a packet of full size: with rules `linux`, the coupled AQM spares two of them (sch_dualpi2.c, must_drop).
const FULL_PACKET: u64 = 1500;

/// One of the two queues.
#[derive(Debug, Default)]
struct Side {
    queue: Fifo,
    /// Sum of the probabilities since the latest selection.
    count: f64,
}

impl Side {
    /// Selects packets with this likelihood, evenly spaced (appendix A, `recur`).
    fn chooses(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let chosen = self.count > 1.0;
        if chosen {
            self.count -= 1.0;
        }
        chosen
    }

    /// The sojourn time of the head, zero if the queue is empty.
    fn delay(&self, now: Time) -> Duration {
        self.queue.get(0).map_or(Duration::ZERO, |head| now.since(head.since))
    }
}

state! {
    pub DualPi2(limit: Limit, parameters: DualPi2Parameters) {
        limit: Limit = limit,
        parameters: DualPi2Parameters = parameters,
        l4s: Side,
        classic: Side,
        /// With rules `linux`, whether each packet of the L4S queue met enough others on its arrival (apply_step).
        meet_others: VecDeque<bool>,
        /// The base probability (p').
        base_probability: f64,
        delay_before: Duration,
        /// The credit of weighted round robin, in bytes. Above zero, the Classic queue is served.
        credit: f64 = parameters.idle_credit(),
    }
}

about! { DualPi2:
    name: "dualpi2",
    aliases: ["dualq", "l4s"],
    state: DualPi2State,
    title: "DualPI2",
    class: "aqm",
    year: 2023,
    source: "RFC 9332, appendix A",
    deviations: "the RFC was not available: its pseudocode is taken from implementations that cite it line by line \
                 (picoquic's dualq, ns-3); delays are sojourn times, for the controller those of the head packets; the \
                 buffer is the queue's limit; ecn cannot be turned off, since L4S needs marks",
}

impl DualPi2Parameters {
    fn is_linux(&self) -> bool {
        self.rules == QueueRules::Linux
    }

    /// The credit of weighted round robin when nothing waits (sch_dualpi2.c, dualpi2_calculate_c_protection).
    fn idle_credit(&self) -> f64 {
        if self.is_linux() { (2.0 * self.classic_share - 1.0) * FULL_PACKET as f64 } else { 0.0 }
    }
}

impl DualPi2 {
    pub fn base_probability(&self) -> f64 {
        self.base_probability
    }

    /// The probability with which Classic packets are marked or dropped (p_C).
    pub fn classic_probability(&self) -> f64 {
        self.base_probability * self.base_probability
    }

    /// The coupled probability with which L4S packets are marked (p_CL).
    pub fn coupled_probability(&self) -> f64 {
        (self.parameters.coupling_factor * self.base_probability).min(L4S_SATURATION)
    }

    /// The probability with which L4S packets are marked by their own AQM (appendix A, `laqm`).
    fn native_probability(&self, delay: Duration) -> f64 {
        if self.l4s.queue.packets() <= self.parameters.minimum_packets { 0.0 } else { self.ramp(delay) }
    }

    /// The same of a queue that is long enough.
    fn ramp(&self, delay: Duration) -> f64 {
        let DualPi2Parameters { minimum_threshold, range, .. } = self.parameters;
        if delay <= minimum_threshold {
            0.0
        } else if delay < minimum_threshold + range {
            (delay - minimum_threshold).seconds() / range.seconds()
        } else {
            1.0
        }
    }

    /// Whether the L4S queue is served next. At least one of the queues must not be empty.
    fn serves_l4s(&self, now: Time) -> bool {
        if self.l4s.queue.packets() == 0 || self.classic.queue.packets() == 0 {
            return self.l4s.queue.packets() > 0;
        }
        match self.parameters.scheduler {
            DualQueueScheduler::Wrr => self.credit <= 0.0,
            DualQueueScheduler::TimeShiftedFifo => {
                self.l4s.delay(now) + self.parameters.time_shift >= self.classic.delay(now)
            }
        }
    }

    /// Marks or drops an L4S packet (appendix A). Returns it if it is to be sent.
    fn pass_l4s(&mut self, mut head: Queued, context: &mut Context) -> Option<Queued> {
        if self.parameters.is_linux() {
            return self.pass_l4s_by_chance(head, context);
        }
        let coupled = self.coupled_probability();
        let is_marked = if coupled < L4S_SATURATION {
            let native = self.native_probability(context.now.since(head.since));
            self.l4s.chooses(native.max(coupled))
        } else {
            // Overload: packets are also dropped, with the probability of Classic packets.
            if self.l4s.chooses(self.classic_probability()) {
                context.drop(head.packet, DropCause::Early, Some(head.since));
                return None;
            }
            self.l4s.chooses(coupled)
        };
        // A packet marked upstream is not counted again.
        if is_marked && !head.packet.is_marked() {
            context.mark(&mut head.packet);
        }
        Some(head)
    }

    /// As Linux does (dualpi2_scalable_marking, do_step_aqm).
    fn pass_l4s_by_chance(&mut self, mut head: Queued, context: &mut Context) -> Option<Queued> {
        let meets_others = self.meet_others.pop_front().unwrap_or(false);
        let mut is_marked = false;
        if self.may_signal() {
            let coupled = self.parameters.coupling_factor * self.base_probability;
            if coupled > L4S_SATURATION && self.falls_twice(context) {
                context.drop(head.packet, DropCause::Early, Some(head.since));
                return None;
            }
            is_marked = coupled > L4S_SATURATION || context.random.unit() < coupled;
        }
        let native = if meets_others { self.ramp(context.now.since(head.since)) } else { 0.0 };
        is_marked |= native >= 1.0 || (native > 0.0 && context.random.unit() < native);
        if is_marked && !head.packet.is_marked() {
            context.mark(&mut head.packet);
        }
        Some(head)
    }

    /// Whether enough is left in both queues for the coupled AQM to mark or drop, with rules `linux`.
    fn may_signal(&self) -> bool {
        self.bytes() >= 2 * FULL_PACKET
    }

    /// Two draws with the base probability (dualpi2_classic_marking).
    fn falls_twice(&self, context: &mut Context) -> bool {
        context.random.unit() < self.base_probability && context.random.unit() < self.base_probability
    }

    /// Whether a Classic packet is to be marked or dropped.
    fn chooses_classic(&mut self, probability: f64, context: &mut Context) -> bool {
        if self.parameters.is_linux() {
            self.may_signal() && self.falls_twice(context)
        } else {
            self.classic.chooses(probability)
        }
    }

    /// Marks or drops a Classic packet (appendix A). Returns it if it is to be sent.
    fn pass_classic(&mut self, mut head: Queued, context: &mut Context) -> Option<Queued> {
        let probability = self.classic_probability();
        if self.chooses_classic(probability, context) {
            let factor = self.parameters.coupling_factor;
            // Overload: from p_Cmax = min(1 / k^2, 1) on, packets are dropped even if they are ECN-capable.
            let may_mark = probability < (1.0 / (factor * factor)).min(1.0);
            if !context.mark_or_drop(&mut head.packet, may_mark, Some(head.since)) {
                return None;
            }
        }
        Some(head)
    }
}

impl QueueDiscipline for DualPi2 {
    const RANDOM: Option<&'static str> = Some("marks and drops");
    const RANDOM_RULES: Option<&'static str> = Some("linux");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !admits(&packet, self.limit, self.packets(), self.bytes(), context) {
            return;
        }
        // ECT(1) and CE packets go to the L4S queue, including Classic packets marked upstream (`dualpi2_enqueue`).
        let is_l4s = packet.has(flags::ECT_1);
        if is_l4s && self.parameters.is_linux() {
            self.meet_others.push_back(self.l4s.queue.packets() >= self.parameters.minimum_packets);
        }
        let side = if is_l4s { &mut self.l4s } else { &mut self.classic };
        side.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        while self.packets() > 0 {
            let both_wait = self.l4s.queue.packets() > 0 && self.classic.queue.packets() > 0;
            let serves_l4s = self.serves_l4s(context.now);
            let sent = if serves_l4s {
                let head = self.l4s.queue.pop()?;
                self.pass_l4s(head, context)
            } else {
                let head = self.classic.queue.pop()?;
                self.pass_classic(head, context)
            };
            if let Some(queued) = sent {
                let size = f64::from(queued.packet.size);
                let share = self.parameters.classic_share;
                if self.packets() == 0 && !self.parameters.is_linux() {
                    self.credit = 0.0;
                } else if both_wait {
                    self.credit += if serves_l4s { share * size } else { (share - 1.0) * size };
                }
                return sent;
            }
        }
        self.credit = self.parameters.idle_credit();
        None
    }

    fn packets(&self) -> u64 {
        self.l4s.queue.packets() + self.classic.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.l4s.queue.bytes() + self.classic.queue.bytes()
    }

    fn is_at_rest(&self) -> bool {
        self.packets() == 0 && self.credit == self.parameters.idle_credit()
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.update_interval)
    }

    /// Updates the base probability (appendix A, `dualpi2_update`).
    fn on_timer(&mut self, now: Time) {
        let DualPi2Parameters { target, alpha, beta, .. } = self.parameters;
        let delay = self.classic.delay(now).max(self.l4s.delay(now));
        let (current, before) = (delay.seconds(), self.delay_before.seconds());
        let change = alpha * (current - target.seconds()) + beta * (current - before);
        self.base_probability = (self.base_probability + change).clamp(0.0, 1.0);
        self.delay_before = delay;
    }

    fn tell_state(&self, now: Time, tell: &mut Tell<'_>) {
        let (l4s, classic) = (self.l4s.delay(now), self.classic.delay(now));
        let coupled = self.coupled_probability();
        let state = DualPi2State {
            base_probability: Some(self.base_probability()),
            classic_probability: Some(self.classic_probability()),
            coupled_probability: Some(coupled),
            l4s_probability: Some(self.native_probability(l4s).max(coupled)),
            l4s_delay: Some(l4s.seconds()),
            classic_delay: Some(classic.seconds()),
        };
        state.tell(tell);
    }
}
