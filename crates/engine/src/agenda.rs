//! What happens next. Events are ordered by (time, sequence number).
//!
//! A link delivers in order, so only the head of its line is pending, and a device next has room at one time: each such
//! *source* has at most one pending event. A tournament tree over the sources finds the earliest in O(1) and takes a
//! change in log2(sources) comparisons, where one heap of all packets would pay log2(packets) twice. Timers, which are
//! many and rarely fire (they are re-armed lazily), wait in a binary heap that is itself one source.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Time;

/// When an event happens: time in the upper half, sequence number in the lower.
type Key = u128;

const NEVER: Key = Key::MAX;

fn key(time: Time, sequence: u64) -> Key {
    (Key::from(time.0) << 64) | Key::from(sequence)
}

/// A timer: what it is for and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A flow's start.
    FlowStart(u32),
    /// A sender's retransmission timer.
    Retransmission(u32),
    /// A receiver's delayed-acknowledgement timer.
    DelayedAck(u32),
    /// The next packet of a source without congestion control.
    Emission(u32),
    /// A packet leaves a sender that has a processing overhead.
    Release(u32),
    /// A queue discipline's own timer, by link.
    Queue(u32),
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
    Arrival(usize),
    /// This link's device takes another packet.
    DeviceHasRoom(usize),
    /// A timer.
    Timer(Timer),
}

/// The pending events.
#[derive(Debug)]
pub struct Agenda {
    /// Leaf `i` of the tree is source `i`: 0 the timers, then two for each link.
    keys: Vec<Key>,
    /// `winners[node]` is the source with the smallest key below `node`; node 1 is the root.
    winners: Vec<u32>,
    timers: BinaryHeap<Reverse<(Key, Timer)>>,
    next_sequence: u64,
}

const TIMERS: usize = 0;

impl Agenda {
    /// An agenda for so many links.
    pub fn new(links: usize) -> Agenda {
        let leaves = (1 + 2 * links).next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for node in (1..2 * leaves).rev() {
            winners[node] = if node >= leaves { (node - leaves) as u32 } else { winners[2 * node] };
        }
        Agenda { keys: vec![NEVER; leaves], winners, timers: BinaryHeap::new(), next_sequence: 0 }
    }

    /// The next sequence number: events at one instant happen in the order in which they were scheduled.
    pub fn sequence(&mut self) -> u64 {
        self.next_sequence += 1;
        self.next_sequence
    }

    /// The head of a link's line arrives at `time`.
    pub fn set_arrival(&mut self, link: usize, time: Time, sequence: u64) {
        self.set(1 + 2 * link, key(time, sequence));
    }

    /// Nothing is under way on a link.
    pub fn clear_arrival(&mut self, link: usize) {
        self.set(1 + 2 * link, NEVER);
    }

    /// A link's device takes another packet at `time`.
    pub fn set_room(&mut self, link: usize, time: Time) {
        let sequence = self.sequence();
        self.set(2 + 2 * link, key(time, sequence));
    }

    /// Nothing waits for a link's device.
    pub fn clear_room(&mut self, link: usize) {
        self.set(2 + 2 * link, NEVER);
    }

    /// Arms a timer. Timers are not cancelled: their owner looks, when one fires, whether it is still wanted.
    pub fn set_timer(&mut self, timer: Timer, time: Time) {
        let sequence = self.sequence();
        self.timers.push(Reverse((key(time, sequence), timer)));
        self.set_timer_source();
    }

    /// The earliest event that is due before `end`, and when. A timer is taken out; a link's event stays until its
    /// link sets or clears it.
    pub fn next_before(&mut self, end: Time) -> Option<(Time, Due)> {
        let source = self.winners[1] as usize;
        let time = Time((self.keys[source] >> 64) as u64);
        if time >= end {
            return None;
        }
        let due = if source == TIMERS {
            let Reverse((_, timer)) = self.timers.pop()?;
            self.set_timer_source();
            Due::Timer(timer)
        } else if source % 2 == 1 {
            Due::Arrival(source / 2)
        } else {
            Due::DeviceHasRoom(source / 2 - 1)
        };
        Some((time, due))
    }

    fn set_timer_source(&mut self) {
        let first = self.timers.peek().map_or(NEVER, |Reverse((key, _))| *key);
        if first != self.keys[TIMERS] {
            self.set(TIMERS, first);
        }
    }

    fn set(&mut self, source: usize, key: Key) {
        self.keys[source] = key;
        let mut node = (source + self.keys.len()) >> 1;
        while node >= 1 {
            let left = self.winners[2 * node];
            let right = self.winners[2 * node + 1];
            self.winners[node] = if self.keys[left as usize] <= self.keys[right as usize] { left } else { right };
            node >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_at_one_instant_come_in_the_order_they_were_scheduled() {
        let mut agenda = Agenda::new(2);
        agenda.set_room(1, Time(5));
        agenda.set_timer(Timer::WindowOpens, Time(5));
        let sequence = agenda.sequence();
        agenda.set_arrival(0, Time(5), sequence);
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::DeviceHasRoom(1))));
        agenda.clear_room(1);
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::Timer(Timer::WindowOpens))));
        assert_eq!(agenda.next_before(Time(6)), Some((Time(5), Due::Arrival(0))));
        assert_eq!(agenda.next_before(Time(5)), None);
    }

    proptest! {
        /// Whatever is scheduled comes out sorted by time, whole and once.
        #[test]
        fn drains_in_order_of_time(times in prop::collection::vec(0u64..1000, 0..60), links in 0usize..20) {
            let mut agenda = Agenda::new(links);
            let mut expected = times.clone();
            for (index, time) in times.iter().enumerate() {
                if index < links {
                    let sequence = agenda.sequence();
                    agenda.set_arrival(index, Time(*time), sequence);
                } else if index < 2 * links {
                    agenda.set_room(index - links, Time(*time));
                } else {
                    agenda.set_timer(Timer::FlowStart(index as u32), Time(*time));
                }
            }
            expected.sort_unstable();
            let mut drained = Vec::new();
            while let Some((time, due)) = agenda.next_before(Time::NEVER) {
                drained.push(time.0);
                match due {
                    Due::Arrival(link) => agenda.clear_arrival(link),
                    Due::DeviceHasRoom(link) => agenda.clear_room(link),
                    Due::Timer(_) => {}
                }
            }
            prop_assert_eq!(drained, expected);
        }
    }
}
