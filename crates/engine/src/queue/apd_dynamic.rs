//! Active packet dropping, dynamic: RED with n times the drop probability for packets of the connection estimated to
//! take the most bandwidth (Akiyama, Kozu and Yamaguchi, "Active packet dropping for improving performance fairness
//! among modern TCPs", APNOMS 2014).

use std::sync::Arc;

use super::parts::{GuessParameters, RedQueue};
use super::{Context, FlowTable, GuessedHungriest, Limit, QueueDiscipline, Queued, RedParameters};
use crate::about::{About, Listed};
use crate::packet::Packet;
use crate::parameters;
use crate::units::Rate;

parameters! {
    pub struct ApdDynamicParameters {
        ..red: RedParameters, except rules;
        multiple: f64 = 2.0, in 1..1000000, "Drop probability of the hungriest connection's packets as a multiple of RED's (n)", "assumed: Hanai et al. 2016 section II.E gives no value";
        ..guess: GuessParameters;
    }
}

/// Active packet dropping from the connection estimated to take the most bandwidth.
#[derive(Debug)]
pub struct ApdDynamic {
    multiple: f64,
    queue: RedQueue,
    hungriest: GuessedHungriest,
}

impl Listed for ApdDynamic {
    const ABOUT: About = About {
        name: "apd_dynamic",
        aliases: &["active_packet_dropping_dynamic"],
        title: "Active packet dropping from the connection it finds hungriest",
        class: "aqm",
        year: 2014,
        source: "Akiyama, Kozu and Yamaguchi, APNOMS 2014, as described by Hanai et al. 2016, sections II.E and IV and Fig. 3",
        deviations: "the paper was not available: the hungriest connection is assumed to be estimated as in Hanai et al. \
                     2016, section IV; of equally frequent connections that of the first hosts, or flow, is taken; \
                     otherwise as apd_static",
    };
}

impl ApdDynamic {
    pub fn new(limit: Limit, parameters: ApdDynamicParameters) -> ApdDynamic {
        ApdDynamic {
            multiple: parameters.multiple,
            queue: RedQueue::new(limit, parameters.red),
            hungriest: GuessedHungriest::new(&parameters.guess),
        }
    }
}

impl QueueDiscipline for ApdDynamic {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.hungriest.receive(&packet);
        let times = if self.hungriest.sent(&packet) { self.multiple } else { 1.0 };
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
        self.hungriest.set_flows(flows);
        Ok(())
    }
}
