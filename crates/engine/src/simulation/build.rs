//! From a specification to the links and flows of a run.

use std::sync::Arc;

use super::arrived::{Flows, Group, Template, overhead};
use super::flow::{Counted, Endpoints, Flow};
use super::ideal::Ideal;
use super::memory::{self, Crowd, DELIVERY_NOTE, Demand, RACK_NOTE, Way};
use super::sessions::Sessions;
use crate::agenda::{Agenda, Due, MOST_SOURCES, Sequence, Source};
use crate::application::Blueprint;
use crate::framing::Framing;
use crate::network::{
    Device, Drops, Egress, FramedQueue, Link, Losses, MeasuredQueue, Network, Policer, RoundTrips, Routes, Special,
    Transmitter, Varying, Wire,
};
use crate::numbers::Numbers;
use crate::packet::OptionsPool;
use crate::plugin::{Plugins, Unloaded};
use crate::probe::{LossEpochs, QueueProbe};
use crate::queue::{Discipline, FlowTable, Outcome, PluginDiscipline, QueueDiscipline};
use crate::random::{Purpose, Random};
use crate::specification::{
    AggregationSpecification, ArrivalProcess, ArrivalSpecification, FlowSpecification, Impairments, LinkChange,
    LinkSpecification, LossPattern, SizeDistribution, Specification,
};
use crate::tcp::congestion::{Algorithm, CongestionControl, Plugin};
use crate::tcp::profile::StackProfile;
use crate::tcp::recovery::RecoveryKind;
use crate::tcp::sender::Address;
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};
use crate::traffic::{self, Setting, Traffic};
use crate::units::Rate;
use crate::workload::{self, Arrivals};

/// What a run is built of.
pub(super) struct Built {
    pub network: Network,
    pub flows: Flows,
    /// Of each group of the specification.
    pub ideals: Vec<Ideal>,
    /// Sources of events.
    pub sources: usize,
}

/// Builds the network and the flows.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub(super) fn build(specification: &Specification, plugins: &dyn Plugins) -> Result<Built, String> {
    check(specification)?;
    let mut builder = Builder::new(specification, plugins);
    let (senders, ways) = builder.plan()?;
    memory::check(specification, &ways, &builder.round_trips)?;
    // Not before, because a number is kept for each flow with connections of its own.
    builder.flows.numbers = Numbers::new(&specification.flows);
    check_numbers(specification, &ways, &builder.flows.numbers)?;
    builder.build_flows(&senders)?;
    let epochs = Epochs::new(specification, &senders, &ways);
    let (links, mut sources) = build_links(&mut builder, &epochs)?;
    add_pacing(&mut builder.flows.fixed, &mut sources);
    let number = sources.len();
    check_sources(number)?;
    let agenda = Agenda::new(sources);
    let network = Network {
        links,
        routes: builder.routes,
        drops: Drops::new(builder.flows.fixed.len(), builder.flows.numbers.clone()),
        duplicates: 0,
        agenda,
        options: OptionsPool::default(),
        passages: Vec::new(),
    };
    Ok(Built { network, flows: builder.flows, ideals: builder.ideals, sources: number })
}

fn check_sources(number: usize) -> Result<(), String> {
    if number > MOST_SOURCES {
        return Err(format!(
            "links: a run has at most {MOST_SOURCES} places where packets arrive or wait, paced flows included"
        ));
    }
    Ok(())
}

/// Checks all that building a run checks, in little memory: of each group one flow is built, as all others are like it.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn check_whole(mut specification: Specification) -> Result<(), String> {
    check(&specification)?;
    let plugins = Unloaded::new(specification.plugins.len());
    let mut builder = Builder::new(&specification, &plugins);
    let (_, ways) = builder.plan()?;
    memory::check(&specification, &ways, &builder.round_trips)?;
    check_numbers(&specification, &ways, &Numbers::new(&specification.flows))?;
    let counts: Vec<u64> = specification.flows.iter().map(|flow| flow.count).collect();
    for flow in &mut specification.flows {
        flow.count = flow.count.min(1);
    }
    let built = build(&specification, &plugins)?;
    let paced = built.flows.fixed.iter().filter(|flow| flow.endpoints.is_paced());
    check_sources(built.sources + paced.map(|flow| counts[flow.group] as usize - 1).sum::<usize>())
}

