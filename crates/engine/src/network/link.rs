//! A link in one direction: an egress queue, a transmitter and a wire.

use crate::agenda::{Agenda, Sequence, Source};
use crate::line::Line;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::QueueProbe;
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

/// What stands at a link's egress.
#[derive(Debug)]
pub enum Egress {
    /// An unlimited FIFO. Its departures are known at once - max(now, busy until) + size / rate - so it needs neither
    /// a queue nor an event.
    Unlimited,
    /// A queue discipline.
    Queue(Box<MeasuredQueue>),
}

/// A discipline with all that it takes to run and measure it.
#[derive(Debug)]
pub struct MeasuredQueue {
    /// The discipline.
    pub discipline: Discipline,
    /// Its random stream.
    pub random: Random,
    /// Where it says what it did; empty between calls.
    pub outcome: Outcome,
    /// The statistics, if the run wants any.
    pub probe: Option<QueueProbe>,
    /// What the discipline feeds.
    pub device: Device,
    /// The event that the device has room.
    pub room: Source,
    /// Whether it is pending. A full device need not ask a discipline that is at rest.
    pub asks: bool,
    /// When the device was last filled: the place of the event among those at one instant.
    pub filled: Sequence,
}

impl MeasuredQueue {
    /// A packet that the discipline lets pass goes to the device.
    #[inline(always)]
    pub fn pass(&mut self, size: u16, now: Time, transmitter: &mut Transmitter) {
        self.device.take(transmitter.transmit(size, now));
        if let Some(probe) = &mut self.probe {
            probe.on_passage(size, transmitter.transmission_time(size));
        }
    }

    /// The device has taken a packet: when it is full, the event that it has room is due.
    #[inline(always)]
    pub fn after_taking(&mut self, now: Time, agenda: &mut Agenda) {
        let room = self.device.has_room_at();
        if room <= now {
            return;
        }
        self.filled = agenda.sequence();
        if self.discipline.is_at_rest() {
            self.rest(agenda);
        } else {
            self.ask(agenda);
        }
    }

    /// Has the discipline asked for a packet when the device next has room.
    pub fn ask(&mut self, agenda: &mut Agenda) {
        agenda.set(self.room, self.device.has_room_at(), self.filled);
        self.asks = true;
    }

    /// The discipline has nothing to give.
    pub fn rest(&mut self, agenda: &mut Agenda) {
        if self.asks {
            agenda.clear(self.room);
            self.asks = false;
        }
    }

    /// A packet arrives. Returns how many packets were dropped.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, now: Time, options: &mut OptionsPool) -> u64 {
        let size = packet.size;
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        self.discipline.enqueue(packet, &mut context);
        let dropped = if self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_arrival(size, now);
            }
            0
        } else {
            if let Some(probe) = &mut self.probe {
                probe.on_arrival_with(&self.outcome, size, now);
            }
            self.clear_outcome(options)
        };
        debug_assert!(self.is_balanced());
        dropped
    }

    /// The device takes the next packet; also returns how many packets were dropped.
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Time,
        transmitter: &mut Transmitter,
        options: &mut OptionsPool,
    ) -> (Option<Packet>, u64) {
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        let next = self.discipline.dequeue(&mut context);
        let mut dropped = 0;
        if !self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_outcome(&self.outcome, now);
            }
            dropped = self.clear_outcome(options);
        }
        let Some(Queued { packet, since }) = next else { return (None, dropped) };
        let completion = transmitter.transmit(packet.size, now);
        self.device.take(completion);
        if let Some(probe) = &mut self.probe {
            probe.on_departure(packet.size, now.since(since), transmitter.transmission_time(packet.size), now);
        }
        debug_assert!(self.is_balanced());
        (Some(packet), dropped)
    }

    /// Frees what the dropped packets held; returns how many they are.
    #[cold]
    fn clear_outcome(&mut self, options: &mut OptionsPool) -> u64 {
        let dropped = self.outcome.dropped.len() as u64;
        for drop in self.outcome.dropped.drain(..) {
            options.release(drop.packet.options);
        }
        self.outcome.marks = 0;
        dropped
    }

    /// Whether every packet that came is queued, left or was dropped.
    fn is_balanced(&self) -> bool {
        let length = (self.discipline.packets(), self.discipline.bytes());
        self.probe.as_ref().is_none_or(|probe| probe.length() == length)
    }
}

