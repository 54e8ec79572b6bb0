//! The links of a run, and the sources of events that they and paced flows are.

use std::sync::Arc;

use super::{Builder, Sending};
use crate::agenda::{Due, Sequence, Source};
use crate::network::{
    Device, Egress, FramedQueue, Link, Losses, MeasuredQueue, Policer, Special, Transmitter, Varying, Wire,
};
use crate::probe::{LossEpochs, QueueProbe};
use crate::queue::{Discipline, FlowTable, Outcome, PluginDiscipline, QueueDiscipline};
use crate::random::{Purpose, Random};
use crate::simulation::flow::Flow;
use crate::simulation::memory::Way;
use crate::specification::{LinkChange, LinkSpecification, Specification};
use crate::time::{Duration, Time};
use crate::units::Rate;

/// What congestion epochs are found from: the long-lived flows, which want as much as they can get for the whole measuring
/// window. One that starts before a tenth of it has passed counts, as in Jain's index.
pub(super) struct Epochs {
    long_lived: Arc<[bool]>,
    /// How many of them cross each link.
    crossing: Vec<u64>,
}

impl Epochs {
    pub(super) fn new(specification: &Specification, senders: &[Sending], ways: &[Way]) -> Epochs {
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
pub(super) fn build_links(builder: &mut Builder, epochs: &Epochs) -> Result<(Vec<Link>, Vec<Due>), String> {
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
    let flows = Arc::new(FlowTable::new(&specification.flow_groups()));
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
pub(super) fn add_pacing(flows: &mut [Flow], sources: &mut Vec<Due>) {
    for (index, flow) in flows.iter_mut().enumerate() {
        if flow.endpoints.is_paced() {
            flow.pacing = Source(sources.len() as u32);
            sources.push(Due::Pacing(index as u32));
        }
    }
}
