//! A link in one direction: an egress queue, a transmitter and a wire.

use super::{Drops, FramedQueue, Policer, Transmitter, Varying, Wire};
use crate::agenda::{Agenda, Sequence, Source};
use crate::line::Line;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{End, Passage, QueueProbe, Recorded};
use crate::queue::{Context, Discipline, Outcome, QueueDiscipline, Queued};
use crate::random::Random;
use crate::specification::LossPattern;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// A packet on the wire, and when it reaches the end.
#[derive(Clone, Copy, Debug)]
pub struct InTransit {
    /// When it arrives.
    pub arrival: Time,
    /// Its place among events at one instant.
    pub sequence: Sequence,
    /// The packet.
    pub packet: Packet,
}

/// The queue at a link's egress.
#[derive(Debug)]
pub enum Egress {
    /// An unlimited FIFO. Its departures are known at once - max(now, busy until) + size / rate - so it needs neither
    /// a queue nor an event.
    Unlimited,
    /// A queue discipline.
    Queue(Box<MeasuredQueue>),
    /// A queue discipline whose packets are sent in frames.
    Frames(Box<FramedQueue>),
}

impl Egress {
    /// The queue, if there is one.
    pub fn queue(&self) -> Option<&MeasuredQueue> {
        match self {
            Egress::Unlimited => None,
            Egress::Queue(queue) => Some(queue),
            Egress::Frames(framed) => Some(&framed.queue),
        }
    }

    /// The queue, if there is one, to be changed.
    pub fn queue_mut(&mut self) -> Option<&mut MeasuredQueue> {
        match self {
            Egress::Unlimited => None,
            Egress::Queue(queue) => Some(queue),
            Egress::Frames(framed) => Some(&mut framed.queue),
        }
    }
}

/// A discipline, its device, and its statistics.
#[derive(Debug)]
pub struct MeasuredQueue {
    /// The discipline.
    pub discipline: Discipline,
    /// Its random stream.
    pub random: Random,
    /// Its drops and marks in the current call; empty between calls.
    pub outcome: Outcome,
    /// The statistics; none if the run measures no queues.
    pub probe: Option<QueueProbe>,
    /// The link's later rates above zero, which the discipline will be given; the last first.
    pub rate_changes: Vec<(Time, Rate)>,
    /// The device that takes its packets.
    pub device: Device,
    /// Whether the discipline may hold packets back while the device has room.
    pub holds_back: bool,
    /// The event at which the device has room and takes the next packet.
    pub room: Source,
    /// Whether that event is pending. It is not while the discipline is at rest.
    pub asks: bool,
    /// The event's place among those at the same time: drawn when the device was last filled.
    pub filled: Sequence,
}

impl MeasuredQueue {
    /// The device takes a packet that bypasses the queue.
    #[inline(always)]
    pub fn pass(&mut self, size: u16, now: Time, transmitter: &mut Transmitter) {
        self.device.take(transmitter.transmit(size, now));
        if let Some(probe) = &mut self.probe {
            probe.on_passage(size, transmitter.latest_transmission());
        }
    }

    /// The device has taken a packet. If it is full now, schedules the event at which it has room.
    #[inline(always)]
    pub fn after_taking(&mut self, now: Time, agenda: &mut Agenda) {
        if self.device.has_room_at() <= now && self.release_time().is_none() {
            return;
        }
        self.filled = agenda.sequence();
        if self.discipline.is_at_rest() {
            self.rest(agenda);
        } else {
            self.ask(agenda);
        }
    }

    /// Schedules the next `dequeue`: when the device has room, or when the discipline releases its next packet if that is
    /// later.
    pub fn ask(&mut self, agenda: &mut Agenda) {
        let room = self.device.has_room_at();
        let time = self.release_time().map_or(room, |release| release.max(room));
        agenda.set(self.room, time, self.filled);
        self.asks = true;
    }

    /// When the discipline releases its next packet, if it holds one back.
    fn release_time(&self) -> Option<Time> {
        debug_assert!(self.holds_back || self.discipline.release_time().is_none(), "only shapers hold packets back");
        if self.holds_back { self.discipline.release_time() } else { None }
    }

    /// `dequeue` has returned no packet.
    pub fn after_taking_nothing(&mut self, agenda: &mut Agenda) {
        if self.release_time().is_some() {
            self.filled = agenda.sequence();
            self.ask(agenda);
        } else {
            self.rest(agenda);
        }
    }

    /// The discipline is at rest: cancels the event.
    fn rest(&mut self, agenda: &mut Agenda) {
        if self.asks {
            agenda.clear(self.room);
            self.asks = false;
        }
    }