/// The device below a discipline: a first-in first-out ring and the transmitter. Once a packet is in the ring the time
/// of its departure is known, so the device is the times at which the latest packets are done, as many as it holds:
/// it has room when the oldest of them is.
#[derive(Debug)]
pub struct Device {
    completions: Box<[Time]>,
    oldest: usize,
    /// When the oldest of them is done.
    room: Time,
}

impl Device {
    /// An idle device that holds `queue` packets besides the one it transmits.
    pub fn new(queue: u64) -> Device {
        Device { completions: vec![Time::ZERO; queue as usize + 1].into(), oldest: 0, room: Time::ZERO }
    }

    /// When it takes another packet.
    pub fn has_room_at(&self) -> Time {
        self.room
    }

    /// It took a packet whose transmission ends then.
    pub fn take(&mut self, completion: Time) {
        self.completions[self.oldest] = completion;
        self.oldest += 1;
        if self.oldest == self.completions.len() {
            self.oldest = 0;
        }
        self.room = self.completions[self.oldest];
    }
}

/// What puts bits on the wire, one packet after the other.
#[derive(Debug)]
pub struct Transmitter {
    rate: Rate,
    /// Until when it is busy.
    pub busy_until: Time,
    /// The latest transmission time computed: traffic has few sizes.
    latest: (u16, Duration),
}

impl Transmitter {
    fn new(rate: Rate) -> Transmitter {
        Transmitter { rate, busy_until: Time::ZERO, latest: (0, Duration::ZERO) }
    }

    /// How long a packet of this size occupies it.
    pub fn transmission_time(&mut self, size: u16) -> Duration {
        if self.latest.0 != size {
            self.latest = (size, self.rate.transmission_time(u64::from(size)));
        }
        self.latest.1
    }

    /// Transmits a packet as soon as it is free from `ready` on, and tells when that is done.
    pub fn transmit(&mut self, size: u16, ready: Time) -> Time {
        self.busy_until = ready.max(self.busy_until) + self.transmission_time(size);
        self.busy_until
    }
}

/// A link in one direction.
#[derive(Debug)]
pub struct Link {
    /// Its transmitter.
    pub transmitter: Transmitter,
    /// Its propagation delay.
    pub delay: Duration,
    /// What stands before the transmitter.
    pub egress: Egress,
    /// Packets it loses by plan.
    pub losses: Option<Box<Losses>>,
    /// Packets under way, in the order of their arrival.
    pub(crate) in_transit: Line<InTransit>,
    /// The event that the first of them arrives.
    pub arrivals: Source,
}

impl Link {
    /// An idle link.
    pub fn new(rate: Rate, delay: Duration, egress: Egress, losses: Option<Losses>, arrivals: Source) -> Link {
        let transmitter = Transmitter::new(rate);
        Link { transmitter, delay, egress, losses: losses.map(Box::new), in_transit: Line::default(), arrivals }
    }
}

/// Counts the data packets that come to a link and picks those that are lost.
#[derive(Debug)]
pub struct Losses {
    pattern: LossPattern,
    data_packets: u64,
    /// Packets lost so far.
    pub lost: u64,
}

impl Losses {
    /// Starts to count; the numbers of a list need not be sorted.
    pub fn new(mut pattern: LossPattern) -> Losses {
        if let LossPattern::Listed(numbers) = &mut pattern {
            numbers.sort_unstable();
        }
        Losses { pattern, data_packets: 0, lost: 0 }
    }

    /// Whether this packet is lost.
    pub fn takes(&mut self, packet: &Packet) -> bool {
        if !packet.has(flags::DATA) {
            return false;
        }
        self.data_packets += 1;
        let lost = match &self.pattern {
            LossPattern::Every(interval) => self.data_packets.is_multiple_of(*interval),
            LossPattern::Listed(numbers) => numbers.binary_search(&self.data_packets).is_ok(),
        };
        self.lost += u64::from(lost);
        lost
    }
}
