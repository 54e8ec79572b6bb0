//! CoDel's control of a line of packets (RFC 8289): which are dropped or marked on the way from its head.
//!
//! The discipline `codel` is this over one line; disciplines with many lines have a control for each.

use super::{Fifo, Queued};
use crate::packet::Packet;
use crate::parameters;
use crate::queue::discipline::Context;
use crate::time::{Duration, Time};
use crate::units::Bytes;

parameters! {
    /// Parameters of CoDel.
    pub struct CoDelParameters {
        target: Duration = Duration::from_milliseconds(5), "Acceptable minimum sojourn time of an interval (TARGET)", "RFC 8289 sections 4.3 and 5.3";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Window of the minimum sojourn time, and initial spacing of drops (INTERVAL)", "RFC 8289 sections 4.2 and 5.3";
        mtu: Bytes = Bytes(1500), "No drop while at most this much remains queued (maxpacket)", "RFC 8289 section 5.3: the interface's MTU";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8289 has no marking; off in Linux, include/net/codel_impl.h";
        ce_threshold: Duration = Duration::ZERO, "Sojourn time above which every ECN-capable packet is marked, in any state; zero disables this", "RFC 8289 has no such threshold; disabled unless set in Linux, include/net/codel.h, and ns-3, codel-queue-disc.cc";
    }
}

/// Section 5.5: within so many intervals of the last cycle the drop rate takes up where it was.
const RESUMPTION_INTERVALS: u64 = 16;

impl CoDelParameters {
    /// When to drop next, `count` drops into the dropping state (section 5.6).
    pub fn control_law(&self, time: Time, count: u64) -> Time {
        time + self.spacing(count)
    }

    fn spacing(&self, count: u64) -> Duration {
        Duration((self.interval.0 as f64 / (count as f64).sqrt()).round() as u64)
    }

    /// Marks what waited for longer than the threshold for marks, unless it is marked already (Linux, `codel_dequeue`).
    fn mark_above_threshold(&self, sent: &mut Queued, context: &mut Context) {
        let threshold = self.ce_threshold;
        let above = threshold > Duration::ZERO && context.now.since(sent.since) > threshold;
        if above && !sent.packet.is_marked() {
            context.mark(&mut sent.packet);
        }
    }

    /// Marks the head or drops it; whether it stays.
    fn mark_or_drop(&self, head: &mut Queued, context: &mut Context) -> bool {
        context.mark_or_drop(&mut head.packet, self.ecn, Some(head.since))
    }
}

/// What a discipline built on CoDel does otherwise. A closure tells for each packet whether it is dropped; CoDel itself
/// drops each.
pub trait DropPolicy {
    /// Whether CoDel's drop, or mark, of this packet is made. If not the packet is sent, and the control goes on as though
    /// it had been dropped.
    fn takes(&mut self, packet: &Packet) -> bool;

    /// Drops in place of one, evenly spaced over the time to CoDel's next.
    fn drops(&self) -> u64 {
        1
    }
}

impl<F: FnMut(&Packet) -> bool> DropPolicy for F {
    fn takes(&mut self, packet: &Packet) -> bool {
        self(packet)
    }
}

/// Where the control of one line stands.
#[derive(Clone, Debug, Default)]
pub struct CoDelControl {
    /// When the sojourn time will have been above the target for an interval; `None` while it is below.
    first_above: Option<Time>,
    drop_next: Time,
    /// Drops in place of CoDel's latest, and how many of them are to come.
    drops: u64,
    to_come: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl CoDelControl {
    /// Whether it is in the dropping state.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Takes the packet to send from the line.
    pub fn dequeue(&mut self, queue: &mut Fifo, parameters: &CoDelParameters, context: &mut Context) -> Option<Queued> {
        self.dequeue_with(&mut |_: &Packet| true, queue, parameters, context)
    }

    /// Takes the packet to send from the line, dropping by a policy.
    pub fn dequeue_with(
        &mut self,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        let mut sent = self.take_by_rule(policy, queue, parameters, context)?;
        parameters.mark_above_threshold(&mut sent, context);
        Some(sent)
    }

    /// Takes the head, and tells whether it may be dropped (section 5.6, `dodequeue`).
    fn take(&mut self, queue: &mut Fifo, parameters: &CoDelParameters, now: Time) -> (Option<Queued>, bool) {
        let Some(head) = queue.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let below = now.since(head.since) < parameters.target || queue.bytes() <= parameters.mtu.0;
        let may_drop = match self.first_above {
            _ if below => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now + parameters.interval);
                false
            }
            Some(first_above) => now >= first_above,
        };
        (Some(head), may_drop)
    }

    /// The packet to send, by the RFC's rules.
    fn take_by_rule(
        &mut self,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        let (head, may_drop) = self.take(queue, parameters, context.now);
        if !may_drop {
            self.dropping = false;
            return head;
        }
        let head = head?;
        if self.dropping {
            self.continue_dropping(head, policy, queue, parameters, context)
        } else {
            self.start_dropping(head, policy, queue, parameters, context)
        }
    }

    /// The next drop or drops of the dropping state; returns what to send instead.
    fn continue_dropping(
        &mut self,
        mut head: Queued,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        // A backlog may owe several drops at once, hence the loop.
        while context.now >= self.drop_next {
            if self.to_come == 0 {
                self.count += 1;
                self.drops = policy.drops();
                self.to_come = self.drops;
            }
            self.to_come -= 1;
            if !policy.takes(&head.packet) || parameters.mark_or_drop(&mut head, context) {
                self.schedule(self.drop_next, parameters);
                break;
            }
            let (next, may_drop) = self.take(queue, parameters, context.now);
            if !may_drop {
                self.dropping = false;
                return next;
            }
            self.schedule(self.drop_next, parameters);
            head = next?;
        }
        Some(head)
    }

    /// Enters the dropping state with its first drop; returns what to send instead.
    fn start_dropping(
        &mut self,
        mut head: Queued,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        let sent = if !policy.takes(&head.packet) || parameters.mark_or_drop(&mut head, context) {
            Some(head)
        } else {
            self.take(queue, parameters, context.now).0
        };
        self.dropping = true;
        let delta = self.count - self.last_count;
        let resumes = delta > 1 && context.now.since(self.drop_next) < parameters.interval * RESUMPTION_INTERVALS;
        self.count = if resumes { delta } else { 1 };
        self.last_count = self.count;
        self.drops = policy.drops();
        self.to_come = self.drops - 1;
        self.schedule(context.now, parameters);
        sent
    }

    /// Sets the time of the drop that follows one at `time`.
    fn schedule(&mut self, time: Time, parameters: &CoDelParameters) {
        self.drop_next = time + Duration(parameters.spacing(self.count).0 / self.drops);
    }
}
