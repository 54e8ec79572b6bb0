//! The paths of the flows of a specification, and what follows of their delays.

use super::{check::check, misfit, rate_based};
use crate::network::{RoundTrips, Routes, delay_over};
use crate::queue::Limit;
use crate::specification::{LinkSpecification, Specification};
use crate::time::Duration;

/// The paths of all groups of flows.
pub struct Ways {
    pub routes: Routes,
    pub round_trips: RoundTrips,
    pub ways: Vec<Way>,
}

/// The paths of a group of flows.
pub struct Way {
    /// Where they begin in the table of hops; none back if nothing comes back.
    pub first_hop: u32,
    pub first_hop_back: Option<u32>,
    /// The links that they cross.
    pub there: Vec<usize>,
    pub back: Vec<usize>,
}

impl Ways {
    /// # Errors
    /// One line if there is no route.
    pub fn new(specification: &Specification) -> Result<Ways, String> {
        let Specification { nodes, links, .. } = specification;
        let (mut routes, mut round_trips) = (Routes::default(), RoundTrips::new(links.len()));
        let mut ways = Vec::new();
        for (index, flow) in specification.flows.iter().enumerate() {
            let mut path = |from: usize, to: usize| {
                routes.path(from, to, nodes.len(), links).ok_or_else(|| {
                    let (origin, target) = (&nodes[flow.from], &nodes[flow.to]);
                    format!("flows from {origin:?} to {target:?}: no route from {:?} to {:?}", nodes[from], nodes[to])
                })
            };
            let first_hop = path(flow.from, flow.to)?;
            let rate_based = rate_based(flow).map_err(|error| misfit(index, flow, &error))?;
            let is_one_way = rate_based.is_some_and(|source| source.is_one_way());
            let first_hop_back = if is_one_way { None } else { Some(path(flow.to, flow.from)?) };
            let there: Vec<usize> = routes.links_from(first_hop).collect();
            let back: Vec<usize> = first_hop_back.map_or_else(Vec::new, |hop| routes.links_from(hop).collect());
            if !is_one_way {
                round_trips.add(&[there.as_slice(), &back].concat(), links);
            }
            ways.push(Way { first_hop, first_hop_back, there, back });
        }
        Ok(Ways { routes, round_trips, ways })
    }
}

/// What of a run's network follows from its specification, for those who carry the run out by other
/// means. Stacks and what sends are theirs to judge.
#[derive(Debug)]
pub struct Layout {
    /// The links that data and answers of each entry of the specification's flows cross; no answers if it gets none.
    pub ways: Vec<(Vec<usize>, Vec<usize>)>,
    /// What the discipline of each link holds at most; none without a discipline or a limit.
    pub limits: Vec<Option<Limit>>,
}

/// The layout of a specification.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn layout(specification: &Specification) -> Result<Layout, String> {
    check(specification)?;
    let Ways { round_trips, ways, .. } = Ways::new(specification)?;
    let ways = ways.into_iter().map(|way| (way.there, way.back)).collect();
    Ok(Layout { ways, limits: limits(specification, &round_trips)? })
}

/// What the disciplines of the links hold at most; none for links without a discipline or a limit.
///
/// # Errors
/// One line if a limit has no packets.
pub(in crate::simulation) fn limits(
    specification: &Specification,
    round_trips: &RoundTrips,
) -> Result<Vec<Option<Limit>>, String> {
    let limit = |(index, link): (usize, &LinkSpecification)| {
        let Some(limit) = link.queue.as_ref().and_then(|queue| queue.limit) else { return Ok(None) };
        let limit = round_trips.limit(index, link.rate, limit);
        limit.map(Some).map_err(|error| format!("queue {}: {error}", specification.ends(link)))
    };
    specification.links.iter().enumerate().map(limit).collect()
}

/// The base round-trip time of each entry of the specification's flows: the propagation delays along the routes there and
/// back, as they are at the start; none where a route is missing.
pub fn base_round_trips(specification: &Specification) -> Vec<Option<Duration>> {
    let Specification { nodes, links, flows, .. } = specification;
    let mut routes = Routes::default();
    let mut delay = |from, to| {
        let first_hop = routes.path(from, to, nodes.len(), links)?;
        Some(delay_over(routes.links_from(first_hop), links))
    };
    flows.iter().map(|flow| Some(delay(flow.from, flow.to)? + delay(flow.to, flow.from)?)).collect()
}
