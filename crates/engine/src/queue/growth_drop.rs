//! Drop on growth: drops a packet when the queue has grown quickly. After Itsumi and Yamamoto, "Improving fairness
//! between CUBIC and Compound TCP", IEICE Technical Report NS2010-160 (2010).

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::packet::Packet;
use crate::time::{Duration, Time};

parameters! {
    pub struct GrowthDropParameters {
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Time between checks of the queue", "assumed: a common round-trip time";
        growth: Limit = Limit::Packets(10), "Growth per interval above which a packet is dropped", "assumed";
        ecn: bool = false, "Mark an ECN-capable packet instead of dropping it", "assumed: off";
    }
}

state! {
    pub GrowthDrop(limit: Limit, parameters: GrowthDropParameters) {
        parameters: GrowthDropParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        /// The queue length at the previous check, in packets and bytes.
        before: (u64, u64),
        /// Whether to drop the next arrival.
        is_due: bool,
    }
}

about! { GrowthDrop:
    name: "growth_drop",
    aliases: ["queue_growth_drop"],
    title: "Drop on growth of the queue",
    class: "aqm",
    year: 2010,
    source: "Itsumi and Yamamoto, IEICE Technical Report NS2010-160 (2010), as described by Hanai et al. 2016, section II.C",
    deviations: "the report was not available; Hanai et al. say that it monitors the queue length and drops a packet \
                 when the queue grows sharply. Assumed: the length is compared at intervals, and if it has grown by \
                 more than growth the next arrival is dropped, one per interval",
}

impl QueueDiscipline for GrowthDrop {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            return;
        }
        if !std::mem::take(&mut self.is_due) || context.mark_or_drop(&mut packet, self.parameters.ecn, None) {
            self.queue.push(packet, context.now);
        }
    }

    fifo!(queue);

    fn lets_pass(&self, packet: &Packet) -> bool {
        self.queue.packets() == 0 && !self.is_due && self.queue.has_room_for(packet)
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.interval)
    }

    fn on_timer(&mut self, _now: Time) {
        let (packets, bytes) = (self.queue.packets(), self.queue.bytes());
        let growth = (packets.saturating_sub(self.before.0), bytes.saturating_sub(self.before.1));
        self.is_due = self.parameters.growth.would_be_exceeded(growth.0, growth.1);
        self.before = (packets, bytes);
    }
}
