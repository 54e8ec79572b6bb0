//! Which hosts may run ahead of the run.
//!
//! What happens at a host depends on nothing but its timers and the packets that arrive there. If these come over one link, in order, then
//! the arrival of each is known as soon as that link has it, and nothing can come before it: the host handles it at once, with the time of
//! its arrival.

use crate::agenda::Clock;
use crate::simulation::plan::{Plan, Planned, is_foreseen};

/// The retransmissions of a segment after which, each having waited for twice as long as that before, nothing older is under way.
const PATIENT: u64 = 3;

/// The clock of each node: its own if it may run ahead.
pub fn clocks(plan: &Plan) -> Vec<Clock> {
    let mut next = Clock::HOSTS;
    let own = may_run_ahead(plan).into_iter().map(|may| {
        if !may {
            return Clock::HOSTS;
        }
        next = next.next();
        next
    });
    own.collect()
}

/// Whether connections that arrive end only when all that they sent has been acknowledged, and never while a packet is on its way to a
/// receiver that lacks some of it: they are not stopped, and a sender gives up only after timers that waited for far longer.
fn ends_at_sender(group: &Planned) -> bool {
    group.flow.stop.is_none() && group.stack.data_retries >= PATIENT
}

fn may_run_ahead(plan: &Plan) -> Vec<bool> {
    let links = &plan.specification.links;
    let mut may = vec![false; plan.specification.nodes.len()];
    let mut arrivals_by: Vec<Option<usize>> = vec![None; may.len()];
    for group in &plan.groups {
        (may[group.flow.from], may[group.flow.to]) = (true, true);
    }
    for path in plan.routes.paths() {
        let [first, .., last] = [path.first(), path.last()].map(|hop| hop.map_or(0, |hop| hop.link as usize));
        // A packet that leaves before another arrives would be queued too early.
        may[links[first].from] &= links[first].queue.is_none() || is_foreseen(&links[first]);
        // Packets on different links overtake one another.
        let host = links[last].to;
        may[host] &= *arrivals_by[host].get_or_insert(last) == last && !links[last].reorders();
        for hop in &path[1..] {
            may[links[hop.link as usize].from] = false;
        }
    }
    for group in &plan.groups {
        // An application hears of both ends.
        let is_apart = group.application.is_none() && (group.arrivals.is_none() || ends_at_sender(group));
        may[group.flow.from] &= is_apart;
        may[group.flow.to] &= is_apart;
    }
    may
}
