//! The event queue. Events are ordered by (time, sequence number).
//!
//! A link delivers in order, so only its head packet has a pending event. Likewise, a device has one next time at which
//! it has room, and a paced sender one next segment. Each such *source* has at most one pending event. A tournament
//! tree over the sources finds the earliest event in O(1) and is updated in log4(sources) steps, where a heap of all
//! packets would need log2(packets) twice. Timers, which are many and rarely fire (they are re-armed lazily), are in a
//! separate binary heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use crate::time::Time;

/// A timer and the flow or link it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A flow of the specification or a group starts.
    RowStarts(u32),
    RowStops(u32),
    /// A connection of a group arrives.
    Arrival(u32),
    Session(u32),
    /// The pacing timer of a connection that arrived.
    Pacing(u32),
    Retransmission(u32),
    DelayedAck(u32),
    /// The end of a sender's overhead for a packet.
    Overhead(u32),
    /// The timer of a queue discipline, by link.
    Queue(u32),
    LinkRate(u32),
    WindowOpens,
    SampleQueues,
    SampleFlows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The head packet of this link arrives at the far end.
    Arrival(u32),
    /// The device of this link has room for another packet.
    DeviceHasRoom(u32),
    Pacing(u32),
    Timer(Timer),
}

/// A source of events other than timers, by its index in the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

impl Source {
    pub const NONE: Source = Source(u32::MAX);
}

/// A sequence number, drawn when an event is scheduled. Of simultaneous events, the one with the lowest number comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(u64);

impl Sequence {
    /// Lower than any number drawn.
    pub const FIRST: Sequence = Sequence(0);
}

/// Bits of a key that hold its source. The remaining bits suffice for days of computing.
const SOURCE_BITS: u32 = 20;

pub const MOST_SOURCES: usize = 1 << SOURCE_BITS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    /// The sequence number, and below it the source. Sequence numbers are unique, so the source never affects the
    /// order.
    rank: u64,
}

impl Key {
    const NEVER: Key = Key { time: Time::NEVER, rank: u64::MAX };

    fn number(self) -> u128 {
        (u128::from(self.time.0) << 64) | u128::from(self.rank)
    }

    /// The earlier of two keys. The comparison is unpredictable, so it is computed without a branch.
    fn earlier(self, other: Key) -> Key {
        let other_is_earlier = other.number() < self.number();
        Key {
            time: select_unpredictable(other_is_earlier, other.time, self.time),
            rank: select_unpredictable(other_is_earlier, other.rank, self.rank),
        }
    }
}

/// Siblings in the tree. They share a cache line, and the tree has half the levels of a binary tree.
type Siblings = [Key; 4];

/// A timer that is armed. The earliest is the greatest, as the heap wants it.
#[derive(Clone, Copy, Debug)]
struct Armed {
    key: Key,
    timer: Timer,
}

impl Ord for Armed {
    fn cmp(&self, other: &Armed) -> Ordering {
        other.key.number().cmp(&self.key.number())
    }
}

impl PartialOrd for Armed {
    fn partial_cmp(&self, other: &Armed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Armed {
    fn eq(&self, other: &Armed) -> bool {
        self.key == other.key
    }
}

impl Eq for Armed {}

/// The pending events.
#[derive(Debug)]
pub struct Agenda {
    sources: Vec<Due>,
    /// A tree in an array. Element 0 holds the root's children, and element `4n + 1 + c` the children of child `c` of
    /// element `n`. The leaves, one per source, come last. Every other node is the minimum of its children.
    tree: Vec<Siblings>,
    /// Number of elements that do not hold leaves.
    inner: usize,
    first: Key,
    timers: BinaryHeap<Armed>,
    first_timer: Key,
    next_sequence: u64,
}

impl Agenda {
    /// Creates an agenda for these sources, at most [`MOST_SOURCES`].
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

    pub fn sequence(&mut self) -> Sequence {
        self.next_sequence += 1;
        debug_assert!(self.next_sequence.leading_zeros() > SOURCE_BITS, "sequence numbers have run out");
        Sequence(self.next_sequence)
    }

    #[inline(always)]
    pub fn set(&mut self, source: Source, time: Time, sequence: Sequence) {
        self.update(source, Key { time, rank: (sequence.0 << SOURCE_BITS) | u64::from(source.0) });
    }

    pub fn clear(&mut self, source: Source) {
        self.update(source, Key::NEVER);
    }

    /// Arms a timer. Timers are not cancelled: when one fires, its owner checks whether it is still needed.
    pub fn set_timer(&mut self, timer: Timer, time: Time) {
        let key = Key { time, rank: self.sequence().0 << SOURCE_BITS };
        self.timers.push(Armed { key, timer });
        self.first_timer = self.first_timer.min(key);
    }

    /// The earliest event before `end`, and its time. A timer is removed. The event of a source remains until it is set
    /// again or cleared.
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
        let Armed { key, timer } = self.timers.pop()?;
        self.first_timer = self.timers.peek().map_or(Key::NEVER, |next| next.key);
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
                    agenda.set_timer(Timer::RowStarts(index as u32), Time(*time));
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
