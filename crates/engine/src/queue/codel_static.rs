//! CoDel that drops mainly from a configured group of flows: Hanai, Yamaguchi and Kobayashi, "Modified controlling
//! queue delay for TCP fairness improvement" (2016), section II.H.

use std::sync::Arc;

use super::parts::{CoDelControl, CoDelParameters, Periodic};
use super::{BoundedFifo, Context, FlowTable, Limit, NamedHungriest, QueueDiscipline, Queued};
use crate::about::{About, Listed};
use crate::packet::Packet;
use crate::parameters;
use crate::time::Duration;

parameters! {
    pub struct CoDelStaticParameters {
        hungriest: String = String::new(), "Group of flows that takes the most bandwidth", "Hanai et al. 2016 section II.H: configured in the router";
        others_drop_probability: f64 = 1.0 / 3.0, in 0..1, "Share of CoDel's drops that is carried out on packets of other connections (p)", "Hanai et al. 2016 section V";
        ..codel: CoDelParameters, except ce_threshold {
            target = Duration::from_milliseconds(5), "Hanai et al. 2016 section II.G";
            ecn = false, "not in the paper; off in Linux, include/net/codel_impl.h";
        };
    }
}

/// CoDel that drops mainly from a configured group of flows.
#[derive(Debug)]
pub struct CoDelStatic {
    /// The name of the hungriest group.
    name: String,
    codel: CoDelParameters,
    queue: BoundedFifo,
    control: CoDelControl,
    hungriest: NamedHungriest,
    others: Periodic,
}

impl Listed for CoDelStatic {
    const ABOUT: About = About {
        name: "codel_static",
        aliases: &["static_fairness_codel"],
        title: "CoDel that drops from a named connection",
        class: "aqm",
        year: 2016,
        source: "Hanai, Yamaguchi and Kobayashi 2016, section II.H",
        deviations: "the paper does not say what happens to CoDel's state when a packet is spared; here it advances as \
                     if the packet had been dropped, and at most one packet is spared per dequeue, as with CoDel's \
                     marks; of the others' drops one in 1/p is made, by counting, as in the authors' code",
    };
}

impl CoDelStatic {
    pub fn new(limit: Limit, parameters: CoDelStaticParameters) -> CoDelStatic {
        CoDelStatic {
            codel: parameters.codel,
            queue: BoundedFifo::new(limit),
            control: CoDelControl::default(),
            hungriest: NamedHungriest::default(),
            others: Periodic::new(parameters.others_drop_probability),
            name: parameters.hungriest,
        }
    }
}

impl QueueDiscipline for CoDelStatic {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let mut takes = |packet: &Packet| self.hungriest.sent(packet) || self.others.chooses();
        self.control.dequeue_with(&mut takes, self.queue.line_mut(), &self.codel, context)
    }

    lengths_of!(queue);

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.hungriest = NamedHungriest::new(&self.name, flows)?;
        Ok(())
    }
}
