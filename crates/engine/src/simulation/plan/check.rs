//! What can be checked of a specification before anything is built.

use crate::framing::Framing;
use crate::specification::{
    AggregationSpecification, ArrivalProcess, FlowSpecification, Impairments, LinkSpecification, LossPattern,
    Specification,
};
use crate::time::{Duration, PICOSECONDS_PER_SECOND};
use crate::units::Rate;

/// The most a flow may send: sequence numbers stay far from the end of a `u64`.
const LARGEST_SIZE: u64 = 1 << 62;

/// The most that a device may hold, in packets: it is memory set aside.
const LARGEST_DEVICE_QUEUE: u64 = 1_000_000;

/// How often a change is made at most.
const MOST_CHANGES: u64 = 1_000_000;

/// The most that a frame adds to a packet, in bytes, so that both together have a size of a packet.
const LARGEST_HEADER: u64 = 500;

/// The field has six bits (RFC 2474 section 3).
const LARGEST_CODEPOINT: u8 = 63;

/// The longest mean of a random delay, and the longest slot: an hour.
const LONGEST_IMPAIRMENT: Duration = Duration(3_600 * PICOSECONDS_PER_SECOND);

/// Returns an error unless something holds.
macro_rules! ensure {
    ($holds:expr, $($error:tt)+) => {
        if !$holds {
            return Err(format!($($error)+));
        }
    };
}

/// Checks what can be checked before anything is built.
pub fn check(specification: &Specification) -> Result<(), String> {
    let Specification { warm_up, duration, links, flows, probe, .. } = specification;
    ensure!(warm_up < duration, "warm_up: the measuring window must open before the end");
    for (index, link) in links.iter().enumerate() {
        let misfit = |error| format!("links[{index}] ({}): {error}", specification.ends(link));
        check_link(specification, link).map_err(misfit)?;
    }
    for (index, flow) in flows.iter().enumerate() {
        check_flow(specification, flow).map_err(|error| super::misfit(index, flow, &error))?;
    }
    let queues = links.iter().filter_map(|link| link.queue.as_ref().and_then(|queue| queue.plugin));
    let plugins = specification.plugins.len();
    for plugin in flows.iter().filter_map(|flow| flow.source.plugin).chain(queues) {
        ensure!(plugin < plugins, "plugin {plugin} does not exist; there are {plugins}");
    }
    for interval in [probe.queue_series, probe.flow_series].into_iter().flatten() {
        ensure!(interval > Duration::ZERO, "probe: a sampling interval must be above zero");
    }
    for (key, state, series) in [
        ("queue", probe.queue_state, probe.queue_series.is_some()),
        ("flow", probe.flow_state, probe.flow_series.is_some()),
    ] {
        ensure!(!state || series, "probe.{key}_state: needs {key}_series, whose samples it adds to");
    }
    Ok(())
}

fn check_ends(specification: &Specification, from: usize, to: usize) -> Result<(), String> {
    let nodes = specification.nodes.len();
    ensure!(from < nodes && to < nodes && from != to, "must join two different nodes, numbered below {nodes}");
    Ok(())
}

fn check_link(specification: &Specification, link: &LinkSpecification) -> Result<(), String> {
    check_ends(specification, link.from, link.to)?;
    ensure!(link.rate > Rate(0), "rate must be above zero; a change may set it to zero");
    for loss in link.changes.iter().filter_map(|change| change.loss).chain([link.loss]) {
        check_share("loss", loss)?;
    }
    ensure!(link.changes.is_sorted_by_key(|change| change.at), "changes must be in order of time");
    for repetition in link.changes.iter().filter_map(|change| change.repeat) {
        let least = Duration(specification.duration.0 / MOST_CHANGES).max(Duration(1));
        ensure!(repetition.every >= least, "a change may be made at most {MOST_CHANGES} times");
        let is_ordered = repetition.spread < repetition.every;
        ensure!(is_ordered, "the spread of changes must be less than the time from one to the next");
    }
    let (packets, has_queue) = (link.device_queue, link.queue.is_some());
    ensure!(packets <= LARGEST_DEVICE_QUEUE, "device_queue must be at most {LARGEST_DEVICE_QUEUE} packets");
    ensure!(packets == 0 || has_queue, "device_queue needs a queue to take packets from");
    let header = link.framing.overhead.0.max(link.framing.mpu.0);
    ensure!(header <= LARGEST_HEADER, "overhead and mpu must be at most {LARGEST_HEADER} bytes");
    if let Some(aggregation) = &link.aggregation {
        check_aggregation(link, aggregation)?;
    }
    ensure!(!matches!(&link.drop, Some(LossPattern::Every(0))), "drop every must be at least 1");
    for (key, trace, is_changed) in [
        ("rate", &link.rate_trace, link.changes.iter().any(|change| change.rate.is_some())),
        ("delay", &link.delay_trace, link.changes.iter().any(|change| change.delay.is_some())),
    ] {
        let Some(trace) = trace else { continue };
        ensure!(!is_changed, "{key} has a trace, so changes must not set it");
        if let Some(fault) = trace.fault() {
            return Err(format!("{key}: {fault}"));
        }
    }
    check_impairments(&link.impairments)
}

