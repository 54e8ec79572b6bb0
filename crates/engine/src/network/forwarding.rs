//! How a packet goes from link to link.

use super::{Egress, InTransit, Link, MeasuredQueue, Routes};
use crate::agenda::Agenda;
use crate::packet::{Packet, SackPool};
use crate::queue::{Context, QueueDiscipline, Queued};
use crate::time::Time;

/// Links and paths, apart from the flows, so that a flow's packets can be sent while the flow is at work.
#[derive(Debug)]
pub struct Network {
    /// Its links.
    pub links: Vec<Link>,
    /// The paths through them.
    pub routes: Routes,
    /// Packets dropped so far.
    pub dropped: u64,
}

impl Network {
    /// A packet leaves its host.
    pub(crate) fn enter(&mut self, packet: Packet, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let first = self.routes.hop(packet.hop).link as usize;
        self.offer(first, packet, now, agenda, sacks);
    }

    /// A packet comes to a link.
    pub(crate) fn offer(&mut self, index: usize, packet: Packet, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let link = &mut self.links[index];
        if let Some(losses) = &mut link.losses
            && losses.takes(&packet)
        {
            self.dropped += 1;
            sacks.take(packet.sacks);
            return;
        }
        match &mut link.egress {
            Egress::Unlimited => {
                let completion = link.transmitter.transmit(packet.size, now);
                self.forward(index, packet, completion, agenda);
            }
            Egress::Queue(queue) => {
                queue.probe.on_arrival();
                let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
                queue.discipline.enqueue(packet, &mut context);
                self.dropped += settle(queue, now, sacks);
                debug_assert!(queue.is_balanced(), "arrivals that neither left nor were dropped");
                if queue.device.has_room_at() <= now {
                    self.feed_device(index, now, agenda, sacks);
                }
            }
        }
    }

    /// The device of a link with a queue has room: it takes a packet from the discipline.
    pub(crate) fn feed_device(&mut self, index: usize, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let link = &mut self.links[index];
        let Egress::Queue(queue) = &mut link.egress else { return };
        debug_assert!(queue.device.has_room_at() <= now, "the device of link {index} is full");
        let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
        let next = queue.discipline.dequeue(&mut context);
        self.dropped += settle(queue, now, sacks);
        let Some(Queued { packet, since }) = next else {
            agenda.clear(queue.room);
            return;
        };
        let transmission = link.transmitter.transmission_time(packet.size);
        let completion = link.transmitter.transmit(packet.size, now);
        queue.probe.on_departure(packet.size, now.since(since), transmission);
        debug_assert!(queue.is_balanced(), "arrivals that neither left nor were dropped");
        queue.device.take(completion);
        let room = queue.device.has_room_at();
        if room > now {
            let sequence = agenda.sequence();
            agenda.set(queue.room, room, sequence);
        }
        self.forward(index, packet, completion, agenda);
    }

    /// Link `index` has transmitted a packet by `completion`. While the links that follow only ever get packets from
    /// this one, their part of the way is computed at once.
    fn forward(&mut self, mut index: usize, mut packet: Packet, completion: Time, agenda: &mut Agenda) {
        let mut arrival = completion + self.links[index].delay;
        loop {
            packet.hop += 1;
            let hop = self.routes.hop(packet.hop);
            if !hop.follows_one_link {
                break;
            }
            index = hop.link as usize;
            let link = &mut self.links[index];
            arrival = link.transmitter.transmit(packet.size, arrival) + link.delay;
        }
        let sequence = agenda.sequence();
        let link = &mut self.links[index];
        if link.in_transit.is_empty() {
            agenda.set(link.arrivals, arrival, sequence);
        }
        link.in_transit.push_back(InTransit { arrival, sequence, packet });
    }

    /// Takes the packet that arrives at the end of a link.
    pub(crate) fn take_arrival(&mut self, index: usize, agenda: &mut Agenda) -> Packet {
        let link = &mut self.links[index];
        let arrived = link.in_transit.pop_front().expect("an arrival is due only while a packet is under way");
        match link.in_transit.front() {
            Some(head) => agenda.set(link.arrivals, head.arrival, head.sequence),
            None => agenda.clear(link.arrivals),
        }
        arrived.packet
    }
}

/// Takes account of what a discipline has just done; returns how many packets it dropped.
fn settle(queue: &mut MeasuredQueue, now: Time, sacks: &mut SackPool) -> u64 {
    queue.probe.on_length(queue.discipline.packets(), queue.discipline.bytes(), now);
    let dropped = queue.outcome.dropped.len() as u64;
    if dropped + queue.outcome.marks > 0 {
        queue.probe.on_outcome(&queue.outcome);
        for drop in queue.outcome.dropped.drain(..) {
            sacks.take(drop.packet.sacks);
        }
        queue.outcome.marks = 0;
    }
    dropped
}
