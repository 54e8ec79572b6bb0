//! COBALT's control of a line of packets (Palmei et al., "Design and evaluation of COBALT queue discipline", LANMAN 2019;
//! Linux, net/sched/sch_cake.c): a CoDel whose drop rate falls as it rose, and beside it BLUE, for flows that do not
//! respond.

use super::Queued;
use crate::parameters;
use crate::queue::discipline::Context;
use crate::time::{Duration, Time};

/// What BLUE adds to its drop probability (Linux, net/sched/sch_cake.c, `p_inc`).
const INCREMENT: f64 = 1.0 / 256.0;
/// What it takes away (`p_dec`).
const DECREMENT: f64 = 1.0 / 4096.0;

parameters! {
    /// Parameters of COBALT.
    pub struct CobaltParameters {
        target: Duration = Duration::from_milliseconds(5), "Sojourn time above which the queue is congested", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Initial spacing of drops", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        blue_threshold: Duration = Duration::from_milliseconds(400), "Sojourn time above which BLUE's drop probability rises too; zero disables this", "ns-3, cobalt-queue-disc.cc; Linux has no such threshold";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them, except for BLUE's drops", "off in ns-3, cobalt-queue-disc.cc; always on in Linux, net/sched/sch_cake.c";
    }
}

/// How a line is controlled.
#[derive(Clone, Debug)]
pub struct CobaltSettings {
    /// Sojourn time above which the queue is congested, and least time between updates of BLUE.
    pub target: Duration,
    /// Time from congestion to the first signal, and the spacing of the first signals.
    pub interval: Duration,
    /// Sojourn time up to which there is none, whatever the target: some packets' transmission.
    pub allowance: Duration,
    /// Sojourn time above which BLUE adds too.
    pub blue_threshold: Duration,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl CobaltSettings {
    /// As the parameters say, without an allowance.
    pub fn new(parameters: &CobaltParameters) -> CobaltSettings {
        let CobaltParameters { target, interval, blue_threshold, ecn } = *parameters;
        let never = Duration(u64::MAX);
        CobaltSettings {
            target,
            interval,
            allowance: Duration::ZERO,
            blue_threshold: if blue_threshold > Duration::ZERO { blue_threshold } else { never },
            ecn,
        }
    }
}

/// Where the control of one line stands.
#[derive(Clone, Debug, Default)]
pub struct CobaltControl {
    count: u64,
    /// When to signal next; without congestion, when the count falls or the line is at rest.
    next: Time,
    dropping: bool,
    drop_probability: f64,
    blue_updated: Time,
}

impl CobaltControl {
    /// BLUE's drop probability.
    pub fn drop_probability(&self) -> f64 {
        self.drop_probability
    }

    /// Whether nothing is left of past congestion.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.drop_probability == 0.0 && self.count == 0 && now >= self.next
    }

    /// The line had to give up a packet for lack of room.
    pub fn on_full(&mut self, settings: &CobaltSettings, now: Time) {
        self.raise(settings, now);
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The line was asked for a packet and was empty.
    pub fn on_empty(&mut self, settings: &CobaltSettings, now: Time) {
        if self.drop_probability > 0.0 && now.since(self.blue_updated) > settings.target {
            self.drop_probability = (self.drop_probability - DECREMENT).max(0.0);
            self.blue_updated = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.count -= 1;
            self.advance(settings);
        }
    }

    /// Whether to drop this packet, which comes from the head of the line; it may be marked instead. The last of a line is
    /// kept.
    pub fn drops(
        &mut self,
        head: &mut Queued,
        is_last: bool,
        settings: &CobaltSettings,
        context: &mut Context,
    ) -> bool {
        let now = context.now;
        let sojourn = now.since(head.since);
        let is_due = self.count > 0 && now >= self.next;
        let mut is_late = now > self.next;
        let was_dropping = self.dropping;
        self.dropping = sojourn > settings.target && sojourn > settings.allowance;
        if self.dropping {
            if !was_dropping {
                self.next = now + self.spacing(settings);
            }
            self.count = self.count.max(1);
        }
        let signals = is_due && self.dropping;
        if signals {
            self.count += 1;
            self.advance(settings);
            is_late = now > self.next;
        } else if is_due {
            while self.count > 0 && now >= self.next {
                self.count -= 1;
                self.advance(settings);
            }
            is_late = now > self.next;
        }
        if sojourn > settings.blue_threshold {
            self.raise(settings, now);
        }
        // BLUE does not mark: it is for those who do not listen.
        let blue = self.drop_probability > 0.0 && context.random.unit() < self.drop_probability;
        let drops = blue || signals && !(settings.ecn && context.mark(&mut head.packet));
        // The time of the next signal also tells for how long the line has been idle.
        if self.count == 0 {
            self.next = now + settings.interval;
        } else if is_late && !drops {
            self.next = now;
        }
        drops && !is_last
    }

    fn raise(&mut self, settings: &CobaltSettings, now: Time) {
        if now.since(self.blue_updated) > settings.target {
            self.drop_probability = (self.drop_probability + INCREMENT).min(1.0);
            self.blue_updated = now;
        }
    }

    /// CoDel's control law; a count of 0 is treated as 1.
    fn spacing(&self, settings: &CobaltSettings) -> Duration {
        Duration((settings.interval.0 as f64 / (self.count.max(1) as f64).sqrt()).round() as u64)
    }

    fn advance(&mut self, settings: &CobaltSettings) {
        self.next += self.spacing(settings);
    }
}