    /// A packet arrives.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops, options: &mut OptionsPool) {
        let size = packet.size;
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        self.discipline.enqueue(packet, &mut context);
        if self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_arrival(size, now);
            }
        } else {
            if let Some(probe) = &mut self.probe {
                probe.on_arrival_with(&self.outcome, size, now);
            }
            self.clear_outcome(drops, options);
        }
        debug_assert!(self.is_balanced());
    }

    /// The device takes the next packet.
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Time,
        transmitter: &mut Transmitter,
        drops: &mut Drops,
        options: &mut OptionsPool,
    ) -> Option<Packet> {
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        let next = self.discipline.dequeue(&mut context);
        self.settle(now, drops, options);
        let Queued { packet, since } = next?;
        let completion = transmitter.transmit(packet.size, now);
        self.device.take(completion);
        if let Some(probe) = &mut self.probe {
            probe.on_departure(packet.size, now.since(since), transmitter.latest_transmission(), now);
        }
        debug_assert!(self.is_balanced());
        Some(packet)
    }

    /// Counts what the discipline dropped and marked as it was asked for a packet.
    #[inline(always)]
    pub fn settle(&mut self, now: Time, drops: &mut Drops, options: &mut OptionsPool) {
        if !self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_outcome(&self.outcome, now);
            }
            self.clear_outcome(drops, options);
        }
    }

    /// Counts the dropped packets and releases their options.
    #[cold]
    fn clear_outcome(&mut self, drops: &mut Drops, options: &mut OptionsPool) {
        for dropped in self.outcome.dropped.drain(..) {
            drops.drop(&dropped.packet, options);
        }
        self.outcome.marks = 0;
    }

    /// Conservation: every packet that arrived is queued, has left or was dropped.
    pub(super) fn is_balanced(&self) -> bool {
        let length = (self.discipline.packets(), self.discipline.bytes());
        self.probe.as_ref().is_none_or(|probe| probe.length() == length)
    }
}

/// The device below a discipline: a FIFO ring and the transmitter. The departure time of a packet in the ring is known,
/// so the device stores the completion times of its latest packets, as many as it holds. It has room once the oldest of
/// them has passed.
#[derive(Debug)]
pub struct Device {
    completions: Box<[Time]>,
    oldest: usize,
    /// The oldest of them.
    room: Time,
}

impl Device {
    /// An idle device that holds `queue` packets in addition to the one in transmission.
    pub fn new(queue: u64) -> Device {
        Device { completions: vec![Time::ZERO; queue as usize + 1].into(), oldest: 0, room: Time::ZERO }
    }

    /// When it has room for another packet.
    pub fn has_room_at(&self) -> Time {
        self.room
    }

    /// Adds a packet whose transmission ends at `completion`.
    pub fn take(&mut self, completion: Time) {
        self.completions[self.oldest] = completion;
        self.oldest += 1;
        if self.oldest == self.completions.len() {
            self.oldest = 0;
        }
        self.room = self.completions[self.oldest];
    }
}

/// A link in one direction.
#[derive(Debug)]
pub struct Link {
    /// Its transmitter.
    pub transmitter: Transmitter,
    delay: Varying<Duration>,
    /// When the latest packet arrives at its end.
    latest_arrival: Time,
    /// The queue before the transmitter.
    pub egress: Egress,
    /// Impairments and recording; none for most links.
    pub special: Option<Box<Special>>,
    /// Packets on the wire, in the order of their arrival.
    pub(crate) in_transit: Line<InTransit>,
    /// The event that the first of them arrives.
    pub arrivals: Source,
}

impl Link {
    /// An idle link.
    pub fn new(
        transmitter: Transmitter,
        delay: Varying<Duration>,
        egress: Egress,
        special: Option<Box<Special>>,
        arrivals: Source,
    ) -> Link {
        Link { transmitter, delay, latest_arrival: Time::ZERO, egress, special, in_transit: Line::default(), arrivals }
    }

    /// The arrival time of a packet whose transmission ends at `completion`. A link keeps packets in order: a packet sent
    /// after the delay has fallen arrives no earlier than those before it.
    #[inline(always)]
    pub fn arrival(&mut self, completion: Time) -> Time {
        self.latest_arrival = (completion + self.delay.at(completion)).max(self.latest_arrival);
        self.latest_arrival
    }

    /// The same for a link whose delay may have a random part.
    pub fn impaired_arrival(&mut self, completion: Time) -> Time {
        let Some(wire) = self.special.as_mut().and_then(|special| special.wire.as_mut()) else {
            return self.arrival(completion);
        };
        let arrival = completion + self.delay.at(completion);
        let arrival = arrival + wire.delay(arrival);
        if wire.reorders() {
            return arrival;
        }
        self.latest_arrival = arrival.max(self.latest_arrival);
        self.latest_arrival
    }

