//! Head drop: at the limit, drop what has waited longest and queue what arrives. The sender hears of the loss sooner by the
//! time that the queue takes to empty (Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over ATM",
//! INFOCOM 1996).

use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::parameters;

parameters! {
    /// Head drop has nothing to set but its limit.
    pub struct DropHeadParameters {}
}

/// See the module.
#[derive(Debug)]
pub struct DropHead {
    limit: Limit,
    queue: Fifo,
}

impl DropHead {
    /// What it is.
    pub const ABOUT: About = About {
        name: "drophead",
        aliases: &["head_drop", "drop_from_front", "pfifo_head_drop"],
        title: "head drop",
        class: "passive",
        year: 1996,
        source: "Lakshman, Neidhardt and Ott, INFOCOM 1996; Linux net/sched/sch_fifo.c, pfifo_head_drop",
        departures: "a limit in bytes too, for which more than one packet may have to go; a packet larger than the limit by \
                     itself is dropped alone",
    };

    /// An empty queue.
    pub fn new(limit: Limit, _parameters: DropHeadParameters) -> DropHead {
        DropHead { limit, queue: Fifo::default() }
    }
}

impl QueueDiscipline for DropHead {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.limit.would_be_exceeded(1, u64::from(packet.size)) {
            context.drop(packet, DropCause::Overflow, None);
            return;
        }
        while self.limit.is_exceeded_by(&packet, &self.queue) {
            let head = self.queue.pop().expect("an empty queue has room for it");
            context.drop(head.packet, DropCause::Overflow, Some(head.since));
        }
        self.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        self.queue.pop()
    }

    lengths_of!(queue);

    fn lets_pass(&self, packet: &Packet) -> bool {
        self.queue.packets() == 0 && !self.limit.is_exceeded_by(packet, &self.queue)
    }

    fn is_at_rest(&self) -> bool {
        self.queue.packets() == 0
    }
}
