//! About how much memory a run takes at most, from its specification alone, so that a run that is too large is refused before
//! anything of it is built.
//!
//! Costs of a thing are bytes measured as the peak resident set of a process that runs a scenario and stores its result
//! (docs/decisions/021-memory-of-a-run.md has the formula and the measurements).

use serde_json::Value;

use super::ideal::Ideal;
use crate::network::RoundTrips;
use crate::probe::Transfers;
use crate::queue::Limit;
use crate::specification::{
    ArrivalProcess, ArrivalSpecification, JitterDistribution, LinkSpecification, Specification, Trace,
};
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};
use crate::workload;

/// The most that a run may take, in bytes: 4 GiB.
pub const MOST_BYTES: u64 = 4 << 30;

/// A connection or a rate-based source with its timers, and its row in the result.
const FLOW: u64 = 2048;
/// The histogram of a flow's one-way delays, over about eight octaves: the least delay may be 1/256 of the greatest.
const DELAYS: u64 = 4096;
/// Of how many segments a flow that notes them has notes from the start.
const NOTES: u64 = 16;
/// A queue with its histogram of sojourn times.
const QUEUE: u64 = 128 << 10;
/// An entry of a queue's table, whose length a parameter is.
const ENTRY: u64 = 256;
/// The parameters of queues that are lengths of tables.
const TABLES: [&str; 3] = ["queues", "zombies", "history_length"];
/// The parameters of congestion controls that are lengths of histories, and a value in one.
const HISTORIES: [&str; 2] = ["base_history", "current_filter"];
const REMEMBERED: u64 = 16;
/// When a packet of a device's ring has left.
const COMPLETION: u64 = 8;
/// A sample of a queue or of a flow: in the engine, as Python's values, in its frame, and sorted into the files of a store.
const SAMPLE: u64 = 1280;
/// What sorting samples into the files takes, however few they are.
const SORTING: u64 = 128 << 20;
/// A packet that is queued or on its way, and its segment in its sender's scoreboard.
const PACKET: u64 = 80;
/// Packets queued and on their way that a run ends at: the estimate cannot foresee everything that flows do to each other.
pub(super) const MOST_PACKETS: u64 = MOST_BYTES / PACKET;
/// What its sender notes of it besides, in rings that double: for its delivery rate, or for RACK (RFC 8985).
pub(super) const DELIVERY_NOTE: u64 = 240;
pub(super) const RACK_NOTE: u64 = 96;
/// Options of an acknowledgement that is on its way.
const OPTIONS: u64 = 256;
/// How much more than the path holds is under way until a sender knows of a loss: slow start doubles its window each round trip
/// (RFC 5681 section 3.1).
const OVERSHOOT: u64 = 2;
/// Segments beyond its initial window that a flow sends before it can know of a loss.
const PROBES: u64 = 4;
/// An acknowledgement with selective acknowledgements, in bytes (RFC 2018 section 3).
const ACKNOWLEDGEMENT: u64 = 88;

/// What is known of the path of a group of flows.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Links from the sender to the receiver, and back if anything comes back.
    pub there: Vec<usize>,
    pub back: Vec<usize>,
    pub demand: Demand,
    /// Bytes of a full packet.
    pub packet: u64,
    pub crowd: Crowd,
}

/// How many flows a group has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    /// At the same time.
    pub open: u64,
    /// Rows of transfers that it adds to the result.
    pub transfers: u64,
    /// Messages that are written faster than the path carries them, and so wait at the end.
    pub waiting: u64,
}

/// The row of a transfer: in the engine, as Python's values, and in its frame.
const TRANSFER: u64 = 1024;

/// A message that waits: when it was written and its size, at both ends, in rings that double.
const MESSAGE: u64 = 64;

/// The most rows of transfers that a result has.
const MOST_TRANSFERS: u128 = Transfers::MOST_ROWS as u128;

