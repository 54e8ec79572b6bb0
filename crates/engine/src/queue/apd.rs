//! Active packet dropping: RED with n times the drop probability for packets of the hungriest connection, which is configured (static)
//! or estimated (dynamic). Akiyama, Kozu and Yamaguchi, "Active packet dropping for improving performance fairness among modern TCPs",
//! APNOMS 2014.

use std::sync::Arc;

use super::parts::{GuessParameters, Hungriest, RedQueue};
use super::{Context, FlowTable, GuessedHungriest, Limit, NamedHungriest, QueueDiscipline, RedParameters};
use crate::packet::Packet;
use crate::units::Rate;

parameters! {
    pub struct ApdStaticParameters {
        ..red: RedParameters, except rules;
        hungriest: String = String::new(), "Group of flows that takes the most bandwidth", "Hanai et al. 2016 section II.E: configured in the router";
        multiple: f64 = 2.0, in 1..1000000, "Drop probability of their packets as a multiple of RED's (n)", "assumed: Hanai et al. 2016 section II.E gives no value";
    }
}

parameters! {
    pub struct ApdDynamicParameters {
        ..red: RedParameters, except rules;
        multiple: f64 = 2.0, in 1..1000000, "Drop probability of the hungriest connection's packets as a multiple of RED's (n)", "assumed: Hanai et al. 2016 section II.E gives no value";
        ..guess: GuessParameters;
    }
}

/// Active packet dropping from whom `H` says.
#[derive(Debug)]
pub struct ActiveDrop<H> {
    multiple: f64,
    queue: RedQueue,
    hungriest: H,
}

/// From a configured group of flows.
pub type ApdStatic = ActiveDrop<NamedHungriest>;

/// From the connection estimated to take the most bandwidth.
pub type ApdDynamic = ActiveDrop<GuessedHungriest>;

about! { ApdStatic:
    name: "apd_static",
    aliases: ["active_packet_dropping_static"],
    title: "Active packet dropping from a named connection",
    class: "aqm",
    year: 2014,
    source: "Akiyama, Kozu and Yamaguchi, APNOMS 2014, as described by Hanai et al. 2016, section II.E and Fig. 3",
    deviations: "the paper was not available: the multiplied probability is assumed to be the one after the spacing of \
                 drops, so that packets of the hungriest connection are always n times as likely to be dropped as \
                 others; otherwise the deviations of red",
}

about! { ApdDynamic:
    name: "apd_dynamic",
    aliases: ["active_packet_dropping_dynamic"],
    title: "Active packet dropping from the connection it finds hungriest",
    class: "aqm",
    year: 2014,
    source: "Akiyama, Kozu and Yamaguchi, APNOMS 2014, as described by Hanai et al. 2016, sections II.E and IV and Fig. 3",
    deviations: "the paper was not available: the hungriest connection is assumed to be estimated as in Hanai et al. \
                 2016, section IV; of equally frequent connections that of the first hosts, or flow, is taken; \
                 otherwise as apd_static",
}

impl ApdStatic {
    pub fn new(limit: Limit, parameters: ApdStaticParameters) -> ApdStatic {
        let ApdStaticParameters { red, hungriest, multiple } = parameters;
        ActiveDrop { multiple, queue: RedQueue::new(limit, red), hungriest: NamedHungriest::new(hungriest) }
    }
}

impl ApdDynamic {
    pub fn new(limit: Limit, parameters: ApdDynamicParameters) -> ApdDynamic {
        let ApdDynamicParameters { red, multiple, guess } = parameters;
        ActiveDrop { multiple, queue: RedQueue::new(limit, red), hungriest: GuessedHungriest::new(&guess) }
    }
}

impl<H: Hungriest> QueueDiscipline for ActiveDrop<H> {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.hungriest.receive(&packet);
        let times = if self.hungriest.sent(&packet) { self.multiple } else { 1.0 };
        self.queue.enqueue_with(packet, times, context);
    }

    red_queue!(queue, at_its_link_rate);

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.hungriest.set_flows(flows)
    }
}
