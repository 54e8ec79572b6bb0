//! From a specification to the links and flows of a run.

mod check;
mod layout;
mod links;
mod loads;

use std::sync::Arc;

use super::arrived::{Flows, Group, Row, Template, overhead};
use super::flow::{Counted, Endpoints, Flow};
use super::ideal::Ideal;
use super::memory::{self, Crowd, DELIVERY_NOTE, Demand, RACK_NOTE, Way};
use super::sessions::Sessions;
use crate::agenda::{Agenda, MOST_SOURCES, Source};
use crate::application::Blueprint;
use crate::network::{Drops, Network, RoundTrips, Routes};
use crate::numbers::Numbers;
use crate::packet::OptionsPool;
use crate::plugin::{Plugins, Unloaded};
use crate::random::{Purpose, Random};
use crate::specification::{ArrivalSpecification, FlowSpecification, SizeDistribution, Specification};
use crate::tcp::congestion::{Algorithm, CongestionControl, Plugin};
use crate::tcp::profile::StackProfile;
use crate::tcp::recovery::RecoveryKind;
use crate::tcp::sender::Address;
use crate::time::{Duration, Time};
use crate::traffic::{self, SourceSetup, Traffic};
use crate::workload::{self, Arrivals};
use check::check;
use links::{Epochs, add_pacing, build_links};

pub use layout::{Layout, layout};
pub use links::long_lived;
pub use loads::{carried, loads};

/// What a run is built of.
pub(super) struct Built {
    pub network: Network,
    pub flows: Flows,
    /// Of each group of the specification.
    pub ideals: Vec<Ideal>,
    /// Of each flow; see [`long_lived`].
    pub long_lived: Arc<[bool]>,
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
    builder.flows.numbers = Numbers::new(&specification.flow_groups());
    check_numbers(specification, &ways, &builder.flows.numbers)?;
    builder.build_flows(&senders)?;
    let epochs = Epochs::new(specification, &ways);
    let (links, mut sources) = build_links(&mut builder, &epochs)?;
    add_pacing(&mut builder.flows.rows, &mut sources);
    let number = sources.len();
    check_sources(number)?;
    let agenda = Agenda::new(sources);
    let network = Network {
        links,
        routes: builder.routes,
        drops: Drops::new(builder.flows.rows.len(), builder.flows.numbers.clone()),
        duplicates: 0,
        agenda,
        options: OptionsPool::default(),
        passages: Vec::new(),
    };
    Ok(Built { network, flows: builder.flows, ideals: builder.ideals, long_lived: epochs.long_lived, sources: number })
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
    check_numbers(&specification, &ways, &Numbers::new(&specification.flow_groups()))?;
    let counts: Vec<u64> = specification.flows.iter().map(|flow| flow.count).collect();
    for flow in &mut specification.flows {
        flow.count = flow.count.min(1);
    }
    let built = build(&specification, &plugins)?;
    let paced = built.flows.fixed().filter(|(_, flow)| flow.endpoints.is_paced());
    check_sources(built.sources + paced.map(|(_, flow)| counts[flow.group] as usize - 1).sum::<usize>())
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
            path: workload::SlowestLink {
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
            let reserved = self.flows.rows.try_reserve_exact(flow.count as usize);
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
            let index = self.flows.rows.len() as u32;
            let setting = SourceSetup {
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
            let number = self.flows.rows.len() as u32;
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
            let start = start(seed, self.flows.rows.len() as u64, flow);
            let arrivals = match given {
                Some(given) => Arrivals::new(given, start, &path, seed, group as u64)?,
                None => Arrivals::once(start),
            };
            let sessions = blueprint.clone().map(Sessions::new);
            let stop = flow.stop.unwrap_or(Time::NEVER);
            self.flows.rows.push(Row::Group(self.flows.groups.len()));
            self.flows.groups.push(Group::new(template.clone(), start, stop, arrivals, sessions));
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
        let index = self.flows.rows.len() as u64;
        let seed = self.specification.seed;
        let overhead = overhead(self.overhead_limit(flow), seed, index as u32);
        self.flows.rows.push(Row::Flow(Flow {
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
        }));
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