/// How long the timers of a connection that has ended wait (RFC 6298 section 2.1), and what it may take besides transmission.
const LINGERS: f64 = 1.0;

/// How many connections of a group that arrive are open at the same time: as processor sharing has it, where the mean is
/// load / (1 - load) and the probability of more falls as load^n, and the excess where the load is above one.
///
/// # Errors
/// One line that says what is wrong with the arrivals.
pub(super) fn crowd(given: &ArrivalSpecification, ideal: &Ideal, end: Time) -> Result<Crowd, String> {
    let (intensity, all) = match &given.process {
        ArrivalProcess::Users { count, think } => {
            let completed = workload::most_of_users(*count, *think, given, &ideal.path)? * end.seconds();
            return Ok(Crowd { open: *count, transfers: completed as u64 + count, waiting: 0 });
        }
        ArrivalProcess::Listed(listed) => (None, listed.len() as f64),
        ArrivalProcess::Poisson(intensity) | ArrivalProcess::Deterministic { every: intensity, .. } => {
            let rate = workload::flows_a_second(*intensity, given, &ideal.path)?;
            (Some(rate), rate * end.seconds() + 100.0)
        }
    };
    let open = match (intensity, workload::load(given, &ideal.path)?) {
        (Some(rate), Some(load)) => {
            let lingering = rate * (LINGERS + 10.0 * ideal.round_trip.seconds());
            let sharing = if load < 1.0 { 20.0 * load / (1.0 - load) } else { all * (1.0 - 1.0 / load) };
            all.min(100.0 + lingering + sharing)
        }
        _ => all,
    };
    Ok(Crowd { open: open as u64, transfers: all as u64, waiting: 0 })
}

/// What a flow may have under way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Demand {
    /// Segments: the first window, and the most that buffers and its size allow; bytes that are noted of each.
    Window { initial: u64, most: Option<u64>, notes: u64 },
    /// Bits: of a burst at full rate, and each second on average; packets in all if it ends.
    Rate { burst: u64, average: u64, most: Option<u64> },
}

/// A part of the estimate: what it is of, and why it is so much.
#[derive(Debug)]
struct Part {
    reason: String,
    bytes: u128,
}

/// About how many bytes the run takes at most.
pub(super) fn estimate(specification: &Specification, ways: &[Way], round_trips: &RoundTrips) -> u128 {
    parts(specification, ways, round_trips).iter().map(|part| part.bytes).sum()
}

/// Whether the run takes no more than it may.
///
/// # Errors
/// One line that names the key that takes most, the figure, and what is allowed.
pub(super) fn check(specification: &Specification, ways: &[Way], round_trips: &RoundTrips) -> Result<(), String> {
    let parts = parts(specification, ways, round_trips);
    let total: u128 = parts.iter().map(|part| part.bytes).sum();
    if total <= u128::from(MOST_BYTES) {
        return Ok(());
    }
    let Some(largest) = parts.iter().max_by_key(|part| part.bytes) else { return Ok(()) };
    let of = if total > largest.bytes + total / 100 { format!(" of {}", bytes(total)) } else { String::new() };
    let allowed = MOST_BYTES >> 30;
    Err(format!("{}, about {}{of} of memory; a run may take {allowed} GiB", largest.reason, bytes(largest.bytes)))
}

