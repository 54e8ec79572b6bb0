//! BLUE: Feng, Shin, Kandlur and Saha, "The BLUE active queue management algorithms", IEEE/ACM Transactions on
//! Networking 10 (2002). A single drop probability increases when the buffer overflows and decreases while the link is
//! idle. The queue length is not used.

use super::{BoundedFifo, Context, Limit, QueueDiscipline, Queued};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::{Duration, Time};

parameters! {
    pub struct BlueParameters {
        freeze_time: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Minimum time between changes of the drop probability (freeze_time)", "Tahiliani, Jain and Singh's port of the authors' code to ns-3, blue-queue-disc.cc: 100 ms";
        increment: f64 = 0.0025, in 0..1, "Increase of the drop probability on a loss (delta_1)", "Tahiliani, Jain and Singh's port of the authors' code to ns-3, blue-queue-disc.cc";
        decrement: f64 = 0.00025, in 0..1, "Decrease of the drop probability when the link is idle (delta_2)", "Tahiliani, Jain and Singh's port of the authors' code to ns-3, blue-queue-disc.cc";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "Feng et al. 2002: marks or drops";
    }
}

inner_state! {
    BlueState {
        drop_probability: "", "drop probability";
    }
}

state! {
    pub Blue(limit: Limit, parameters: BlueParameters) {
        parameters: BlueParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        probability: f64,
        last_update: Time,
        /// When the link became idle, `None` while it is busy.
        idle_since: Option<Time> = Some(Time::ZERO),
    }
}

about! { Blue:
    name: "blue",
    state: BlueState,
    title: "BLUE",
    class: "aqm",
    year: 1999,
    source: "Feng, Shin, Kandlur and Saha, IEEE/ACM Transactions on Networking 10 (2002)",
    deviations: "a link that stays idle counts again after each freeze_time, as in the port to ns-3; the variant that \
                 also raises the drop probability above a queue length is left out",
}

impl Blue {
    pub fn drop_probability(&self) -> f64 {
        self.probability
    }

    /// Updates the drop probability after an overflow.
    fn on_loss(&mut self, now: Time) {
        if now.since(self.last_update) > self.parameters.freeze_time {
            self.probability = (self.probability + self.parameters.increment).min(1.0);
            self.last_update = now;
        }
    }

    /// Ends an idle period. Applies the decreases that were due during it.
    fn end_idleness(&mut self, now: Time) {
        let Some(start) = self.idle_since.take() else {
            return;
        };
        let freeze_time = self.parameters.freeze_time;
        let first = start.max(self.last_update + freeze_time);
        if now > first {
            let more = now.since(first).0 / freeze_time.0;
            self.probability = (self.probability - self.parameters.decrement * (1 + more) as f64).max(0.0);
            self.last_update = first + freeze_time * more;
        }
    }
}

impl QueueDiscipline for Blue {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.end_idleness(context.now);
        if !self.queue.admits(&packet, context) {
            self.on_loss(context.now);
            return;
        }
        self.queue.push_by_chance(packet, self.probability, self.parameters.ecn, context);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let head = self.queue.pop();
        if head.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(context.now);
        }
        head
    }

    lengths_of!(queue);

    fn is_at_rest(&self) -> bool {
        self.idle_since.is_some()
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        BlueState { drop_probability: Some(self.probability) }.tell(tell);
    }
}
