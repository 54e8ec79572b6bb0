//! What happens next. Events are ordered by (time, sequence number).
//!
//! A link delivers in order, so only the head of its line is pending, a device next has room at one time, and a paced
//! sender sends one segment after the other: each such *source* has at most one pending event. A tournament tree over
//! the sources finds the earliest in O(1) and takes a change in log4(sources) steps, where one heap of all packets would
//! pay log2(packets) twice. Timers, which are many and rarely fire (they are re-armed lazily), wait in a binary heap
//! beside the tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use crate::time::Time;

/// A timer: what it is for and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A flow's start.
    FlowStart(u32),
    /// A flow's stop.
    FlowStop(u32),
    /// A sender's retransmission timer.
    Retransmission(u32),
    /// A receiver's delayed-acknowledgement timer.
    DelayedAck(u32),
    /// A sender's overhead for a packet has passed.
    Overhead(u32),
    /// A queue discipline's own timer, by link.
    Queue(u32),
    /// A link's rate changes.
    LinkRate(u32),
    /// The measuring window opens.
    WindowOpens,
    /// A sample of the queues.
    SampleQueues,
    /// A sample of the flows.
    SampleFlows,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The packet at the head of this link's line arrives at the link's end.
    Arrival(u32),
    /// This link's device takes another packet.
    DeviceHasRoom(u32),
    /// This flow's pacing timer expires.
    Pacing(u32),
    /// A timer.
    Timer(Timer),
}

/// A source of events other than timers: its place among those that the agenda was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

impl Source {
    /// Where nothing ever happens.
    pub const NONE: Source = Source(u32::MAX);
}

/// A place in the order of events, drawn when something is scheduled: of events at one instant the one drawn first
/// happens first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(u64);

impl Sequence {
    /// Before all that are drawn.
    pub const FIRST: Sequence = Sequence(0);
}

/// Bits of a key that hold its source; the others are enough for days of computing.
const SOURCE_BITS: u32 = 20;

/// The most sources an agenda can have.
pub const MOST_SOURCES: usize = 1 << SOURCE_BITS;

/// When an event happens, and of which source it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    /// The sequence number, and below it the source. Sequence numbers differ, so the source never decides.
    rank: u64,
}

impl Key {
    const NEVER: Key = Key { time: Time::NEVER, rank: u64::MAX };

    fn number(self) -> u128 {
        (u128::from(self.time.0) << 64) | u128::from(self.rank)
    }

    /// The earlier of two. Which it is is a toss-up: a branch would be mispredicted half the time.
    fn earlier(self, other: Key) -> Key {
        let other_is_earlier = other.number() < self.number();
        Key {
            time: select_unpredictable(other_is_earlier, other.time, self.time),
            rank: select_unpredictable(other_is_earlier, other.rank, self.rank),
        }
    }
}

/// Siblings in the tree: one cache line, and half the levels of a tree of pairs.
type Siblings = [Key; 4];

/// The pending events.
#[derive(Debug)]
pub struct Agenda {
    /// What each source stands for.
    sources: Vec<Due>,
    /// A tree in an array. Element 0 is the root's children, and the children of child `c` of element `n` are element
    /// `4n + 1 + c`. The leaves, one a source, come last; every other node is the earliest of its children.
    tree: Vec<Siblings>,
    /// Elements that do not hold leaves.
    inner: usize,
    /// The earliest of the sources.
    first: Key,
    timers: BinaryHeap<Reverse<(Key, Timer)>>,
    /// The earliest of the timers.
    first_timer: Key,
    next_sequence: u64,
}

impl Agenda {
    /// An agenda for these sources, at most [`MOST_SOURCES`].
    pub fn new(sources: Vec<Due>) -> Agenda {
        let (mut inner, mut last_level) = (0, 1);
        while 4 * last_level < sources.len() {
            inner += last_level;
            last_level *= 4;
        }
        Agenda {
            sources,
            tree: vec![[Key::NEVER; 4]; inner + last_level],
            inner,
            first: Key::NEVER,
            timers: BinaryHeap::new(),
            first_timer: Key::NEVER,
            next_sequence: 0,
        }
    }

