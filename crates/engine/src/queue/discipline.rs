//! The interface of queue disciplines.

use std::sync::Arc;

use super::FlowTable;
use crate::inner::Tell;
use crate::packet::Packet;
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// A queued packet.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    pub packet: Packet,
    /// When it was queued.
    pub since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was at its limit.
    Overflow,
    /// The discipline chose to.
    Early,
}

/// What a discipline is given in each call.
pub struct Context<'a> {
    pub now: Time,
    /// The queue's own random stream.
    pub random: &'a mut Random,
    /// Packets dropped and marked; the link empties it after each call.
    pub outcome: &'a mut Outcome,
}

impl Context<'_> {
    /// Drops a packet. `queued_since` is when it was queued; none if it never was.
    pub fn drop(&mut self, packet: Packet, cause: DropCause, queued_since: Option<Time>) {
        self.outcome.dropped.push(Dropped { packet, cause, queued_since });
    }

    /// Marks a packet if it is ECN-capable. Returns whether it is.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.is_ecn_capable();
        if capable {
            packet.mark();
            self.count_mark();
        }
        capable
    }

    /// Marks a packet if `may_mark` is set and it is ECN-capable, else drops it. Returns whether it is still queued.
    /// `queued_since` is as in [`Context::drop`].
    pub fn mark_or_drop(&mut self, packet: &mut Packet, may_mark: bool, queued_since: Option<Time>) -> bool {
        let stays = may_mark && self.mark(packet);
        if !stays {
            self.drop(*packet, DropCause::Early, queued_since);
        }
        stays
    }

    pub fn count_mark(&mut self) {
        self.outcome.marks += 1;
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    pub packet: Packet,
    pub cause: DropCause,
    /// When it was queued; `None` if it was dropped on arrival.
    pub queued_since: Option<Time>,
}

/// The drops and marks of a call to a discipline.
#[derive(Debug, Default)]
pub struct Outcome {
    pub dropped: Vec<Dropped>,
    pub marks: u64,
}

impl Outcome {
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marks == 0
    }
}

/// A queue at the egress of a link.
#[warn(missing_docs)]
pub trait QueueDiscipline {
    /// What it draws random numbers for; none if it draws none.
    const RANDOM: Option<&'static str> = None;

    /// The value of its parameter `rules` under which it does; none if it always does.
    const RANDOM_RULES: Option<&'static str> = None;

    /// Whether what it has queued leaves in the order of arrival and as it is, whatever arrives later: it drops and marks nothing but the
    /// packet that arrives.
    const DECIDES_ON_ARRIVAL: bool = false;

    /// A packet arrives: queue it, drop it or drop another.
    fn enqueue(&mut self, packet: Packet, context: &mut Context);

    /// The link is free. Returns the packet to send and when it was queued.
    fn dequeue(&mut self, context: &mut Context) -> Option<Queued>;

    /// Packets queued.
    fn packets(&self) -> u64;

    /// Bytes queued.
    fn bytes(&self) -> u64;

    /// Whether this packet, which arrives while the device has room, may bypass the queue, because enqueueing and
    /// dequeueing it at once would change no other state.
    fn lets_pass(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether `dequeue` would return no packet and change no state.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Sets the rate of the link: before the first packet, and at each change. The rate is above zero: while the link's
    /// rate is zero, the discipline keeps the previous one.
    fn set_link_rate(&mut self, _rate: Rate) {}

    /// Sets the flows whose packets may arrive, before the first packet.
    ///
    /// # Errors
    /// One line if a parameter of the discipline names flows that do not exist.
    fn set_flows(&mut self, _flows: &Arc<FlowTable>) -> Result<(), String> {
        Ok(())
    }

    /// Whether it is a shaper, which may have packets and return none.
    fn holds_back(&self) -> bool {
        false
    }

    /// When to call `dequeue` again, if the discipline has packets but returns none before then: a shaper's next tokens.
    fn release_time(&self) -> Option<Time> {
        None
    }

    /// The interval of calls to [`QueueDiscipline::on_timer`], from the start of the run on; none for no calls.
    fn timer_interval(&self) -> Option<Duration> {
        None
    }

    /// The timer fired.
    fn on_timer(&mut self, _now: Time) {}

    /// Tells the values of its inner state that it knows: those that the catalogue lists. Asking it changes nothing.
    fn tell_state(&self, _now: Time, _tell: &mut Tell<'_>) {}
}
