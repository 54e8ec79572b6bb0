//! From a plan to the links and flows of a run.

mod flows;
mod hosts;
mod links;

use std::sync::Arc;

use super::flows::Flows;
use super::memory;
use super::plan::Plan;
use crate::agenda::{Agenda, Clock, MOST_SOURCES};
use crate::network::{Drops, Network};
use crate::packet::OptionsPool;
use crate::plugin::{Plugins, Unloaded};
use crate::specification::Specification;
use crate::time::Time;
use links::Links;

/// What a run is built of.
pub(super) struct Built {
    pub network: Network,
    pub flows: Flows,
    /// Of each row; see [`super::long_lived`].
    pub long_lived: Arc<[bool]>,
}

/// Builds the network and the flows.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub(super) fn build(plan: &mut Plan, plugins: &dyn Plugins) -> Result<Built, String> {
    memory::check(plan)?;
    // Not before, because a number is kept for each flow with connections of its own.
    let numbers = plan.numbers()?;
    let clocks = hosts::clocks(plan);
    let flows = flows::build(plan, numbers, &clocks)?;
    let Links { links, long_lived, sources } = links::build(plan, &clocks, plugins)?;
    let own_clocks = clocks.iter().filter(|clock| **clock != Clock::HOSTS).count();
    if sources.len() + own_clocks > MOST_SOURCES {
        return Err(format!("links: a run has at most {MOST_SOURCES} places where packets arrive or wait"));
    }
    let network = Network {
        links,
        routes: std::mem::take(&mut plan.routes),
        drops: Drops::new(flows.rows.len(), flows.numbers.clone()),
        duplicates: 0,
        agenda: Agenda::new(sources, own_clocks),
        options: OptionsPool::default(),
        arrived: Vec::new(),
        horizon: Time::ZERO,
        asked: 0,
        passages: Vec::new(),
    };
    Ok(Built { network, flows, long_lived })
}

/// Checks all that building a run checks, in little memory: of each group one flow is built, as all others are like it. Returns the
/// [bits a second](Plan::carried) that its flows can send.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn check(mut specification: Specification) -> Result<u64, String> {
    let plugins = Unloaded::new(specification.plugins.len());
    let mut plan = Plan::new(&specification, &plugins)?;
    let carried = plan.carried();
    if specification.flows.iter().all(|flow| flow.count <= 1) {
        build(&mut plan, &plugins)?;
        return Ok(carried);
    }
    memory::check(&plan)?;
    plan.numbers()?;
    for flow in &mut specification.flows {
        flow.count = flow.count.min(1);
    }
    build(&mut Plan::new(&specification, &plugins)?, &plugins)?;
    Ok(carried)
}
