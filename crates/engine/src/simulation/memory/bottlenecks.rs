//! Packets queued and under way, by the links that limit their flows.

use super::{DELIVERY_NOTE, PACKET, Part, RACK_NOTE};
use crate::queue::Limit;
use crate::simulation::amounts::count;
use crate::simulation::plan::{Plan, Planned, Sending, is_foreseen};
use crate::specification::{JitterDistribution, LinkSpecification, Trace};
use crate::tcp::congestion::CongestionControl;
use crate::tcp::recovery::RecoveryKind;
use crate::time::{Duration, PICOSECONDS_PER_SECOND};

/// An acknowledgement by a host that runs ahead, which is under way for the whole round trip.
const AHEAD: u64 = 32;
/// A packet that is queued where departures are foreseen: its place on the wire.
const FORESEEN: u64 = 40;
/// Options of an acknowledgement that is on its way.
const OPTIONS: u64 = 256;
/// How much more than the path holds is under way until a sender knows of a loss: slow start doubles its window each round trip
/// (RFC 5681 section 3.1).
const OVERSHOOT: u64 = 2;
/// Segments beyond its initial window that a flow sends before it can know of a loss.
const PROBES: u64 = 4;
/// An acknowledgement with selective acknowledgements, in bytes (RFC 2018 section 3).
const ACKNOWLEDGEMENT: u64 = 88;

/// What a flow may have under way. Sizes of packets are in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Demand {
    /// Segments: the first window, and the most that buffers and its size allow; bytes that are noted of each.
    Window { packet: u64, initial: u64, most: Option<u64>, notes: u64 },
    /// Bits: of a burst at full rate, and each second on average; packets in all if it ends.
    Rate { packet: u64, burst: u64, average: u64, most: Option<u64> },
}

impl Demand {
    /// That of a flow of this group.
    pub fn of(group: &Planned) -> Demand {
        let (stack, size) = (&group.stack, group.flow.size);
        let (segment, packet) = (stack.segment_size.0, stack.segment_size.0 + stack.segment_overhead());
        let initial = stack.initial_window;
        let segments = size.map(|size| size.0.div_ceil(segment) + 1);
        match &group.sending {
            Sending::Window(algorithm) => {
                let rack = if stack.recovery == RecoveryKind::Rack { RACK_NOTE } else { 0 };
                let notes = rack + if algorithm.needs().deliveries { DELIVERY_NOTE } else { 0 };
                let window = stack.send_buffer.min(stack.receive_buffer).0 / segment + 1;
                let most = Some(segments.map_or(window, |segments| segments.min(window)));
                Demand::Window { packet, initial, most, notes }
            }
            Sending::Rate(blueprint) => match blueprint.offered() {
                None => Demand::Window { packet, initial, most: segments, notes: 0 },
                Some(offered) => {
                    let packet = offered.packet.0;
                    let most = size.map(|size| size.0.div_ceil(packet));
                    Demand::Rate { packet, burst: offered.burst, average: offered.average.0, most }
                }
            },
        }
    }

    fn packet(&self) -> u64 {
        let (Demand::Window { packet, .. } | Demand::Rate { packet, .. }) = self;
        *packet.max(&1)
    }
}

/// What flows have under way at the links that limit them.
pub struct Bottlenecks<'a> {
    plan: &'a Plan<'a>,
    all: Vec<Bottleneck>,
}

/// A link, as the slowest of the paths of some flows.
#[derive(Clone, Debug, Default)]
struct Bottleneck {
    /// Packets that the flows would have under way if nothing but themselves limited them.
    own: u128,
    /// Packets that they may send before anything comes back.
    initial: u128,
    /// What sources that nothing answers send on average, in bit/s, and in a burst, in bits.
    average: u128,
    burst: u128,
    flows: u128,
    /// Bytes of their smallest packet.
    packet: u64,
    /// Of their paths the longest, there and back, and the most that is queued elsewhere on one.
    round_trip: Duration,
    elsewhere: u128,
    notes: u64,
    /// Whether any is answered, and whether a link of their paths loses packets.
    is_answered: bool,
    loses: bool,
}

/// What sources that nothing answers bring to a link: bits a second on average, and packets in all.
#[derive(Clone, Copy, Debug, Default)]
struct Offered {
    average: u128,
    packets: u128,
    /// Bytes of their smallest packet.
    packet: u64,
}

