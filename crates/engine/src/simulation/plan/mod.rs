//! What is known of a run before anything of it is built: what sends, on which paths, and how many flows there are. The run itself,
//! its memory and its loads start from it.

mod check;
mod crowd;
mod demand;
mod foresight;
mod ways;

use std::borrow::Cow;
use std::sync::Arc;

use super::amounts::count;
use super::ideal::Ideal;
use crate::application;
use crate::network::{RoundTrips, Routes};
use crate::numbers::Numbers;
use crate::plugin::{Plugins, Unloaded};
use crate::random::{Purpose, Random};
use crate::specification::{
    ArrivalSpecification, FlowSpecification, SizeDistribution, SourceSpecification, Specification,
};
use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::profile::StackProfile;
use crate::time::Time;
use crate::traffic::{self, Traffic};

use crowd::Crowd;
use ways::{Way, Ways};

pub use demand::{carried, loads, long_lived};
pub(super) use foresight::is_foreseen;
pub(super) use ways::limits;
pub use ways::{Layout, base_round_trips, layout};

/// See the module.
pub(super) struct Plan<'a> {
    pub specification: &'a Specification,
    pub routes: Routes,
    pub round_trips: RoundTrips,
    pub groups: Vec<Planned<'a>>,
}

/// A group of flows of the specification.
pub(super) struct Planned<'a> {
    /// Its index.
    pub index: usize,
    pub flow: &'a FlowSpecification,
    pub sending: Sending,
    /// Its stack, with what its congestion control needs.
    pub stack: Arc<StackProfile>,
    pub way: Way,
    pub ideal: Ideal,
    /// How its connections arrive, if they do: sessions with the mean of what the server sends in one, which the load is of.
    pub arrivals: Option<Cow<'a, ArrivalSpecification>>,
    pub application: Option<application::Blueprint>,
    pub crowd: Crowd,
}

/// What sends the data of a group of flows.
pub(super) enum Sending {
    Window(Algorithm),
    Rate(traffic::Blueprint),
}

