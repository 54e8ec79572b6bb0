//! A FIFO that filters acknowledgements, as cable modems and other devices on asymmetric links do: RFC 3449 section 5.2.1.

use super::parts::AckFilter;
use super::{BoundedFifo, Context, DropCause, Limit, QueueDiscipline};
use crate::packet::Packet;

parameters! {
    pub struct FilteringFifoParameters {
        filter: AckFilter = AckFilter::Aggressive, "Which acknowledgements a newer one of their connection removes", "RFC 3449 section 5.2.1: some or all older ones; the rules are those of Linux, net/sched/sch_cake.c, cake_ack_filter";
    }
}

state! {
    /// The FIFO with an ACK filter.
    pub FilteringFifo(limit: Limit, parameters: FilteringFifoParameters) {
        queue: BoundedFifo = BoundedFifo::new(limit),
        filter: AckFilter = parameters.filter,
    }
}

about! { FilteringFifo:
    name: "ack_filter",
    aliases: ["ack_thinning", "ack_suppression"],
    title: "DropTail with an ACK filter",
    class: "passive",
    year: 2002,
    source: "RFC 3449 section 5.2.1; Linux net/sched/sch_cake.c, cake_ack_filter",
    deviations: "acknowledgements with options are kept: SACK blocks, of which Linux compares what they cover, and the \
                 counter of Accurate ECN",
}

impl QueueDiscipline for FilteringFifo {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        // The arrival may take the place of what it makes needless.
        self.queue.push(packet, context.now);
        if let Some(position) = self.filter.needless(self.queue.line())
            && let Some(needless) = self.queue.line_mut().remove(position)
        {
            context.drop(needless.packet, DropCause::Early, Some(needless.since));
        }
        if self.queue.is_above_limit() {
            let tail = self.queue.packets() - 1;
            self.queue.line_mut().remove(tail);
            context.drop(packet, DropCause::Overflow, None);
        }
    }

    fifo!(queue, passed_when_empty);
}