/// Checks that there are numbers for all connections that arrive: those whose place is taken are left out, at most every second.
fn check_numbers(specification: &Specification, ways: &[Way], numbers: &Numbers) -> Result<(), String> {
    let most = u64::from(numbers.most() / 2);
    for (group, (flow, way)) in specification.flows.iter().zip(ways).enumerate() {
        if flow.arrivals.is_some() && way.crowd.transfers > most {
            let arrive = memory::count(way.crowd.transfers.into());
            let most = memory::count(most.into());
            return Err(misfit(group, flow, &format!("arrivals: about {arrive} connections; at most {most}")));
        }
    }
    Ok(())
}

/// The most a flow may send: sequence numbers stay far from the end of a `u64`.
const LARGEST_SIZE: u64 = 1 << 62;

/// The most that a device may hold, in packets: it is memory set aside.
const LARGEST_DEVICE_QUEUE: u64 = 1_000_000;

/// How often a change is made at most.
const MOST_CHANGES: u64 = 1_000_000;

/// Checks what can be checked before anything is built.
fn check(specification: &Specification) -> Result<(), String> {
    if specification.warm_up >= specification.duration {
        return Err("warm_up: the measuring window must open before the end".to_owned());
    }
    let nodes = specification.nodes.len();
    for (index, link) in specification.links.iter().enumerate() {
        let name = |end: usize| specification.nodes.get(end).map_or("?", String::as_str);
        let place = format!("links[{index}] ({} -> {})", name(link.from), name(link.to));
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
    }
    for (index, flow) in specification.flows.iter().enumerate() {
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

/// What is wrong with a group of flows.
fn misfit(group: usize, flow: &FlowSpecification, error: &str) -> String {
    format!("flows[{group}] ({}): {error}", flow.group)
}

fn has_window(name: &str) -> bool {
    Algorithm::catalogue().iter().any(|(about, _)| about.name == name)
}

/// Names all that may send: those with a window and those with a rate.
fn unknown_source(name: &str) -> String {
    let windows = Algorithm::catalogue().into_iter().map(|(about, _)| about.name);
    let rates = Traffic::catalogue().into_iter().map(|kind| kind.about.name);
    format!("unknown congestion control {name:?}; known: {}", windows.chain(rates).collect::<Vec<_>>().join(", "))
}

/// About how many bytes of memory a run takes at most, its result included.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn memory(specification: &Specification) -> Result<u64, String> {
    check(specification)?;
    let unloaded = Unloaded::new(specification.plugins.len());
    let mut builder = Builder::new(specification, &unloaded);
    let (_, ways) = builder.plan()?;
    Ok(u64::try_from(memory::estimate(specification, &ways, &builder.round_trips)).unwrap_or(u64::MAX))
}

/// The loads of the groups of a specification whose connections arrive by themselves: the slowest link of the path, and the part of its
/// rate, and of sessions that of what clients send on the way back. Of lists of arrivals and of users there is none.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn loads(specification: &Specification) -> Result<Vec<(usize, f64)>, String> {
    check(specification)?;
    let unloaded = Unloaded::new(specification.plugins.len());
    let mut builder = Builder::new(specification, &unloaded);
    let (_, ways) = builder.plan()?;
    let mut loads = Vec::new();
    for ((flow, way), ideal) in specification.flows.iter().zip(&ways).zip(&builder.ideals) {
        let Some(arrivals) = offered(flow)? else { continue };
        loads.extend(slowest(specification, &way.there).zip(workload::load(&arrivals, &ideal.path)?));
        let Some(application) = &flow.application else { continue };
        let requested = Blueprint::new(application)?.extent().requested;
        let segments = requested / ideal.path.segment as f64;
        let bits = 8.0 * (requested + segments * ideal.path.overhead as f64);
        let (ArrivalProcess::Poisson(intensity) | ArrivalProcess::Deterministic { every: intensity, .. }) =
            arrivals.process
        else {
            continue;
        };
        let sessions = workload::flows_a_second(intensity, &arrivals, &ideal.path)?;
        loads.extend(
            slowest(specification, &way.back)
                .map(|link| (link, sessions * bits / specification.links[link].rate.0 as f64)),
        );
    }
    Ok(loads)
}

