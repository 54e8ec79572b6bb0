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

/// Checks what can be checked before anything is built.
pub fn check(specification: &Specification) -> Result<(), String> {
    if specification.warm_up >= specification.duration {
        return Err("warm_up: the measuring window must open before the end".to_owned());
    }
    for (index, link) in specification.links.iter().enumerate() {
        check_link(specification, index, link)?;
    }
    for (index, flow) in specification.flows.iter().enumerate() {
        check_flow(specification, index, flow)?;
    }
    let queues = specification.links.iter().filter_map(|link| link.queue.as_ref().and_then(|queue| queue.plugin));
    let plugins = specification.plugins.len();
    for plugin in specification.flows.iter().filter_map(|flow| flow.source.plugin).chain(queues) {
        if plugin >= plugins {
            return Err(format!("plugin {plugin} does not exist; there are {plugins}"));
        }
    }
    for interval in [specification.probe.queue_series, specification.probe.flow_series].into_iter().flatten() {
        if interval == Duration::ZERO {
            return Err("probe: a sampling interval must be above zero".to_owned());
        }
    }
    Ok(())
}

fn check_link(specification: &Specification, index: usize, link: &LinkSpecification) -> Result<(), String> {
    let nodes = specification.nodes.len();
    let place = format!("links[{index}] ({})", specification.ends(link));
    if link.from >= nodes || link.to >= nodes || link.from == link.to {
        return Err(format!("{place}: must join two different nodes, numbered below {nodes}"));
    }
    if link.rate == Rate(0) {
        return Err(format!("{place}: rate must be above zero; a change may set it to zero"));
    }
    let mut losses = link.changes.iter().filter_map(|change| change.loss).chain([link.loss]);
    if !losses.all(|loss| (0.0..=1.0).contains(&loss)) {
        return Err(format!("{place}: loss must be 0 to 1"));
    }
    if !link.changes.is_sorted_by_key(|change| change.at) {
        return Err(format!("{place}: changes must be in order of time"));
    }
    for repetition in link.changes.iter().filter_map(|change| change.repeat) {
        if repetition.every.0 < specification.duration.0 / MOST_CHANGES || repetition.every == Duration::ZERO {
            return Err(format!("{place}: a change may be made at most {MOST_CHANGES} times"));
        }
        if repetition.spread >= repetition.every {
            return Err(format!("{place}: the spread of changes must be less than the time from one to the next"));
        }
    }
    if link.device_queue > LARGEST_DEVICE_QUEUE {
        return Err(format!("{place}: device_queue must be at most {LARGEST_DEVICE_QUEUE} packets"));
    }
    if link.device_queue > 0 && link.queue.is_none() {
        return Err(format!("{place}: device_queue needs a queue to take packets from"));
    }
    if link.framing.overhead.0.max(link.framing.mpu.0) > LARGEST_HEADER {
        return Err(format!("{place}: overhead and mpu must be at most {LARGEST_HEADER} bytes"));
    }
    if let Some(aggregation) = &link.aggregation {
        check_aggregation(link, aggregation).map_err(|error| format!("{place}: {error}"))?;
    }
    if matches!(&link.drop, Some(LossPattern::Every(0))) {
        return Err(format!("{place}: drop every must be at least 1"));
    }
    for (key, trace, is_changed) in [
        ("rate", &link.rate_trace, link.changes.iter().any(|change| change.rate.is_some())),
        ("delay", &link.delay_trace, link.changes.iter().any(|change| change.delay.is_some())),
    ] {
        let Some(trace) = trace else { continue };
        if is_changed {
            return Err(format!("{place}: {key} has a trace, so changes must not set it"));
        }
        if let Some(fault) = trace.fault() {
            return Err(format!("{place}: {key}: {fault}"));
        }
    }
    check_impairments(&link.impairments).map_err(|error| format!("{place}: {error}"))?;
    Ok(())
}

