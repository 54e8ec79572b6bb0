//! REM, random exponential marking: Athuraliya, Li, Low and Yin, "REM: active queue management", IEEE Network 15
//! (2001). A price accumulates the excess of the arrivals over the capacity and of the queue over its target. The drop
//! probability is exponential in the price, so that the prices of the links of a path add up.

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct RemParameters {
        gamma: f64 = 0.001, in 0..1000, "Step size of the price, per packet and update (gamma)", "Athuraliya et al. 2001; ns-2 tcl/lib/ns-default.tcl, Queue/REM";
        alpha: f64 = 0.1, in 0..1000, "Weight of the queue relative to that of the arrivals (alpha)", "Athuraliya et al. 2001; ns-2 queue/rem.cc";
        phi: f64 = 1.001, in 1..1000, "Base of the exponential drop probability, greater than 1 (phi)", "Athuraliya et al. 2001; ns-2 tcl/lib/ns-default.tcl, Queue/REM";
        target: f64 = 20.0, in 0..1e9, "Target queue length, in packets (b*)", "ns-2 tcl/lib/ns-default.tcl, Queue/REM, pbo_";
        update_interval: Duration = Duration::from_milliseconds(2), in 1e6..1e18, "Time between updates of the price", "ns-2 tcl/lib/ns-default.tcl, Queue/REM, pupdtime_";
        mean_packet_size: Bytes = Bytes(1500), in 1..65535, "Packet size that converts arrivals, queue and link rate to packets", "Ethernet's MTU; ns-2 tcl/lib/ns-default.tcl has 1000 bytes";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "Athuraliya et al. 2001: marks; off in ns-2 tcl/lib/ns-default.tcl, Queue/REM, markpkts_";
    }
}

impl RemParameters {
    /// The next price, given the current one and, in packets, the arrivals and the capacity of the link during an
    /// interval and the queue length.
    pub fn next_price(&self, price: f64, arrived: f64, capacity: f64, queue: f64) -> f64 {
        (price + self.gamma * (self.alpha * (queue - self.target) + arrived - capacity)).max(0.0)
    }

    /// The drop probability at a price.
    pub fn drop_probability(&self, price: f64) -> f64 {
        1.0 - libm::pow(self.phi, -price)
    }
}

inner_state! {
    RemState {
        price: "", "price of the link";
        drop_probability: "", "drop probability at that price";
    }
}

state! {
    pub Rem(limit: Limit, parameters: RemParameters) {
        parameters: RemParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        /// The number of packets that the link can send between two updates.
        capacity: f64,
        /// Bytes that arrived since the latest update.
        arrived: u64,
        price: f64,
        probability: f64,
    }
}

about! { Rem:
    name: "rem",
    aliases: ["random_exponential_marking"],
    state: RemState,
    title: "REM",
    class: "aqm",
    year: 2001,
    source: "Athuraliya, Li, Low and Yin, IEEE Network 15 (2001)",
    deviations: "arrivals, queue and link are counted in bytes and converted to packets of the mean size, so that the \
                 rate is right for packets of any size; packets are marked or dropped on arrival, where ns-2 marks \
                 them on departure",
}

impl Rem {
    pub fn price(&self) -> f64 {
        self.price
    }

    pub fn drop_probability(&self) -> f64 {
        self.probability
    }
}

impl QueueDiscipline for Rem {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.arrived += u64::from(packet.size);
        if self.queue.admits(&packet, context) {
            self.queue.push_by_chance(packet, self.probability, self.parameters.ecn, context);
        }
    }

    fifo!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        let bytes = rate.0 as f64 / 8.0 * self.parameters.update_interval.seconds();
        self.capacity = bytes / self.parameters.mean_packet_size.0 as f64;
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.update_interval)
    }

    fn on_timer(&mut self, _now: Time) {
        let size = self.parameters.mean_packet_size.0 as f64;
        let (arrived, queue) = (self.arrived as f64 / size, self.queue.bytes() as f64 / size);
        self.price = self.parameters.next_price(self.price, arrived, self.capacity, queue);
        self.probability = self.parameters.drop_probability(self.price);
        self.arrived = 0;
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        RemState { price: Some(self.price), drop_probability: Some(self.probability) }.tell(tell);
    }
}
