//! CoDel that drops more packets at a time the higher the mean sojourn time. Proposed by Piotrowska, "On cross-layer
//! interactions for congestion control in the Internet", Applied Sciences 11(17), 2021, sections 5.1 and 5.2.
//!
//! CoDel drops one packet every interval / sqrt(count). With hundreds of flows this is too few for a long time: the
//! queue fills and then oscillates between the limit and the target.

use super::parts::{CoDelControl, CoDelParameters, DropPolicy};
use super::{BoundedFifo, Context, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::{Duration, Time};

parameters! {
    pub struct CoDelAdaptiveParameters {
        ..codel: CoDelParameters, except ce_threshold {
            target = Duration::from_milliseconds(5), in 1e6..1e18, "RFC 8289 sections 4.3 and 5.3";
        };
    }
}

state! {
    /// CoDel with a drop rate that depends on the mean sojourn time.
    pub CoDelAdaptive(limit: Limit, parameters: CoDelAdaptiveParameters) {
        codel: CoDelParameters = parameters.codel,
        queue: BoundedFifo = BoundedFifo::new(limit),
        control: CoDelControl,
        /// Mean sojourn time, in picoseconds, and the time of its latest sample.
        mean: f64,
        taken: Time,
    }
}

about! { CoDelAdaptive:
    name: "codel_adaptive",
    title: "CoDel that drops more from a longer mean queue",
    class: "aqm",
    year: 2021,
    source: "Piotrowska, Applied Sciences 11(17), 7808 (2021), sections 5.1 and 5.2",
    deviations: "the source says only that more packets could be dropped each time, depending on how the mean queue \
                 grows. Assumed: one for each whole target in the mean sojourn time, but at least one, so that it \
                 equals CoDel while the mean is below two targets; evenly spaced over the time to CoDel's next drop; \
                 the mean is exponentially weighted, with CoDel's interval as its time constant",
}

impl CoDelAdaptive {
    pub fn mean_sojourn(&self) -> Duration {
        Duration(self.mean as u64)
    }

    /// Adds the sojourn time of the head to the mean, weighted by the time since the previous sample.
    fn observe(&mut self, now: Time) {
        if let Some(head) = self.queue.line().get(0) {
            let passed = now.since(self.taken).0 as f64;
            let weight = passed / (self.codel.interval.0 as f64 + passed);
            self.mean += weight * (now.since(head.since).0 as f64 - self.mean);
            self.taken = now;
        }
    }
}

/// Drops the given number of packets in place of one.
struct Drops(u64);

impl DropPolicy for Drops {
    fn takes(&mut self, _packet: &Packet) -> bool {
        true
    }

    fn drops(&self) -> u64 {
        self.0
    }
}

impl QueueDiscipline for CoDelAdaptive {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        self.observe(context.now);
        let targets = self.mean_sojourn().0 / self.codel.target.0;
        self.control.dequeue_with(&mut Drops(targets.max(1)), self.queue.line_mut(), &self.codel, context)
    }

    lengths_of!(queue);
}