fn check_flow(specification: &Specification, index: usize, flow: &FlowSpecification) -> Result<(), String> {
    let nodes = specification.nodes.len();
    let place = format!("flows[{index}] ({})", flow.group);
    if flow.from >= nodes || flow.to >= nodes || flow.from == flow.to {
        return Err(format!("{place}: must join two different nodes, numbered below {nodes}"));
    }
    if flow.size.is_some_and(|size| size.0 == 0 || size.0 > LARGEST_SIZE) {
        return Err(format!("{place}: size must be 1 to {LARGEST_SIZE} bytes"));
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start + flow.start_within) {
        return Err(format!("{place}: stop must be after the last start"));
    }
    if let Some(arrivals) = &flow.arrivals {
        if flow.count != 1 || flow.size.is_some() || flow.start_within > Duration::ZERO {
            return Err(format!("{place}: flows that arrive have no count, size or random start of their own"));
        }
        if let ArrivalProcess::Deterministic { phase, .. } = arrivals.process
            && !(0.0..=1.0).contains(&phase)
        {
            return Err(format!("{place}: phase must be 0 to 1"));
        }
    }
    if flow.application.is_some() && flow.size.is_some() {
        return Err(format!("{place}: the application says how much is sent, so size must not"));
    }
    if flow.dscp > LARGEST_CODEPOINT {
        return Err(format!("{place}: dscp must be 0 to {LARGEST_CODEPOINT}"));
    }
    let (stack, stacks) = (flow.source.stack, specification.stacks.len());
    if stack >= stacks {
        return Err(format!("{place}: stack {stack} does not exist; there are {stacks}"));
    }
    Ok(())
}

fn check_aggregation(link: &LinkSpecification, aggregation: &AggregationSpecification) -> Result<(), String> {
    if link.queue.is_none() {
        return Err("aggregation needs a queue to take packets from".to_owned());
    }
    if link.device_queue > 0 {
        return Err("aggregation and device_queue exclude each other".to_owned());
    }
    if link.framing != Framing::default() {
        return Err("aggregation has a header of its own, so overhead, mpu and framing must not be set".to_owned());
    }
    if aggregation.packets == 0 || aggregation.packets > LARGEST_DEVICE_QUEUE {
        return Err(format!("aggregation: packets must be 1 to {LARGEST_DEVICE_QUEUE}"));
    }
    if aggregation.access.max(aggregation.response) > LONGEST_IMPAIRMENT {
        return Err("aggregation: access and response must be at most an hour".to_owned());
    }
    if aggregation.header.0.max(aggregation.response_size.0) > LARGEST_HEADER {
        return Err(format!("aggregation: header and response_size must be at most {LARGEST_HEADER} bytes"));
    }
    Ok(())
}

/// The most that a frame adds to a packet, in bytes, so that both together have a size of a packet.
const LARGEST_HEADER: u64 = 500;

/// The field has six bits (RFC 2474 section 3).
const LARGEST_CODEPOINT: u8 = 63;

/// The longest mean of a random delay, and the longest slot: an hour.
const LONGEST_IMPAIRMENT: Duration = Duration(3_600 * PICOSECONDS_PER_SECOND);

fn check_impairments(impairments: &Impairments) -> Result<(), String> {
    let share = |name: &str, value: f64| {
        let is_share = (0.0..=1.0).contains(&value);
        if is_share { Ok(()) } else { Err(format!("{name} must be 0 to 1")) }
    };
    share("bit_error_ratio", impairments.bit_error_ratio)?;
    share("duplication", impairments.duplication)?;
    if let Some(model) = impairments.burst_loss {
        share("burst_loss.enter", model.enter)?;
        share("burst_loss.leave", model.leave)?;
        share("burst_loss.inside", model.inside)?;
        share("burst_loss.outside", model.outside)?;
    }
    if impairments.policer.is_some_and(|policer| policer.rate == Rate(0) || policer.burst.0 == 0) {
        return Err("policer: rate and burst must be above zero".to_owned());
    }
    let mean = impairments.jitter.map_or(Duration::ZERO, |jitter| jitter.mean);
    if mean.max(impairments.slot) > LONGEST_IMPAIRMENT {
        return Err("jitter and slot must be at most an hour".to_owned());
    }
    Ok(())
}