fn check_flow(specification: &Specification, flow: &FlowSpecification) -> Result<(), String> {
    check_ends(specification, flow.from, flow.to)?;
    let is_possible = flow.size.is_none_or(|size| (1..=LARGEST_SIZE).contains(&size.0));
    ensure!(is_possible, "size must be 1 to {LARGEST_SIZE} bytes");
    let latest_start = flow.start + flow.start_within;
    ensure!(flow.stop.is_none_or(|stop| stop > latest_start), "stop must be after the last start");
    if let Some(arrivals) = &flow.arrivals {
        let is_bare = flow.count == 1 && flow.size.is_none() && flow.start_within == Duration::ZERO;
        ensure!(is_bare, "flows that arrive have no count, size or random start of their own");
        if let ArrivalProcess::Deterministic { phase, .. } = arrivals.process {
            check_share("phase", phase)?;
        }
    }
    let says_size_once = flow.application.is_none() || flow.size.is_none();
    ensure!(says_size_once, "the application says how much is sent, so size must not");
    ensure!(flow.dscp <= LARGEST_CODEPOINT, "dscp must be 0 to {LARGEST_CODEPOINT}");
    let (stack, stacks) = (flow.source.stack, specification.stacks.len());
    ensure!(stack < stacks, "stack {stack} does not exist; there are {stacks}");
    Ok(())
}

fn check_aggregation(link: &LinkSpecification, aggregation: &AggregationSpecification) -> Result<(), String> {
    let AggregationSpecification { packets, access, response, header, response_size, .. } = *aggregation;
    ensure!(link.queue.is_some(), "aggregation needs a queue to take packets from");
    ensure!(link.device_queue == 0, "aggregation and device_queue exclude each other");
    let is_framed = link.framing != Framing::default();
    ensure!(!is_framed, "aggregation has a header of its own, so overhead, mpu and framing must not be set");
    let is_possible = (1..=LARGEST_DEVICE_QUEUE).contains(&packets);
    ensure!(is_possible, "aggregation: packets must be 1 to {LARGEST_DEVICE_QUEUE}");
    let is_short = access.max(response) <= LONGEST_IMPAIRMENT;
    ensure!(is_short, "aggregation: access and response must be at most an hour");
    let is_small = header.0.max(response_size.0) <= LARGEST_HEADER;
    ensure!(is_small, "aggregation: header and response_size must be at most {LARGEST_HEADER} bytes");
    Ok(())
}

fn check_share(name: &str, value: f64) -> Result<(), String> {
    ensure!((0.0..=1.0).contains(&value), "{name} must be 0 to 1");
    Ok(())
}

fn check_impairments(impairments: &Impairments) -> Result<(), String> {
    check_share("bit_error_ratio", impairments.bit_error_ratio)?;
    check_share("duplication", impairments.duplication)?;
    if let Some(model) = impairments.burst_loss {
        check_share("burst_loss.enter", model.enter)?;
        check_share("burst_loss.leave", model.leave)?;
        check_share("burst_loss.inside", model.inside)?;
        check_share("burst_loss.outside", model.outside)?;
    }
    let admits = impairments.policer.is_none_or(|policer| policer.rate > Rate(0) && policer.burst.0 > 0);
    ensure!(admits, "policer: rate and burst must be above zero");
    let mean = impairments.jitter.map_or(Duration::ZERO, |jitter| jitter.mean);
    ensure!(mean.max(impairments.slot) <= LONGEST_IMPAIRMENT, "jitter and slot must be at most an hour");
    Ok(())
}
