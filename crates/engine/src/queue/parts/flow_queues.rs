//! The queues of a discipline with one per flow or bucket: their total length, common limit and longest queue.

use super::{Fifo, Highest, admits};
use crate::packet::Packet;
use crate::queue::discipline::{Context, Queued};
use crate::queue::limit::Limit;
use crate::time::Time;

/// Bits of the number of a queue: no discipline has more.
const NUMBER_BITS: u32 = 16;

/// The measure by which a queue is the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Bytes,
    Packets,
    /// Bytes, and of queues with the same the one with the lowest number.
    BytesThenNumber,
}

impl Measure {
    fn of(self, index: usize, line: &Fifo) -> u64 {
        match self {
            Measure::Bytes => line.bytes(),
            Measure::Packets => line.packets(),
            Measure::BytesThenNumber if line.bytes() == 0 => 0,
            Measure::BytesThenNumber => (line.bytes() << NUMBER_BITS) + (1 << NUMBER_BITS) - 1 - index as u64,
        }
    }
}

state! {
    /// A set of queues with a common limit.
    pub FlowQueues(count: usize, measure: Measure, limit: Limit) {
        limit: Limit = limit,
        lines: Box<[Fifo]> = vec![Fifo::default(); count].into(),
        packets: u64,
        bytes: u64,
        measure: Measure = measure,
        /// The queues by length. Created when the longest is first requested, and discarded when the total has halved since
        /// the latest request: many disciplines need it only at their limit.
        longest: Option<Highest>,
        /// The number of packets queued at the latest request for the longest queue.
        packets_when_asked: u64,
    }
}

impl FlowQueues {
    /// Whether there is room for an arrival besides all queued packets. If not, it is dropped.
    pub fn admits(&self, packet: &Packet, context: &mut Context) -> bool {
        admits(packet, self.limit, self.packets, self.bytes, context)
    }

    /// Whether an arrival would fit into an empty queue. If not, it is dropped. For disciplines that make room by
    /// dropping other packets.
    pub fn admits_alone(&self, packet: &Packet, context: &mut Context) -> bool {
        admits(packet, self.limit, 0, 0, context)
    }

    /// Whether a packet would be the only one queued.
    pub fn would_hold_alone(&self, packet: &Packet) -> bool {
        self.packets == 0 && !self.limit.would_be_exceeded(1, u64::from(packet.size))
    }

    pub fn is_above_limit(&self) -> bool {
        self.limit.would_be_exceeded(self.packets, self.bytes)
    }

    pub fn line(&self, index: usize) -> &Fifo {
        &self.lines[index]
    }

    /// Applies a function to a queue and updates the totals.
    #[inline(always)]
    pub fn with<R>(&mut self, index: usize, work: impl FnOnce(&mut Fifo) -> R) -> R {
        let line = &mut self.lines[index];
        let (packets, bytes) = (line.packets(), line.bytes());
        let result = work(line);
        self.packets = self.packets - packets + line.packets();
        self.bytes = self.bytes - bytes + line.bytes();
        if let Some(longest) = &mut self.longest {
            longest.set(index, self.measure.of(index, line));
            if self.packets < self.packets_when_asked / 2 {
                self.longest = None;
            }
        }
        result
    }

    #[inline(always)]
    pub fn push(&mut self, index: usize, packet: Packet, now: Time) {
        self.with(index, |line| line.push(packet, now));
    }

    #[inline(always)]
    pub fn pop(&mut self, index: usize) -> Option<Queued> {
        self.with(index, Fifo::pop)
    }

    pub fn longest(&mut self) -> Option<usize> {
        self.packets_when_asked = self.packets;
        let longest = self.longest.get_or_insert_with(|| {
            let mut longest = Highest::default();
            for (index, line) in self.lines.iter().enumerate() {
                longest.set(index, self.measure.of(index, line));
            }
            longest
        });
        longest.owner()
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
