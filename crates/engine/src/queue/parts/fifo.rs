//! A first-in-first-out queue of packets.

use crate::line::Line;
use crate::packet::Packet;
use crate::queue::discipline::Queued;
use crate::time::Time;

/// A FIFO that counts its bytes.
// Aligned, so that none of many stands on two cache lines.
#[derive(Clone, Debug, Default)]
#[repr(align(32))]
pub struct Fifo {
    line: Line<Queued>,
    bytes: u64,
}

impl Fifo {
    pub fn push(&mut self, packet: Packet, now: Time) {
        self.bytes += u64::from(packet.size);
        self.line.push(Queued { packet, since: now });
    }

    // The size is read where the packet is, so that the packet is copied as a whole.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Queued> {
        self.bytes -= u64::from(self.first()?.packet.size);
        self.line.pop()
    }

    pub fn first(&self) -> Option<&Queued> {
        self.line.first()
    }

    /// The packet at this position, counted from the head.
    pub fn get(&self, position: u64) -> Option<&Queued> {
        self.line.get(position as usize)
    }

    pub fn remove(&mut self, position: u64) -> Option<Queued> {
        let queued = self.line.remove(position as usize)?;
        self.bytes -= u64::from(queued.packet.size);
        Some(queued)
    }

    pub fn packets(&self) -> u64 {
        self.line.len() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
