//! Active packet dropping, static: RED with n times the drop probability for packets of the connections configured as
//! the hungriest (Akiyama, Kozu and Yamaguchi, "Active packet dropping for improving performance fairness among modern
//! TCPs", APNOMS 2014).

use std::sync::Arc;

use super::parts::RedQueue;
use super::{Context, FlowTable, Limit, NamedHungriest, QueueDiscipline, Queued, RedParameters};
use crate::about::{About, Listed};
use crate::packet::Packet;
use crate::parameters;
use crate::units::Rate;

parameters! {
    pub struct ApdStaticParameters {
        ..red: RedParameters, except rules;
        hungriest: String = String::new(), "Group of flows that takes the most bandwidth", "Hanai et al. 2016 section II.E: configured in the router";
        multiple: f64 = 2.0, in 1..1000000, "Drop probability of their packets as a multiple of RED's (n)", "assumed: Hanai et al. 2016 section II.E gives no value";
    }
}

/// Active packet dropping from a configured group of flows.
#[derive(Debug)]
pub struct ApdStatic {
    parameters: ApdStaticParameters,
    queue: RedQueue,
    hungriest: NamedHungriest,
}

impl Listed for ApdStatic {
    const ABOUT: About = About {
        name: "apd_static",
        aliases: &["active_packet_dropping_static"],
        title: "Active packet dropping from a named connection",
        class: "aqm",
        year: 2014,
        source: "Akiyama, Kozu and Yamaguchi, APNOMS 2014, as described by Hanai et al. 2016, section II.E and Fig. 3",
        deviations: "the paper was not available: the multiplied probability is assumed to be the one after the spacing \
                     of drops, so that packets of the hungriest connection are always n times as likely to be dropped as \
                     others; otherwise the deviations of red",
    };
}

impl ApdStatic {
    pub fn new(limit: Limit, parameters: ApdStaticParameters) -> ApdStatic {
        let queue = RedQueue::new(limit, parameters.red.clone());
        ApdStatic { parameters, queue, hungriest: NamedHungriest::default() }
    }
}

impl QueueDiscipline for ApdStatic {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        let times = if self.hungriest.sent(&packet) { self.parameters.multiple } else { 1.0 };
        self.queue.enqueue_with(packet, times, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        self.queue.dequeue(context.now)
    }

    lengths_of!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        self.queue.set_link_rate(rate);
    }

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.hungriest = NamedHungriest::new(&self.parameters.hungriest, flows)?;
        Ok(())
    }
}
