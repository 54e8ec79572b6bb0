//! Head drop: at the limit, the head is dropped and the arrival is queued. The sender detects the loss earlier by the
//! time that the queue takes to drain (Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP
//! over ATM", INFOCOM 1996).

use super::parts::admits;
use super::{BoundedFifo, Context, DropCause, Limit, QueueDiscipline};
use crate::packet::Packet;

parameters! {
    pub struct DropHeadParameters {}
}

state! {
    pub DropHead(limit: Limit, _parameters: DropHeadParameters) {
        queue: BoundedFifo = BoundedFifo::new(limit),
    }
}

about! { DropHead:
    name: "drophead",
    aliases: ["head_drop", "drop_from_front", "pfifo_head_drop"],
    title: "head drop",
    class: "passive",
    year: 1996,
    source: "Lakshman, Neidhardt and Ott, INFOCOM 1996; Linux net/sched/sch_fifo.c, pfifo_head_drop",
    deviations: "the limit may also be in bytes, so that an arrival may drop more than one packet; a packet larger \
                 than the limit is itself dropped",
}

impl QueueDiscipline for DropHead {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !admits(&packet, self.queue.limit(), 0, 0, context) {
            return;
        }
        while !self.queue.has_room_for(&packet) {
            let head = self.queue.pop().expect("an empty queue has room for it");
            context.drop(head.packet, DropCause::Overflow, Some(head.since));
        }
        self.queue.push(packet, context.now);
    }

    fifo!(queue, passed_when_empty);
}
