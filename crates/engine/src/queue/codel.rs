//! CoDel (Controlled Delay, RFC 8289): drop at the head when even the least sojourn time of an interval was above the
//! target, the faster the longer it stays so.

use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::parameters;
use crate::time::{Duration, Time};
use crate::units::Bytes;

parameters! {
    /// CoDel's parameters.
    pub struct CoDelParameters {
        target: Duration = Duration::from_milliseconds(5), "Sojourn time that the least of an interval may reach (TARGET)", "RFC 8289 sections 4.3 and 5.3";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Window of the least sojourn time, and first spacing of drops (INTERVAL)", "RFC 8289 sections 4.2 and 5.3";
        mtu: Bytes = Bytes(1500), "No drop while at most so much stays behind (maxpacket)", "RFC 8289 section 5.3: the interface's MTU";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8289 has no marking; off in Linux, include/net/codel_impl.h";
        ce_threshold: Duration = Duration::ZERO, "Sojourn time above which every ECN-capable packet is marked, whatever the state; zero for never", "RFC 8289 has no such threshold; disabled unless set in Linux, include/net/codel.h, and ns-3, codel-queue-disc.cc";
    }
}

/// Section 5.5: within so many intervals of the last cycle the drop rate takes up where it was.
const RESUMPTION_INTERVALS: u64 = 16;

impl CoDelParameters {
    /// When to drop next, `count` drops into the dropping state (section 5.6).
    pub fn control_law(&self, time: Time, count: u64) -> Time {
        time + Duration((self.interval.0 as f64 / (count as f64).sqrt()).round() as u64)
    }
}

/// See the module.
#[derive(Debug)]
pub struct CoDel {
    limit: Limit,
    parameters: CoDelParameters,
    queue: Fifo,
    /// When the sojourn time will have been above the target for an interval; `None` while it is below.
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl CoDel {
    /// What it is.
    pub const ABOUT: About = About {
        name: "codel",
        aliases: &["controlled_delay"],
        title: "CoDel",
        class: "aqm",
        year: 2012,
        source: "RFC 8289",
        departures: "marking, which the RFC leaves open, as in Linux: at most one packet each time the link asks, and \
                     with a ce_threshold any that waited for longer, be ecn on or off",
    };

    /// An empty queue.
    pub fn new(limit: Limit, parameters: CoDelParameters) -> CoDel {
        CoDel {
            limit,
            parameters,
            queue: Fifo::default(),
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// Takes the head, and tells whether it may be dropped (section 5.6, `dodequeue`).
    fn take(&mut self, now: Time) -> (Option<Queued>, bool) {
        let Some(head) = self.queue.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let below = now.since(head.since) < self.parameters.target || self.queue.bytes() <= self.parameters.mtu.0;
        let may_drop = match self.first_above {
            _ if below => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now + self.parameters.interval);
                false
            }
            Some(first_above) => now >= first_above,
        };
        (Some(head), may_drop)
    }

    /// The packet to send, by the RFC's rules.
    fn take_by_rule(&mut self, context: &mut Context) -> Option<Queued> {
        let (head, may_drop) = self.take(context.now);
        if !may_drop {
            self.dropping = false;
            return head;
        }
        let head = head?;
        if self.dropping { self.continue_dropping(head, context) } else { self.start_dropping(head, context) }
    }

    /// Marks what waited for longer than the threshold for marks, unless it is marked already (Linux, `codel_dequeue`).
    fn mark_above_threshold(&self, sent: &mut Queued, context: &mut Context) {
        let threshold = self.parameters.ce_threshold;
        let above = threshold > Duration::ZERO && context.now.since(sent.since) > threshold;
        if above && sent.packet.is_ecn_capable() && !sent.packet.is_marked() {
            sent.packet.mark();
            context.count_mark();
        }
    }

    /// Marks the packet if it can be.
    fn mark(&self, head: &mut Queued, context: &mut Context) -> bool {
        let marks = self.parameters.ecn && head.packet.is_ecn_capable();
        if marks {
            head.packet.mark();
            context.count_mark();
        }
        marks
    }

    /// The next drop or drops of the dropping state; returns what to send instead.
    fn continue_dropping(&mut self, mut head: Queued, context: &mut Context) -> Option<Queued> {
        // A backlog may owe several drops at once, hence the loop.
        while context.now >= self.drop_next {
            self.count += 1;
            if self.mark(&mut head, context) {
                self.drop_next = self.parameters.control_law(self.drop_next, self.count);
                break;
            }
            context.drop(head.packet, DropCause::Early, Some(head.since));
            let (next, may_drop) = self.take(context.now);
            if !may_drop {
                self.dropping = false;
                return next;
            }
            self.drop_next = self.parameters.control_law(self.drop_next, self.count);
            head = next?;
        }
        Some(head)
    }

    /// Enters the dropping state with its first drop; returns what to send instead.
    fn start_dropping(&mut self, mut head: Queued, context: &mut Context) -> Option<Queued> {
        let sent = if self.mark(&mut head, context) {
            Some(head)
        } else {
            context.drop(head.packet, DropCause::Early, Some(head.since));
            self.take(context.now).0
        };
        self.dropping = true;
        let delta = self.count - self.last_count;
        let resumes = delta > 1 && context.now.since(self.drop_next) < self.parameters.interval * RESUMPTION_INTERVALS;
        self.count = if resumes { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.parameters.control_law(context.now, self.count);
        sent
    }
}

impl QueueDiscipline for CoDel {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        // Section 5.4: drops at a full buffer do not count for the controller.
        if self.limit.is_exceeded_by(&packet, &self.queue) {
            context.drop(packet, DropCause::Overflow, None);
        } else {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let mut sent = self.take_by_rule(context)?;
        self.mark_above_threshold(&mut sent, context);
        Some(sent)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