    /// Draws the next sequence number.
    pub fn sequence(&mut self) -> Sequence {
        self.next_sequence += 1;
        debug_assert!(self.next_sequence.leading_zeros() > SOURCE_BITS, "sequence numbers have run out");
        Sequence(self.next_sequence)
    }

    /// A source's next event happens at `time`.
    #[inline(always)]
    pub fn set(&mut self, source: Source, time: Time, sequence: Sequence) {
        self.update(source, Key { time, rank: (sequence.0 << SOURCE_BITS) | u64::from(source.0) });
    }

    /// A source has nothing pending.
    pub fn clear(&mut self, source: Source) {
        self.update(source, Key::NEVER);
    }

    /// Arms a timer. Timers are not cancelled: their owner looks, when one fires, whether it is still wanted.
    pub fn set_timer(&mut self, timer: Timer, time: Time) {
        let key = Key { time, rank: self.sequence().0 << SOURCE_BITS };
        self.timers.push(Reverse((key, timer)));
        self.first_timer = self.first_timer.min(key);
    }

    /// The earliest event that is due before `end`, and when. A timer is taken out; a source's event stays until it is
    /// set anew or cleared.
    pub fn next_before(&mut self, end: Time) -> Option<(Time, Due)> {
        if self.first_timer.number() < self.first.number() {
            return self.take_timer(end);
        }
        if self.first.time >= end {
            return None;
        }
        let source = self.first.rank & ((1 << SOURCE_BITS) - 1);
        Some((self.first.time, self.sources[source as usize]))
    }

    #[cold]
    fn take_timer(&mut self, end: Time) -> Option<(Time, Due)> {
        if self.first_timer.time >= end {
            return None;
        }
        let Reverse((key, timer)) = self.timers.pop()?;
        self.first_timer = self.timers.peek().map_or(Key::NEVER, |Reverse((key, _))| *key);
        Some((key.time, Due::Timer(timer)))
    }

    #[inline(always)]
    fn update(&mut self, source: Source, key: Key) {
        let mut earliest = key;
        let mut place = 4 * self.inner + source.0 as usize;
        loop {
            let siblings = &mut self.tree[place / 4];
            siblings[place % 4] = earliest;
            let [a, b, c, d] = *siblings;
            earliest = a.earlier(b).earlier(c.earlier(d));
            if place < 4 {
                break;
            }
            place = place / 4 - 1;
        }
        self.first = earliest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Events at the same instant are returned in the order of their sequence numbers. A cleared event is not returned.
    #[test]
    fn simultaneous_events() {
        let mut agenda = Agenda::new(vec![Due::Arrival(0), Due::DeviceHasRoom(1)]);
        let drawn_first = agenda.sequence();
        agenda.set_timer(Timer::WindowOpens, Time(5));
        let drawn_last = agenda.sequence();
        agenda.set(Source(0), Time(5), drawn_last);
        agenda.set(Source(1), Time(5), drawn_first);
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::DeviceHasRoom(1))));
        agenda.clear(Source(1));
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::Timer(Timer::WindowOpens))));
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::Arrival(0))));
        assert_eq!(agenda.next_before(Time(5)), None);
    }

    proptest! {
        /// All scheduled events are returned sorted by time, each exactly once.
        #[test]
        fn time_order(times in prop::collection::vec(0u64..1000, 0..60), sources in 0usize..40) {
            let mut agenda = Agenda::new((0..sources as u32).map(Due::Arrival).collect());
            let mut expected = times.clone();
            for (index, time) in times.iter().enumerate() {
                if index < sources {
                    let sequence = agenda.sequence();
                    agenda.set(Source(index as u32), Time(*time), sequence);
                } else {
                    agenda.set_timer(Timer::FlowStart(index as u32), Time(*time));
                }
            }
            expected.sort_unstable();
            let mut drained = Vec::new();
            while let Some((time, due)) = agenda.next_before(Time::NEVER) {
                drained.push(time.0);
                if let Due::Arrival(source) = due {
                    agenda.clear(Source(source));
                }
            }
            prop_assert_eq!(drained, expected);
        }
    }
}
