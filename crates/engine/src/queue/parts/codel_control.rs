//! CoDel on one FIFO (RFC 8289): decides which packets to drop or mark at the head.
//!
//! The discipline `codel` applies it to a single queue. Disciplines with several queues have one control per queue.

use super::Fifo;
use crate::packet::Packet;
use crate::queue::discipline::{Context, Queued};
use crate::time::{Duration, Time};
use crate::units::Bytes;

choice! {
    /// Whose arithmetic CoDel has.
    pub enum CoDelRules {
        Published = "published",
        Linux = "linux",
        /// That of the authors' implementation for ns-2.
        Ns2 = "ns2",
    }
}

parameters! {
    pub struct CoDelParameters {
        target: Duration = Duration::from_milliseconds(5), "Acceptable minimum sojourn time of an interval (TARGET)", "RFC 8289 sections 4.3 and 5.3";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Window of the minimum sojourn time, and initial spacing of drops (INTERVAL)", "RFC 8289 sections 4.2 and 5.3";
        mtu: Bytes = Bytes(1500), "No drop while at most this much remains queued (maxpacket)", "RFC 8289 section 5.3: the interface's MTU";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "RFC 8289 has no marking; off in Linux, include/net/codel_impl.h";
        ce_threshold: Duration = Duration::ZERO, "Sojourn time above which every ECN-capable packet is marked, in any state; zero disables this", "RFC 8289 has no such threshold; disabled unless set in Linux, include/net/codel.h, and ns-3, codel-queue-disc.cc";
        rules: CoDelRules = CoDelRules::Published, "Whose arithmetic: linux takes one Newton step in 16 bits for the spacing of drops at each count, and with several queues the backlog of all for the last MTU, and drops at the limit count; ns2 waits for less than an interval soon after the last drops, and then goes on with two drops fewer", "RFC 8289 section 5.6; Linux, include/net/codel_impl.h, codel_Newton_step, and net/sched/sch_fq_codel.c, fq_codel_dequeue and fq_codel_drop; Nichols and Jacobson's queue/codel.cc for ns-2";
    }
}

/// One over the square root of one, in 16 bits, and the bits that the step of Newton has more: Linux, include/net/codel.h,
/// `REC_INV_SQRT_SHIFT`.
const FULL_SPACING: u16 = u16::MAX;
const SPACING_SHIFT: u32 = 16;

/// A Newton step towards one over the square root of the count, as Linux computes it (`codel_Newton_step`).
fn newton_step(inverse: u16, count: u64) -> u16 {
    let wide = u64::from(inverse) << SPACING_SHIFT;
    let square = (wide * wide) >> 32;
    let step = ((3_u64 << 32).wrapping_sub((count & u64::from(u32::MAX)).wrapping_mul(square))) >> 2;
    ((step.wrapping_mul(wide) >> 31) as u32 >> SPACING_SHIFT) as u16
}

/// The number of intervals after the previous dropping state within which its drop rate is resumed (section 5.5).
const RESUMPTION_INTERVALS: u64 = 16;

/// The same in ns-2: queue/codel.cc, deque. From more drops than the second number it goes on with a share of them.
const RESUMPTION_INTERVALS_OF_NS2: u64 = 8;
const MANY_DROPS_OF_NS2: u64 = 126;
const SHARE_OF_MANY_DROPS_OF_NS2: f64 = 0.9844;

impl CoDelParameters {
    /// The time of the next drop, after `count` drops in the dropping state (section 5.6).
    pub fn control_law(&self, time: Time, count: u64) -> Time {
        time + self.spacing(count)
    }

    fn spacing(&self, count: u64) -> Duration {
        Duration((self.interval.0 as f64 / (count as f64).sqrt()).round() as u64)
    }

    /// Marks a packet whose sojourn time exceeds the CE threshold, unless it is already marked (Linux,
    /// `codel_dequeue`).
    #[inline(never)]
    fn mark_above_threshold(&self, sent: &mut Option<Queued>, context: &mut Context) {
        let Some(sent) = sent else { return };
        if context.now.since(sent.since) > self.ce_threshold && !sent.packet.is_marked() {
            context.mark(&mut sent.packet);
        }
    }

    /// Marks or drops the head. Returns whether it is still queued.
    fn mark_or_drop(&self, head: &mut Queued, context: &mut Context) -> bool {
        context.mark_or_drop(&mut head.packet, self.ecn, Some(head.since))
    }
}

/// The differences of a discipline based on CoDel. A closure decides for each packet whether it is dropped. CoDel
/// itself drops each.
pub trait DropPolicy {
    /// Whether CoDel's drop or mark of this packet is carried out. If not, the packet is sent and the control proceeds
    /// as if it had been dropped.
    fn takes(&mut self, packet: &Packet) -> bool;

    /// The number of drops in place of one, evenly spaced over the time until CoDel's next drop.
    fn drops(&self) -> u64 {
        1
    }
}

impl<F: FnMut(&Packet) -> bool> DropPolicy for F {
    fn takes(&mut self, packet: &Packet) -> bool {
        self(packet)
    }
}

/// The state of the control of one FIFO.
// It has a cache line of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct CoDelControl {
    /// When the sojourn time will have exceeded the target for an interval. [`BELOW`] while it is below.
    first_above: Time,
    drop_next: Time,
    /// The number of drops in place of CoDel's latest, and how many of them remain.
    drops: u64,
    to_come: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
    /// One over the square root of the count, by Linux's rules.
    inverse: u16,
    /// Bytes in other queues that count for the last MTU.
    beside: u64,
}

/// The start of the run, before which no sojourn time can have been too long.
const BELOW: Time = Time::ZERO;

impl CoDelControl {
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Drops that set the spacing.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// When the next drop is due; none outside of the dropping state.
    pub fn drop_next(&self) -> Option<Time> {
        self.dropping.then_some(self.drop_next)
    }

