//! A link in one direction: an egress queue, a transmitter and a wire.

use std::collections::VecDeque;

use crate::packet::{Packet, flags};
use crate::probe::QueueProbe;
use crate::queue::{Discipline, Outcome};
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
    pub sequence: u64,
    /// The packet.
    pub packet: Packet,
}

/// What stands at a link's egress.
#[derive(Debug)]
pub enum Egress {
    /// An unlimited FIFO. Its departures are known at once - max(now, busy until) + size / rate - so it needs neither
    /// a queue nor an event.
    Unlimited {
        /// Whether every packet comes from one and the same link, so that packets come in the order in which that
        /// link sends them, and their passage can be computed when they are sent there.
        follows_one_link: bool,
    },
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
    /// Where it says what it did.
    pub outcome: Outcome,
    /// The statistics.
    pub probe: QueueProbe,
    /// What the discipline feeds.
    pub device: Device,
}

/// The device below a discipline: a first-in first-out ring and the transmitter. Once a packet is in the ring the time
/// of its departure is known, so the ring is kept as the times at which its packets, and the one on the wire, are done.
#[derive(Debug)]
pub struct Device {
    capacity: usize,
    completions: VecDeque<Time>,
}

impl Device {
    /// An idle device that holds `queue` packets besides the one it transmits.
    pub fn new(queue: u64) -> Device {
        Device { capacity: queue as usize + 1, completions: VecDeque::new() }
    }

    /// Whether it takes another packet.
    pub fn has_room(&mut self, now: Time) -> bool {
        while self.completions.front().is_some_and(|completion| *completion <= now) {
            self.completions.pop_front();
        }
        self.completions.len() < self.capacity
    }

    /// It took a packet whose transmission ends then.
    pub fn take(&mut self, completion: Time) {
        self.completions.push_back(completion);
    }

    /// When it next has room, if it is full.
    pub fn next_room(&self) -> Option<Time> {
        if self.completions.len() < self.capacity { None } else { self.completions.front().copied() }
    }
}

/// A link in one direction.
#[derive(Debug)]
pub struct Link {
    rate: Rate,
    delay: Duration,
    /// Until when the transmitter is busy.
    pub busy_until: Time,
    /// What stands before the transmitter.
    pub egress: Egress,
    /// Packets it loses by plan.
    pub losses: Option<Losses>,
    /// Packets under way, in the order of their arrival.
    pub in_transit: VecDeque<InTransit>,
    /// The latest transmission time computed: traffic has few sizes.
    last_size: (u16, Duration),
}

impl Link {
    /// An idle link.
    pub fn new(rate: Rate, delay: Duration, egress: Egress, losses: Option<Losses>) -> Link {
        Link {
            rate,
            delay,
            busy_until: Time::ZERO,
            egress,
            losses,
            in_transit: VecDeque::new(),
            last_size: (0, Duration::ZERO),
        }
    }

    /// How long a packet of this size occupies the transmitter.
    pub fn transmission_time(&mut self, size: u16) -> Duration {
        if self.last_size.0 != size {
            self.last_size = (size, self.rate.transmission_time(u64::from(size)));
        }
        self.last_size.1
    }

    /// Transmits a packet as soon as the transmitter is free from `ready` on, and tells when it reaches the far end.
    pub fn transmit(&mut self, size: u16, ready: Time) -> Time {
        self.busy_until = ready.max(self.busy_until) + self.transmission_time(size);
        self.busy_until + self.delay
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
