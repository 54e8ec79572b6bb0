//! A link in one direction: an egress queue, a transmitter and a wire.

use std::collections::VecDeque;

use crate::agenda::{Sequence, Source};
use crate::packet::{Packet, flags};
use crate::probe::QueueProbe;
use crate::queue::{Discipline, Outcome, QueueDiscipline};
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
    /// Where it says what it did.
    pub outcome: Outcome,
    /// The statistics.
    pub probe: QueueProbe,
    /// What the discipline feeds.
    pub device: Device,
    /// The event that the device has room.
    pub room: Source,
}

impl MeasuredQueue {
    /// Whether every packet that came is queued, left or was dropped.
    pub fn is_balanced(&self) -> bool {
        self.probe.balance() == self.discipline.packets()
    }
}

/// The device below a discipline: a first-in first-out ring and the transmitter. Once a packet is in the ring the time
/// of its departure is known, so the device is the times at which the latest packets are done, as many as it holds:
/// it has room when the oldest of them is.
#[derive(Debug)]
pub struct Device {
    completions: Box<[Time]>,
    oldest: usize,
}

impl Device {
    /// An idle device that holds `queue` packets besides the one it transmits.
    pub fn new(queue: u32) -> Device {
        Device { completions: vec![Time::ZERO; queue as usize + 1].into(), oldest: 0 }
    }

    /// When it takes another packet.
    pub fn has_room_at(&self) -> Time {
        self.completions[self.oldest]
    }

    /// It took a packet whose transmission ends then.
    pub fn take(&mut self, completion: Time) {
        self.completions[self.oldest] = completion;
        self.oldest += 1;
        if self.oldest == self.completions.len() {
            self.oldest = 0;
        }
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
    pub in_transit: VecDeque<InTransit>,
    /// The event that the first of them arrives.
    pub arrivals: Source,
}

impl Link {
    /// An idle link.
    pub fn new(rate: Rate, delay: Duration, egress: Egress, losses: Option<Losses>, arrivals: Source) -> Link {
        let transmitter = Transmitter::new(rate);
        Link { transmitter, delay, egress, losses: losses.map(Box::new), in_transit: VecDeque::new(), arrivals }
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