/// The bits a second that a specification's flows can send together at most: the rates of the links that limit them, each counted
/// once. Of a flow it is the slowest link that its data cross; links that only acknowledgements cross do not count.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn carried(specification: &Specification) -> Result<u64, String> {
    check(specification)?;
    let unloaded = Unloaded::new(specification.plugins.len());
    let mut builder = Builder::new(specification, &unloaded);
    let (_, ways) = builder.plan()?;
    let mut limiting: Vec<usize> = ways.iter().filter_map(|way| slowest(specification, &way.there)).collect();
    limiting.sort_unstable();
    limiting.dedup();
    Ok(limiting.iter().fold(0, |sum, link| sum.saturating_add(specification.links[*link].rate.0)))
}

/// The slowest link of a path.
fn slowest(specification: &Specification, path: &[usize]) -> Option<usize> {
    path.iter().min_by_key(|link| specification.links[**link].rate).copied()
}

/// What sends the data of a group of flows.
enum Sending {
    Window(Algorithm),
    Rate(traffic::Blueprint),
}

struct Builder<'a> {
    specification: &'a Specification,
    plugins: &'a dyn Plugins,
    routes: Routes,
    round_trips: RoundTrips,
    stacks: Vec<StackProfile>,
    flows: Flows,
    ideals: Vec<Ideal>,
}

