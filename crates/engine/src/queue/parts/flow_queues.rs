//! The lines of a discipline that keeps one for each flow or bucket of flows, their totals and the longest of them.

use super::longest::Longest;
use super::{Fifo, Queued};
use crate::packet::Packet;
use crate::time::Time;

/// What makes a line the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its bytes.
    Bytes,
    /// Its packets.
    Packets,
}

/// See the module.
#[derive(Debug)]
pub struct FlowQueues {
    lines: Box<[Fifo]>,
    packets: u64,
    bytes: u64,
    measure: Measure,
    longest: Longest,
}

impl FlowQueues {
    /// So many empty lines.
    pub fn new(count: usize, measure: Measure) -> FlowQueues {
        FlowQueues {
            lines: vec![Fifo::default(); count].into(),
            packets: 0,
            bytes: 0,
            measure,
            longest: Longest::new(count),
        }
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
        let length = match self.measure {
            Measure::Bytes => line.bytes(),
            Measure::Packets => line.packets(),
        };
        self.longest.set(index, length);
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
    pub fn longest(&self) -> Option<usize> {
        self.longest.queue()
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
