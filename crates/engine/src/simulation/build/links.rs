//! The links of a run, and the sources of events that they and paced flows are.

use std::sync::Arc;

use super::Builder;
use crate::agenda::{Due, Sequence, Source};
use crate::network::{
    Device, Egress, FramedQueue, Link, Losses, MeasuredQueue, Policer, RoundTrips, Special, Transmitter, Varying, Wire,
};
use crate::probe::{LossEpochs, QueueProbe};
use crate::queue::{Discipline, FlowTable, Limit, Outcome, PluginDiscipline, QueueDiscipline};
use crate::random::{Purpose, Random};
use crate::simulation::arrived::Row;
use crate::simulation::memory::Way;
use crate::specification::{FlowSpecification, LinkChange, LinkSpecification, SourceSpecification, Specification};
use crate::time::{Duration, Time};
use crate::traffic;
use crate::units::Rate;

/// Whether the flows of each entry of the specification are long-lived: they want as much as they can get, and are there for the
/// measuring window, whatever the seed and their fate. Applications have an end of data, a rate or a time to stop, or arrive; a flow that
/// the network refuses, or that gives up, still counts. One may start until a tenth of the window has passed: with starts spread at
/// random, few scenarios have a warm-up that covers them, and it lowers Jain's index of two flows by less than 0.003.
pub fn long_lived(specification: &Specification) -> Vec<bool> {
    let latest = specification.warm_up + Duration(specification.duration.since(specification.warm_up).0 / 10);
    let wants_more = |source: &SourceSpecification| {
        let blueprint = traffic::Blueprint::of(&source.name, &source.parameters);
        source.plugin.is_some() || !matches!(blueprint, Ok(Some(paced)) if paced.offered().is_some())
    };
    let is_long_lived = |flow: &FlowSpecification| {
        flow.size.is_none()
            && flow.arrivals.is_none()
            && flow.application.is_none()
            && flow.stop.is_none()
            && flow.start + flow.start_within <= latest
            && wants_more(&flow.source)
    };
    specification.flows.iter().map(is_long_lived).collect()
}

/// What congestion epochs are found from.
pub(super) struct Epochs {
    /// Which flows are long-lived.
    pub(super) long_lived: Arc<[bool]>,
    /// How many of them cross each link.
    crossing: Vec<u64>,
}

impl Epochs {
    pub(super) fn new(specification: &Specification, ways: &[Way]) -> Epochs {
        let mut long_lived = Vec::new();
        let mut crossing = vec![0; specification.links.len()];
        for ((flow, way), counts) in specification.flows.iter().zip(ways).zip(self::long_lived(specification)) {
            long_lived.extend(std::iter::repeat_n(counts, flow.count as usize));
            if counts {
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

/// What the disciplines of the links hold at most; none for links without a discipline or a limit.
///
/// # Errors
/// One line if a limit has no packets.
pub(super) fn limits(specification: &Specification, round_trips: &RoundTrips) -> Result<Vec<Option<Limit>>, String> {
    let limit = |(index, link): (usize, &LinkSpecification)| {
        let Some(limit) = link.queue.as_ref().and_then(|queue| queue.limit) else { return Ok(None) };
        let limit = round_trips.limit(index, link.rate, limit);
        limit.map(Some).map_err(|error| misfit(specification, link, &error))
    };
    specification.links.iter().enumerate().map(limit).collect()
}

/// What is wrong with the queue of a link.
fn misfit(specification: &Specification, link: &LinkSpecification, error: &str) -> String {
    format!("queue {} -> {}: {error}", specification.nodes[link.from], specification.nodes[link.to])
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
    let limits = limits(specification, round_trips)?;
    let flows = Arc::new(FlowTable::new(&specification.flow_groups()));
    for (index, link) in links.iter().enumerate() {
        let link = link.with_all_changes(specification.seed, specification.duration);
        let link = link.as_ref();
        let egress = match &link.queue {
            None => Egress::Unlimited,
            Some(queue) => {
                let misfit = |error: String| misfit(specification, link, &error);
                let limit = limits[index];
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
pub(super) fn add_pacing(rows: &mut [Row], sources: &mut Vec<Due>) {
    for (index, row) in rows.iter_mut().enumerate() {
        if let Row::Flow(flow) = row
            && flow.endpoints.is_paced()
        {
            flow.pacing = Source(sources.len() as u32);
            sources.push(Due::Pacing(index as u32));
        }
    }
}
