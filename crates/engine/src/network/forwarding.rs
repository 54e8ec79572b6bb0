//! How a packet goes from link to link.

use super::link::earliest_arrival;
use super::{Arrived, Drops, Egress, InTransit, Link, Routes};
use crate::agenda::Agenda;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{End, Passage};
use crate::queue::QueueDiscipline;
use crate::time::Time;

/// Links and paths. Separate from the flows, so that a flow can send packets while it is borrowed.
#[derive(Debug)]
pub struct Network {
    pub links: Vec<Link>,
    pub routes: Routes,
    pub drops: Drops,
    /// Copies of packets that links made.
    pub duplicates: u64,
    /// Pending events: those of the links, and all timers.
    pub agenda: Agenda,
    /// Options of the acknowledgements under way.
    pub options: OptionsPool,
    /// Packets that hosts are about to handle ahead of the run, which may handle those that arrive before the horizon.
    pub arrived: Vec<Arrived>,
    pub horizon: Time,
    /// How often a device that had room for a packet asked for one.
    pub asked: u64,
    /// Recorded packets. The times of some may lie ahead.
    pub passages: Vec<Passage>,
}

impl Network {
    /// A packet leaves its host.
    pub(crate) fn enter(&mut self, packet: Packet, now: Time) {
        let first = self.routes.hop(packet.hop).link as usize;
        self.offer(first, packet, now);
    }

    /// A packet arrives at a link's egress.
    pub(crate) fn offer(&mut self, index: usize, packet: Packet, now: Time) {
        let mut link = &mut self.links[index];
        if let Some(special) = &mut link.special
            && special.refuses(&packet, now)
        {
            return self.lose(&packet);
        }
        match &mut link.egress {
            Egress::Unlimited => {
                let completion = link.transmitter.transmit(packet.size, now);
                self.forward(index, packet, completion);
            }
            Egress::Queue(queue) => {
                let mut queue = queue;
                if queue.is_behind(now) {
                    self.catch_up(index, now);
                    link = &mut self.links[index];
                    let Egress::Queue(same) = &mut link.egress else { return };
                    queue = same;
                }
                let has_room = queue.device.has_room_at() <= now;
                if has_room && queue.discipline.lets_pass(&packet) {
                    queue.pass(packet.size, now, &mut link.transmitter);
                    queue.after_taking(now, earliest_arrival(&link.transmitter, &link.delay), &mut self.agenda);
                    let completion = link.transmitter.busy_until;
                    self.forward(index, packet, completion);
                    return;
                }
                queue.enqueue(packet, now, &mut self.drops, &mut self.options);
                if has_room {
                    self.feed_device(index, now, now);
                } else if !queue.asks && !queue.discipline.is_at_rest() {
                    queue.ask(earliest_arrival(&link.transmitter, &link.delay), &mut self.agenda);
                }
            }
            Egress::Foreseen(foreseen) => {
                let transmitter = &mut link.transmitter;
                let foreseen = foreseen.offer(packet, now, transmitter, &mut self.drops, &mut self.options);
                if let Some((packet, completion)) = foreseen {
                    self.forward(index, packet, completion);
                }
            }
            Egress::Frames(_) => self.offer_to_frames(index, packet, now),
        }
    }

    /// The same for a link that sends frames.
    #[inline(never)]
    fn offer_to_frames(&mut self, index: usize, packet: Packet, now: Time) {
        let Egress::Frames(framed) = &mut self.links[index].egress else { return };
        let queue = &mut framed.queue;
        queue.enqueue(packet, now, &mut self.drops, &mut self.options);
        if queue.device.has_room_at() <= now {
            self.send_frame(index, now);
        } else if !queue.asks && !queue.discipline.is_at_rest() {
            queue.ask(Time::NEVER, &mut self.agenda);
        }
    }

    /// The device of a link that sends frames has room: it takes the next one. Its packets arrive together.
    #[inline(never)]
    fn send_frame(&mut self, index: usize, now: Time) {
        let Link { egress: Egress::Frames(framed), transmitter, .. } = &mut self.links[index] else { return };
        let Some((packets, completion)) = framed.take(now, transmitter, &mut self.drops, &mut self.options) else {
            return framed.queue.after_taking_nothing(&mut self.agenda);
        };
        framed.queue.after_taking(now, Time::NEVER, &mut self.agenda);
        for packet in &packets {
            self.forward(index, *packet, completion);
        }
        if let Egress::Frames(framed) = &mut self.links[index].egress {
            framed.recycle(packets);
        }
    }

