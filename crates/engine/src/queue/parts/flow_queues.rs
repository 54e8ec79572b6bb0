//! The lines of a discipline that keeps one for each flow or bucket of flows, their totals and common limit, and the longest of
//! them.

use super::{Fifo, Highest, Queued, admits};
use crate::packet::Packet;
use crate::queue::discipline::Context;
use crate::queue::limit::Limit;
use crate::time::Time;

/// What makes a line the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its bytes.
    Bytes,
    /// Its packets.
    Packets,
}

impl Measure {
    fn of(self, line: &Fifo) -> u64 {
        match self {
            Measure::Bytes => line.bytes(),
            Measure::Packets => line.packets(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct FlowQueues {
    limit: Limit,
    lines: Box<[Fifo]>,
    packets: u64,
    bytes: u64,
    measure: Measure,
    /// By length. Kept from the moment that somebody asks for the longest until there is much room again: many disciplines
    /// ask only at their limit.
    longest: Option<Highest>,
    /// How many packets there were when the longest was asked for last.
    packets_when_asked: u64,
}

impl FlowQueues {
    /// So many empty lines.
    pub fn new(count: usize, measure: Measure, limit: Limit) -> FlowQueues {
        FlowQueues {
            limit,
            lines: vec![Fifo::default(); count].into(),
            packets: 0,
            bytes: 0,
            measure,
            longest: None,
            packets_when_asked: 0,
        }
    }

    /// Whether there is room for an arrival beside all that is queued; if not it is dropped.
    pub fn admits(&self, packet: &Packet, context: &mut Context) -> bool {
        admits(packet, self.limit, self.packets, self.bytes, context)
    }

    /// The same for a discipline that makes room for whatever is not too large by itself.
    pub fn admits_alone(&self, packet: &Packet, context: &mut Context) -> bool {
        admits(packet, self.limit, 0, 0, context)
    }

    /// Whether a packet would be queued alone.
    pub fn would_hold_alone(&self, packet: &Packet) -> bool {
        self.packets == 0 && !self.limit.would_be_exceeded(1, u64::from(packet.size))
    }

    /// Whether packets have to go until the limit is kept again.
    pub fn is_above_limit(&self) -> bool {
        self.limit.would_be_exceeded(self.packets, self.bytes)
    }

    /// A line.
    pub fn line(&self, index: usize) -> &Fifo {
        &self.lines[index]
    }

    /// Does something with a line.
    #[inline(always)]
    pub fn with<R>(&mut self, index: usize, work: impl FnOnce(&mut Fifo) -> R) -> R {
        let line = &mut self.lines[index];
        let (packets, bytes) = (line.packets(), line.bytes());
        let result = work(line);
        self.packets = self.packets - packets + line.packets();
        self.bytes = self.bytes - bytes + line.bytes();
        if let Some(longest) = &mut self.longest {
            longest.set(index, self.measure.of(line));
            if self.packets < self.packets_when_asked / 2 {
                self.longest = None;
            }
        }
        result
    }

    /// Adds a packet to a line.
    pub fn push(&mut self, index: usize, packet: Packet, now: Time) {
        self.with(index, |line| line.push(packet, now));
    }

    /// Takes the packet at the head of a line.
    pub fn pop(&mut self, index: usize) -> Option<Queued> {
        self.with(index, Fifo::pop)
    }

    /// The longest line; none if all are empty.
    pub fn longest(&mut self) -> Option<usize> {
        self.packets_when_asked = self.packets;
        let longest = self.longest.get_or_insert_with(|| {
            let mut longest = Highest::default();
            for (index, line) in self.lines.iter().enumerate() {
                longest.set(index, self.measure.of(line));
            }
            longest
        });
        longest.owner()
    }

    /// Packets in all lines.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes in all lines.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