impl Bottlenecks<'_> {
    /// The parts of the estimate.
    pub fn parts(plan: &Plan, demands: &[Demand]) -> Vec<Part> {
        let mut made = Bottlenecks { plan, all: vec![Bottleneck::default(); plan.specification.links.len()] };
        for (group, demand) in plan.groups.iter().zip(demands) {
            made.add(group, demand);
        }
        let limiting = (0..made.all.len()).filter(|link| made.all[*link].flows > 0).map(|link| made.part(link));
        limiting.chain(made.backlogs(demands)).collect()
    }

    fn add(&mut self, group: &Planned, demand: &Demand) {
        let links = &self.plan.specification.links;
        let (flows, packet) = (u128::from(group.crowd.open), demand.packet());
        // Each link carries data packets or their acknowledgements, at most one for each packet; both are compared in packets a second.
        let there = group.way.there.iter().map(|link| (fastest(&links[*link]), *link));
        let scaled = |link: usize| u128::from(fastest(&links[link])) * u128::from(packet) / u128::from(ACKNOWLEDGEMENT);
        let back = group.way.back.iter().map(|link| (scaled(*link) as u64, *link));
        let Some((_, slowest)) = there.chain(back).min_by_key(|(rate, _)| *rate) else { return };
        let path = || group.way.there.iter().chain(&group.way.back);
        let round_trip = path().fold(Duration::ZERO, |sum, link| sum + longest(&links[*link]));
        let elsewhere = path().filter(|link| **link != slowest).filter_map(|link| self.queued(*link, packet)).sum();
        let seconds = self.plan.specification.duration.seconds();
        let bottleneck = &mut self.all[slowest];
        bottleneck.packet = if bottleneck.flows == 0 { packet } else { bottleneck.packet.min(packet) };
        bottleneck.flows += flows;
        bottleneck.round_trip = bottleneck.round_trip.max(round_trip);
        bottleneck.elsewhere = bottleneck.elsewhere.max(elsewhere);
        let loses = path().any(|link| !links[*link].is_plain());
        bottleneck.loses |= loses;
        match *demand {
            Demand::Window { initial, most, notes, .. } => {
                // How much a source without a window has under way where links lose packets shows when it is run.
                let unknown = if loses { u128::from(initial) } else { u128::MAX };
                let most = most.map_or(unknown, u128::from);
                bottleneck.own = bottleneck.own.saturating_add(flows.saturating_mul(most));
                bottleneck.initial += flows * u128::from(initial + PROBES);
                bottleneck.notes = bottleneck.notes.max(notes);
                bottleneck.is_answered = true;
            }
            Demand::Rate { burst, average, most, .. } => {
                let bits = u128::from(8 * packet);
                let sent = (average as f64 * seconds) as u128 / bits + u128::from(burst) / bits + 1;
                let sent = most.map_or(sent, |most| sent.min(most.into()));
                bottleneck.own = bottleneck.own.saturating_add(flows.saturating_mul(sent));
                bottleneck.average = bottleneck.average.saturating_add(flows.saturating_mul(average.into()));
                bottleneck.burst = bottleneck.burst.saturating_add(flows.saturating_mul(burst.into()));
                bottleneck.initial += flows;
            }
        }
    }

    /// The most packets that a link's queue and device hold; none if there is no limit.
    fn queued(&self, link: usize, packet: u64) -> Option<u128> {
        let LinkSpecification { queue, rate, device_queue, .. } = &self.plan.specification.links[link];
        let packets = match self.plan.round_trips.limit(link, *rate, queue.as_ref()?.limit?).ok()? {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => bytes / packet,
        };
        Some(u128::from(packets) + u128::from(*device_queue) + 1)
    }

    fn part(&self, index: usize) -> Part {
        let bottleneck = &self.all[index];
        let link = &self.plan.specification.links[index];
        let duration = self.plan.specification.duration;
        let rate = u128::from(fastest(link));
        let bits = u128::from(8 * bottleneck.packet);
        let packets_in = |duration: Duration| rate * u128::from(duration.0) / u128::from(PICOSECONDS_PER_SECOND) / bits;
        // As many as were delivered: in slow start two leave for one that has arrived.
        let answered = if bottleneck.is_answered { packets_in(Duration(duration.0)) } else { 0 };
        let excess = bottleneck.average.saturating_sub(rate) as f64 * duration.seconds();
        let left = (excess as u128).saturating_add(bottleneck.burst) / bits;
        let wire = packets_in(bottleneck.round_trip);
        let sent = bottleneck.initial + answered.max(wire) + left;
        let queued = self.queued(index, bottleneck.packet);
        let held = queued.map_or(u128::MAX, |queued| {
            u128::from(OVERSHOOT) * (wire + queued + bottleneck.elsewhere) + bottleneck.initial
        });
        let packets = bottleneck.own.min(sent).min(held);
        let cause = if packets == bottleneck.own {
            "the sizes, rates or buffers (send_buffer, receive_buffer) of its flows allow"
        } else if packets == held {
            "its rate, delay and queue limit allow"
        } else {
            "it carries in the duration, without a queue limit, allow"
        };
        let foreseen = if is_foreseen(link) { queued.unwrap_or_default() } else { 0 };
        let of_packet = PACKET + bottleneck.notes;
        let ends = self.plan.specification.ends(link);
        let reason = format!("link {ends}: {cause} {} packets queued and under way", count(packets));
        let loses = bottleneck.loses || packets == held;
        let options = if loses { packets.min(wire + foreseen).saturating_mul(OPTIONS.into()) } else { 0 };
        let ahead = packets.min(wire) * u128::from(AHEAD) + packets.min(foreseen) * u128::from(FORESEEN);
        Part { reason, bytes: packets.saturating_mul(of_packet.into()).saturating_add(options).saturating_add(ahead) }
    }

    /// What waits where such sources send more than a link carries that has no limit and is not the slowest of their paths: a cbr above
    /// its host's own rate.
    fn backlogs(&self, demands: &[Demand]) -> Vec<Part> {
        let links = &self.plan.specification.links;
        let seconds = self.plan.specification.duration.seconds();
        let mut offered = vec![Offered::default(); links.len()];
        for (group, demand) in self.plan.groups.iter().zip(demands) {
            let Demand::Rate { packet, average, most, .. } = *demand else { continue };
            let flows = u128::from(group.crowd.open);
            let mut arriving = flows.saturating_mul(average.into());
            for link in &group.way.there {
                let at = &mut offered[*link];
                at.packet = if at.average == 0 { packet } else { at.packet.min(packet) }.max(1);
                at.average = at.average.saturating_add(arriving);
                at.packets =
                    at.packets.saturating_add(most.map_or(u128::MAX, |most| flows.saturating_mul(most.into())));
                arriving = arriving.min(fastest(&links[*link]).into());
            }
        }
        let part = |(index, offered): (usize, &Offered)| {
            let rate = u128::from(fastest(&links[index]));
            let counted = self.all[index].average.saturating_sub(rate);
            let excess = offered.average.saturating_sub(rate).saturating_sub(counted);
            if excess == 0 || self.queued(index, offered.packet).is_some() {
                return None;
            }
            let waiting = (excess as f64 * seconds) as u128 / u128::from(8 * offered.packet);
            let packets = waiting.min(offered.packets);
            let (ends, told) = (self.plan.specification.ends(&links[index]), count(packets));
            let reason = format!("link {ends}: its flows' rates are above its own, and {told} packets wait");
            Some(Part { reason, bytes: packets.saturating_mul(PACKET.into()) })
        };
        offered.iter().enumerate().filter_map(part).collect()
    }
}

/// The greatest rate that a link has during the run, in bit/s.
fn fastest(link: &LinkSpecification) -> u64 {
    let traced = link.rate_trace.as_ref().map_or(0, Trace::greatest);
    link.changes.iter().filter_map(|change| change.rate).fold(link.rate, Ord::max).0.max(traced)
}

/// The greatest delay; of a random part that has no bound, one in a hundred million exceeds it.
fn longest(link: &LinkSpecification) -> Duration {
    let traced = link.delay_trace.as_ref().map_or(Duration::ZERO, |trace| Duration(trace.greatest()));
    let steady = link.changes.iter().filter_map(|change| change.delay).fold(link.delay.max(traced), Ord::max);
    let random = link.impairments.jitter.map_or(Duration::ZERO, |jitter| match jitter.distribution {
        JitterDistribution::Uniform => jitter.mean * 2,
        JitterDistribution::Exponential => jitter.mean * 18,
    });
    steady + random + link.impairments.slot
}
