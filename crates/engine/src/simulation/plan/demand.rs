//! What the flows of a specification bring to its links.

use std::collections::BTreeSet;

use super::{Plan, rate_based};
use crate::specification::{ArrivalProcess, FlowSpecification, Specification};
use crate::time::Duration;
use crate::workload;

/// The load that each group of arriving connections puts on the slowest link of its path, as a part of that link's rate. What the clients
/// of sessions send loads the slowest link back. Lists of arrivals and users have no load.
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn loads(specification: &Specification) -> Result<Vec<(usize, f64)>, String> {
    let mut loads = Vec::new();
    for group in &Plan::without_plugins(specification)?.groups {
        let Some(arrivals) = group.arrivals.as_deref() else { continue };
        let path = &group.ideal.path;
        loads.extend(slowest(specification, &group.way.there).zip(workload::load(arrivals, path)?));
        let Some(application) = &group.application else { continue };
        let (ArrivalProcess::Poisson(intensity) | ArrivalProcess::Deterministic { every: intensity, .. }) =
            arrivals.process
        else {
            continue;
        };
        let requested = application.extent().requested;
        let bits = 8.0 * (requested + requested / path.segment as f64 * path.overhead as f64);
        let sessions = workload::flows_a_second(intensity, arrivals, path)?;
        let load = |link: usize| (link, sessions * bits / specification.links[link].rate.0 as f64);
        loads.extend(slowest(specification, &group.way.back).map(load));
    }
    Ok(loads)
}

/// See [`Plan::carried`].
///
/// # Errors
/// One line that says what in the specification is wrong and what is allowed.
pub fn carried(specification: &Specification) -> Result<u64, String> {
    Ok(Plan::without_plugins(specification)?.carried())
}

impl Plan<'_> {
    /// The bits a second that its flows can send together at most: the rates of the links that limit them, each counted once. Of a flow
    /// it is the slowest link that its data cross; links that only acknowledgements cross do not count.
    pub fn carried(&self) -> u64 {
        let limiting = self.groups.iter().filter_map(|group| slowest(self.specification, &group.way.there));
        let limiting: BTreeSet<usize> = limiting.collect();
        limiting.iter().fold(0, |sum, link| sum.saturating_add(self.specification.links[*link].rate.0))
    }
}

/// The slowest link of a path.
fn slowest(specification: &Specification, path: &[usize]) -> Option<usize> {
    path.iter().min_by_key(|link| specification.links[**link].rate).copied()
}

/// Whether the flows of each entry of the specification are long-lived: they want as much as they can get, and are there for the
/// measuring window, whatever the seed and their fate. Applications have an end of data, a rate or a time to stop, or arrive; a flow that
/// the network refuses, or that gives up, still counts. One may start until a tenth of the window has passed: with starts spread at
/// random, few scenarios have a warm-up that covers them, and it lowers Jain's index of two flows by less than 0.003.
pub fn long_lived(specification: &Specification) -> Vec<bool> {
    let latest = specification.warm_up + Duration(specification.duration.since(specification.warm_up).0 / 10);
    let is_unresponsive =
        |flow: &FlowSpecification| matches!(rate_based(flow), Ok(Some(source)) if source.offered().is_some());
    let is_long_lived = |flow: &FlowSpecification| {
        flow.size.is_none()
            && flow.arrivals.is_none()
            && flow.application.is_none()
            && flow.stop.is_none()
            && flow.start + flow.start_within <= latest
            && !is_unresponsive(flow)
    };
    specification.flows.iter().map(is_long_lived).collect()
}