impl<'a> Builder<'a> {
    fn new(specification: &'a Specification, plugins: &'a dyn Plugins) -> Builder<'a> {
        let round_trips = RoundTrips::new(specification.links.len());
        Builder {
            specification,
            plugins,
            routes: Routes::default(),
            round_trips,
            stacks: Vec::new(),
            flows: Flows::default(),
            ideals: Vec::new(),
        }
    }

    /// What sends, and the path of each group: all that is known of a run before anything of it is built.
    fn plan(&mut self) -> Result<(Vec<Sending>, Vec<Way>), String> {
        self.build_stacks()?;
        let senders = self.senders()?;
        let ways = self.ways(&senders)?;
        Ok((senders, ways))
    }

    fn build_stacks(&mut self) -> Result<(), String> {
        for (index, settings) in self.specification.stacks.iter().enumerate() {
            let profile = StackProfile::from_settings(settings).map_err(|error| format!("stacks[{index}]: {error}"))?;
            self.stacks.push(profile);
        }
        Ok(())
    }

    /// What sends, of each group.
    fn senders(&self) -> Result<Vec<Sending>, String> {
        let of = |(group, flow): (usize, &FlowSpecification)| {
            let source = &flow.source;
            if let Some(plugin) = source.plugin {
                let control = self.plugins.control(plugin, &source.parameters);
                let control = control.map_err(|error| misfit(group, flow, &error))?;
                return Ok(Sending::Window(Algorithm::Plugin(Plugin::new(control, self.plugins.failure()))));
            }
            let blueprint = traffic::Blueprint::of(&source.name, &source.parameters);
            if let Some(blueprint) = blueprint.map_err(|error| misfit(group, flow, &error))? {
                return Ok(Sending::Rate(blueprint));
            }
            if !has_window(&source.name) {
                return Err(misfit(group, flow, &unknown_source(&source.name)));
            }
            let algorithm = Algorithm::new(&source.name, &source.parameters);
            algorithm.map(Sending::Window).map_err(|error| misfit(group, flow, &error))
        };
        self.specification.flows.iter().enumerate().map(of).collect()
    }

    /// The path of each group, and what its flows may have under way.
    fn ways(&mut self, senders: &[Sending]) -> Result<Vec<Way>, String> {
        let groups = self.specification.flows.iter().zip(senders);
        groups.map(|(flow, sending)| self.way(flow, sending)).collect()
    }

    fn way(&mut self, flow: &FlowSpecification, sending: &Sending) -> Result<Way, String> {
        let stack = &self.stacks[flow.source.stack];
        let (segment, packet) = (stack.segment_size.0, stack.segment_size.0 + stack.segment_overhead());
        let (initial, buffer) = (stack.initial_window, stack.send_buffer.min(stack.receive_buffer).0);
        let segments = flow.size.map(|size| size.0.div_ceil(segment) + 1);
        if flow.arrivals.is_some() && !matches!(sending, Sending::Window(_)) {
            return Err(misfit(self.ideals.len(), flow, "arrivals: only flows with a connection arrive"));
        }
        if flow.application.is_some() && !matches!(sending, Sending::Window(_)) {
            return Err(misfit(self.ideals.len(), flow, "application: only flows with a connection have one"));
        }
        let (demand, packet) = match sending {
            Sending::Window(algorithm) => {
                let needs = algorithm.needs();
                let rack = if stack.adapted_to(&needs).recovery == RecoveryKind::Rack { RACK_NOTE } else { 0 };
                let notes = rack + if needs.deliveries { DELIVERY_NOTE } else { 0 };
                let window = buffer / segment + 1;
                let most = Some(segments.map_or(window, |segments| segments.min(window)));
                (Demand::Window { initial, most, notes }, packet)
            }
            Sending::Rate(blueprint) => match blueprint.offered() {
                None => (Demand::Window { initial, most: segments, notes: 0 }, packet),
                Some(offered) => {
                    let most = flow.size.map(|size| size.0.div_ceil(offered.packet.0));
                    (Demand::Rate { burst: offered.burst, average: offered.average.0, most }, offered.packet.0)
                }
            },
        };
        let first_hop = self.path(flow.from, flow.to, flow)?;
        let there: Vec<usize> = self.routes.links_from(first_hop).collect();
        let is_one_way = matches!(sending, Sending::Rate(blueprint) if blueprint.is_one_way());
        let back = if is_one_way { None } else { Some(self.path_back(first_hop, flow)?) };
        let back: Vec<usize> = back.map_or_else(Vec::new, |first_hop| self.routes.links_from(first_hop).collect());
        let ideal = self.ideal(&there, &back, flow, sending);
        let crowd = self.crowd(flow, &ideal).map_err(|error| misfit(self.ideals.len(), flow, &error))?;
        self.ideals.push(ideal);
        Ok(Way { there, back, demand, packet, crowd })
    }

    fn crowd(&self, flow: &FlowSpecification, ideal: &Ideal) -> Result<Crowd, String> {
        let end = self.specification.duration;
        let crowd = match offered(flow)? {
            None => Crowd { open: flow.count, transfers: if flow.size.is_some() { flow.count } else { 0 }, waiting: 0 },
            Some(arrivals) => memory::crowd(&arrivals, ideal, end)?,
        };
        let Some(application) = &flow.application else { return Ok(crowd) };
        let blueprint = Blueprint::new(application)?;
        let extent = blueprint.extent();
        let sessions = if flow.arrivals.is_some() { crowd.transfers } else { flow.count };
        // A message takes half a round trip at least; what does not end has as many rows as the run has time for.
        let most = 2.0 * end.seconds() / ideal.round_trip.seconds().max(1e-6);
        let endless = extent.pace.map_or(most, |pace| end.seconds() / pace.seconds());
        let rows = extent.rows.map_or(endless, |rows| rows.min(most * extent.connections as f64));
        let transfers = (sessions as f64 * rows) as u64;
        // Only these are written whether or not the connection has carried the ones before.
        let waiting = match (&blueprint, extent.pace) {
            (Blueprint::Periodic(_), Some(pace)) => {
                let carried = ideal.path.rate.0 as f64 / 8.0 / extent.bytes.max(1.0);
                (1.0 / pace.seconds() - carried).max(0.0) * end.seconds() * flow.count as f64
            }
            _ => 0.0,
        };
        let open = crowd.open.saturating_mul(2 * extent.connections);
        Ok(Crowd { open, transfers, waiting: waiting as u64 })
    }

    fn ideal(&self, there: &[usize], back: &[usize], flow: &FlowSpecification, sending: &Sending) -> Ideal {
        let links = &self.specification.links;
        let stack = &self.stacks[flow.source.stack];
        let overhead = match sending {
            Sending::Window(algorithm) => stack.adapted_to(&algorithm.needs()).segment_overhead(),
            Sending::Rate(_) => stack.segment_overhead(),
        };
        let delay = |way: &[usize]| way.iter().fold(Duration::ZERO, |sum, link| sum + links[*link].delay);
        Ideal {
            path: workload::Path {
                rate: there.iter().map(|link| links[*link].rate).min().unwrap_or_default(),
                segment: stack.segment_size.0,
                overhead,
                syn: stack.syn_size(),
            },
            round_trip: delay(there) + delay(back),
            there: delay(there),
        }
    }

    /// # Errors
    /// One line if there is no memory for so many.
    fn build_flows(&mut self, senders: &[Sending]) -> Result<(), String> {
        for (group, (flow, sending)) in self.specification.flows.iter().zip(senders).enumerate() {
            let reserved = self.flows.fixed.try_reserve_exact(flow.count as usize);
            reserved.map_err(|_| misfit(group, flow, &format!("no memory for {} flows", flow.count)))?;
            match sending {
                Sending::Rate(blueprint) => self.build_traffic(group, flow, blueprint)?,
                Sending::Window(algorithm) => self.build_connections(group, flow, algorithm)?,
            }
        }
        Ok(())
    }

    /// Flows with a rate-based source.
    fn build_traffic(
        &mut self,
        group: usize,
        flow: &FlowSpecification,
        blueprint: &traffic::Blueprint,
    ) -> Result<(), String> {
        let first_hop = self.path(flow.from, flow.to, flow)?;
        let first_hop_back = if blueprint.is_one_way() { None } else { Some(self.path_back(first_hop, flow)?) };
        let profile = Arc::new(self.stacks[flow.source.stack].clone());
        for _ in 0..flow.count {
            let index = self.flows.fixed.len() as u32;
            let setting = Setting {
                address: Address { flow: index, first_hop },
                return_address: first_hop_back.map(|first_hop| Address { flow: index, first_hop }),
                profile: Arc::clone(&profile),
                size: flow.size.map(|size| size.0),
                seed: self.specification.seed,
            };
            self.add_flow(group, flow, Endpoints::Traffic(blueprint.build(setting)));
        }
        Ok(())
    }

    /// Flows with a window.
    fn build_connections(
        &mut self,
        group: usize,
        flow: &FlowSpecification,
        algorithm: &Algorithm,
    ) -> Result<(), String> {
        let source = &flow.source;
        let first_hop = self.path(flow.from, flow.to, flow)?;
        let first_hop_back = self.path_back(first_hop, flow)?;
        let template = Template {
            profile: Arc::new(self.stacks[source.stack].adapted_to(&algorithm.needs())),
            algorithm: algorithm.clone(),
            slow_start: source.slow_start.clone(),
            there: first_hop,
            back: first_hop_back,
            seed: self.specification.seed,
            overhead: self.overhead_limit(flow),
            group,
        };
        let given = offered(flow).map_err(|error| misfit(group, flow, &error))?;
        if given.is_some() || flow.application.is_some() {
            return self
                .build_arrivals(group, flow, given.as_ref(), &template)
                .map_err(|error| misfit(group, flow, &error));
        }
        let size = flow.size.map(|size| size.0);
        for _ in 0..flow.count {
            let number = self.flows.fixed.len() as u32;
            self.add_flow(group, flow, Endpoints::Tcp(template.connection(number, size)));
        }
        Ok(())
    }

    /// Flows whose connections arrive, or are those of sessions.
    fn build_arrivals(
        &mut self,
        group: usize,
        flow: &FlowSpecification,
        given: Option<&ArrivalSpecification>,
        template: &Template,
    ) -> Result<(), String> {
        let (seed, path) = (self.specification.seed, self.ideals[group].path);
        let blueprint = flow.application.as_ref().map(Blueprint::new).transpose()?;
        for _ in 0..flow.count {
            let start = start(seed, self.flows.fixed.len() as u64, flow);
            let arrivals = match given {
                Some(given) => Arrivals::new(given, start, &path, seed, group as u64)?,
                None => Arrivals::once(start),
            };
            let sessions = blueprint.clone().map(Sessions::new);
            self.flows.groups.push(Group::new(template.clone(), arrivals, sessions));
            self.add_flow(group, flow, Endpoints::Arrivals);
        }
        Ok(())
    }

    fn path(&mut self, from: usize, to: usize, flow: &FlowSpecification) -> Result<u32, String> {
        let specification = self.specification;
        self.routes.path(from, to, specification.nodes.len(), &specification.links).ok_or_else(|| {
            let name = |node: usize| &specification.nodes[node];
            let (origin, target) = (name(flow.from), name(flow.to));
            format!("flows from {origin:?} to {target:?}: no route from {:?} to {:?}", name(from), name(to))
        })
    }

    /// Where the answers' path begins, after that of the packets.
    fn path_back(&mut self, first_hop: u32, flow: &FlowSpecification) -> Result<u32, String> {
        let first_hop_back = self.path(flow.to, flow.from, flow)?;
        let crossed: Vec<usize> =
            self.routes.links_from(first_hop).chain(self.routes.links_from(first_hop_back)).collect();
        self.round_trips.add(&crossed, &self.specification.links);
        Ok(first_hop_back)
    }

    /// The upper bound of the random time that a flow's sender takes over a packet.
    fn overhead_limit(&self, flow: &FlowSpecification) -> Duration {
        if self.stacks[flow.source.stack].random_overhead { self.specification.sender_overhead } else { Duration::ZERO }
    }

    fn add_flow(&mut self, group: usize, flow: &FlowSpecification, endpoints: Endpoints) {
        let index = self.flows.fixed.len() as u64;
        let seed = self.specification.seed;
        let overhead = overhead(self.overhead_limit(flow), seed, index as u32);
        self.flows.fixed.push(Flow {
            endpoints,
            retransmission_armed: Time::NEVER,
            pacing: Source::NONE,
            pacing_armed: Time::NEVER,
            delayed_ack_armed: Time::NEVER,
            before_window: Counted::default(),
            group,
            start: start(seed, index, flow),
            stop: flow.stop.unwrap_or(Time::NEVER),
            is_stopped: false,
            overhead,
            owner: None,
        });
    }
}

