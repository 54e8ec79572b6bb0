//! CHOKe: Pan, Prabhakar and Psounis, "CHOKe, a stateless active queue management scheme for approximating fair
//! bandwidth allocation", INFOCOM 2000. RED that first compares each arrival with a packet drawn at random from the
//! queue. If both belong to the same flow, both are dropped. The probability of a match equals the flow's share of the
//! queue.

use super::parts::{LinuxRed, QueueRules, RedQueue, RedSettings, draw_of_same_flow};
use super::{Context, DropCause, Limit, QueueDiscipline, RedParameters};
use crate::packet::Packet;
use crate::units::Rate;

parameters! {
    pub struct ChokeParameters {
        ..red: RedParameters, except rules;
        rules: QueueRules = QueueRules::Published, "Whose arithmetic: linux has that of red, with the queue in packets", "Pan, Prabhakar and Psounis 2000; Linux, net/sched/sch_choke.c, choke_enqueue";
    }
}

state! {
    pub Choke(limit: Limit, parameters: ChokeParameters) {
        queue: RedQueue = RedQueue::new(limit, parameters.red.clone()),
        parameters: ChokeParameters = parameters,
        /// By Linux's rules, once the thresholds are known.
        linux: Option<LinuxRed>,
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

/// Drops an arrival and a packet that is drawn from the queue, if they are of the same flow.
fn drops_both(queue: &mut RedQueue, packet: &Packet, context: &mut Context) -> bool {
    let Some(place) = draw_of_same_flow(packet, queue.line(), context.random) else { return false };
    let drawn = queue.remove(place).expect("a packet was drawn from there");
    context.drop(drawn.packet, DropCause::Early, Some(drawn.since));
    context.drop(*packet, DropCause::Early, None);
    true
}

impl Choke {
    /// Linux's choke_enqueue.
    fn enqueue_in_linux(&mut self, packet: Packet, context: &mut Context) {
        let Some(red) = &mut self.linux else { return };
        red.on_arrival(self.queue.packets());
        let is_compared = red.is_above_least();
        if is_compared && drops_both(&mut self.queue, &packet, context) {
            return;
        }
        let selected = if is_compared { red.selects(|| (context.random.bits() >> 32) as u32) } else { None };
        self.queue.admit_in_linux(packet, selected, context);
    }
}

impl QueueDiscipline for Choke {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.linux.is_some() {
            return self.enqueue_in_linux(packet, context);
        }
        self.queue.on_arrival(context.now);
        let is_compared = self.queue.average().value() > self.queue.curve().minimum();
        if !is_compared || !drops_both(&mut self.queue, &packet, context) {
            self.queue.admit(packet, 1.0, context);
        }
    }

    red_queue!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        self.queue.set_link_rate(rate);
        let ChokeParameters { red, rules } = &self.parameters;
        if *rules == QueueRules::Linux && self.linux.is_none() {
            let RedSettings { minimum, maximum, weight } = red.settings(rate);
            let [least, most] = [minimum, maximum].map(|threshold| (threshold / red.unit()).round());
            self.linux = Some(LinuxRed::new(weight, least, most, red.maximum_probability).forced_above_most());
        }
    }
}
