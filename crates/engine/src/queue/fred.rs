//! FRED (Flow Random Early Drop): RED with per-flow counts of queued packets. Flows with few packets queued are not
//! dropped at random. Flows that do not reduce their rate are limited to the average per flow (Lin and Morris,
//! "Dynamics of random early detection", ACM SIGCOMM 1997).

use super::parts::{AverageQueue, DropCurve, DropSpacing, FlowPlaces};
use super::{BoundedFifo, Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::Duration;
use crate::units::{Bytes, Rate};

parameters! {
    pub struct FredParameters {
        min: Limit = Limit::Packets(0), "Average queue from which packets are dropped at random, and maximum queue of a flow (min_th); \"0 packets\": a quarter of the limit, at most what the link sends in round_trip_time", "Lin and Morris 1997";
        max: Limit = Limit::Packets(0), "Average queue from which every packet is dropped (max_th); \"0 packets\": twice min", "Lin and Morris 1997";
        weight: f64 = 0.002, in 0..1, "Weight of an arrival or departure in the average queue (w_q)", "Lin and Morris 1997; Floyd and Jacobson 1993";
        maximum_probability: f64 = 0.02, in 0..1, "Drop probability at max (max_p)", "Lin and Morris 1997; Floyd and Jacobson 1993";
        spared: u64 = 2, "Queue of a flow, in packets, up to which it has no random drops (min_q)", "Lin and Morris 1997, for small buffers, 4 for large ones; J-Sim, FRED.java";
        mean_packet_size: Bytes = Bytes(1500), in 1..65535, "Packet size that converts idle times and limits in bytes to packets", "the size of full packets";
        round_trip_time: Duration = Duration::from_milliseconds(100), in 1e6..1e18, "Round-trip time for the automatic min", "as RED's automatic weight";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them at random", "not in Lin and Morris 1997, which drops";
    }
}

/// The number of packets queued at which a flow gets a strike while the average is above the maximum threshold.
const MOST_ABOVE_MAXIMUM: f64 = 2.0;
/// The automatic minimum threshold, as a share of the limit.
const MINIMUM_TO_LIMIT: f64 = 0.25;
/// The automatic maximum threshold, as a multiple of the minimum threshold.
const MAXIMUM_TO_MINIMUM: f64 = 2.0;

/// The state of a flow with packets queued. It is reset when the last of them leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    queued: u64,
    /// How often the flow was found to be unresponsive.
    strikes: u32,
}

state! {
    pub Fred(limit: Limit, parameters: FredParameters) {
        parameters: FredParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        average: AverageQueue,
        curve: DropCurve = DropCurve::new(f64::INFINITY, f64::INFINITY, parameters.maximum_probability, false),
        spacing: DropSpacing,
        flows: Vec<Flow>,
        /// Which of these is whose.
        places: FlowPlaces,
        /// The number of flows with packets queued.
        active: u64,
    }
}

about! { Fred:
    name: "fred",
    aliases: ["flow_red"],
    title: "FRED",
    class: "aqm",
    year: 1997,
    source: "Lin and Morris, ACM SIGCOMM 1997; J-Sim, drcl.inet.core.queue.FRED",
    deviations: "from max on every packet is dropped, as in J-Sim and ns-3 ports: the variant for many flows, which \
                 always allows each flow two packets, is left out; random drops are spaced as in ns-2's RED; queues \
                 are counted in packets",
}

impl Fred {
    /// The average queue length, in packets.
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// The average queue length per active flow, at least one packet (`avgcq`).
    fn average_per_flow(&self) -> f64 {
        (self.average.value() / self.active.max(1) as f64).max(1.0)
    }

    fn flow_of(&mut self, packet: &Packet) -> usize {
        let place = self.places.of(packet);
        if place >= self.flows.len() {
            self.flows.resize(place + 1, Flow::default());
        }
        place
    }

    /// Drops or marks the arrival, or allows it into the queue.
    fn admits(&mut self, packet: &mut Packet, flow: usize, context: &mut Context) -> bool {
        if self.strikes(flow) {
            context.drop(*packet, DropCause::Early, None);
            return false;
        }
        if self.average.value() >= self.curve.maximum() {
            self.spacing.restart();
            context.drop(*packet, DropCause::Early, None);
            return false;
        }
        if self.selects(flow, context) {
            self.spacing.restart();
            return context.mark_or_drop(packet, self.parameters.ecn, None);
        }
        true
    }

    /// Whether a flow exceeds its limit. If so, this counts as a strike.
    fn strikes(&mut self, flow: usize) -> bool {
        let average = self.average.value();
        let per_flow = self.average_per_flow();
        let Flow { queued, strikes } = self.flows[flow];
        let queued = queued as f64;
        let is_above = average >= self.curve.maximum();
        let most = if is_above { MOST_ABOVE_MAXIMUM } else { self.curve.minimum() };
        let struck = queued >= most || is_above && queued > 2.0 * per_flow || queued >= per_flow && strikes > 1;
        if struck {
            self.flows[flow].strikes += 1;
        }
        struck
    }

    /// Whether to drop or mark an arrival at random.
    fn selects(&mut self, flow: usize, context: &mut Context) -> bool {
        let average = self.average.value();
        if average < self.curve.minimum() {
            self.spacing.stop();
            return false;
        }
        let may_drop = self.spacing.count(1.0);
        let spared = self.average_per_flow().max(self.parameters.spared as f64);
        if !may_drop || (self.flows[flow].queued as f64) < spared {
            return false;
        }
        context.random.unit() < self.spacing.spread(self.curve.probability(average), false)
    }
}

impl QueueDiscipline for Fred {
    const RANDOM: Option<&'static str> = Some("drops");

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if self.queue.packets() == 0 {
            self.average.on_arrival(0.0, context.now);
        }
        if !self.queue.admits(&packet, context) {
            return;
        }
        let flow = self.flow_of(&packet);
        if !self.admits(&mut packet, flow, context) {
            if self.flows[flow].queued == 0 {
                self.places.release(&packet);
            }
            return;
        }
        if self.queue.packets() > 0 {
            self.average.sample(self.queue.packets() as f64);
        }
        self.active += u64::from(self.flows[flow].queued == 0);
        self.flows[flow].queued += 1;
        self.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let Some(head) = self.queue.pop() else {
            self.average.on_idle(context.now);
            return None;
        };
        self.average.sample(self.queue.packets() as f64);
        let place = self.places.of(&head.packet);
        let flow = &mut self.flows[place];
        flow.queued -= 1;
        if flow.queued == 0 {
            *flow = Flow::default();
            self.places.release(&head.packet);
            self.active -= 1;
        }
        Some(head)
    }

    lengths_of!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        let parameters = &self.parameters;
        let size = parameters.mean_packet_size;
        let packets_per_second = rate.0 as f64 / (8.0 * size.0 as f64);
        self.average.configure(parameters.weight, packets_per_second);
        let set = |limit: Limit| Some(limit.in_packets(size)).filter(|packets| *packets > 0.0);
        let minimum = set(parameters.min).unwrap_or_else(|| {
            let in_round_trip = packets_per_second * parameters.round_trip_time.seconds();
            (MINIMUM_TO_LIMIT * self.queue.limit().in_packets(size)).min(in_round_trip)
        });
        self.curve.set_thresholds(minimum, set(parameters.max).unwrap_or(MAXIMUM_TO_MINIMUM * minimum));
    }
}
