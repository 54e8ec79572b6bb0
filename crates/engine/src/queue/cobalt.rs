//! COBALT (CoDel and BLUE alternate): the AQM of CAKE, over one queue. Its rules are in
//! [`CobaltControl`](super::parts::CobaltControl).

use super::parts::{CobaltControl, CobaltSettings};
use super::{Context, DropCause, Fifo, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::parameters;
use crate::time::Duration;

parameters! {
    /// COBALT's parameters.
    pub struct CobaltParameters {
        target: Duration = Duration::from_milliseconds(5), "Sojourn time above which there is congestion", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        interval: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "First spacing of drops", "Linux, net/sched/sch_cake.c; ns-3, cobalt-queue-disc.cc";
        blue_threshold: Duration = Duration::from_milliseconds(400), "Sojourn time above which BLUE's drop probability rises too; zero for never", "ns-3, cobalt-queue-disc.cc; Linux has no such threshold";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them, BLUE's drops excepted", "off in ns-3, cobalt-queue-disc.cc; always on in Linux, net/sched/sch_cake.c";
    }
}

/// See the module.
#[derive(Debug)]
pub struct Cobalt {
    limit: Limit,
    settings: CobaltSettings,
    queue: Fifo,
    control: CobaltControl,
}

impl Cobalt {
    /// What it is.
    pub const ABOUT: About = About {
        name: "cobalt",
        aliases: &["codel_blue_alternate"],
        title: "COBALT",
        class: "aqm",
        year: 2018,
        source: "Linux net/sched/sch_cake.c; Palmei et al., LANMAN 2019",
        departures: "square roots are exact; a packet that BLUE drops is not marked before; the last packet of the queue is \
                     never dropped, as in Linux but not in ns-3",
    };

    /// An empty queue.
    pub fn new(limit: Limit, parameters: CobaltParameters) -> Cobalt {
        let threshold = parameters.blue_threshold;
        let settings = CobaltSettings {
            target: parameters.target,
            interval: parameters.interval,
            allowance: Duration::ZERO,
            blue_threshold: if threshold > Duration::ZERO { threshold } else { Duration(u64::MAX) },
            ecn: parameters.ecn,
        };
        Cobalt { limit, settings, queue: Fifo::default(), control: CobaltControl::default() }
    }

    /// BLUE's drop probability.
    pub fn drop_probability(&self) -> f64 {
        self.control.drop_probability()
    }
}

impl QueueDiscipline for Cobalt {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.limit.is_exceeded_by(&packet, &self.queue) {
            self.control.on_full(&self.settings, context.now);
            context.drop(packet, DropCause::Overflow, None);
        } else {
            self.queue.push(packet, context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        while let Some(mut head) = self.queue.pop() {
            let is_last = self.queue.packets() == 0;
            if !self.control.drops(&mut head, is_last, &self.settings, context) {
                return Some(head);
            }
            context.drop(head.packet, DropCause::Early, Some(head.since));
        }
        self.control.on_empty(&self.settings, context.now);
        None
    }

    lengths_of!(queue);
}
