//! CoDel that drops mainly from the connection estimated to take the most bandwidth: Hanai, Yamaguchi and Kobayashi,
//! "Modified controlling queue delay for TCP fairness improvement" (2016), section IV.

use std::sync::Arc;

use super::parts::{CoDelControl, CoDelParameters, GuessParameters, Periodic};
use super::{BoundedFifo, Context, FlowTable, GuessedHungriest, Limit, QueueDiscipline, Queued};
use crate::about::{About, Listed};
use crate::packet::Packet;
use crate::parameters;
use crate::time::Duration;

parameters! {
    pub struct CoDelDynamicParameters {
        ..guess: GuessParameters;
        others_drop_probability: f64 = 1.0 / 3.0, in 0..1, "Share of CoDel's drops that is carried out on packets of other connections (p)", "Hanai et al. 2016 section V";
        ..codel: CoDelParameters, except ce_threshold {
            target = Duration::from_milliseconds(5), "Hanai et al. 2016 section II.G";
            ecn = false, "not in the paper; off in Linux, include/net/codel_impl.h";
        };
    }
}

/// CoDel that drops mainly from the connection estimated to take the most bandwidth.
#[derive(Debug)]
pub struct CoDelDynamic {
    codel: CoDelParameters,
    queue: BoundedFifo,
    control: CoDelControl,
    hungriest: GuessedHungriest,
    others: Periodic,
}

impl Listed for CoDelDynamic {
    const ABOUT: About = About {
        name: "codel_dynamic",
        aliases: &["dynamic_fairness_codel"],
        title: "CoDel that drops from the connection it finds hungriest",
        class: "aqm",
        year: 2016,
        source: "Hanai, Yamaguchi and Kobayashi 2016, section IV",
        deviations: "until the first estimate every connection is one of the others; of equally frequent connections \
                     that of the first hosts, or flow, is taken; spared packets and CoDel's state are as in \
                     codel_static; of the others' drops one in 1/p is made, by counting, as in the authors' code",
    };
}

impl CoDelDynamic {
    pub fn new(limit: Limit, parameters: CoDelDynamicParameters) -> CoDelDynamic {
        CoDelDynamic {
            codel: parameters.codel,
            queue: BoundedFifo::new(limit),
            control: CoDelControl::default(),
            hungriest: GuessedHungriest::new(&parameters.guess),
            others: Periodic::new(parameters.others_drop_probability),
        }
    }
}

impl QueueDiscipline for CoDelDynamic {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.hungriest.receive(&packet);
        self.queue.enqueue(packet, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let mut takes = |packet: &Packet| self.hungriest.sent(packet) || self.others.chooses();
        self.control.dequeue_with(&mut takes, self.queue.line_mut(), &self.codel, context)
    }

    lengths_of!(queue);

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.hungriest.set_flows(flows);
        Ok(())
    }
}