fn parts(specification: &Specification, ways: &[Way], round_trips: &RoundTrips) -> Vec<Part> {
    let mut parts = Vec::new();
    for (index, (flow, way)) in specification.flows.iter().zip(ways).enumerate() {
        let more = match way.demand {
            Demand::Window { notes, .. } => NOTES * notes,
            Demand::Rate { .. } => DELAYS,
        };
        parts.push(Part {
            reason: match flow.arrivals {
                None => format!("flows[{index}].count ({}): {} flows", flow.group, count(flow.count.into())),
                Some(_) => {
                    let open = count(way.crowd.open.into());
                    format!("flows[{index}].arrivals ({}): {open} connections at once", flow.group)
                }
            },
            bytes: u128::from(way.crowd.open)
                * u128::from(FLOW + more + REMEMBERED * lengths(&HISTORIES, &flow.source.parameters)),
        });
        let transfers = u128::from(way.crowd.transfers).min(MOST_TRANSFERS);
        parts.push(Part {
            reason: format!("flows[{index}] ({}): {} transfers", flow.group, count(transfers)),
            bytes: transfers * u128::from(TRANSFER),
        });
        parts.push(Part {
            reason: format!("flows[{index}] ({}): {} messages wait", flow.group, count(way.crowd.waiting.into())),
            bytes: u128::from(way.crowd.waiting) * u128::from(MESSAGE),
        });
    }
    parts.extend(series(specification, ways));
    parts.extend(traces(specification));
    parts.push(devices(specification));
    let queues = specification.links.iter().filter_map(|link| link.queue.as_ref());
    for queue in queues {
        let bytes = u128::from(QUEUE + lengths(&TABLES, &queue.parameters) * ENTRY);
        parts.push(Part { reason: format!("the queue {}", queue.name), bytes });
    }
    let bottlenecks = Bottlenecks::of(specification, ways, round_trips);
    parts.extend(bottlenecks.parts());
    parts.extend(bottlenecks.backlogs(ways));
    // So that they can be added up.
    for part in &mut parts {
        part.bytes = part.bytes.min(u64::MAX.into());
    }
    parts
}

/// The sum of those parameters that are lengths.
fn lengths(names: &[&str], parameters: &Value) -> u64 {
    names.iter().filter_map(|name| parameters.get(*name)).filter_map(Value::as_u64).sum()
}

/// The rings of devices, which are set aside.
fn devices(specification: &Specification) -> Part {
    let held: u128 = specification.links.iter().map(|link| u128::from(link.device_queue)).sum();
    let reason = format!("device_queue: {} packets in all devices", count(held));
    Part { reason, bytes: held * u128::from(COMPLETION) }
}

/// Bytes of a change of a link, laid out.
const CHANGE: u64 = 64;

fn traces(specification: &Specification) -> impl Iterator<Item = Part> {
    let all = specification.links.iter().flat_map(|link| [&link.rate_trace, &link.delay_trace]).flatten();
    all.map(|trace| {
        let changes = u128::from(trace.most_changes(specification.duration));
        let reason = format!("the trace {}: up to {} changes", trace.name, count(changes));
        Part { reason, bytes: changes.saturating_mul(CHANGE.into()) }
    })
}

fn series(specification: &Specification, ways: &[Way]) -> Vec<Part> {
    let queues = specification.links.iter().filter(|link| link.queue.is_some()).count() as u128;
    let flows = specification.flows.iter().zip(ways).filter(|(_, way)| !way.back.is_empty());
    let flows: u128 = flows.map(|(flow, _)| u128::from(flow.count)).sum();
    let probe = &specification.probe;
    let both =
        [("queue_series", probe.queue_series, queues, "queue"), ("flow_series", probe.flow_series, flows, "flow")];
    let part = |(key, interval, each, what): (&str, Option<Duration>, u128, &str)| {
        let interval = interval.filter(|interval| *interval > Duration::ZERO)?;
        // The first at the start, none at the end.
        let samples = u128::from(specification.duration.0.div_ceil(interval.0));
        let every = duration(interval);
        let length = duration(Duration(specification.duration.0));
        let plural = if each == 1 { "" } else { "s" };
        let reason = format!(
            "probe.{key}: every {every} for {length} makes {} samples of {} {what}{plural}",
            count(samples),
            count(each)
        );
        let bytes = samples.saturating_mul(each).saturating_mul(SAMPLE.into()).saturating_add(SORTING.into());
        Some(Part { reason, bytes })
    };
    both.into_iter().filter_map(part).collect()
}