impl<'a> Plan<'a> {
    /// # Errors
    /// One line that says what in the specification is wrong and what is allowed.
    pub fn new(specification: &'a Specification, plugins: &dyn Plugins) -> Result<Plan<'a>, String> {
        check::check(specification)?;
        let stack = |(index, settings)| {
            StackProfile::from_settings(settings).map_err(|error| format!("stacks[{index}]: {error}"))
        };
        let stacks: Vec<StackProfile> = specification.stacks.iter().enumerate().map(stack).collect::<Result<_, _>>()?;
        let flows = || specification.flows.iter().enumerate();
        let sending = flows().map(|(index, flow)| sending(flow, plugins).map_err(|error| misfit(index, flow, &error)));
        let sending: Vec<Sending> = sending.collect::<Result<_, _>>()?;
        let Ways { routes, round_trips, ways } = Ways::new(specification)?;
        let planned = flows().zip(sending.into_iter().zip(ways)).map(|((index, flow), (sending, way))| {
            Planned::new(specification, index, &stacks[flow.source.stack], sending, way)
                .map_err(|error| misfit(index, flow, &error))
        });
        Ok(Plan { specification, groups: planned.collect::<Result<_, _>>()?, routes, round_trips })
    }

    /// The plan of a run that is not carried out.
    ///
    /// # Errors
    /// As of [`Plan::new`].
    pub fn without_plugins(specification: &'a Specification) -> Result<Plan<'a>, String> {
        Plan::new(specification, &Unloaded::new(specification.plugins.len()))
    }

    /// The numbers of the flows.
    ///
    /// # Errors
    /// One line if there are too few for all connections that arrive: numbers whose slot is taken are skipped, at most half of them.
    pub fn numbers(&self) -> Result<Numbers, String> {
        let numbers = Numbers::new(&self.specification.flow_groups());
        let most = u64::from(numbers.most() / 2);
        for group in &self.groups {
            if group.arrivals.is_some() && group.crowd.transfers > most {
                let (arrive, most) = (count(group.crowd.transfers.into()), count(most.into()));
                return Err(group.misfit(&format!("arrivals: about {arrive} connections; at most {most}")));
            }
        }
        Ok(numbers)
    }
}

impl<'a> Planned<'a> {
    fn new(
        specification: &'a Specification,
        index: usize,
        given: &StackProfile,
        sending: Sending,
        way: Way,
    ) -> Result<Planned<'a>, String> {
        let flow = &specification.flows[index];
        let stack = match &sending {
            Sending::Window(algorithm) => given.adapted_to(&algorithm.needs()),
            Sending::Rate(_) if flow.arrivals.is_some() => {
                return Err("arrivals: only flows with a connection arrive".to_owned());
            }
            Sending::Rate(_) if flow.application.is_some() => {
                return Err("application: only flows with a connection have one".to_owned());
            }
            Sending::Rate(_) => given.clone(),
        };
        let application = flow.application.as_ref().map(application::Blueprint::new).transpose()?;
        let arrivals = flow.arrivals.as_ref().map(|arrivals| match &application {
            None => Cow::Borrowed(arrivals),
            Some(application) => {
                let bytes = application.extent().bytes.clamp(1.0, MOST_DRAWN);
                let sizes = Some(SizeDistribution::Fixed(bytes as u64));
                Cow::Owned(ArrivalSpecification { sizes, ..arrivals.clone() })
            }
        });
        let ideal = Ideal::new(&specification.links, &way.there, &way.back, &stack, given.syn_size());
        let crowd = Crowd::new(flow, arrivals.as_deref(), application.as_ref(), &ideal, specification.duration)?;
        Ok(Planned { index, flow, sending, stack: Arc::new(stack), way, ideal, arrivals, application, crowd })
    }

    /// What is wrong with it.
    pub fn misfit(&self, error: &str) -> String {
        misfit(self.index, self.flow, error)
    }
}

/// What is wrong with a group of flows.
fn misfit(index: usize, flow: &FlowSpecification, error: &str) -> String {
    format!("flows[{index}] ({}): {error}", flow.group)
}

fn sending(flow: &FlowSpecification, plugins: &dyn Plugins) -> Result<Sending, String> {
    let SourceSpecification { name, parameters, plugin, .. } = &flow.source;
    if let Some(blueprint) = rate_based(flow)? {
        return Ok(Sending::Rate(blueprint));
    }
    if plugin.is_none() && !Algorithm::is_known(name) {
        return Err(unknown_source(name));
    }
    plugins.algorithm(*plugin, name, parameters).map(Sending::Window)
}

/// The source of a group of flows, if it keeps to a rate.
fn rate_based(flow: &FlowSpecification) -> Result<Option<traffic::Blueprint>, String> {
    if flow.source.plugin.is_some() {
        return Ok(None);
    }
    traffic::Blueprint::of(&flow.source.name, &flow.source.parameters)
}

/// Names all that may send: those with a window and those with a rate.
fn unknown_source(name: &str) -> String {
    let windows = Algorithm::catalogue().into_iter().map(|(about, _)| about.name);
    let rates = Traffic::catalogue().into_iter().map(|kind| kind.about.name);
    format!("unknown congestion control {name:?}; known: {}", windows.chain(rates).collect::<Vec<_>>().join(", "))
}

/// The greatest size of a distribution.
const MOST_DRAWN: f64 = (1u64 << 53) as f64;

/// When a flow starts, of this index among all flows of the run.
pub(super) fn start(seed: u64, index: u64, flow: &FlowSpecification) -> Time {
    flow.start + Random::stream(seed, Purpose::FlowStart, index).below(flow.start_within)
}

/// When each flow of a run starts.
pub fn flow_starts(specification: &Specification) -> Vec<Time> {
    let rows = specification.flows.iter().flat_map(|flow| (0..flow.count).map(move |_| flow));
    rows.zip(0..).map(|(flow, index)| start(specification.seed, index, flow)).collect()
}
