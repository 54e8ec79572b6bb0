//! The event queue. Events are ordered by time, and at one instant by a rule that does not know when they were scheduled
//! (docs/decisions/035-order-at-one-instant.md).
//!
//! A link delivers in order, so only its head packet has a pending event. Likewise, a device has one next time at which
//! it has room. Each such *source* has at most one pending event. A tournament tree over the sources finds the earliest
//! event in O(1) and is updated in log4(sources) steps, where a heap of all packets would need log2(packets) twice.
//! Timers, which are many, are in binary heaps: each clock has two, one for those of packets, which soon fire, and one for the
//! others, which rarely do (they are re-armed lazily). Each clock is a source too, and clocks have a tree of their own.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use crate::time::Time;

/// A timer and the flow or link it belongs to. Of timers of one clock at one instant, the one that stands first here comes
/// first, but for paced packets: their order, among themselves and with the others, is drawn by lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    Pacing(u32),
    WindowOpens,
    SampleQueues,
    SampleFlows,
    LinkRate(u32),
    /// The timer of a queue discipline, by link.
    Queue(u32),
    /// A flow of the specification or a group starts.
    RowStarts(u32),
    RowStops(u32),
    /// A connection of a group arrives.
    Arrival(u32),
    Session(u32),
    Retransmission(u32),
    DelayedAck(u32),
    /// The end of a sender's overhead for a packet.
    Overhead(u32),
}

impl Timer {
    /// Its place among those of one clock at an instant: its lot, then its kind, then whose it is.
    fn rank(self, time: Time) -> u64 {
        let (kind, number) = match self {
            Timer::Pacing(number) => (0, number),
            Timer::WindowOpens => (1, 0),
            Timer::SampleQueues => (2, 0),
            Timer::SampleFlows => (3, 0),
            Timer::LinkRate(link) => (4, link),
            Timer::Queue(link) => (5, link),
            Timer::RowStarts(row) => (6, row),
            Timer::RowStops(row) => (7, row),
            Timer::Arrival(group) => (8, group),
            Timer::Session(number) => (9, number),
            Timer::Retransmission(number) => (10, number),
            Timer::DelayedAck(number) => (11, number),
            Timer::Overhead(number) => (12, number),
        };
        let drawn_by = if let Timer::Pacing(flow) = self { flow } else { Clock::HOSTS.0 };
        lot(time, drawn_by, TIMER_BITS) | kind << 32 | u64::from(number)
    }
}

/// A clock with timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(u32);

impl Clock {
    /// Of what the run measures.
    pub const RUN: Clock = Clock(0);
    /// Of links and their disciplines.
    pub const LINKS: Clock = Clock(1);
    /// Of all hosts that have none of their own.
    pub const HOSTS: Clock = Clock(2);
    const NONE: Clock = Clock(u32::MAX);

    /// That of the next host with one of its own.
    pub fn next(self) -> Clock {
        Clock(self.0 + 1)
    }
}

/// How many clocks a run has at least.
const CLOCKS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The head packet of this link arrives at the far end.
    Arrival(u32),
    /// The device of this link has room for another packet.
    DeviceHasRoom(u32),
    /// The first timer of this clock expires.
    Timer(Clock),
}

impl Due {
    /// Of events at one instant, those of a lower class come first.
    fn class(self) -> u64 {
        match self {
            // What is measured at a moment is what was before it.
            Due::Timer(Clock::RUN) => 0,
            Due::Timer(Clock::LINKS) => 1,
            // The place of a packet that leaves is free for one that arrives.
            Due::DeviceHasRoom(_) => 2,
            // A timer that expires as a packet arrives expires after it.
            Due::Arrival(_) => 3,
            Due::Timer(_) => 4,
        }
    }

    /// The number of the link or clock.
    fn number(self) -> u32 {
        match self {
            Due::Arrival(number) | Due::DeviceHasRoom(number) | Due::Timer(Clock(number)) => number,
        }
    }
}

/// A source of events, by its index in the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

impl Source {
    pub const NONE: Source = Source(u32::MAX);
}

/// Bits of a rank that hold its source.
const SOURCE_BITS: u32 = 21;

/// Bits of a rank that hold its class.
const CLASS_BITS: u32 = 3;

/// Bits of a timer's rank below its lot.
const TIMER_BITS: u32 = 36;

