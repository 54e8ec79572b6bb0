//! RED with dynamic thresholds. The thresholds increase while the average queue length is above the maximum threshold,
//! and decrease while it is below the minimum threshold. After Hasegawa, Itaya and Murata, "The dynamic threshold
//! control algorithm of RED for thousands of TCP flows", IEICE Technical Report NS2001-11 (2001).

use super::parts::RedQueue;
use super::{Context, Limit, QueueDiscipline, RedParameters};
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    pub struct RedDynamicParameters {
        ..red: RedParameters, except rules;
        interval: Duration = Duration::from_milliseconds(500), in 1e6..1e18, "Time between adjustments of the thresholds", "assumed: as Adaptive RED's";
        step: f64 = 0.1, in 0..1, "Relative size of an adjustment", "assumed: as the share that Adaptive RED takes of its probability";
    }
}

/// The minimum ratio of the limit to the raised maximum threshold. The gentle part of the drop curve ends at this
/// multiple.
const LIMIT_TO_MAXIMUM: f64 = 2.0;

state! {
    /// RED with dynamic thresholds.
    pub RedDynamic(limit: Limit, parameters: RedDynamicParameters) {
        parameters: RedDynamicParameters = parameters,
        queue: RedQueue = RedQueue::new(limit, parameters.red.clone()),
        /// The thresholds configured for the link. They are the lower bounds.
        base: (f64, f64) = (f64::INFINITY, f64::INFINITY),
        /// The factor by which the base thresholds are multiplied, at least 1.
        scale: f64 = 1.0,
    }
}

about! { RedDynamic:
    name: "red_dynamic",
    aliases: ["dynamic_threshold_red"],
    title: "RED with dynamic thresholds",
    class: "aqm",
    year: 2001,
    source: "Hasegawa, Itaya and Murata, IEICE Technical Report NS2001-11 (2001), as described by Hanai et al. 2016, section II.C",
    deviations: "the report was not available; Hanai et al. say that it optimises RED's parameters by the degree of \
                 congestion. Assumed: at intervals both thresholds are multiplied by 1 + step if the average is above \
                 max, until max is half the limit, and divided by it if the average is below min, down to the \
                 configured values; otherwise the deviations of red",
}

impl RedDynamic {
    pub fn thresholds(&self) -> (f64, f64) {
        (self.queue.curve().minimum(), self.queue.curve().maximum())
    }

    fn apply(&mut self) {
        let (minimum, maximum) = self.base;
        self.queue.curve_mut().set_thresholds(minimum * self.scale, maximum * self.scale);
    }
}

impl QueueDiscipline for RedDynamic {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    red_queue!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        self.queue.set_link_rate(rate);
        self.base = (self.queue.curve().minimum(), self.queue.curve().maximum());
        self.apply();
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.interval)
    }

    fn on_timer(&mut self, now: Time) {
        let average = self.queue.average().at(now);
        let (minimum, maximum) = self.thresholds();
        let step = 1.0 + self.parameters.step;
        if average > maximum {
            let most = self.queue.limit() / (LIMIT_TO_MAXIMUM * self.base.1);
            self.scale = (self.scale * step).min(most.max(1.0));
        } else if average < minimum {
            self.scale = (self.scale / step).max(1.0);
        }
        self.apply();
    }
}
