//! COBALT (CoDel and BLUE alternate), the AQM of CAKE, on a single queue. The algorithm is in
//! [`CobaltControl`](super::parts::CobaltControl).

use super::parts::{CobaltControl, CobaltSettings};
use super::{BoundedFifo, Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;

pub use super::parts::CobaltParameters;

state! {
    pub Cobalt(limit: Limit, parameters: CobaltParameters) {
        settings: CobaltSettings = CobaltSettings::new(&parameters),
        queue: BoundedFifo = BoundedFifo::new(limit),
        control: CobaltControl,
    }
}

about! { Cobalt:
    name: "cobalt",
    aliases: ["codel_blue_alternate"],
    title: "COBALT",
    class: "aqm",
    year: 2018,
    source: "Linux net/sched/sch_cake.c; Palmei et al., LANMAN 2019",
    deviations: "square roots are exact; a packet that BLUE drops is not marked first; the last packet of the queue is \
                 never dropped, as in Linux but not in ns-3",
}

impl Cobalt {
    /// The drop probability of BLUE.
    pub fn drop_probability(&self) -> f64 {
        self.control.drop_probability()
    }
}

impl QueueDiscipline for Cobalt {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.queue.admits(&packet, context) {
            self.queue.push(packet, context.now);
        } else {
            self.control.on_full(&self.settings, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        while let Some(mut head) = self.queue.pop() {
            let is_last = self.queue.packets() == 0;
            if !self.control.drops(&mut head, is_last, &self.settings, context) {
                return Some(head);
            }
            context.drop(head.packet, DropCause::Early, Some(head.since));
        }
        self.control.on_empty(&self.settings, context.now);
        None
    }

    lengths_of!(queue);
}
