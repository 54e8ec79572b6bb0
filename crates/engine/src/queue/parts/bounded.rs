//! A FIFO with a limit: arrivals beyond the limit are dropped.

use super::Fifo;
use crate::packet::Packet;
use crate::queue::discipline::{Context, DropCause, Queued};
use crate::queue::limit::Limit;
use crate::time::Time;

/// Whether a queue of this length has room for an arrival. If not, the arrival is dropped.
#[inline(always)]
pub fn admits(packet: &Packet, limit: Limit, packets: u64, bytes: u64, context: &mut Context) -> bool {
    let has_room = !limit.would_be_exceeded(packets + 1, bytes + u64::from(packet.size));
    if !has_room {
        context.drop(*packet, DropCause::Overflow, None);
    }
    has_room
}

/// A FIFO with a limit.
#[derive(Debug)]
pub struct BoundedFifo {
    limit: Limit,
    line: Fifo,
}

impl BoundedFifo {
    pub fn new(limit: Limit) -> BoundedFifo {
        BoundedFifo { limit, line: Fifo::default() }
    }

    pub fn has_room_for(&self, packet: &Packet) -> bool {
        !self.limit.would_be_exceeded(self.line.packets() + 1, self.line.bytes() + u64::from(packet.size))
    }

    /// Whether there is room for an arrival. If not, it is dropped.
    #[inline(always)]
    pub fn admits(&self, packet: &Packet, context: &mut Context) -> bool {
        admits(packet, self.limit, self.line.packets(), self.line.bytes(), context)
    }

    /// Adds an admitted packet at the tail.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet, now: Time) {
        self.line.push(packet, now);
    }

    /// Adds an arrival at the tail, or drops it if there is no room.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.admits(&packet, context) {
            self.push(packet, context.now);
        }
    }

    /// Adds an admitted packet at the tail, unless it is drawn to be marked or dropped.
    #[inline(always)]
    pub fn push_by_chance(&mut self, mut packet: Packet, probability: f64, may_mark: bool, context: &mut Context) {
        let selected = context.random.unit() < probability;
        if !selected || context.mark_or_drop(&mut packet, may_mark, None) {
            self.push(packet, context.now);
        }
    }

    /// Whether it is longer than it may be.
    pub fn is_above_limit(&self) -> bool {
        self.limit.would_be_exceeded(self.line.packets(), self.line.bytes())
    }

    pub fn pop(&mut self) -> Option<Queued> {
        self.line.pop()
    }

    pub fn limit(&self) -> Limit {
        self.limit
    }

    pub fn line(&self) -> &Fifo {
        &self.line
    }

    pub fn line_mut(&mut self) -> &mut Fifo {
        &mut self.line
    }

    pub fn packets(&self) -> u64 {
        self.line.packets()
    }

    pub fn bytes(&self) -> u64 {
        self.line.bytes()
    }
}