/// The arrivals of a group of flows, if it has any: those of sessions with the mean of what the server sends in one, which the load is
/// of.
fn offered(flow: &FlowSpecification) -> Result<Option<ArrivalSpecification>, String> {
    let Some(arrivals) = &flow.arrivals else { return Ok(None) };
    let Some(application) = &flow.application else { return Ok(Some(arrivals.clone())) };
    let bytes = Blueprint::new(application)?.extent().bytes.clamp(1.0, MOST_DRAWN);
    Ok(Some(ArrivalSpecification { sizes: Some(SizeDistribution::Fixed(bytes as u64)), ..arrivals.clone() }))
}

/// The greatest size of a distribution.
const MOST_DRAWN: f64 = (1u64 << 53) as f64;

/// When a flow starts, of this index among all flows of the run.
fn start(seed: u64, index: u64, flow: &FlowSpecification) -> Time {
    flow.start + Random::stream(seed, Purpose::FlowStart, index).below(flow.start_within)
}

/// When each flow of a run starts.
pub fn flow_starts(specification: &Specification) -> Vec<Time> {
    let groups = specification.flows.iter();
    groups
        .flat_map(|flow| (0..flow.count).map(move |_| flow))
        .zip(0..)
        .map(|(flow, index)| start(specification.seed, index, flow))
        .collect()
}