/// Sources and hosts' own clocks. The clocks that every run has fit besides.
pub const MOST_SOURCES: usize = 1 << (SOURCE_BITS - 1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    /// The place among events at one instant. Of a source's: the class, then a number drawn by lot, then the source. Of a timer's among
    /// those of its clock: see [`Timer::rank`].
    rank: u64,
}

/// The lot of a link or flow at an instant is a hash of both, so that none is always the first, and none waits for another
/// to know its place. The odd constants are those of SplitMix64 (Steele et al. 2014, figure 13). The lowest bits are zero.
#[inline(always)]
fn lot(time: Time, number: u32, free_bits: u32) -> u64 {
    let of_number = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (time.0 ^ of_number).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> free_bits << free_bits
}

impl Key {
    const NEVER: Key = Key { time: Time::NEVER, rank: u64::MAX };

    #[inline(always)]
    fn new(time: Time, due: Due, source: Source) -> Key {
        let lot = lot(time, due.number(), SOURCE_BITS + CLASS_BITS) >> CLASS_BITS;
        Key { time, rank: due.class() << (64 - CLASS_BITS) | lot | u64::from(source.0) }
    }

    fn source(self) -> usize {
        (self.rank & ((1 << SOURCE_BITS) - 1)) as usize
    }

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

/// A timer that is armed. The greatest is the first to expire, as a heap wants it.
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

/// The timers of a clock. Those of packets, which expire soon, have a heap of their own: that of the others is large where many
/// connections end long before their timers.
#[derive(Clone, Debug)]
struct Timers {
    /// When the first expires.
    first: Time,
    of_packets: BinaryHeap<Armed>,
    others: BinaryHeap<Armed>,
}

impl Timers {
    fn new() -> Timers {
        Timers { first: Time::NEVER, of_packets: BinaryHeap::new(), others: BinaryHeap::new() }
    }

    fn push(&mut self, armed: Armed) {
        self.first = self.first.min(armed.key.time);
        let is_of_packet = matches!(armed.timer, Timer::Pacing(_) | Timer::Overhead(_));
        if is_of_packet { self.of_packets.push(armed) } else { self.others.push(armed) }
    }

    fn pop(&mut self) -> Option<Timer> {
        // The greater is the first to expire.
        let is_other = self.others.peek() > self.of_packets.peek();
        let first = if is_other { self.others.pop() } else { self.of_packets.pop() };
        let time = |heap: &BinaryHeap<Armed>| heap.peek().map_or(Time::NEVER, |first| first.key.time);
        self.first = time(&self.of_packets).min(time(&self.others));
        first.map(|armed| armed.timer)
    }
}

/// A tournament of keys, one for each place.
#[derive(Debug)]
struct Tournament {
    /// A tree in an array. Element 0 holds the root's children, and element `4n + 1 + c` the children of child `c` of
    /// element `n`. The leaves, one per place, come last. Every other node is the minimum of its children.
    tree: Vec<Siblings>,
    /// Number of elements that do not hold leaves.
    inner: usize,
    first: Key,
}

impl Tournament {
    fn new(places: usize) -> Tournament {
        let (mut inner, mut last_level) = (0, 1);
        while 4 * last_level < places {
            inner += last_level;
            last_level *= 4;
        }
        Tournament { tree: vec![[Key::NEVER; 4]; inner + last_level], inner, first: Key::NEVER }
    }

