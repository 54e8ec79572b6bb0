//! Tail drop: queue until the limit, then drop what arrives.

use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::parameters;

parameters! {
    /// DropTail has nothing to set but its limit.
    pub struct DropTailParameters {}
}

/// See the module.
#[derive(Debug)]
pub struct DropTail {
    limit: Limit,
    queue: Fifo,
}

impl DropTail {
    /// What it is.
    pub const ABOUT: About = About {
        name: "droptail",
        aliases: &["dt", "tail_drop", "drop_tail"],
        title: "DropTail",
        class: "passive",
        year: 1988,
        source: "RFC 7567 section 2: the default of routers",
        departures: "none",
    };

    /// An empty queue.
    pub fn new(limit: Limit, _parameters: DropTailParameters) -> DropTail {
        DropTail { limit, queue: Fifo::default() }
    }
}

impl QueueDiscipline for DropTail {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.limit.is_exceeded_by(&packet, &self.queue) {
            context.drop(packet, DropCause::Overflow, None);
        } else {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        self.queue.pop()
    }

    lengths_of!(queue);

    fn lets_pass(&self, packet: &Packet) -> bool {
        self.queue.packets() == 0 && !self.limit.is_exceeded_by(packet, &self.queue)
    }

    fn is_at_rest(&self) -> bool {
        self.queue.packets() == 0
    }
}