/// What congestion epochs are found from: the long-lived flows, which want as much as they can get for the whole measuring
/// window. One that starts before a tenth of it has passed counts, as in Jain's index.
struct Epochs {
    long_lived: Arc<[bool]>,
    /// How many of them cross each link.
    crossing: Vec<u64>,
}

impl Epochs {
    fn new(specification: &Specification, senders: &[Sending], ways: &[Way]) -> Epochs {
        let latest = specification.warm_up + Duration(specification.duration.since(specification.warm_up).0 / 10);
        let mut long_lived = Vec::new();
        let mut crossing = vec![0; specification.links.len()];
        for ((flow, sending), way) in specification.flows.iter().zip(senders).zip(ways) {
            let wants_more = match sending {
                Sending::Window(_) => true,
                Sending::Rate(blueprint) => blueprint.offered().is_none(),
            };
            let is_there = flow.size.is_none()
                && flow.arrivals.is_none()
                && flow.application.is_none()
                && flow.stop.is_none()
                && flow.start + flow.start_within <= latest;
            long_lived.extend(std::iter::repeat_n(wants_more && is_there, flow.count as usize));
            if wants_more && is_there {
                way.there.iter().for_each(|link| crossing[*link] += flow.count);
            }
        }
        Epochs { long_lived: long_lived.into(), crossing }
    }

