//! FQ-CoDel (RFC 8290): flows are hashed to queues, each under CoDel. Deficit round robin serves the queues, new ones
//! first.

use super::parts::{CoDelControl, CoDelRules, FlowQueues, Measure, Rotation};
use super::{CoDelParameters, Context, DropCause, FlowHash, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::Duration;
use crate::units::Bytes;

parameters! {
    pub struct FqCoDelParameters {
        queues: u64 = 1024, in 1..65536, "Queues that flows are hashed to", "RFC 8290 section 5.2.5";
        quantum: Bytes = Bytes(1514), in 1..1e6, "Bytes that a queue may send per turn", "RFC 8290 section 5.2.4";
        drop_batch: u64 = 64, in 1..1e6, "Maximum number of packets dropped at once when the limit is exceeded", "RFC 8290 section 4.1.3; Linux, net/sched/sch_fq_codel.c";
        ..codel: CoDelParameters {
            target = Duration::from_milliseconds(5), "RFC 8290 section 5.2.2";
            interval = Duration::from_milliseconds(100), "RFC 8290 section 5.2.1";
            ecn = false, "off here in every discipline; on in RFC 8290 section 5.2.6 and Linux, net/sched/sch_fq_codel.c";
            ce_threshold = Duration::ZERO, "RFC 8290 section 5.2.7: disabled by default";
        };
    }
}

state! {
    pub FqCoDel(limit: Limit, parameters: FqCoDelParameters) {
        quantum: u64 = parameters.quantum.0,
        queues: FlowQueues = FlowQueues::new(parameters.queues as usize, fattest(parameters.codel.rules), limit),
        drop_batch: u64 = parameters.drop_batch,
        codel: CoDelParameters = parameters.codel,
        hash: FlowHash,
        controls: Box<[CoDelControl]> = vec![CoDelControl::default(); parameters.queues as usize].into(),
        rotation: Rotation = Rotation::new(controls.len()),
    }
}

about! { FqCoDel:
    name: "fq_codel",
    aliases: ["fqcodel", "sfqcodel"],
    title: "FQ-CoDel",
    class: "scheduler",
    year: 2012,
    source: "RFC 8290",
    deviations: "no limit by default (10240 packets in the RFC) and no memory limit; ecn is off by default; CoDel's \
                 last MTU is that of the flow's queue, as in ns-3, except with rules linux; drops at the limit count for \
                 CoDel only with rules linux. ns-2's sfqCoDel differs: it drops one packet at the limit, the last \
                 of the queue with the most packets, takes turns by packets unless given a quantum, considers all \
                 queues for the last MTU, and resumes CoDel's count less two within eight intervals",
}

/// What makes a queue the one with the most bytes: of several the first, in Linux (net/sched/sch_fq_codel.c, fq_codel_drop).
fn fattest(rules: CoDelRules) -> Measure {
    if rules == CoDelRules::Linux { Measure::BytesThenNumber } else { Measure::Bytes }
}

impl FqCoDel {
    /// Drops at the head of the queue with the most bytes until half of its bytes are dropped (section 4.1.3).
    fn drop_from_longest(&mut self, context: &mut Context) {
        let Some(longest) = self.queues.longest() else { return };
        let (drop_batch, half) = (self.drop_batch, self.queues.line(longest).bytes() / 2);
        let dropped = self.queues.with(longest, |line| {
            let start = line.bytes();
            for number in 1..=drop_batch {
                let Some(head) = line.pop() else { return number - 1 };
                context.drop(head.packet, DropCause::Overflow, Some(head.since));
                if start - line.bytes() >= half {
                    return number;
                }
            }
            drop_batch
        });
        self.controls[longest].count_overflow(dropped, &self.codel);
    }
}

impl QueueDiscipline for FqCoDel {
    const RANDOM: Option<&'static str> = Some("hash of flows to queues");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queues.admits_alone(&packet, context) {
            return;
        }
        let queue = self.hash.bucket(&packet, self.controls.len() as u64, context.random) as usize;
        self.queues.push(queue, packet, context.now);
        self.rotation.join(queue, self.quantum);
        while self.queues.is_above_limit() {
            self.drop_from_longest(context);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        loop {
            let queue = self.rotation.turn(self.quantum)?;
            let (control, codel) = (&mut self.controls[queue], &self.codel);
            control.count_beside(self.queues.bytes() - self.queues.line(queue).bytes(), codel);
            let Some(sent) = self.queues.with(queue, |line| control.dequeue(line, codel, context)) else {
                self.rotation.pass(queue);
                continue;
            };
            self.rotation.charge(queue, u64::from(sent.packet.size));
            return Some(sent);
        }
    }

    lengths_of!(queues);

    fn is_at_rest(&self) -> bool {
        self.rotation.is_empty()
    }
}
