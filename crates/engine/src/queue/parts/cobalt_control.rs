//! COBALT on one FIFO (Palmei et al., "Design and evaluation of COBALT queue discipline", LANMAN 2019; Linux,
//! net/sched/sch_cake.c): a variant of CoDel whose drop rate decreases gradually after congestion, combined with BLUE
//! against unresponsive flows.

use crate::queue::discipline::{Context, Queued};
use crate::time::{Duration, Time};

/// The increase of BLUE's drop probability (Linux, net/sched/sch_cake.c, `p_inc`).
const INCREMENT: f64 = 1.0 / 256.0;
/// The decrease of BLUE's drop probability (`p_dec`).
const DECREMENT: f64 = 1.0 / 4096.0;

parameters! {
    pub struct CobaltParameters {
        target: Duration = Duration::from_milliseconds(5), "Sojourn time above which the queue is congested", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Initial spacing of drops", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        blue_threshold: Duration = Duration::from_milliseconds(400), "Sojourn time above which BLUE's drop probability rises too; zero disables this", "ns-3, cobalt-queue-disc.cc; Linux has no such threshold";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them, except for BLUE's drops", "off in ns-3, cobalt-queue-disc.cc; always on in Linux, net/sched/sch_cake.c";
    }
}

#[derive(Clone, Debug)]
pub struct CobaltSettings {
    /// Sojourn time above which the queue is congested, and the minimum time between updates of BLUE.
    pub target: Duration,
    /// Time from the onset of congestion to the first signal, and the spacing of the first signals.
    pub interval: Duration,
    /// Sojourn time up to which the queue is not congested, whatever the target: the transmission time of a few
    /// packets.
    pub allowance: Duration,
    /// Sojourn time above which BLUE's drop probability also increases.
    pub blue_threshold: Duration,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Whether the first signal of a queue follows the onset of congestion at once, not after an interval: in Linux the
    /// spacing is zero until the count first changes (net/sched/sch_cake.c, `cobalt_vars_init` and `cobalt_invsqrt`).
    pub signals_at_once: bool,
}

impl CobaltSettings {
    /// Settings from the parameters, with an allowance of zero.
    pub fn new(parameters: &CobaltParameters) -> CobaltSettings {
        let CobaltParameters { target, interval, blue_threshold, ecn } = *parameters;
        let never = Duration(u64::MAX);
        CobaltSettings {
            target,
            interval,
            allowance: Duration::ZERO,
            blue_threshold: if blue_threshold > Duration::ZERO { blue_threshold } else { never },
            ecn,
            signals_at_once: false,
        }
    }
}

/// The state of the control of one FIFO.
#[derive(Clone, Debug, Default)]
pub struct CobaltControl {
    count: u64,
    /// Time of the next signal. Without congestion: when the count decreases, or when the control comes to rest.
    next: Time,
    dropping: bool,
    /// Whether the count has changed since the queue was created, other than from zero by the onset of congestion.
    has_spacing: bool,
    drop_probability: f64,
    blue_updated: Time,
}

impl CobaltControl {
    pub fn drop_probability(&self) -> f64 {
        self.drop_probability
    }

    /// Whether no state of past congestion remains.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.drop_probability == 0.0 && self.count == 0 && now >= self.next
    }

    pub fn on_full(&mut self, settings: &CobaltSettings, now: Time) {
        self.raise(settings, now);
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// Updates the state when a packet was requested and the queue was empty.
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

    /// Whether to drop the head. It may be marked instead. The last packet of a queue is never dropped.
    // Inlined, so that the head stays in registers.
    #[inline(always)]
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
                let is_first = settings.signals_at_once && !self.has_spacing;
                self.next = if is_first { now } else { now + self.spacing(settings) };
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
        // BLUE drops without marking: its target is unresponsive flows.
        let blue = self.drop_probability > 0.0 && context.random.unit() < self.drop_probability;
        let drops = blue || signals && !(settings.ecn && context.mark(&mut head.packet));
        // Without a count, the time of the next signal also shows how long the queue has been idle.
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

    /// The control law of CoDel. A count of 0 is treated as 1.
    fn spacing(&self, settings: &CobaltSettings) -> Duration {
        Duration((settings.interval.0 as f64 / (self.count.max(1) as f64).sqrt()).round() as u64)
    }

    fn advance(&mut self, settings: &CobaltSettings) {
        self.has_spacing = true;
        self.next += self.spacing(settings);
    }
}
