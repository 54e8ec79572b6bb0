//! What a queue discipline is, and what it does its work with.

use std::sync::Arc;

use super::parts::{FlowTable, Queued};
use crate::packet::Packet;
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was at its limit.
    Overflow,
    /// The discipline chose to.
    Early,
}

/// What a discipline does its work with.
pub struct Context<'a> {
    /// The time.
    pub now: Time,
    /// The queue's own random stream.
    pub random: &'a mut Random,
    /// What it did; emptied by the link after each call.
    pub outcome: &'a mut Outcome,
}

impl Context<'_> {
    /// Drops a packet. `queued_since` tells when it was queued, unless it never was.
    pub fn drop(&mut self, packet: Packet, cause: DropCause, queued_since: Option<Time>) {
        self.outcome.dropped.push(Dropped { packet, cause, queued_since });
    }

    /// Marks a packet if its transport answers marks; whether it does.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.is_ecn_capable();
        if capable {
            packet.mark();
            self.count_mark();
        }
        capable
    }

    /// Marks a packet if it may be marked and its transport answers marks, else drops it; whether it stays. `queued_since`
    /// is as in [`Context::drop`].
    pub fn mark_or_drop(&mut self, packet: &mut Packet, may_mark: bool, queued_since: Option<Time>) -> bool {
        let stays = may_mark && self.mark(packet);
        if !stays {
            self.drop(*packet, DropCause::Early, queued_since);
        }
        stays
    }

    /// Counts a mark.
    pub fn count_mark(&mut self) {
        self.outcome.marks += 1;
    }
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// Which.
    pub packet: Packet,
    /// Why.
    pub cause: DropCause,
    /// Since when it had been queued; `None` if it was dropped on arrival.
    pub queued_since: Option<Time>,
}

/// What a call to a discipline did besides.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Packets dropped.
    pub dropped: Vec<Dropped>,
    /// Packets marked.
    pub marks: u64,
}

impl Outcome {
    /// Whether nothing was dropped or marked.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marks == 0
    }
}

/// A queue at the egress of a link.
pub trait QueueDiscipline {
    /// What it draws random numbers for; none if it draws none.
    const RANDOM: Option<&'static str> = None;

    /// A packet arrives: queue it, drop it or drop another.
    fn enqueue(&mut self, packet: Packet, context: &mut Context);

    /// The link is free: the packet to send, and since when it was queued.
    fn dequeue(&mut self, context: &mut Context) -> Option<Queued>;

    /// Packets queued.
    fn packets(&self) -> u64;

    /// Bytes queued.
    fn bytes(&self) -> u64;

    /// Whether this packet, coming while the device has room, may pass the queue by, because to queue it and take it out at
    /// once would change nothing.
    fn lets_pass(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether to ask for a packet would change nothing.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Tells the rate of the link that it feeds: before all else, and when it changes.
    fn set_link_rate(&mut self, _rate: Rate) {}

    /// Tells whose packets may come, before all else.
    ///
    /// # Errors
    /// One line if the discipline was told of flows that are not there.
    fn set_flows(&mut self, _flows: &Arc<FlowTable>) -> Result<(), String> {
        Ok(())
    }

    /// When to ask again, if the discipline holds packets and gives none before then: a shaper's next tokens.
    fn release_time(&self) -> Option<Time> {
        None
    }

    /// How often the discipline wants [`QueueDiscipline::on_timer`], from the start of the run on.
    fn timer_interval(&self) -> Option<Duration> {
        None
    }

    /// The timer fired.
    fn on_timer(&mut self, _now: Time) {}
}
