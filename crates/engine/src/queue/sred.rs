//! SRED (Stabilized RED): the drop probability depends on the occupancy of the buffer and on the estimated number of
//! flows. The estimate is based on how often a packet matches a random entry of a list of recently seen flows (Ott,
//! Lakshman and Wong, "SRED: Stabilized RED", IEEE INFOCOM 1999).

use super::{BoundedFifo, Context, FlowHash, Limit, QueueDiscipline};
use crate::packet::Packet;
use crate::random::Random;

parameters! {
    pub struct SredParameters {
        zombies: u64 = 1000, in 1..1000000, "Size of the list of recently seen flows (M)", "Ott, Lakshman and Wong 1999, section II";
        overwrite_probability: f64 = 0.25, in 0..1, "Probability that a miss replaces the flow it was compared with (p)", "Ott, Lakshman and Wong 1999, section II";
        hit_weight: f64 = 0.001, in 0..1, "Weight of a packet in the frequency of hits (alpha)", "Ott, Lakshman and Wong 1999, section III";
        maximum_probability: f64 = 0.15, in 0..1, "Drop probability from a third of the buffer on, before it is scaled by the number of flows (p_max)", "Ott, Lakshman and Wong 1999, equation 4.3";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "not in Ott, Lakshman and Wong 1999, which drops";
    }
}

/// The number of flows up to which the drop probability increases with the square of the number of flows (equation
/// 4.4).
const FLOWS: f64 = 256.0;

impl SredParameters {
    /// The drop probability by buffer occupancy, a share of the capacity (equation 4.3).
    pub fn by_occupancy(&self, share: f64) -> f64 {
        if share >= 1.0 / 3.0 {
            self.maximum_probability
        } else if share >= 1.0 / 6.0 {
            self.maximum_probability / 4.0
        } else {
            0.0
        }
    }

    /// The drop probability, given the buffer occupancy, the hit frequency and whether the packet is a hit (equations
    /// 4.4 and 5.1).
    pub fn drop_probability(&self, share: f64, hit_frequency: f64, hit: bool) -> f64 {
        let flows = FLOWS * hit_frequency;
        let by_flows = if flows > 1.0 { 1.0 / (flows * flows) } else { 1.0 };
        let by_hit = if hit { 1.0 + 1.0 / hit_frequency } else { 1.0 };
        (self.by_occupancy(share) * by_flows * by_hit).min(1.0)
    }
}

state! {
    /// The list of recently seen flows.
    Zombies(length: usize) {
        list: Box<[u64]> = vec![0; length].into(),
        filled: usize,
        hit_frequency: f64,
    }
}

impl Zombies {
    /// Compares a packet with a random entry of the list. Returns whether it is a hit (sections II and III).
    fn meet(&mut self, packet: &Packet, parameters: &SredParameters, random: &mut Random) -> bool {
        let flow = FlowHash::key(packet);
        if self.filled < self.list.len() {
            self.list[self.filled] = flow;
            self.filled += 1;
            return false;
        }
        let zombie = &mut self.list[random.index(self.filled as u64) as usize];
        let hit = *zombie == flow;
        if !hit && random.unit() < parameters.overwrite_probability {
            *zombie = flow;
        }
        self.hit_frequency += parameters.hit_weight * (f64::from(u8::from(hit)) - self.hit_frequency);
        hit
    }
}

state! {
    pub Sred(limit: Limit, parameters: SredParameters) {
        parameters: SredParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        zombies: Zombies = Zombies::new(parameters.zombies as usize),
    }
}

about! { Sred:
    name: "sred",
    aliases: ["stabilized_red"],
    title: "SRED",
    class: "aqm",
    year: 1999,
    source: "Ott, Lakshman and Wong, IEEE INFOCOM 1999",
    deviations: "until its list is full, for which the paper gives no estimate, it assumes many flows; zombies have no \
                 count and no timestamp, since these do not affect the drop probability; the buffer's capacity is the \
                 limit, in bytes or packets; without a limit nothing is dropped",
}

impl Sred {
    /// The hit frequency, approximately the reciprocal of the number of flows.
    pub fn hit_frequency(&self) -> f64 {
        self.zombies.hit_frequency
    }

    /// The occupancy of the buffer, as a share of its capacity.
    fn share(&self) -> f64 {
        match self.queue.limit() {
            Limit::Packets(limit) => self.queue.packets() as f64 / limit as f64,
            Limit::Bytes(limit) => self.queue.bytes() as f64 / limit as f64,
        }
    }
}

impl QueueDiscipline for Sred {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        let hit = self.zombies.meet(&packet, &self.parameters, context.random);
        if !self.queue.admits(&packet, context) {
            return;
        }
        let probability = self.parameters.drop_probability(self.share(), self.zombies.hit_frequency, hit);
        let selected = probability > 0.0 && context.random.unit() < probability;
        if !selected || context.mark_or_drop(&mut packet, self.parameters.ecn, None) {
            self.queue.push(packet, context.now);
        }
    }

    fifo!(queue);
}