    #[inline(always)]
    fn update(&mut self, place: usize, key: Key) {
        let mut earliest = key;
        let mut place = 4 * self.inner + place;
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

/// The pending events.
#[derive(Debug)]
pub struct Agenda {
    sources: Vec<Due>,
    links: Tournament,
    /// Apart from links, whose events are many and whose tree is the lower for it.
    timers: Tournament,
    /// That of the clock of all hosts stands beside the tree, since with connections that arrive it changes with every packet.
    of_hosts: Key,
    /// Of each clock, which is a source too: the first of the last sources.
    clocks: Vec<Timers>,
    /// The clock whose host is at work: when its first timer expires is not known before that is done.
    at_work: Clock,
    /// Whether its first timer is another than when it began.
    has_changed: bool,
}

impl Agenda {
    /// Creates an agenda for these sources and so many hosts with clocks of their own, at most [`MOST_SOURCES`] together.
    pub fn new(mut sources: Vec<Due>, hosts: usize) -> Agenda {
        let clocks = CLOCKS + hosts;
        let links = Tournament::new(sources.len());
        sources.extend((0..clocks as u32).map(|clock| Due::Timer(Clock(clock))));
        Agenda {
            sources,
            links,
            timers: Tournament::new(clocks),
            of_hosts: Key::NEVER,
            clocks: vec![Timers::new(); clocks],
            at_work: Clock::NONE,
            has_changed: false,
        }
    }

    /// An event of a source is to happen then, in place of any that was.
    #[inline(always)]
    pub fn set(&mut self, source: Source, time: Time) {
        self.links.update(source.0 as usize, Key::new(time, self.sources[source.0 as usize], source));
    }

    pub fn clear(&mut self, source: Source) {
        self.links.update(source.0 as usize, Key::NEVER);
    }

    /// Arms a timer. Timers are not cancelled: when one fires, its owner checks whether it is still needed.
    pub fn set_timer(&mut self, clock: Clock, timer: Timer, time: Time) {
        let timers = &mut self.clocks[clock.0 as usize];
        let is_first = time < timers.first;
        timers.push(Armed { key: Key { time, rank: timer.rank(time) }, timer });
        if is_first && clock == self.at_work {
            self.has_changed = true;
        } else if is_first {
            self.expect(clock, time);
        }
    }

    /// The earliest event before `end`, and its time. It remains until its source is set again or cleared, or its timer
    /// taken.
    pub fn next_before(&mut self, end: Time) -> Option<(Time, Due)> {
        let first = self.first();
        if first.time >= end {
            return None;
        }
        Some((first.time, self.sources[first.source()]))
    }

    fn first(&self) -> Key {
        let Agenda { links, timers, of_hosts, .. } = self;
        links.first.earlier(timers.first).earlier(*of_hosts)
    }

    /// A host begins to work, of which the agenda hears when it [has finished](Agenda::finish).
    #[inline(always)]
    pub fn begin(&mut self, clock: Clock) {
        self.at_work = clock;
    }

    /// The host that is at work has finished.
    #[inline(always)]
    pub fn finish(&mut self) {
        let clock = std::mem::replace(&mut self.at_work, Clock::NONE);
        if std::mem::take(&mut self.has_changed) {
            self.expect(clock, self.first_timer(clock));
        }
    }

    /// Removes the first timer of the clock that is at work.
    pub fn take_timer(&mut self) -> Option<Timer> {
        self.has_changed = true;
        self.clocks[self.at_work.0 as usize].pop()
    }

    /// The first timer of a clock expires then.
    #[inline(never)]
    fn expect(&mut self, clock: Clock, time: Time) {
        let source = self.source_of(clock);
        let key = if time == Time::NEVER { Key::NEVER } else { Key::new(time, Due::Timer(clock), source) };
        if clock == Clock::HOSTS {
            self.of_hosts = key;
        } else {
            self.timers.update(clock.0 as usize, key);
        }
    }

    /// When the first timer of a clock expires.
    #[inline(always)]
    pub fn first_timer(&self, clock: Clock) -> Time {
        self.clocks[clock.0 as usize].first
    }

    fn source_of(&self, clock: Clock) -> Source {
        Source((self.sources.len() - self.clocks.len()) as u32 + clock.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes the events before `end` in their order.
    fn drain(agenda: &mut Agenda, end: Time) -> Vec<(Time, Result<Due, Timer>)> {
        let mut drained = Vec::new();
        while let Some((time, due)) = agenda.next_before(end) {
            if let Due::Timer(clock) = due {
                agenda.begin(clock);
                drained.push((time, Err(agenda.take_timer().expect("it is due"))));
                agenda.finish();
            } else {
                drained.push((time, Ok(due)));
                let source = agenda.first().source();
                agenda.clear(Source(source as u32));
            }
        }
        drained
    }

    /// At one instant the run measures first, then links change, then packets leave queues, then packets arrive, then timers of hosts expire, whatever
    /// was scheduled first. A cleared event does not happen.
    #[test]
    fn simultaneous_events() {
        let sources = [Due::Arrival(0), Due::DeviceHasRoom(1), Due::Arrival(2)];
        let set = |agenda: &mut Agenda, step: usize| match step {
            0 => {
                agenda.set_timer(Clock::HOSTS, Timer::DelayedAck(1), Time(5));
                agenda.set_timer(Clock::LINKS, Timer::Queue(1), Time(5));
            }
            1 => agenda.set_timer(Clock::HOSTS, Timer::Retransmission(2), Time(5)),
            2 => agenda.set(Source(0), Time(5)),
            3 => agenda.set(Source(1), Time(5)),
            _ => agenda.set_timer(Clock::RUN, Timer::WindowOpens, Time(5)),
        };
        for first in 0..5 {
            let mut agenda = Agenda::new(sources.to_vec(), 0);
            agenda.set(Source(2), Time(5));
            (0..5).for_each(|step| set(&mut agenda, (first + step) % 5));
            agenda.clear(Source(2));
            assert_eq!(agenda.next_before(Time(5)), None);
            let due = drain(&mut agenda, Time(6)).into_iter().map(|(_, due)| due);
            let expected = [
                Err(Timer::WindowOpens),
                Err(Timer::Queue(1)),
                Ok(Due::DeviceHasRoom(1)),
                Ok(Due::Arrival(0)),
                Err(Timer::Retransmission(2)),
                Err(Timer::DelayedAck(1)),
            ];
            assert_eq!(due.collect::<Vec<_>>(), expected);
        }
    }

    /// Of a host's paced flows each is as often the first at an instant as any other, as in the next test, and as often after a
    /// timer of another kind as before it.
    #[test]
    fn no_paced_flow_comes_first() {
        const FLOWS: u32 = 4;
        const FIRST: u32 = 10;
        const INSTANTS: u32 = 10_000;
        let mut firsts = [0u32; FLOWS as usize + 1];
        for instant in 1..=INSTANTS {
            let mut agenda = Agenda::new(Vec::new(), 0);
            let time = Time(u64::from(instant) * 12_000_000);
            agenda.set_timer(Clock::HOSTS, Timer::DelayedAck(0), time);
            (0..FLOWS).for_each(|flow| agenda.set_timer(Clock::HOSTS, Timer::Pacing(FIRST + flow), time));
            agenda.begin(Clock::HOSTS);
            let first = agenda.take_timer();
            firsts[if let Some(Timer::Pacing(flow)) = first { (flow - FIRST) as usize } else { FLOWS as usize }] += 1;
        }
        assert_even(&firsts, INSTANTS);
    }

    /// Of the arrivals at one instant on several links each is the first as often as any other: within five standard deviations of a
    /// binomial distribution, at instants that are multiples of a transmission time.
    #[test]
    fn no_link_comes_first() {
        const LINKS: u32 = 5;
        const INSTANTS: u32 = 10_000;
        let mut firsts = [0u32; LINKS as usize];
        for instant in 1..=INSTANTS {
            let mut agenda = Agenda::new((0..LINKS).map(Due::Arrival).collect(), 0);
            (0..LINKS).for_each(|link| agenda.set(Source(link), Time(u64::from(instant) * 12_000_000)));
            let Some((_, Due::Arrival(first))) = agenda.next_before(Time::NEVER) else { panic!("all are due") };
            firsts[first as usize] += 1;
        }
        assert_even(&firsts, INSTANTS);
    }

    fn assert_even(counts: &[u32], all: u32) {
        let (share, all) = (1.0 / counts.len() as f64, f64::from(all));
        let deviation = (all * share * (1.0 - share)).sqrt();
        for count in counts {
            assert!((f64::from(*count) - all * share).abs() < 5.0 * deviation, "{counts:?}");
        }
    }

    proptest! {
        /// All scheduled events are returned sorted by time, each exactly once.
        #[test]
        fn time_order(times in prop::collection::vec(0u64..1000, 0..60), sources in 0usize..40) {
            let mut agenda = Agenda::new((0..sources as u32).map(Due::Arrival).collect(), 0);
            let mut expected = times.clone();
            for (index, time) in times.iter().enumerate() {
                if index < sources {
                    agenda.set(Source(index as u32), Time(*time));
                } else {
                    agenda.set_timer(Clock::HOSTS, Timer::RowStarts(index as u32), Time(*time));
                }
            }
            expected.sort_unstable();
            let drained = drain(&mut agenda, Time::NEVER);
            prop_assert_eq!(drained.into_iter().map(|(time, _)| time.0).collect::<Vec<_>>(), expected);
        }
    }
}
