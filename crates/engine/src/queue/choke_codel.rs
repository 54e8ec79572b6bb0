//! CoDel with CHOKe's comparison: proposed against unfairness between round-trip times by Piotrowska, "On cross-layer
//! interactions for congestion control in the Internet", Applied Sciences 11 (2021), section 5.2.

use super::parts::{CoDelControl, draw_of_same_flow};
use super::{CoDelParameters, Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;

/// Its parameters are CoDel's.
pub type ChokeCoDelParameters = CoDelParameters;

/// See the module.
#[derive(Debug)]
pub struct ChokeCoDel {
    limit: Limit,
    parameters: ChokeCoDelParameters,
    queue: Fifo,
    control: CoDelControl,
}

impl ChokeCoDel {
    /// What it is.
    pub const ABOUT: About = About {
        name: "choke_codel",
        aliases: &["codel_choke"],
        title: "CoDel with CHOKe's comparison",
        class: "aqm",
        year: 2021,
        source: "Piotrowska, Applied Sciences 11 (2021), section 5.2; Pan, Prabhakar and Psounis, INFOCOM 2000; RFC 8289",
        departures: "the proposal is two sentences and leaves open when to compare: taken is, while CoDel is in its dropping \
                     state; only the arrival goes, as the proposal words it, where CHOKe drops the drawn packet too, and \
                     CoDel drops at the head besides; a match drops ECN-capable packets too, as CHOKe; the rest as in codel",
    };

    /// An empty queue.
    pub fn new(limit: Limit, parameters: ChokeCoDelParameters) -> ChokeCoDel {
        ChokeCoDel { limit, parameters, queue: Fifo::default(), control: CoDelControl::default() }
    }
}

impl QueueDiscipline for ChokeCoDel {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.limit.is_exceeded_by(&packet, &self.queue) {
            context.drop(packet, DropCause::Overflow, None);
        } else if self.control.is_dropping() && draw_of_same_flow(&packet, &self.queue, context.random).is_some() {
            context.drop(packet, DropCause::Early, None);
        } else {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        self.control.dequeue(&mut self.queue, &self.parameters, context)
    }

    lengths_of!(queue);
}
