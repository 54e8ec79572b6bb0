//! How a packet goes from link to link.

use super::{END_OF_PATH, Egress, InTransit, Link, MeasuredQueue, Routes};
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
    /// A packet comes to the link that its hop names.
    pub(crate) fn offer(&mut self, packet: Packet, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let index = self.routes.link(packet.hop) as usize;
        let link = &mut self.links[index];
        if let Some(losses) = &mut link.losses
            && losses.takes(&packet)
        {
            self.dropped += 1;
            sacks.take(packet.sacks);
            return;
        }
        match &mut link.egress {
            Egress::Unlimited { .. } => {
                let arrival = link.transmit(packet.size, now);
                self.forward(index, packet, arrival, agenda);
            }
            Egress::Queue(queue) => {
                queue.probe.on_arrival();
                let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
                queue.discipline.enqueue(packet, &mut context);
                self.dropped += settle(queue, now, sacks);
                debug_assert_eq!(
                    queue.probe.balance(),
                    queue.discipline.packets(),
                    "arrivals that neither left nor were dropped"
                );
                if queue.device.has_room(now) {
                    self.feed_device(index, now, agenda, sacks);
                }
            }
        }
    }

    /// The device of a link with a queue has room: it takes a packet from the discipline.
    pub(crate) fn feed_device(&mut self, index: usize, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let link = &mut self.links[index];
        let Egress::Queue(queue) = &mut link.egress else { return };
        let has_room = queue.device.has_room(now);
        debug_assert!(has_room, "the device of link {index} is full");
        let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
        let next = queue.discipline.dequeue(&mut context);
        self.dropped += settle(queue, now, sacks);
        let Some(Queued { packet, since }) = next else {
            agenda.clear_room(index);
            return;
        };
        let arrival = link.transmit(packet.size, now);
        let transmission = link.transmission_time(packet.size);
        if let Egress::Queue(queue) = &mut link.egress {
            queue.probe.on_departure(packet.size, now.since(since), transmission);
            debug_assert_eq!(
                queue.probe.balance(),
                queue.discipline.packets(),
                "arrivals that neither left nor were dropped"
            );
            queue.device.take(link.busy_until);
            if let Some(room) = queue.device.next_room() {
                agenda.set_room(index, room);
            }
        }
        self.forward(index, packet, arrival, agenda);
    }

    /// A packet that was put on link `index` reaches its end at `arrival`. While the links that follow only ever get
    /// packets from this one, their part of the way is computed at once.
    fn forward(&mut self, mut index: usize, mut packet: Packet, mut arrival: Time, agenda: &mut Agenda) {
        loop {
            packet.hop += 1;
            let next = self.routes.link(packet.hop);
            if next == END_OF_PATH {
                break;
            }
            let next_link = &mut self.links[next as usize];
            if !matches!(next_link.egress, Egress::Unlimited { follows_one_link: true }) {
                break;
            }
            arrival = next_link.transmit(packet.size, arrival);
            index = next as usize;
        }
        let sequence = agenda.sequence();
        let in_transit = &mut self.links[index].in_transit;
        if in_transit.is_empty() {
            agenda.set_arrival(index, arrival, sequence);
        }
        in_transit.push_back(InTransit { arrival, sequence, packet });
    }

    /// Takes the packet that arrives at the end of a link.
    pub(crate) fn take_arrival(&mut self, index: usize, agenda: &mut Agenda) -> Packet {
        let in_transit = &mut self.links[index].in_transit;
        let arrived = in_transit.pop_front().expect("an arrival is due only while a packet is under way");
        match in_transit.front() {
            Some(head) => agenda.set_arrival(index, head.arrival, head.sequence),
            None => agenda.clear_arrival(index),
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
