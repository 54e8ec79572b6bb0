//! CoDel with CHOKe's comparison, proposed against unfairness between flows of different round-trip times: Piotrowska,
//! "On cross-layer interactions for congestion control in the Internet", Applied Sciences 11 (2021), section 5.2.

use super::parts::{CoDelControl, draw_of_same_flow};
use super::{BoundedFifo, CoDelParameters, Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;

pub type ChokeCoDelParameters = CoDelParameters;

state! {
    /// CoDel with CHOKe's comparison.
    pub ChokeCoDel(limit: Limit, parameters: ChokeCoDelParameters) {
        parameters: ChokeCoDelParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        control: CoDelControl,
    }
}

about! { ChokeCoDel:
    name: "choke_codel",
    aliases: ["codel_choke"],
    title: "CoDel with CHOKe's comparison",
    class: "aqm",
    year: 2021,
    source: "Piotrowska, Applied Sciences 11 (2021), section 5.2; Pan, Prabhakar and Psounis, INFOCOM 2000; RFC 8289",
    deviations: "the proposal is two sentences long and does not say when to compare: here while CoDel is in its \
                 dropping state; only the arrival is dropped, as in the proposal, where CHOKe also drops the drawn \
                 packet, and CoDel still drops at the head; a match also drops ECN-capable packets, as in CHOKe; \
                 otherwise as codel",
}

impl QueueDiscipline for ChokeCoDel {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            return;
        }
        let compares = self.control.is_dropping();
        if compares && draw_of_same_flow(&packet, self.queue.line(), context.random).is_some() {
            context.drop(packet, DropCause::Early, None);
        } else {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        self.control.dequeue(self.queue.line_mut(), &self.parameters, context)
    }

    lengths_of!(queue);
}
