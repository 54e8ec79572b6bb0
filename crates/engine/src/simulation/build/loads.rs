//! What the flows of a specification bring to its links.

use super::check::check;
use super::{Builder, offered};
use crate::application::Blueprint;
use crate::plugin::Unloaded;
use crate::specification::{ArrivalProcess, Specification};
use crate::workload;

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
