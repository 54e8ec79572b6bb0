//! The PI controller: Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM routers supporting
//! TCP flows", INFOCOM 2001. The drop probability is adjusted so that the queue keeps a target length at any load.

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::{Duration, Time};

parameters! {
    /// Parameters of the PI controller. Hollot et al. derive a, b and w from the link, the minimum number of flows and
    /// the maximum round-trip time.
    pub struct PiParameters {
        a: f64 = 0.00001822, in 0..1, "Weight of the queue's distance from the reference, per packet (a)", "Hollot et al. 2001; ns-2 tcl/lib/ns-default.tcl, Queue/PI";
        b: f64 = 0.00001816, in 0..1, "Weight of that distance at the previous update (b)", "Hollot et al. 2001; ns-2 tcl/lib/ns-default.tcl, Queue/PI";
        w: f64 = 170.0, in 0.001..1e6, "Updates per second (w)", "ns-2 tcl/lib/ns-default.tcl, Queue/PI";
        reference: f64 = 50.0, in 0..1e9, "Target queue length, in packets (q_ref)", "ns-2 tcl/lib/ns-default.tcl, Queue/PI";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "ns-2 tcl/lib/ns-default.tcl, Queue/PI, setbit_";
    }
}

impl PiParameters {
    /// The next drop probability, given the current one and the queue length in packets at this update and the previous
    /// one (the discrete controller of Hollot et al.).
    pub fn next_probability(&self, probability: f64, queue: u64, queue_before: u64) -> f64 {
        let (error, error_before) = (queue as f64 - self.reference, queue_before as f64 - self.reference);
        (probability + self.a * error - self.b * error_before).clamp(0.0, 1.0)
    }
}

inner_state! {
    PiState {
        drop_probability: "", "drop probability";
    }
}

state! {
    pub Pi(limit: Limit, parameters: PiParameters) {
        parameters: PiParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        probability: f64,
        /// The queue length at the latest update, in packets.
        queue_before: u64,
    }
}

about! { Pi:
    name: "pi",
    aliases: ["pi_controller"],
    state: PiState,
    title: "PI controller",
    class: "aqm",
    year: 2001,
    source: "Hollot, Misra, Towsley and Gong, INFOCOM 2001",
    deviations: "the queue is counted in packets of any size, as in ns-2 by default",
}

impl Pi {
    pub fn drop_probability(&self) -> f64 {
        self.probability
    }
}

impl QueueDiscipline for Pi {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if self.queue.admits(&packet, context) {
            self.queue.push_by_chance(packet, self.probability, self.parameters.ecn, context);
        }
    }

    fifo!(queue);

    fn timer_interval(&self) -> Option<Duration> {
        Some(Duration::from_seconds_f64(1.0 / self.parameters.w))
    }

    fn on_timer(&mut self, _now: Time) {
        let queue = self.queue.packets();
        self.probability = self.parameters.next_probability(self.probability, queue, self.queue_before);
        self.queue_before = queue;
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        PiState { drop_probability: Some(self.probability) }.tell(tell);
    }
}
