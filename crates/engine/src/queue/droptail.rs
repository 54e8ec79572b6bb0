//! Tail drop: arrivals are queued up to the limit and dropped beyond it.

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::packet::Packet;

parameters! {
    pub struct DropTailParameters {}
}

state! {
    pub DropTail(limit: Limit, _parameters: DropTailParameters) {
        queue: BoundedFifo = BoundedFifo::new(limit),
    }
}

about! { DropTail:
    name: "droptail",
    aliases: ["dt", "tail_drop", "drop_tail", "fifo", "pfifo", "bfifo"],
    title: "DropTail",
    class: "passive",
    year: 1988,
    source: "RFC 7567 section 2: the default of routers",
    deviations: "none",
}

impl QueueDiscipline for DropTail {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    fifo!(queue, passed_when_empty);
}