    /// The device of a link with a queue has had room since a moment: it takes a packet from the discipline, and those for which it has had
    /// room until now.
    fn feed_device(&mut self, index: usize, mut since: Time, now: Time) {
        loop {
            let Link { egress: Egress::Queue(queue), transmitter, delay, .. } = &mut self.links[index] else {
                return self.send_frame(index, now);
            };
            debug_assert!(queue.device.has_room_at() <= since, "the device of link {index} is full");
            let transmit = |size| (transmitter.transmit(size, since), transmitter.latest_transmission());
            let Some(packet) = queue.dequeue(since, transmit, &mut self.drops, &mut self.options) else {
                return queue.after_taking_nothing(&mut self.agenda);
            };
            queue.after_taking(since, earliest_arrival(transmitter, delay), &mut self.agenda);
            let completion = transmitter.busy_until;
            let is_behind = queue.is_behind(now);
            since = queue.device.has_room_at();
            self.forward(index, packet, completion);
            if !is_behind {
                return;
            }
            self.asked += 1;
        }
    }

    /// The event at which a link's device takes packets.
    pub(crate) fn on_room(&mut self, index: usize, now: Time) {
        if !self.links[index].egress.queue().is_some_and(|queue| queue.puts_off) {
            self.asked += 1;
            return self.feed_device(index, now, now);
        }
        self.catch_up(index, now);
        if let Link { egress: Egress::Queue(queue), transmitter, delay, .. } = &mut self.links[index] {
            queue.await_next(earliest_arrival(transmitter, delay), &mut self.agenda);
        }
    }

    /// The device of a link takes what it has had room for until now.
    #[inline(always)]
    fn catch_up(&mut self, index: usize, now: Time) {
        if let Egress::Queue(queue) = &self.links[index].egress
            && queue.is_behind(now)
        {
            let room = queue.device.has_room_at();
            self.asked += 1;
            self.feed_device(index, room, now);
        }
    }

    /// What is foreseen to leave queues before a moment has left, and what was put off.
    pub(crate) fn let_leave_before(&mut self, moment: Time) {
        for index in 0..self.links.len() {
            self.let_leave_link_before(index, moment);
        }
    }

    /// The same for one link.
    pub(crate) fn let_leave_link_before(&mut self, index: usize, moment: Time) {
        if let Egress::Foreseen(foreseen) = &mut self.links[index].egress {
            foreseen.let_leave_before(moment, &mut self.drops, &mut self.options);
        } else if let Some(last) = moment.0.checked_sub(1) {
            self.catch_up(index, Time(last));
        }
    }

    /// Link `index` completes the transmission of a packet at `completion`. Over following links whose packets all come
    /// from this one, the packet's passage is computed at once.
    #[inline(always)]
    fn forward(&mut self, index: usize, packet: Packet, completion: Time) {
        if self.links[index].special.is_some() {
            return self.forward_specially(index, packet, completion);
        }
        self.carry::<false>(index, packet, completion);
    }

    /// The same for a link that impairs or records packets, or whose followers record them.
    #[inline(never)]
    fn forward_specially(&mut self, index: usize, packet: Packet, completion: Time) {
        let passage = self.links[index].record(index, End::Near, &packet, completion, &self.options);
        self.passages.extend(passage);
        if let Some(special) = &mut self.links[index].special {
            if special.loses_at_random(&packet, completion) {
                return self.lose(&packet);
            }
            if special.duplicates() {
                let copy = self.copy_of(packet);
                self.carry::<true>(index, packet, completion);
                return self.carry::<true>(index, copy, completion);
            }
        }
        self.carry::<true>(index, packet, completion);
    }

    /// The same packet once more, with options of its own.
    fn copy_of(&mut self, packet: Packet) -> Packet {
        self.duplicates += 1;
        let options = self.options.peek(packet.options);
        Packet { options: options.map_or(packet.options, |options| self.options.put(options)), ..packet }
    }

