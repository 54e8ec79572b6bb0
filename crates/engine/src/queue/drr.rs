//! Deficit round robin: Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995. Each
//! queue may send one quantum per turn, plus the deficit left over from its previous turns.

use super::parts::{Chains, FlowQueues, Measure};
use super::{Context, DropCause, FlowHash, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::units::Bytes;

parameters! {
    pub struct DrrParameters {
        queues: u64 = 1024, in 1..65536, "Queues that flows are hashed to", "no published value; as in FQ-CoDel, RFC 8290 section 5.2.5 (10 in ns-2)";
        quantum: Bytes = Bytes(1514), in 1..1e6, "Bytes that a queue may send per turn (Q)", "Shreedhar and Varghese 1995: at least the largest packet; Linux, net/sched/sch_drr.c, takes the MTU with its header";
    }
}

/// The chain of active queues.
const ACTIVE: usize = 0;

state! {
    pub Drr(limit: Limit, parameters: DrrParameters) {
        quantum: u64 = parameters.quantum.0,
        hash: FlowHash,
        /// The deficit of each queue, in bytes.
        deficits: Box<[u64]> = vec![0; parameters.queues as usize].into(),
        queues: FlowQueues = FlowQueues::new(deficits.len(), Measure::Bytes, limit),
        active: Chains<1> = Chains::new(deficits.len()),
        /// Whether the first queue has received its quantum for this turn.
        granted: bool,
    }
}

about! { Drr:
    name: "drr",
    aliases: ["deficit_round_robin"],
    title: "DRR",
    class: "scheduler",
    year: 1995,
    source: "Shreedhar and Varghese, SIGCOMM 1995",
    deviations: "at the limit the head of the queue with the most bytes is dropped, as in ns-2; the paper takes a \
                 buffer from the longest queue without saying which",
}

impl Drr {
    /// Removes the head of a queue. A queue that becomes empty becomes inactive and loses its deficit.
    fn take(&mut self, queue: usize) -> Option<Queued> {
        let head = self.queues.pop(queue);
        if self.queues.line(queue).packets() == 0 {
            if self.active.first(ACTIVE) == Some(queue) {
                self.granted = false;
            }
            self.active.remove(queue);
            self.deficits[queue] = 0;
        }
        head
    }
}

impl QueueDiscipline for Drr {
    const RANDOM: Option<&'static str> = Some("hash of flows to queues");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queues.admits_alone(&packet, context) {
            return;
        }
        let queue = self.hash.bucket(&packet, self.deficits.len() as u64, context.random) as usize;
        self.queues.push(queue, packet, context.now);
        if self.active.chain_of(queue).is_none() {
            self.active.append(ACTIVE, queue);
        }
        while self.queues.is_above_limit() {
            let longest = self.queues.longest();
            let Some(head) = longest.and_then(|longest| self.take(longest)) else { return };
            context.drop(head.packet, DropCause::Overflow, Some(head.since));
        }
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        loop {
            let queue = self.active.first(ACTIVE)?;
            if !self.granted {
                self.deficits[queue] += self.quantum;
                self.granted = true;
            }
            let size = self.queues.line(queue).get(0).map(|head| u64::from(head.packet.size))?;
            if size <= self.deficits[queue] {
                self.deficits[queue] -= size;
                return self.take(queue);
            }
            self.active.append(ACTIVE, queue);
            self.granted = false;
        }
    }

    lengths_of!(queues, at_rest_when_empty);

    fn lets_pass(&self, packet: &Packet) -> bool {
        self.queues.would_hold_alone(packet)
    }
}