    /// Those at a link; none if no long-lived flow crosses it.
    fn of(&self, link: usize, rate: Rate, base: Option<Duration>) -> Option<LossEpochs> {
        let crossing = self.crossing[link];
        (crossing > 0).then(|| LossEpochs::new(base.unwrap_or_default(), rate, Arc::clone(&self.long_lived), crossing))
    }
}

/// The links, and the sources of events that they are.
fn build_links(builder: &mut Builder, epochs: &Epochs) -> Result<(Vec<Link>, Vec<Due>), String> {
    let Builder { specification, plugins, routes, round_trips, .. } = builder;
    let links = &specification.links;
    routes.find_followers(|index, feeder| {
        let link = &links[index as usize];
        link.queue.is_none() && link.is_plain() && !links[feeder as usize].reorders()
    });
    let with_arrivals = routes.links_with_arrivals();
    let mut sources = Vec::new();
    let mut source = |due| {
        sources.push(due);
        Source(sources.len() as u32 - 1)
    };
    let mut built = Vec::new();
    let flows = Arc::new(FlowTable::new(&specification.flows));
    for (index, link) in links.iter().enumerate() {
        let link = link.with_all_changes(specification.seed, specification.duration);
        let link = link.as_ref();
        let egress = match &link.queue {
            None => Egress::Unlimited,
            Some(queue) => {
                let name = |node: usize| &specification.nodes[node];
                let misfit = |error| format!("queue {} -> {}: {error}", name(link.from), name(link.to));
                let limit = queue.limit.map(|limit| round_trips.limit(index, link.rate, limit)).transpose();
                let limit = limit.map_err(misfit)?;
                let discipline = match queue.plugin {
                    None => Discipline::new(&queue.name, limit, &queue.parameters),
                    Some(plugin) => plugins
                        .queue(plugin, &queue.parameters)
                        .and_then(|queue| PluginDiscipline::new(queue, plugins.failure(), limit))
                        .map(Discipline::Plugin),
                };
                let mut discipline = discipline.map_err(misfit)?;
                discipline.set_link_rate(link.rate);
                discipline.set_flows(&flows).map_err(misfit)?;
                let queue = MeasuredQueue {
                    holds_back: discipline.holds_back(),
                    discipline,
                    random: Random::stream(specification.seed, Purpose::Queue, index as u64),
                    outcome: Outcome::default(),
                    probe: specification
                        .probe
                        .queue_statistics
                        .then(|| QueueProbe::new(epochs.of(index, link.rate, round_trips.over(index)))),
                    rate_changes: rate_changes(link).filter(|(_, rate)| *rate > Rate(0)).rev().collect(),
                    device: Device::new(link.device_queue),
                    room: source(Due::DeviceHasRoom(index as u32)),
                    asks: false,
                    filled: Sequence::FIRST,
                };
                match link.aggregation {
                    None => Egress::Queue(Box::new(queue)),
                    Some(aggregation) => Egress::Frames(Box::new(FramedQueue::new(queue, aggregation))),
                }
            }
        };
        let arrivals =
            if with_arrivals.contains(&(index as u32)) { source(Due::Arrival(index as u32)) } else { Source::NONE };
        let transmitter = match &link.rate_trace {
            None => Transmitter::new(link.rate, rate_changes(link), link.framing),
            Some(trace) => {
                let rates = trace.changes(specification.duration);
                Transmitter::new(
                    Rate(trace.first()),
                    rates.iter().map(|(time, rate)| (*time, Rate(*rate))),
                    link.framing,
                )
            }
        };
        let delay = match &link.delay_trace {
            None => Varying::new(link.delay, changes(link, |change| change.delay)),
            Some(trace) => {
                let delays = trace.changes(specification.duration);
                Varying::new(Duration(trace.first()), delays.iter().map(|(time, delay)| (*time, Duration(*delay))))
            }
        };
        let special = (!link.is_plain()).then(|| {
            let ratio = Varying::new(link.loss, changes(link, |change| change.loss));
            let random = Random::stream(specification.seed, Purpose::Loss, index as u64);
            Box::new(Special {
                policer: link.impairments.policer.map(Policer::new),
                losses: Some(Losses::new(link.drop.clone(), ratio, random)),
                wire: Some(Wire::new(&link.impairments, specification.seed, index as u64)),
                ..Special::default()
            })
        });
        built.push(Link::new(transmitter, delay, egress, special, arrivals));
    }
    Ok((built, sources))
}

