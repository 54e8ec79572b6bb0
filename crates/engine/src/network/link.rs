//! A link in one direction: an egress queue, a transmitter and a wire.

use super::{Drops, Varying};
use crate::agenda::{Agenda, Sequence, Source};
use crate::line::Line;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{QueueProbe, Recorded};
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
    /// The changes of the link's rate that the discipline will be told of, the last first.
    pub rate_changes: Vec<(Time, Rate)>,
    /// What the discipline feeds.
    pub device: Device,
    /// The event that the device has room, and the discipline may have a packet for it.
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
            probe.on_passage(size, transmitter.latest_transmission());
        }
    }

    /// The device has taken a packet: when it is full, the event that it has room is due.
    #[inline(always)]
    pub fn after_taking(&mut self, now: Time, agenda: &mut Agenda) {
        if self.device.has_room_at() <= now && self.discipline.release_time().is_none() {
            return;
        }
        self.filled = agenda.sequence();
        if self.discipline.is_at_rest() {
            self.rest(agenda);
        } else {
            self.ask(agenda);
        }
    }

    /// Has the discipline asked for a packet when the device next has room, or later if the discipline holds its packets
    /// back until then.
    pub fn ask(&mut self, agenda: &mut Agenda) {
        let room = self.device.has_room_at();
        let time = self.discipline.release_time().map_or(room, |release| release.max(room));
        agenda.set(self.room, time, self.filled);
        self.asks = true;
    }

    /// The discipline has given nothing.
    pub fn after_taking_nothing(&mut self, agenda: &mut Agenda) {
        if self.discipline.release_time().is_some() {
            self.filled = agenda.sequence();
            self.ask(agenda);
        } else {
            self.rest(agenda);
        }
    }

    /// The discipline has nothing to give.
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
        if !self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_outcome(&self.outcome, now);
            }
            self.clear_outcome(drops, options);
        }
        let Queued { packet, since } = next?;
        let completion = transmitter.transmit(packet.size, now);
        self.device.take(completion);
        if let Some(probe) = &mut self.probe {
            probe.on_departure(packet.size, now.since(since), transmitter.latest_transmission(), now);
        }
        debug_assert!(self.is_balanced());
        Some(packet)
    }

    /// Counts the dropped packets and frees what they held.
    #[cold]
    fn clear_outcome(&mut self, drops: &mut Drops, options: &mut OptionsPool) {
        for dropped in self.outcome.dropped.drain(..) {
            drops.drop(&dropped.packet, options);
        }
        self.outcome.marks = 0;
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

/// What puts bits on the wire, one packet after the other, each at the rate that the link has when it begins.
#[derive(Debug)]
pub struct Transmitter {
    rate: Varying<Rate>,
    /// Until when it is busy.
    pub busy_until: Time,
    /// The latest transmission time computed, and of which size at which rate: traffic has few sizes.
    latest: (u16, Rate, Duration),
}

impl Transmitter {
    fn new(rate: Varying<Rate>) -> Transmitter {
        Transmitter { rate, busy_until: Time::ZERO, latest: (0, Rate(0), Duration::ZERO) }
    }

    /// How long the packet transmitted last occupies it.
    pub fn latest_transmission(&self) -> Duration {
        self.latest.2
    }

    /// Transmits a packet as soon as it is free from `ready` on, and tells when that is done.
    #[inline(always)]
    pub fn transmit(&mut self, size: u16, ready: Time) -> Time {
        let start = ready.max(self.busy_until);
        let rate = self.rate.at(start);
        if (self.latest.0, self.latest.1) != (size, rate) {
            self.latest = (size, rate, rate.transmission_time(u64::from(size)));
        }
        self.busy_until = start + self.latest.2;
        self.busy_until
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
    /// What stands before the transmitter.
    pub egress: Egress,
    /// What few links do.
    pub special: Option<Box<Special>>,
    /// Packets under way, in the order of their arrival.
    pub(crate) in_transit: Line<InTransit>,
    /// The event that the first of them arrives.
    pub arrivals: Source,
}

impl Link {
    /// An idle link.
    pub fn new(
        rate: Varying<Rate>,
        delay: Varying<Duration>,
        egress: Egress,
        losses: Option<Losses>,
        arrivals: Source,
    ) -> Link {
        let special = losses.map(|losses| Box::new(Special { losses: Some(losses), ..Special::default() }));
        Link {
            transmitter: Transmitter::new(rate),
            delay,
            latest_arrival: Time::ZERO,
            egress,
            special,
            in_transit: Line::default(),
            arrivals,
        }
    }

    /// When a packet arrives whose transmission is completed then. A link keeps packets in order: one sent when the
    /// delay has become less arrives no earlier than those before it.
    #[inline(always)]
    pub fn arrival(&mut self, completion: Time) -> Time {
        self.latest_arrival = (completion + self.delay.at(completion)).max(self.latest_arrival);
        self.latest_arrival
    }
}

/// What few links do besides carrying packets. Together, so that all others only look whether there is any.
#[derive(Debug, Default)]
pub struct Special {
    /// The packets it loses.
    pub losses: Option<Losses>,
    /// Where its packets are recorded.
    pub recorded: Recorded,
}

impl Special {
    /// Whether this packet, which comes to the link, is lost by plan.
    pub fn loses_by_plan(&mut self, packet: &Packet) -> bool {
        self.losses.as_mut().is_some_and(|losses| losses.takes_by_plan(packet))
    }

    /// Whether this packet, whose transmission is completed then, is lost on the wire.
    pub fn loses_at_random(&mut self, completion: Time) -> bool {
        self.losses.as_mut().is_some_and(|losses| losses.takes_at_random(completion))
    }
}

/// Picks the packets that a link loses: data packets by plan, before the queue, and any packet at random, on the wire.
#[derive(Debug)]
pub struct Losses {
    plan: Option<LossPattern>,
    data_packets: u64,
    ratio: Varying<f64>,
    random: Random,
    /// Packets lost so far.
    pub lost: u64,
}

impl Losses {
    /// Losses by `plan`, whose listed numbers need not be sorted, and of the given ratio at random.
    pub fn new(mut plan: Option<LossPattern>, ratio: Varying<f64>, random: Random) -> Losses {
        if let Some(LossPattern::Listed(numbers)) = &mut plan {
            numbers.sort_unstable();
        }
        Losses { plan, data_packets: 0, ratio, random, lost: 0 }
    }

    /// Whether this packet, whose transmission is completed then, is lost on the wire.
    pub fn takes_at_random(&mut self, completion: Time) -> bool {
        let ratio = self.ratio.at(completion);
        let lost = ratio > 0.0 && self.random.unit() < ratio;
        self.lost += u64::from(lost);
        lost
    }

    /// Whether this packet, which comes to the link, is lost by plan.
    pub fn takes_by_plan(&mut self, packet: &Packet) -> bool {
        let Some(plan) = self.plan.as_ref().filter(|_| packet.has(flags::DATA)) else {
            return false;
        };
        self.data_packets += 1;
        let lost = match plan {
            LossPattern::Every(interval) => self.data_packets.is_multiple_of(*interval),
            LossPattern::Listed(numbers) => numbers.binary_search(&self.data_packets).is_ok(),
        };
        self.lost += u64::from(lost);
        lost
    }
}
