//! What of a run's network follows from its specification, for those who carry the run out by other
//! means. Stacks are theirs to judge.

use super::check::check;
use super::links::limits;
use super::{Builder, misfit};
use crate::plugin::Unloaded;
use crate::queue::Limit;
use crate::specification::Specification;
use crate::traffic;

/// See the module.
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
    let unloaded = Unloaded::new(specification.plugins.len());
    let mut builder = Builder::new(specification, &unloaded);
    let mut ways = Vec::new();
    for (group, flow) in specification.flows.iter().enumerate() {
        let there = builder.path(flow.from, flow.to, flow)?;
        let blueprint = traffic::Blueprint::of(&flow.source.name, &flow.source.parameters);
        let is_one_way =
            blueprint.map_err(|error| misfit(group, flow, &error))?.is_some_and(|paced| paced.is_one_way());
        let back = if is_one_way { None } else { Some(builder.path_back(there, flow)?) };
        let links = |first| builder.routes.links_from(first).collect();
        ways.push((links(there), back.map_or_else(Vec::new, links)));
    }
    Ok(Layout { ways, limits: limits(specification, &builder.round_trips)? })
}
