//! CHOKe: Pan, Prabhakar and Psounis, "CHOKe, a stateless active queue management scheme for approximating fair
//! bandwidth allocation", INFOCOM 2000. RED that first compares each arrival with a packet drawn at random from the
//! queue. If both belong to the same flow, both are dropped. The probability of a match equals the flow's share of the
//! queue.

use super::parts::{RedQueue, draw_of_same_flow};
use super::{Context, DropCause, Limit, QueueDiscipline, RedParameters};
use crate::packet::Packet;
use crate::units::Rate;

parameters! {
    pub struct ChokeParameters {
        ..red: RedParameters, except rules;
    }
}

state! {
    pub Choke(limit: Limit, parameters: ChokeParameters) {
        queue: RedQueue = RedQueue::new(limit, parameters.red),
    }
}

about! { Choke:
    name: "choke",
    title: "CHOKe",
    class: "aqm",
    year: 2000,
    source: "Pan, Prabhakar and Psounis, INFOCOM 2000; Linux net/sched/sch_choke.c",
    deviations: "RED is as in red, gentle by default; one packet is drawn, the variants that draw several are left \
                 out; a match also drops ECN-capable packets, as in Linux",
}

impl QueueDiscipline for Choke {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.on_arrival(context.now);
        if self.queue.average().value() > self.queue.curve().minimum()
            && let Some(place) = draw_of_same_flow(&packet, self.queue.line(), context.random)
        {
            let drawn = self.queue.remove(place).expect("a packet was drawn from there");
            context.drop(drawn.packet, DropCause::Early, Some(drawn.since));
            context.drop(packet, DropCause::Early, None);
            return;
        }
        self.queue.admit(packet, 1.0, context);
    }

    red_queue!(queue, at_its_link_rate);
}