/// Flows by the link that limits them, and what they have under way there.
struct Bottlenecks<'a> {
    specification: &'a Specification,
    round_trips: &'a RoundTrips,
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

impl Bottlenecks<'_> {
    fn of<'a>(specification: &'a Specification, ways: &[Way], round_trips: &'a RoundTrips) -> Bottlenecks<'a> {
        let all = vec![Bottleneck::default(); specification.links.len()];
        let mut made = Bottlenecks { specification, round_trips, all };
        for way in ways {
            made.add(u128::from(way.crowd.open), way);
        }
        made
    }

    fn add(&mut self, flows: u128, way: &Way) {
        let links = &self.specification.links;
        let packet = way.packet.max(1);
        // What a link carries in data packets a second, or in acknowledgements of them, of which one a packet is the most.
        let there = way.there.iter().map(|link| (fastest(&links[*link]), *link));
        let scaled = |link: usize| u128::from(fastest(&links[link])) * u128::from(packet) / u128::from(ACKNOWLEDGEMENT);
        let back = way.back.iter().map(|link| (scaled(*link) as u64, *link));
        let Some((_, slowest)) = there.chain(back).min_by_key(|(rate, _)| *rate) else { return };
        let path = || way.there.iter().chain(&way.back);
        let round_trip = path().fold(Duration::ZERO, |sum, link| sum + longest(&links[*link]));
        let elsewhere = path().filter(|link| **link != slowest).filter_map(|link| self.queued(*link, packet)).sum();
        let seconds = self.specification.duration.seconds();
        let bottleneck = &mut self.all[slowest];
        bottleneck.packet = if bottleneck.flows == 0 { packet } else { bottleneck.packet.min(packet) };
        bottleneck.flows += flows;
        bottleneck.round_trip = bottleneck.round_trip.max(round_trip);
        bottleneck.elsewhere = bottleneck.elsewhere.max(elsewhere);
        let loses = path().any(|link| !links[*link].is_plain());
        bottleneck.loses |= loses;
        match way.demand {
            Demand::Window { initial, most, notes } => {
                // How much a source without a window has under way where links lose packets shows when it is run.
                let unknown = if loses { u128::from(initial) } else { u128::MAX };
                let most = most.map_or(unknown, u128::from);
                bottleneck.own = bottleneck.own.saturating_add(flows.saturating_mul(most));
                bottleneck.initial += flows * u128::from(initial + PROBES);
                bottleneck.notes = bottleneck.notes.max(notes);
                bottleneck.is_answered = true;
            }
            Demand::Rate { burst, average, most } => {
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
        let LinkSpecification { queue, rate, device_queue, .. } = &self.specification.links[link];
        let limit = self.round_trips.limit(link, *rate, queue.as_ref()?.limit?).ok()?;
        let packets = match limit {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => bytes / packet,
        };
        Some(u128::from(packets) + u128::from(*device_queue) + 1)
    }

    fn parts(&self) -> Vec<Part> {
        (0..self.all.len()).filter(|link| self.all[*link].flows > 0).map(|link| self.part(link)).collect()
    }

    fn part(&self, index: usize) -> Part {
        let (bottleneck, link) = (&self.all[index], &self.specification.links[index]);
        let rate = u128::from(fastest(link));
        let bits = u128::from(8 * bottleneck.packet);
        let seconds = self.specification.duration.seconds();
        let packets_in = |duration: Duration| rate * u128::from(duration.0) / u128::from(PICOSECONDS_PER_SECOND) / bits;
        // As many as were delivered: in slow start two leave for one that has arrived.
        let answered = if bottleneck.is_answered { packets_in(Duration(self.specification.duration.0)) } else { 0 };
        let excess = bottleneck.average.saturating_sub(rate) as f64 * seconds;
        let left = (excess as u128).saturating_add(bottleneck.burst) / bits;
        let wire = packets_in(bottleneck.round_trip);
        let sent = bottleneck.initial + answered.max(wire) + left;
        let held = self.queued(index, bottleneck.packet).map_or(u128::MAX, |queued| {
            u128::from(OVERSHOOT) * (wire + queued + bottleneck.elsewhere) + bottleneck.initial
        });
        let packets = bottleneck.own.min(sent).min(held);
        let name = |node: usize| self.specification.nodes.get(node).map_or("?", String::as_str);
        let cause = if packets == bottleneck.own {
            "the sizes, rates or buffers (send_buffer, receive_buffer) of its flows allow"
        } else if packets == held {
            "its rate, delay and queue limit allow"
        } else {
            "it carries in the duration, without a queue limit, allow"
        };
        let of_packet = PACKET + bottleneck.notes;
        let reason = format!(
            "link {} -> {}: {cause} {} packets queued and under way",
            name(link.from),
            name(link.to),
            count(packets)
        );
        let loses = bottleneck.loses || packets == held;
        let options = if loses { packets.min(wire).saturating_mul(OPTIONS.into()) } else { 0 };
        Part { reason, bytes: packets.saturating_mul(of_packet.into()).saturating_add(options) }
    }
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
    /// What waits where such sources send more than a link carries that has no limit and is not the slowest of their paths: a cbr above
    /// its host's own rate.
    fn backlogs(&self, ways: &[Way]) -> Vec<Part> {
        let links = &self.specification.links;
        let seconds = self.specification.duration.seconds();
        let mut offered = vec![Offered::default(); links.len()];
        for way in ways {
            let Demand::Rate { average, most, .. } = way.demand else { continue };
            let flows = u128::from(way.crowd.open);
            let mut arriving = flows.saturating_mul(average.into());
            for link in &way.there {
                let at = &mut offered[*link];
                at.packet = if at.average == 0 { way.packet } else { at.packet.min(way.packet) }.max(1);
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
            let name = |node: usize| self.specification.nodes.get(node).map_or("?", String::as_str);
            let (from, to, packets_told) = (name(links[index].from), name(links[index].to), count(packets));
            let reason =
                format!("link {from} -> {to}: its flows' rates are above its own, and {packets_told} packets wait");
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

/// A number with its thousands set apart; from a million million on with two digits.
pub(super) fn count(number: u128) -> String {
    if number >= 1_000_000_000_000 {
        return format!("{:.1e}", number as f64);
    }
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// A number of bytes in a unit of people.
fn bytes(number: u128) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if value >= 9.95 { format!("{value:.0} {}", units[unit]) } else { format!("{value:.1} {}", units[unit]) }
}

/// A duration in the largest unit that needs no fraction.
fn duration(duration: Duration) -> String {
    let units = [(PICOSECONDS_PER_SECOND, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
    let fitting = units.into_iter().find(|(factor, _)| duration.0.is_multiple_of(*factor));
    fitting.map_or_else(String::new, |(factor, unit)| format!("{} {unit}", duration.0 / factor))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use crate::simulation::{Simulation, Stopped};
    use crate::specification::Specification;

    fn specification() -> Specification {
        let link = |from, to, rate: u64| json!({"from": from, "to": to, "rate": rate, "delay": 0, "queue": null, "drop": null});
        serde_json::from_value(json!({
            "seed": 1, "duration": 1_000_000_000_000u64, "warm_up": 0, "sender_overhead": 0,
            "nodes": ["a", "b"], "links": [link(0, 1, 1_000_000), link(1, 0, 1_000_000)], "stacks": [{}],
            "flows": [{
                "count": 1, "from": 0, "to": 1, "group": "a-b", "start": 0, "start_within": 0, "size": null,
                "source": {
                    "name": "cbr", "slow_start": "standard", "stack": 0,
                    "parameters": {"rate": 1_000_000_000, "packet_size": 1000},
                },
            }],
            "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
        }))
        .expect("well formed")
    }

    /// A source of a thousand times the link's rate ends the run when more packets wait than a run may hold.
    #[test]
    fn too_many_packets() {
        let mut simulation = Simulation::new(&specification()).expect("valid");
        simulation.most_packets = 50_000;
        let stopped = simulation.run(&AtomicBool::new(false)).expect_err("124,875 packets wait at the end");
        let Stopped::TooLarge(reason) = stopped else { panic!("{stopped:?}") };
        assert!(reason.ends_with("a run may hold 50,000, about 4 GiB of memory"), "{reason}");
    }

    /// A source above the rate of its host's link, which has no limit, is refused before the run: the backlog is there, not at the
    /// slowest link, whose queue is short. The bytes are (rate - link's rate) x duration / packet x 80.
    #[test]
    fn backlog_at_the_host() {
        let mut given = specification();
        given.nodes.push("c".to_owned());
        given.links[0].rate.0 = 10_000_000;
        let mut slowest = given.links[0].clone();
        (slowest.from, slowest.to, slowest.rate.0) = (1, 2, 1_000_000);
        slowest.queue =
            Some(serde_json::from_value(json!({"name": "droptail", "limit": {"packets": 10}})).expect("well formed"));
        given.links.push(slowest);
        given.flows[0].to = 2;
        let backlog = (1_000_000_000 - 10_000_000) / 8_000;
        let estimate = super::super::memory(&given).expect("valid");
        assert!((backlog * 80..backlog * 80 * 5 / 4).contains(&estimate), "{estimate} bytes for {backlog} packets");
        given.flows[0].source.parameters["rate"] = json!(1_000_000_000_000u64);
        let refused = super::super::check(given).expect_err("124,998,750 packets take 10 GB");
        assert!(
            refused.starts_with("link a -> b: its flows' rates are above its own, and 124,998,750 packets wait"),
            "{refused}"
        );
    }

    /// Messages that are written faster than the path carries them wait, and so many that they take 58 TB are refused: of 10^12 in a
    /// second, a link of 1 Mbit/s carries 125,000 bytes.
    #[test]
    fn waiting_messages() {
        let mut given = specification();
        given.flows[0].source = sender();
        given.flows[0].application =
            Some(serde_json::from_value(json!({"periodic": {"size": {"fixed": 1}, "every": 1}})).expect("well formed"));
        let refused = super::super::check(given).expect_err("they take terabytes");
        assert!(refused.starts_with("flows[0] (a-b): 999,999,875,000 messages wait"), "{refused}");
    }

    fn sender() -> crate::specification::SourceSpecification {
        serde_json::from_value(json!({"name": "cubic", "slow_start": "standard", "stack": 0})).expect("well formed")
    }

    /// Connections of sessions have numbers, of which one is kept for each: so many that they alone would take 17 GB are refused
    /// before that.
    #[test]
    fn many_sessions() {
        let mut given = specification();
        given.flows[0].count = u32::MAX.into();
        given.flows[0].source = serde_json::from_value(json!({"name": "cubic", "slow_start": "standard", "stack": 0}))
            .expect("well formed");
        given.flows[0].application = Some(
            serde_json::from_value(json!({"periodic": {"size": {"fixed": 1000}, "every": 1_000_000_000_000u64}}))
                .expect("well formed"),
        );
        let refused = Simulation::new(&given).expect_err("4,294,967,295 flows take terabytes");
        assert!(refused.starts_with("flows[0].count (a-b): 4,294,967,295 flows"), "{refused}");
    }

    /// The backlog that such a source leaves, of which nothing but the rates and the duration is given, is the excess of its
    /// rate over the link's.
    #[test]
    fn estimated_backlog() {
        let estimate = super::super::memory(&specification()).expect("valid");
        let backlog = (1_000_000_000 - 1_000_000) / 8_000;
        assert!((backlog * 80..backlog * 80 * 5 / 4).contains(&estimate), "{estimate} bytes for {backlog} packets");
    }
}