    /// Takes the bytes in other queues, which count for the last MTU by Linux's rules.
    pub fn count_beside(&mut self, bytes: u64, parameters: &CoDelParameters) {
        if parameters.rules == CoDelRules::Linux {
            self.beside = bytes;
        }
    }

    /// Takes drops at the limit, which count by Linux's rules.
    pub fn count_overflow(&mut self, packets: u64, parameters: &CoDelParameters) {
        if parameters.rules == CoDelRules::Linux {
            self.count += packets; // Linux, net/sched/sch_fq_codel.c, fq_codel_drop
        }
    }

    #[inline(always)]
    pub fn dequeue(&mut self, queue: &mut Fifo, parameters: &CoDelParameters, context: &mut Context) -> Option<Queued> {
        self.dequeue_with(&mut |_: &Packet| true, queue, parameters, context)
    }

    /// Removes the packet to send, with drops as the policy decides.
    #[inline(always)]
    pub fn dequeue_with(
        &mut self,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        let mut sent = self.take_by_rule(policy, queue, parameters, context);
        if parameters.ce_threshold > Duration::ZERO {
            parameters.mark_above_threshold(&mut sent, context);
        }
        sent
    }

    /// Removes the head. Returns also whether it may be dropped (section 5.6, `dodequeue`).
    fn take(&mut self, queue: &mut Fifo, parameters: &CoDelParameters, now: Time) -> (Option<Queued>, bool) {
        let may_drop = self.may_drop_head(queue, parameters, now);
        (queue.pop(), may_drop)
    }

    /// Whether the head, which is about to be removed, may be dropped.
    #[inline(always)]
    fn may_drop_head(&mut self, queue: &Fifo, parameters: &CoDelParameters, now: Time) -> bool {
        let Some(head) = queue.first() else {
            self.first_above = BELOW;
            return false;
        };
        let behind = queue.bytes() - u64::from(head.packet.size);
        let below = now.since(head.since) < parameters.target || behind + self.beside <= parameters.mtu.0;
        if below {
            self.first_above = BELOW;
            return false;
        }
        if self.first_above == BELOW {
            self.first_above = self.end_of_grace(parameters, now);
            return false;
        }
        now >= self.first_above
    }

    /// When a sojourn time that has just risen above the target will have been there for too long.
    fn end_of_grace(&self, parameters: &CoDelParameters, now: Time) -> Time {
        // queue/codel.cc for ns-2, dodeque.
        let soon = parameters.rules == CoDelRules::Ns2
            && self.count > 1
            && now.since(self.drop_next) < parameters.interval * RESUMPTION_INTERVALS_OF_NS2;
        if soon { parameters.control_law(now, self.count) } else { now + parameters.interval }
    }

    /// The count of a dropping state that begins, and whether it goes on from the last.
    fn resumed(&self, parameters: &CoDelParameters, now: Time) -> (u64, bool) {
        let since = now.since(self.drop_next);
        if parameters.rules == CoDelRules::Ns2 {
            return match self.count {
                0..=2 => (1, false),
                _ if since >= parameters.interval * RESUMPTION_INTERVALS_OF_NS2 => (1, false),
                count if count - 2 > MANY_DROPS_OF_NS2 => ((SHARE_OF_MANY_DROPS_OF_NS2 * count as f64) as u64, true),
                count => (count - 2, true),
            };
        }
        let delta = self.count - self.last_count;
        // Where nothing was dropped yet but at the limit, there is no drop rate to resume.
        let soon = self.last_count > 0 && since < parameters.interval * RESUMPTION_INTERVALS;
        if delta > 1 && soon { (delta, true) } else { (1, false) }
    }

    /// The packet to send according to the RFC.
    // Inlined as far as packets go that are not dropped, as most are not.
    #[inline(always)]
    fn take_by_rule(
        &mut self,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        let may_drop = self.may_drop_head(queue, parameters, context.now);
        let head = queue.pop();
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

    /// Carries out the drops that are due in the dropping state. Returns the packet to send.
    #[inline(never)]
    fn continue_dropping(
        &mut self,
        mut head: Queued,
        policy: &mut impl DropPolicy,
        queue: &mut Fifo,
        parameters: &CoDelParameters,
        context: &mut Context,
    ) -> Option<Queued> {
        // Several drops may be due at once.
        while context.now >= self.drop_next {
            if self.to_come == 0 {
                self.count += 1;
                self.inverse = newton_step(self.inverse, self.count);
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
                if parameters.rules == CoDelRules::Ns2 {
                    self.count -= 1; // queue/codel.cc, deque, counts a drop that schedules another.
                }
                return next;
            }
            self.schedule(self.drop_next, parameters);
            head = next?;
        }
        Some(head)
    }

    /// Enters the dropping state with its first drop. Returns the packet to send.
    #[inline(never)]
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
        let (count, resumes) = self.resumed(parameters, context.now);
        self.count = count;
        self.inverse = if resumes { newton_step(self.inverse, count) } else { FULL_SPACING };
        self.last_count = self.count;
        self.drops = policy.drops();
        self.to_come = self.drops - 1;
        self.schedule(context.now, parameters);
        sent
    }

    /// Sets the time of the drop that follows a drop at `time`.
    fn schedule(&mut self, time: Time, parameters: &CoDelParameters) {
        let spacing = match parameters.rules {
            CoDelRules::Published | CoDelRules::Ns2 => parameters.spacing(self.count),
            CoDelRules::Linux => {
                Duration(((u128::from(parameters.interval.0) * u128::from(self.inverse)) >> SPACING_SHIFT) as u64)
            }
        };
        self.drop_next = time + Duration(spacing.0 / self.drops);
    }
}
