//! WRED (weighted RED): RED with a minimum threshold that depends on the packet's precedence (Cisco IOS,
//! `random-detect`).

use std::sync::Arc;

use super::parts::{AverageQueue, DropCurve, DropSpacing};
use super::{BoundedFifo, Context, FlowTable, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::units::{Bytes, Rate};

parameters! {
    pub struct WredParameters {
        favoured: String = String::new(), "Name of the group of flows that has the precedence; all others have precedence 0", "none";
        precedence: u64 = 5, in 0..7, "IP precedence of the favoured flows", "RFC 791: 5 is CRITIC/ECP, the highest that is not for the network itself";
        max: Limit = Limit::Packets(40), "Average queue from which every packet is dropped; a flow's minimum threshold is (9 + precedence) / 18 of it", "Enterasys XSR, random-detect precedence; in Cisco IOS it depends on buffers and line";
        weight: f64 = 0.001_953_125, in 0..1, "Weight of an arrival in the average queue", "Cisco IOS and Enterasys XSR, random-detect exponential-weighting-constant 9: 2^-9";
        maximum_probability: f64 = 0.1, in 0..1, "Drop probability at max", "Cisco IOS, random-detect precedence: mark-probability-denominator 10";
        mean_packet_size: Bytes = Bytes(1500), in 1..65535, "Packet size that converts idle times and thresholds in bytes to packets", "the size of full packets";
        ecn: bool = false, "Mark ECN-capable packets below max instead of dropping them", "Cisco IOS, random-detect ecn";
    }
}

impl WredParameters {
    /// The minimum threshold of a precedence, in packets: half of the maximum threshold for 0, evenly spaced above
    /// (Cisco IOS, random-detect precedence).
    pub fn minimum(&self, precedence: u64) -> f64 {
        self.max.in_packets(self.mean_packet_size) * (9 + precedence) as f64 / 18.0
    }
}

#[derive(Debug)]
struct Profile {
    curve: DropCurve,
    spacing: DropSpacing,
}

impl Profile {
    fn new(parameters: &WredParameters, precedence: u64) -> Profile {
        let maximum = parameters.max.in_packets(parameters.mean_packet_size);
        let curve = DropCurve::new(parameters.minimum(precedence), maximum, parameters.maximum_probability, false);
        Profile { curve, spacing: DropSpacing::default() }
    }

    /// Whether to drop or mark a packet at this average queue length.
    fn selects(&mut self, average: f64, context: &mut Context) -> bool {
        if average < self.curve.minimum() {
            self.spacing.stop();
            return false;
        }
        let probability = self.curve.probability(average);
        let selected = probability >= 1.0
            || self.spacing.count(1.0) && context.random.unit() < self.spacing.spread(probability, false);
        if selected {
            self.spacing.restart();
        }
        selected
    }
}

state! {
    pub Wred(limit: Limit, parameters: WredParameters) {
        parameters: WredParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        average: AverageQueue,
        /// The profiles of ordinary and favoured packets, in this order.
        profiles: [Profile; 2] = [0, parameters.precedence].map(|precedence| Profile::new(&parameters, precedence)),
        favoured: Option<(Arc<FlowTable>, u32)>,
    }
}

about! { Wred:
    name: "wred",
    aliases: ["weighted_red"],
    title: "WRED",
    class: "aqm",
    year: 1998,
    source: "Cisco IOS, random-detect; Floyd and Jacobson 1993",
    deviations: "packets carry no precedence here: it is set for a named group of flows; Cisco does not say how drops \
                 are spaced: here as in RED, without wait, separately for each precedence",
}

impl QueueDiscipline for Wred {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        self.average.on_arrival(self.queue.packets() as f64, context.now);
        if !self.queue.admits(&packet, context) {
            return;
        }
        let is_favoured = self.favoured.as_ref().is_some_and(|(flows, group)| flows.group(&packet) == *group);
        let profile = &mut self.profiles[usize::from(is_favoured)];
        let average = self.average.value();
        // As in RED, an arrival at an empty queue is never dropped.
        if self.queue.packets() > 0 && profile.selects(average, context) {
            let may_mark = self.parameters.ecn && average < profile.curve.maximum();
            if !context.mark_or_drop(&mut packet, may_mark, None) {
                return;
            }
        }
        self.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let head = self.queue.pop();
        if head.is_none() {
            self.average.on_idle(context.now);
        }
        head
    }

    lengths_of!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        let packets_per_second = rate.0 as f64 / (8.0 * self.parameters.mean_packet_size.0 as f64);
        self.average.configure(self.parameters.weight, packets_per_second);
    }

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        if !self.parameters.favoured.is_empty() {
            let group = flows.group_named(&self.parameters.favoured).map_err(|error| format!("favoured: {error}"))?;
            self.favoured = Some((Arc::clone(flows), group));
        }
        Ok(())
    }
}
