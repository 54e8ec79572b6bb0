//! RED (Random Early Detection): drops arrivals with a probability that increases with the average queue length (Floyd
//! and Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM Transactions on Networking 1(4),
//! 1993). The algorithm is in [`RedQueue`].

use super::parts::RedQueue;
use super::{Context, Limit, QueueDiscipline};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::time::Time;
use crate::units::Rate;

pub use super::parts::RedParameters;

inner_state! {
    RedState {
        average: "", "average queue, in bytes with queue_in_bytes and in packets without (avg)";
    }
}

state! {
    pub Red(limit: Limit, parameters: RedParameters) {
        queue: RedQueue = RedQueue::new(limit, parameters),
    }
}

about! { Red:
    name: "red",
    aliases: ["random_early_detection"],
    state: RedState,
    title: "RED",
    class: "aqm",
    year: 1993,
    source: "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4) (1993); ns-2.35, queue/red.cc",
    deviations: "gentle, wait, byte_mode, the automatic weight and thresholds, and the defaults are those of ns-2.35, \
                 except for the mean packet size; the automatic weight ignores the link's delay, by which ns-2.35 \
                 lowers it above 33 ms: set round_trip_time to three times the delay; idle time counts in fractions of \
                 packets; with ecn, packets are marked up to max at any drop probability; with rules linux, idle time \
                 does not count",
}

impl Red {
    /// The average queue length, in bytes or packets as configured.
    pub fn average(&self) -> f64 {
        self.queue.average().value()
    }

    pub fn thresholds(&self) -> (f64, f64) {
        (self.queue.curve().minimum(), self.queue.curve().maximum())
    }
}

impl QueueDiscipline for Red {
    const RANDOM: Option<&'static str> = Some("drops");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.queue.enqueue(packet, context);
    }

    red_queue!(queue, at_its_link_rate);

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        RedState { average: Some(self.queue.average_length()) }.tell(tell);
    }
}
