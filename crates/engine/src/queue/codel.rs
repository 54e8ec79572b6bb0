//! CoDel (Controlled Delay, RFC 8289): drops at the head if the minimum sojourn time of an interval exceeds the target.
//! The drop rate increases while it does. The algorithm is in [`CoDelControl`].

use super::parts::CoDelControl;
use super::{BoundedFifo, Context, Limit, QueueDiscipline, Queued};
use crate::inner::{Tell, flag};
use crate::packet::Packet;
use crate::time::Time;

pub use super::parts::CoDelParameters;

inner_state! {
    CoDelState {
        phase: "", "whether it is in the dropping state (dropping_)", of ["waiting", "dropping"];
        count: "", "drops since the dropping state began, which set their spacing (count_)";
        drop_next: "s", "when the next drop is due, in the dropping state (drop_next_)";
    }
}

state! {
    pub CoDel(limit: Limit, parameters: CoDelParameters) {
        parameters: CoDelParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        control: CoDelControl,
    }
}

about! { CoDel:
    name: "codel",
    aliases: ["controlled_delay"],
    state: CoDelState,
    title: "CoDel",
    class: "aqm",
    year: 2012,
    source: "RFC 8289",
    deviations: "marking, which the RFC leaves open, is as in Linux: at most one packet per dequeue, and with a \
                 ce_threshold every packet that waited longer, with ecn on or off",
}

impl QueueDiscipline for CoDel {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        // Section 5.4: drops at a full buffer do not count for the controller.
        self.queue.enqueue(packet, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        self.control.dequeue(self.queue.line_mut(), &self.parameters, context)
    }

    lengths_of!(queue);

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        let state = CoDelState {
            phase: Some(flag(self.control.is_dropping())),
            count: Some(self.control.count() as f64),
            drop_next: self.control.drop_next().map(Time::seconds),
        };
        state.tell(tell);
    }
}
