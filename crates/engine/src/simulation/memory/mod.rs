//! About how much memory a run takes at most, from its plan alone, so that a run that is too large is refused before anything of it
//! is built.
//!
//! Costs of a thing are bytes measured as the peak resident set of a process that runs a scenario and stores its result
//! (docs/decisions/021-memory-of-a-run.md has the formula and the measurements).

mod bottlenecks;

use serde_json::Value;

use super::amounts::{bytes, count, duration};
use super::plan::{Plan, Planned};
use crate::about::About;
use crate::parameter::Description;
use crate::probe::Transfers;
use crate::queue::Discipline;
use crate::specification::Specification;
use crate::tcp::congestion::Algorithm;
use crate::time::Duration;
use bottlenecks::{Bottlenecks, Demand};

/// The most that a run may take, in bytes: 4 GiB.
const MOST_BYTES: u64 = 4 << 30;

/// A connection or a rate-based source with its timers, and its row in the result.
const FLOW: u64 = 2048;
/// The histogram of a flow's one-way delays, over about eight octaves: the least delay may be 1/256 of the greatest.
const DELAYS: u64 = 4096;
/// Of how many segments a flow that notes them has notes from the start.
const NOTES: u64 = 16;
/// The row of a transfer: in the engine, as Python's values, and in its frame.
const TRANSFER: u64 = 1024;
/// A message that waits: when it was written and its size, at both ends, in rings that double.
const MESSAGE: u64 = 64;
/// A queue with its histogram of sojourn times.
const QUEUE: u64 = 128 << 10;
/// An entry of a queue's table, whose length is a parameter.
const ENTRY: u64 = 256;
/// The parameters of queues that are lengths of tables.
const TABLES: [&str; 3] = ["queues", "zombies", "history_length"];
/// The parameters of congestion controls that are lengths of histories, and a value in one.
const HISTORIES: [&str; 2] = ["base_history", "current_filter"];
const REMEMBERED: u64 = 16;
/// When a packet of a device's ring has left.
const COMPLETION: u64 = 8;
/// A change of a link, laid out.
const CHANGE: u64 = 64;
/// A sample of a queue or of a flow: in the engine, as Python's values, in its frame, and sorted into the files of a store.
const SAMPLE: u64 = 1280;
/// A value of an inner state in a sample, likewise, and how many of them a file of a user's own may have.
const STATE: u64 = 320;
const OWN_STATE: u64 = 16;
/// What sorting samples into the files takes, however few they are.
const SORTING: u64 = 128 << 20;
/// A packet that is queued or on its way, and its segment in its sender's scoreboard.
const PACKET: u64 = 80;
/// Packets queued and on their way that a run ends at: the estimate cannot foresee everything that flows do to each other.
pub(super) const MOST_PACKETS: u64 = MOST_BYTES / PACKET;
/// What its sender notes of it besides, in rings that double: for its delivery rate, or for RACK (RFC 8985).
const DELIVERY_NOTE: u64 = 240;
const RACK_NOTE: u64 = 96;

/// A part of the estimate: what it is of, and why it is so much.
#[derive(Debug)]
struct Part {
    reason: String,
    bytes: u128,
}

/// About how many bytes of memory a run takes at most, its result included.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn memory(specification: &Specification) -> Result<u64, String> {
    let total: u128 = parts(&Plan::without_plugins(specification)?).iter().map(|part| part.bytes).sum();
    Ok(u64::try_from(total).unwrap_or(u64::MAX))
}

/// Whether the run takes no more than it may.
///
/// # Errors
/// One line that names the key that takes most, the figure, and what is allowed.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    let parts = parts(plan);
    let total: u128 = parts.iter().map(|part| part.bytes).sum();
    if total <= u128::from(MOST_BYTES) {
        return Ok(());
    }
    let Some(largest) = parts.iter().max_by_key(|part| part.bytes) else { return Ok(()) };
    let of = if total > largest.bytes + total / 100 { format!(" of {}", bytes(total)) } else { String::new() };
    let allowed = MOST_BYTES >> 30;
    Err(format!("{}, about {}{of} of memory; a run may take {allowed} GiB", largest.reason, bytes(largest.bytes)))
}