    /// Puts a packet on the wire. Returns whether it is the first to arrive.
    #[inline(always)]
    pub(crate) fn launch(&mut self, packet: InTransit) -> bool {
        let is_first = self.in_transit.is_empty();
        self.in_transit.push(packet);
        is_first
    }

    /// The same for a link on which packets may overtake one another.
    pub(crate) fn launch_past_others(&mut self, packet: InTransit) -> bool {
        self.in_transit.push(packet);
        let mut place = self.in_transit.len() - 1;
        while place > 0 && self.in_transit.get(place - 1).is_some_and(|before| before.arrival > packet.arrival) {
            self.in_transit.swap(place - 1, place);
            place -= 1;
        }
        place == 0
    }

    /// The passage of a packet at an end of this link, which has this index, if it is recorded.
    pub fn record(
        &self,
        index: usize,
        end: End,
        packet: &Packet,
        time: Time,
        options: &OptionsPool,
    ) -> Option<Passage> {
        let recorded = self.special.as_ref()?.recorded;
        let is_recorded = match end {
            End::Near => recorded.near,
            End::Far => recorded.far,
        };
        is_recorded.then(|| Passage { time, link: index, packet: *packet, options: options.peek(packet.options) })
    }

    /// Whether a packet may overtake another.
    pub fn reorders(&self) -> bool {
        self.special.as_ref().and_then(|special| special.wire.as_ref()).is_some_and(Wire::reorders)
    }
}

/// Impairments and recording, which few links have. Kept together, so that other links pay for one check only.
#[derive(Debug, Default)]
pub struct Special {
    /// Drops packets before the queue.
    pub policer: Option<Policer>,
    /// The packets it loses.
    pub losses: Option<Losses>,
    /// What happens on the wire.
    pub wire: Option<Wire>,
    /// Packets lost so far.
    pub lost: u64,
    /// The ends at which its packets are recorded.
    pub recorded: Recorded,
}

impl Special {
    /// Whether this packet, which arrives at the egress, gets no further: lost by plan, or for want of tokens.
    pub fn refuses(&mut self, packet: &Packet, now: Time) -> bool {
        let refused = self.losses.as_mut().is_some_and(|losses| losses.takes_by_plan(packet))
            || self.policer.as_mut().is_some_and(|policer| !policer.admits(packet.size, now));
        self.lost += u64::from(refused);
        refused
    }

    /// Whether this packet, whose transmission is completed then, is lost on the wire.
    pub fn loses_at_random(&mut self, packet: &Packet, completion: Time) -> bool {
        let by_ratio = self.losses.as_mut().is_some_and(|losses| losses.takes_at_random(completion));
        let by_wire = self.wire.as_mut().is_some_and(|wire| wire.takes(packet.size));
        self.lost += u64::from(by_ratio || by_wire);
        by_ratio || by_wire
    }

    /// Whether the next packet arrives twice.
    pub fn duplicates(&mut self) -> bool {
        self.wire.as_mut().is_some_and(Wire::duplicates)
    }
}

/// Picks the packets that a link loses: data packets by plan, before the queue, and any packet at random, on the wire.
#[derive(Debug)]
pub struct Losses {
    plan: Option<LossPattern>,
    data_packets: u64,
    ratio: Varying<f64>,
    random: Random,
}

impl Losses {
    /// Losses by `plan`, whose listed numbers need not be sorted, and of the given ratio at random.
    pub fn new(mut plan: Option<LossPattern>, ratio: Varying<f64>, random: Random) -> Losses {
        if let Some(LossPattern::Listed(numbers)) = &mut plan {
            numbers.sort_unstable();
        }
        Losses { plan, data_packets: 0, ratio, random }
    }

    /// Whether this packet, whose transmission is completed then, is lost on the wire.
    pub fn takes_at_random(&mut self, completion: Time) -> bool {
        let ratio = self.ratio.at(completion);
        ratio > 0.0 && self.random.unit() < ratio
    }

    /// Whether this packet, which arrives at the egress, is lost by plan.
    pub fn takes_by_plan(&mut self, packet: &Packet) -> bool {
        let Some(plan) = self.plan.as_ref().filter(|_| packet.has(flags::DATA)) else {
            return false;
        };
        self.data_packets += 1;
        match plan {
            LossPattern::Every(interval) => self.data_packets.is_multiple_of(*interval),
            LossPattern::Listed(numbers) => numbers.binary_search(&self.data_packets).is_ok(),
        }
    }
}
