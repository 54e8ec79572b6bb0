//! A discipline with its device and its statistics.

use super::{Drops, Transmitter};
use crate::agenda::{Agenda, Source};
use crate::packet::{OptionsPool, Packet};
use crate::probe::QueueProbe;
use crate::queue::{Context, Discipline, Outcome, QueueDiscipline, Queued};
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// A discipline, its device, and its statistics.
#[derive(Debug)]
pub struct MeasuredQueue {
    pub discipline: Discipline,
    pub random: Random,
    /// Its drops and marks in the current call; empty between calls.
    pub outcome: Outcome,
    /// The statistics; none if the run measures no queues.
    pub probe: Option<QueueProbe>,
    /// The link's later rates above zero, which the discipline will be given; the last first.
    pub rate_changes: Vec<(Time, Rate)>,
    pub device: Device,
    /// Whether the discipline may hold packets back while the device has room.
    pub holds_back: bool,
    /// Whether the device takes its next packet no sooner than something is to be known of it: when another arrives, or when it might
    /// reach the end of the link. Nothing else sees when it was taken.
    pub puts_off: bool,
    /// The event at which the device takes the next packet.
    pub room: Source,
    /// Whether the device is to take another packet when it has room. It is not while the discipline is at rest.
    pub asks: bool,
    /// Whether that event is pending although it may be superfluous: only of a queue that puts off.
    pub is_awaited: bool,
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Queued,
    Marked,
    Dropped,
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

    /// The device has taken a packet. If it is full now, schedules the event at which it has room. The next packet arrives no earlier than
    /// `next`.
    #[inline(always)]
    pub fn after_taking(&mut self, now: Time, next: Time, agenda: &mut Agenda) {
        if self.device.has_room_at() <= now && self.release_time().is_none() {
            return;
        }
        if self.discipline.is_at_rest() {
            self.rest(agenda);
        } else {
            self.ask(next, agenda);
        }
    }

    /// Schedules the next `dequeue`: when the device has room, or when the discipline releases its next packet if that is
    /// later, or, if that may be put off, when the packet arrives at the earliest.
    #[inline(always)]
    pub fn ask(&mut self, next: Time, agenda: &mut Agenda) {
        self.asks = true;
        if self.puts_off {
            if !self.is_awaited {
                self.is_awaited = true;
                agenda.set(self.room, next);
            }
            return;
        }
        let room = self.device.has_room_at();
        let time = self.release_time().map_or(room, |release| release.max(room));
        agenda.set(self.room, time);
    }

    /// Whether the device has had room at a moment, and was to take a packet.
    #[inline(always)]
    pub fn is_behind(&self, moment: Time) -> bool {
        self.puts_off && self.asks && self.device.has_room_at() <= moment
    }

    /// The event at which the device takes a packet has come, and it has taken what it was to take until now.
    pub fn await_next(&mut self, next: Time, agenda: &mut Agenda) {
        self.is_awaited = false;
        if self.asks {
            self.ask(next, agenda);
        } else {
            agenda.clear(self.room);
        }
    }

    /// From now on the device takes each packet when it has room.
    pub fn put_off_no_more(&mut self, agenda: &mut Agenda) {
        if self.puts_off {
            self.puts_off = false;
            self.await_next(Time::NEVER, agenda);
        }
    }

    /// When the discipline releases its next packet, if it holds one back.
    fn release_time(&self) -> Option<Time> {
        debug_assert!(self.holds_back || self.discipline.release_time().is_none(), "only shapers hold packets back");
        if self.holds_back { self.discipline.release_time() } else { None }
    }

    pub fn after_taking_nothing(&mut self, agenda: &mut Agenda) {
        if self.release_time().is_some() {
            self.ask(Time::NEVER, agenda);
        } else {
            self.rest(agenda);
        }
    }

    /// The discipline is at rest: cancels the event.
    fn rest(&mut self, agenda: &mut Agenda) {
        if self.asks {
            self.asks = false;
            if !self.puts_off {
                agenda.clear(self.room);
            }
        }
    }

    /// A packet arrives. Returns what became of it, if the discipline changes no other.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops, options: &mut OptionsPool) -> Fate {
        let size = packet.size;
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        self.discipline.enqueue(packet, &mut context);
        let mut fate = Fate::Queued;
        if self.outcome.is_empty() {
            if let Some(probe) = &mut self.probe {
                probe.on_arrival(size, now);
            }
        } else {
            fate = if self.outcome.dropped.is_empty() { Fate::Marked } else { Fate::Dropped };
            if let Some(probe) = &mut self.probe {
                probe.on_arrival_with(&self.outcome, size, now);
            }
            self.clear_outcome(drops, options);
        }
        debug_assert!(self.is_balanced());
        fate
    }

    /// The device takes a packet from the discipline. `transmit` is given its size, and returns when its transmission is completed and how
    /// long that takes.
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Time,
        transmit: impl FnOnce(u16) -> (Time, Duration),
        drops: &mut Drops,
        options: &mut OptionsPool,
    ) -> Option<Packet> {
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        let next = self.discipline.dequeue(&mut context);
        self.settle(now, drops, options);
        let Queued { packet, since } = next?;
        let (completion, transmission) = transmit(packet.size);
        self.device.take(completion);
        if let Some(probe) = &mut self.probe {
            probe.on_departure(packet.size, now.since(since), transmission, now);
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

    pub fn has_room_at(&self) -> Time {
        self.room
    }

    /// When the transmission of the packet that it took last is completed.
    pub fn latest(&self) -> Time {
        let latest = if self.oldest == 0 { self.completions.len() } else { self.oldest };
        self.completions[latest - 1]
    }

    pub fn take(&mut self, completion: Time) {
        self.completions[self.oldest] = completion;
        self.oldest += 1;
        if self.oldest == self.completions.len() {
            self.oldest = 0;
        }
        self.room = self.completions[self.oldest];
    }
}