fn parts(plan: &Plan) -> Vec<Part> {
    let specification = plan.specification;
    let demands: Vec<Demand> = plan.groups.iter().map(Demand::of).collect();
    let mut parts = Vec::new();
    for (group, demand) in plan.groups.iter().zip(&demands) {
        parts.extend(flows(group, demand));
    }
    parts.extend(series(plan));
    parts.extend(traces(specification));
    parts.push(devices(specification));
    let queues = specification.links.iter().filter_map(|link| link.queue.as_ref());
    parts.extend(queues.map(|queue| Part {
        reason: format!("the queue {}", queue.name),
        bytes: u128::from(QUEUE + lengths(&TABLES, &queue.parameters) * ENTRY),
    }));
    parts.extend(Bottlenecks::parts(plan, &demands));
    // So that they can be added up.
    for part in &mut parts {
        part.bytes = part.bytes.min(u64::MAX.into());
    }
    parts
}

/// The flows of a group, their transfers, and what waits at their ends.
fn flows(group: &Planned, demand: &Demand) -> [Part; 3] {
    let (index, flow, crowd) = (group.index, group.flow, group.crowd);
    let more = match demand {
        Demand::Window { notes, .. } => NOTES * notes,
        Demand::Rate { .. } => DELAYS,
    };
    let each = FLOW + more + REMEMBERED * lengths(&HISTORIES, &flow.source.parameters);
    let flows = match flow.arrivals {
        None => format!("flows[{index}].count ({}): {} flows", flow.group, count(flow.count.into())),
        Some(_) => {
            format!("flows[{index}].arrivals ({}): {} connections at once", flow.group, count(crowd.open.into()))
        }
    };
    let transfers = u128::from(crowd.transfers).min(Transfers::MOST_ROWS as u128);
    let waiting = u128::from(crowd.waiting);
    [
        Part { reason: flows, bytes: u128::from(crowd.open) * u128::from(each) },
        Part {
            reason: group.misfit(&format!("{} transfers", count(transfers))),
            bytes: transfers * u128::from(TRANSFER),
        },
        Part {
            reason: group.misfit(&format!("{} messages wait", count(waiting))),
            bytes: waiting * u128::from(MESSAGE),
        },
    ]
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

fn traces(specification: &Specification) -> impl Iterator<Item = Part> {
    let all = specification.links.iter().flat_map(|link| [&link.rate_trace, &link.delay_trace]).flatten();
    all.map(|trace| {
        let changes = u128::from(trace.most_changes(specification.duration));
        let reason = format!("the trace {}: up to {} changes", trace.name, count(changes));
        Part { reason, bytes: changes.saturating_mul(CHANGE.into()) }
    })
}

fn series(plan: &Plan) -> Vec<Part> {
    let specification = plan.specification;
    let queues = specification.links.iter().filter(|link| link.queue.is_some()).count() as u128;
    let flows = plan.groups.iter().filter(|group| !group.way.back.is_empty());
    let flows: u128 = flows.map(|group| u128::from(group.flow.count)).sum();
    let probe = &specification.probe;
    let of_queues = if probe.queue_state { queue_states(specification) } else { 0 };
    let of_flows = if probe.flow_state { plan.groups.iter().map(flow_states).sum() } else { 0 };
    let both = [
        ("queue_series", probe.queue_series, queues, "queue", of_queues),
        ("flow_series", probe.flow_series, flows, "flow", of_flows),
    ];
    let part = |(key, interval, each, what, states): (&str, Option<Duration>, u128, &str, u128)| {
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
        let sample = each.saturating_mul(SAMPLE.into()).saturating_add(states.saturating_mul(STATE.into()));
        let bytes = samples.saturating_mul(sample).saturating_add(SORTING.into());
        Some(Part { reason, bytes })
    };
    both.into_iter().filter_map(part).collect()
}

/// How many values the inner states of a group's flows have.
fn flow_states(group: &Planned) -> u128 {
    let source = &group.flow.source;
    let values = state_values(source.plugin, &source.name, Algorithm::catalogue());
    u128::from(group.flow.count) * u128::from(values)
}

/// How many values those of all queues have.
fn queue_states(specification: &Specification) -> u128 {
    let queues = specification.links.iter().filter_map(|link| link.queue.as_ref());
    queues.map(|queue| u128::from(state_values(queue.plugin, &queue.name, Discipline::catalogue()))).sum()
}

fn state_values(plugin: Option<usize>, name: &str, catalogue: Vec<(&About, Vec<Description>)>) -> u64 {
    if plugin.is_some() {
        return OWN_STATE;
    }
    let listed = catalogue.into_iter().find(|(about, _)| about.name == name);
    listed.map_or(0, |(about, _)| about.state.len() as u64)
}
