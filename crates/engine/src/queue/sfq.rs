//! Stochastic fairness queueing: McKenney, INFOCOM 1990, as in Linux. Flows are hashed to queues, which are served
//! round robin. The hash may be changed periodically.

use super::parts::{FlowQueues, Measure, Rotation};
use super::{Context, DropCause, Fifo, FlowHash, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::Bytes;

parameters! {
    pub struct SfqParameters {
        queues: u64 = 1024, in 1..65536, "Queues that flows are hashed to (divisor)", "Linux, net/sched/sch_sfq.c, SFQ_DEFAULT_HASH_DIVISOR";
        depth: u64 = 127, in 1..1e9, "Packets that a queue may hold", "Linux, net/sched/sch_sfq.c, SFQ_MAX_DEPTH";
        quantum: Bytes = Bytes(1514), in 1..1e6, "Bytes that a queue may send per turn", "Linux, net/sched/sch_sfq.c: the MTU with its header";
        perturbation: Duration = Duration::ZERO, in 0..1e18, "Time between changes of the hash; zero for no changes", "Linux, net/sched/sch_sfq.c: never unless set";
    }
}

state! {
    pub Sfq(limit: Limit, parameters: SfqParameters) {
        parameters: SfqParameters = parameters,
        hash: FlowHash,
        queues: FlowQueues = FlowQueues::new(parameters.queues as usize, Measure::Packets, limit),
        rotation: Rotation = Rotation::new(parameters.queues as usize),
        /// When the hash changes next.
        next_perturbation: Time = match parameters.perturbation {
            Duration::ZERO => Time::NEVER,
            interval => Time::ZERO + interval,
        },
    }
}

about! { Sfq:
    name: "sfq",
    aliases: ["stochastic_fair_queueing", "stochastic_fairness_queueing"],
    title: "SFQ",
    class: "scheduler",
    year: 1990,
    source: "McKenney, INFOCOM 1990; Linux net/sched/sch_sfq.c",
    deviations: "turns are by bytes as in Linux, by packets in the paper; credit is not rounded to 8 bytes, any number \
                 of queues may be active (128 in Linux), and the limit is configurable (127 packets in Linux); no RED \
                 in the queues",
}

impl Sfq {
    /// Queues a packet, or drops it if its queue is at the maximum depth.
    fn place(&mut self, packet: Packet, since: Option<Time>, context: &mut Context) {
        let queue = self.hash.bucket(&packet, self.parameters.queues, context.random) as usize;
        if self.queues.line(queue).packets() >= self.parameters.depth {
            context.drop(packet, DropCause::Early, since);
            return;
        }
        self.queues.push(queue, packet, since.unwrap_or(context.now));
        self.rotation.join_last(queue, self.parameters.quantum.0);
    }

    /// Changes the hash. The packets of a flow, all in one queue, keep their order.
    #[cold]
    fn perturb(&mut self, context: &mut Context) {
        // Any number of changes due since the previous packet have the effect of one.
        let interval = self.parameters.perturbation;
        let due = context.now.since(self.next_perturbation).0 / interval.0 + 1;
        self.next_perturbation += interval * due;
        self.hash.perturb(context.random);
        if self.queues.packets() == 0 {
            return;
        }
        let mut moved = Vec::with_capacity(self.queues.packets() as usize);
        for queue in 0..self.parameters.queues as usize {
            while let Some(queued) = self.queues.pop(queue) {
                moved.push(queued);
            }
            self.rotation.leave(queue);
        }
        for queued in moved {
            self.place(queued.packet, Some(queued.since), context);
        }
    }

    /// Drops the tail of the longest queue, or of the first queue in turn if all have at most one packet.
    fn drop_from_longest(&mut self, context: &mut Context) {
        let Some(longest) = self.queues.longest() else { return };
        let packets = self.queues.line(longest).packets();
        let queue = if packets > 1 { longest } else { self.rotation.first().unwrap_or(longest) };
        let dropped = self.queues.with(queue, |line| line.remove(packets - 1));
        if let Some(dropped) = dropped {
            context.drop(dropped.packet, DropCause::Overflow, Some(dropped.since));
        }
        self.leave_if_empty(queue);
    }

    fn leave_if_empty(&mut self, queue: usize) {
        if self.queues.line(queue).packets() == 0 {
            self.rotation.leave(queue);
        }
    }
}

impl QueueDiscipline for Sfq {
    const RANDOM: Option<&'static str> = Some("hash of flows to queues");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if context.now >= self.next_perturbation {
            self.perturb(context);
        }
        if !self.queues.admits_alone(&packet, context) {
            return;
        }
        self.place(packet, None, context);
        while self.queues.is_above_limit() {
            self.drop_from_longest(context);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        if context.now >= self.next_perturbation {
            self.perturb(context);
        }
        let queue = self.rotation.turn(self.parameters.quantum.0)?;
        let head = self.queues.with(queue, Fifo::pop)?;
        self.rotation.charge(queue, u64::from(head.packet.size));
        self.leave_if_empty(queue);
        Some(head)
    }

    lengths_of!(queues, at_rest_when_empty);

    fn lets_pass(&self, packet: &Packet) -> bool {
        self.queues.would_hold_alone(packet)
    }
}
