//! CoDel that drops mainly from the hungriest connection, which is configured (static) or estimated to take the most bandwidth
//! (dynamic): Hanai, Yamaguchi and Kobayashi, "Modified controlling queue delay for TCP fairness improvement" (2016), sections II.H and IV.

use std::sync::Arc;

use super::parts::{CoDelControl, CoDelParameters, GuessParameters, Hungriest, Periodic};
use super::{BoundedFifo, Context, FlowTable, GuessedHungriest, Limit, NamedHungriest, QueueDiscipline, Queued};
use crate::packet::Packet;
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

/// CoDel that drops mainly from whom `H` says.
#[derive(Debug)]
pub struct CoDelHungriest<H> {
    codel: CoDelParameters,
    queue: BoundedFifo,
    control: CoDelControl,
    hungriest: H,
    others: Periodic,
}

/// From a configured group of flows.
pub type CoDelStatic = CoDelHungriest<NamedHungriest>;

/// From the connection estimated to take the most bandwidth.
pub type CoDelDynamic = CoDelHungriest<GuessedHungriest>;

about! { CoDelStatic:
    name: "codel_static",
    aliases: ["static_fairness_codel"],
    title: "CoDel that drops from a named connection",
    class: "aqm",
    year: 2016,
    source: "Hanai, Yamaguchi and Kobayashi 2016, section II.H",
    deviations: "the paper does not say what happens to CoDel's state when a packet is spared; here it advances as if \
                 the packet had been dropped, and at most one packet is spared per dequeue, as with CoDel's marks; of \
                 the others' drops one in 1/p is made, by counting, as in the authors' code",
}

about! { CoDelDynamic:
    name: "codel_dynamic",
    aliases: ["dynamic_fairness_codel"],
    title: "CoDel that drops from the connection it finds hungriest",
    class: "aqm",
    year: 2016,
    source: "Hanai, Yamaguchi and Kobayashi 2016, section IV",
    deviations: "until the first estimate every connection is one of the others; of equally frequent connections that \
                 of the first hosts, or flow, is taken; spared packets and CoDel's state are as in codel_static; of \
                 the others' drops one in 1/p is made, by counting, as in the authors' code",
}

impl CoDelStatic {
    pub fn new(limit: Limit, parameters: CoDelStaticParameters) -> CoDelStatic {
        let hungriest = NamedHungriest::new(parameters.hungriest);
        CoDelHungriest::of(limit, parameters.codel, hungriest, parameters.others_drop_probability)
    }
}

impl CoDelDynamic {
    pub fn new(limit: Limit, parameters: CoDelDynamicParameters) -> CoDelDynamic {
        let hungriest = GuessedHungriest::new(&parameters.guess);
        CoDelHungriest::of(limit, parameters.codel, hungriest, parameters.others_drop_probability)
    }
}

impl<H> CoDelHungriest<H> {
    fn of(limit: Limit, codel: CoDelParameters, hungriest: H, others_drop_probability: f64) -> CoDelHungriest<H> {
        let (queue, control) = (BoundedFifo::new(limit), CoDelControl::default());
        CoDelHungriest { codel, queue, control, hungriest, others: Periodic::new(others_drop_probability) }
    }
}

impl<H: Hungriest> QueueDiscipline for CoDelHungriest<H> {
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
        self.hungriest.set_flows(flows)
    }
}
