//! Step marking: a FIFO that marks each arrival that finds it longer than a threshold, as DCTCP wants it (Alizadeh et al., "Data
//! Center TCP (DCTCP)", SIGCOMM 2010, section 3.1).

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::packet::Packet;

parameters! {
    pub struct StepParameters {
        mark: Limit = Limit::Packets(65), "Length, without the packet in transmission, above which arrivals are marked", "Alizadeh et al., SIGCOMM 2010, section 3.5: K = 65 packets at 10 Gbit/s, 20 at 1 Gbit/s";
    }
}

state! {
    pub Step(limit: Limit, parameters: StepParameters) {
        queue: BoundedFifo = BoundedFifo::new(limit),
        mark: Limit = parameters.mark,
    }
}

about! { Step:
    name: "step",
    aliases: ["threshold", "step_marking"],
    title: "Step marking",
    class: "passive",
    year: 2010,
    source: "Alizadeh et al., SIGCOMM 2010, section 3.1",
    deviations: "packets that cannot be marked are dropped at the limit only, where a switch that does it by RED with \
                 equal thresholds drops them at the threshold",
}

impl QueueDiscipline for Step {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            return;
        }
        if self.mark.would_be_exceeded(self.queue.packets(), self.queue.bytes()) {
            context.mark(&mut packet);
        }
        self.queue.push(packet, context.now);
    }

    fifo!(queue, passed_when_empty);
}