    #[inline(always)]
    fn carry<const SPECIAL: bool>(&mut self, mut index: usize, packet: Packet, completion: Time) {
        let Network { links, routes, agenda, options, passages, arrived, horizon, .. } = self;
        let mut link = &mut links[index];
        let mut arrival = if SPECIAL { link.impaired_arrival(completion) } else { link.arrival(completion) };
        if SPECIAL {
            passages.extend(link.record(index, End::Far, &packet, arrival, options));
        }
        let mut place = packet.hop;
        loop {
            place += 1;
            let hop = routes.hop(place);
            if !hop.follows_one_link {
                break;
            }
            index = hop.link as usize;
            link = &mut links[index];
            let completion = link.transmitter.transmit(packet.size, arrival);
            arrival = link.arrival(completion);
            if SPECIAL {
                passages.extend(link.record(index, End::Near, &packet, completion, options));
                passages.extend(link.record(index, End::Far, &packet, arrival, options));
            }
        }
        // Not changed in place: the copies that follow would wait for it.
        let packet = Packet { hop: place, ..packet };
        if let Some(host) = link.host
            && link.in_transit.is_empty()
            && is_handled_at_once(arrival, &packet, *horizon)
        {
            return arrived.push(Arrived { host, arrival, packet });
        }
        let launched = InTransit { arrival, packet };
        let is_first =
            if SPECIAL && link.reorders() { link.launch_past_others(launched) } else { link.launch(launched) };
        if is_first {
            agenda.set(link.arrivals, arrival);
        }
    }

    /// Packets that hosts were to handle ahead of the run are on their way again.
    #[cold]
    pub(crate) fn put_back(&mut self, arrived: &[Arrived]) {
        for &Arrived { arrival, packet, .. } in arrived {
            let link = &mut self.links[self.routes.hop(packet.hop - 1).link as usize];
            if link.launch_past_others(InTransit { arrival, packet }) {
                self.agenda.set(link.arrivals, arrival);
            }
        }
    }

    /// Records the packets that pass an end of a link from now on.
    pub fn record_at(&mut self, index: usize, end: End) {
        self.links[index].special.get_or_insert_default().recorded.add(end);
        // Their passage may be computed when they leave an earlier link.
        let mut link = index as u32;
        while let Some(feeder) = self.routes.feeder(link) {
            self.links[feeder as usize].special.get_or_insert_default();
            link = feeder;
        }
        // Passages at one instant are told in the order of events.
        if let Some(queue) = self.links[link as usize].egress.queue_mut() {
            queue.put_off_no_more(&mut self.agenda);
        }
    }

    /// Removes and returns the recorded packets that pass before a moment, in order of time.
    pub fn take_passages_before(&mut self, moment: Time) -> Vec<Passage> {
        self.passages.sort_by_key(|passage| passage.time);
        let later = self.passages.partition_point(|passage| passage.time < moment);
        let remaining = self.passages.split_off(later);
        std::mem::replace(&mut self.passages, remaining)
    }

    fn lose(&mut self, packet: &Packet) {
        self.drops.drop(packet, &mut self.options);
    }

    pub(crate) fn take_arrival(&mut self, index: usize) -> Packet {
        let link = &mut self.links[index];
        let first = link.in_transit.pop().expect("an arrival is due only while a packet is under way");
        if let Some(host) = link.host {
            while let Some(InTransit { arrival, packet }) = link.in_transit.first().copied()
                && is_handled_at_once(arrival, &packet, self.horizon)
            {
                self.arrived.push(Arrived { host, arrival, packet });
                link.in_transit.pop();
            }
        }
        match link.in_transit.first() {
            Some(head) => self.agenda.set(link.arrivals, head.arrival),
            None => self.agenda.clear(link.arrivals),
        }
        first.packet
    }
}

/// Whether a host with a clock of its own handles a packet ahead of the run. It does not if both ends would learn of it: a SYN's answer
/// tells the sender's host what the receiver's takes into account (`Connection::on_ack`).
#[inline(always)]
fn is_handled_at_once(arrival: Time, packet: &Packet, horizon: Time) -> bool {
    arrival < horizon && !packet.has(flags::SYN)
}