/// The changes of one property of a link, and when.
fn changes<T>(
    link: &LinkSpecification,
    property: impl Fn(&LinkChange) -> Option<T> + Clone,
) -> impl DoubleEndedIterator<Item = (Time, T)> + Clone {
    link.changes.iter().filter_map(move |change| property(change).map(|value| (change.at, value)))
}

fn rate_changes(link: &LinkSpecification) -> impl DoubleEndedIterator<Item = (Time, Rate)> + Clone {
    changes(link, |change| change.rate)
}

/// Gives each flow that is paced, or keeps to a rate, its source of events.
fn add_pacing(flows: &mut [Flow], sources: &mut Vec<Due>) {
    for (index, flow) in flows.iter_mut().enumerate() {
        if flow.endpoints.is_paced() {
            flow.pacing = Source(sources.len() as u32);
            sources.push(Due::Pacing(index as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use super::*;
    use crate::simulation::Simulation;

    /// On random meshes the base round-trip time over the links of a flow's route is the minimum RTT that the flow
    /// measures. The transmission of a full packet over ten hops adds 1.2 us.
    #[test]
    fn base_round_trip_time() {
        let mut random = Random::stream(1, Purpose::Source, 0);
        for _ in 0..20 {
            let pairs = (0..6).flat_map(|from| (from + 1..6).map(move |to| (from, to)));
            let links: Vec<_> = pairs
                .filter(|pair| random.unit() < 0.6 || *pair == (0, 5))
                .collect::<Vec<_>>()
                .into_iter()
                .flat_map(|(from, to)| {
                    let delay = if (from, to) == (0, 5) { 1_100 } else { 1 + random.index(999) } * 1_000_000;
                    [(from, to), (to, from)].map(|(from, to)| {
                        json!({"from": from, "to": to, "rate": 100_000_000_000u64, "delay": delay, "queue": null, "drop": null})
                    })
                })
                .collect();
            let specification: Specification = serde_json::from_value(json!({
                "seed": 1, "duration": 1_000_000_000_000u64, "warm_up": 0, "sender_overhead": 0,
                "nodes": ["a", "b", "c", "d", "e", "f"], "links": links, "stacks": [{}],
                "flows": [{
                    "count": 1, "from": 0, "to": 5, "group": "a-f", "start": 0, "start_within": 0, "size": 10_000,
                    "source": {"name": "cubic", "slow_start": "standard", "stack": 0},
                }],
                "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
            }))
            .expect("well formed");
            let unloaded = Unloaded::default();
            let mut builder = Builder::new(&specification, &unloaded);
            builder.build_stacks().expect("valid");
            let senders = builder.senders().expect("valid");
            builder.ways(&senders).expect("valid");
            builder.build_flows(&senders).expect("valid");
            let crossed: Vec<Duration> = (0..links.len()).filter_map(|link| builder.round_trips.over(link)).collect();
            let base = crossed[0];
            assert!(crossed.iter().all(|round_trip| *round_trip == base), "one flow has one: {crossed:?}");
            let simulation = Simulation::new(&specification).expect("valid");
            let result = simulation.run(&AtomicBool::new(false)).expect("nobody cancels");
            let measured = result.flows[0].tcp.as_ref().expect("a TCP flow").statistics.min_rtt;
            assert!((base..=base + Duration::from_microseconds(2)).contains(&measured), "{measured:?}, base {base:?}");
        }
    }
}
