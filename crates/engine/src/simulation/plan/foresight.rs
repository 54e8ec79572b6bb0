//! Which queues are foreseen.

use crate::queue::Discipline;
use crate::specification::LinkSpecification;

/// Whether it is known when a packet leaves a link's queue as soon as it is queued there. A foreseen packet is in memory twice, queued and on
/// its way, so a queue without a limit is none.
pub fn is_foreseen(link: &LinkSpecification) -> bool {
    let keeps_its_rate = link.rate_trace.is_none() && link.changes.iter().all(|change| change.rate.is_none());
    let decides_on_arrival = link.queue.as_ref().is_some_and(|queue| {
        queue.plugin.is_none() && queue.limit.is_some() && Discipline::decides_on_arrival(&queue.name)
    });
    decides_on_arrival && keeps_its_rate && link.is_plain() && link.aggregation.is_none()
}
