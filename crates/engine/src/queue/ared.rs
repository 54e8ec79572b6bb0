//! Adaptive RED: RED that adapts its maximum drop probability so that the average queue length stays halfway between
//! the thresholds (Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's
//! active queue management", 2001).

use super::parts::RedQueue;
use super::{Context, Limit, QueueDiscipline, RedParameters};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    pub struct AredParameters {
        ..red: RedParameters, except rules;
        interval: Duration = Duration::from_milliseconds(500), in 1e6..1e18, "How often maximum_probability is adapted", "Floyd, Gummadi and Shenker 2001; ns-2.35, ns-default.tcl";
        alpha: f64 = 0.01, in 0..1, "Increase of maximum_probability, at most a quarter of it, when the average is above its target", "Floyd, Gummadi and Shenker 2001; ns-2.35, ns-default.tcl";
        beta: f64 = 0.9, in 0..1, "Factor of maximum_probability when the average is below its target", "Floyd, Gummadi and Shenker 2001; ns-2.35, ns-default.tcl";
        top: f64 = 0.5, in 0..1, "Value from which maximum_probability is not raised further", "Floyd, Gummadi and Shenker 2001; ns-2.35, ns-default.tcl";
        bottom: f64 = 0.0, in 0..1, "Value down to which maximum_probability is lowered; 0: 0.01 or, if less, the reciprocal of the number of 1000-byte packets that the link sends in 100 ms", "automatic as in ns-2.35, ns-default.tcl and red.cc; Floyd, Gummadi and Shenker 2001 have 0.01";
    }
}

inner_state! {
    AredState {
        average: "", "average queue, in bytes with queue_in_bytes and in packets without (avg)";
        maximum_probability: "", "drop probability at the maximum threshold (max_p)";
    }
}

/// The distance of the target range from each threshold, as a share of the distance between the thresholds.
const MARGIN: f64 = 0.4;
/// The highest automatic `bottom` (ns-2.35, queue/red.cc).
const GREATEST_BOTTOM: f64 = 0.01;
/// The rate at which the link sends one 1000-byte packet per 100 ms, in bits per second (ns-2.35, queue/red.cc).
const BOTTOM_RATE: f64 = 80_000.0;

state! {
    pub Ared(limit: Limit, parameters: AredParameters) {
        parameters: AredParameters = parameters,
        queue: RedQueue = RedQueue::new(limit, parameters.red.clone()),
        bottom: f64 = parameters.bottom,
    }
}

about! { Ared:
    name: "ared",
    aliases: ["adaptive_red"],
    state: AredState,
    title: "Adaptive RED",
    class: "aqm",
    year: 2001,
    source: "Floyd, Gummadi and Shenker, \"Adaptive RED\", ICSI (2001); ns-2.35, queue/red.cc",
    deviations: "adapts on a timer, even when idle, as in the paper, where ns-2.35 waits for the next arrival; the \
                 gentle part of the drop probability follows the adapted one, unlike in ns-2.35; otherwise the \
                 deviations of red",
}

impl Ared {
    /// The average queue length, in bytes or packets as configured.
    pub fn average(&self) -> f64 {
        self.queue.average().value()
    }

    /// The drop probability at the maximum threshold.
    pub fn maximum_probability(&self) -> f64 {
        self.queue.curve().maximum_probability()
    }
}

impl QueueDiscipline for Ared {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    red_queue!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        self.queue.set_link_rate(rate);
        if self.parameters.bottom == 0.0 {
            self.bottom = GREATEST_BOTTOM.min(BOTTOM_RATE / rate.0 as f64);
        }
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.interval)
    }

    fn on_timer(&mut self, now: Time) {
        let average = self.queue.average().at(now);
        let curve = self.queue.curve_mut();
        let (probability, margin) = (curve.maximum_probability(), MARGIN * (curve.maximum() - curve.minimum()));
        if average > curve.maximum() - margin && probability < self.parameters.top {
            curve.set_maximum_probability(probability + self.parameters.alpha.min(probability / 4.0));
        } else if average < curve.minimum() + margin && probability > self.bottom {
            curve.set_maximum_probability(probability * self.parameters.beta);
        }
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        let state = AredState { average: Some(self.average()), maximum_probability: Some(self.maximum_probability()) };
        state.tell(tell);
    }
}
