//! A link in one direction: an egress queue, a transmitter and a wire.

use super::{ForeseenQueue, FramedQueue, MeasuredQueue, Policer, Transmitter, Varying, Wire};
use crate::agenda::{Clock, Source};
use crate::line::Line;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{End, Passage, Recorded};
use crate::random::Random;
use crate::specification::LossPattern;
use crate::time::{Duration, Time};

/// A packet on the wire, and when it reaches the end.
#[derive(Clone, Copy, Debug)]
pub struct InTransit {
    pub arrival: Time,
    pub packet: Packet,
}

/// A packet that is known to arrive at a host with a clock of its own, before anything else happens there.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    pub host: Clock,
    pub arrival: Time,
    pub packet: Packet,
}

#[derive(Debug)]
pub enum Egress {
    /// An unlimited FIFO. Its departures are known at once - max(now, busy until) + size / rate - so it needs neither
    /// a queue nor an event.
    Unlimited,
    Queue(Box<MeasuredQueue>),
    Foreseen(Box<ForeseenQueue>),
    /// A queue discipline whose packets are sent in frames.
    Frames(Box<FramedQueue>),
}

impl Egress {
    pub fn queue(&self) -> Option<&MeasuredQueue> {
        match self {
            Egress::Unlimited => None,
            Egress::Queue(queue) => Some(queue),
            Egress::Foreseen(foreseen) => Some(&foreseen.queue),
            Egress::Frames(framed) => Some(&framed.queue),
        }
    }

    pub fn queue_mut(&mut self) -> Option<&mut MeasuredQueue> {
        match self {
            Egress::Unlimited => None,
            Egress::Queue(queue) => Some(queue),
            Egress::Foreseen(foreseen) => Some(&mut foreseen.queue),
            Egress::Frames(framed) => Some(&mut framed.queue),
        }
    }
}

/// When a packet that has yet to be transmitted reaches the end of a link at the earliest.
#[inline(always)]
pub fn earliest_arrival(transmitter: &Transmitter, delay: &Varying<Duration>) -> Time {
    let keeps_delay = delay.next_change() == Time::NEVER;
    transmitter.busy_until + if keeps_delay { delay.current() } else { Duration::ZERO }
}

/// A link in one direction.
#[derive(Debug)]
pub struct Link {
    pub transmitter: Transmitter,
    pub(super) delay: Varying<Duration>,
    /// When the latest packet arrives at its end.
    latest_arrival: Time,
    pub egress: Egress,
    /// Impairments and recording; none for most links.
    pub special: Option<Box<Special>>,
    /// Packets on the wire, in the order of their arrival.
    pub(crate) in_transit: Line<InTransit>,
    /// The event that the first of them arrives.
    pub arrivals: Source,
    /// The clock of the host that it leads to, if that has one of its own.
    pub host: Option<Clock>,
}

impl Link {
    pub fn new(
        transmitter: Transmitter,
        delay: Varying<Duration>,
        egress: Egress,
        special: Option<Box<Special>>,
        arrivals: Source,
        host: Option<Clock>,
    ) -> Link {
        let in_transit = Line::default();
        Link { transmitter, delay, latest_arrival: Time::ZERO, egress, special, in_transit, arrivals, host }
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

    /// The time that what the transmitter has been given by its queue takes from `now` on, without outages.
    pub fn remaining(&self, now: Time) -> Duration {
        match &self.egress {
            Egress::Foreseen(foreseen) => foreseen.remaining(now),
            _ => self.transmitter.remaining(now),
        }
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
    pub losses: Option<Losses>,
    pub wire: Option<Wire>,
    pub lost: u64,
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
