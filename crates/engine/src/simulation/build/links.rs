//! The links of a run, and the event sources they need.

use std::sync::Arc;

use crate::agenda::{Clock, Due, Source};
use crate::network::{
    Device, Egress, ForeseenQueue, FramedQueue, Link, Losses, MeasuredQueue, Policer, Special, Transmitter, Varying,
    Wire,
};
use crate::plugin::Plugins;
use crate::probe::{LossEpochs, QueueProbe};
use crate::queue::{Discipline, FlowTable, Limit, Outcome, PluginDiscipline, QueueDiscipline};
use crate::random::{Purpose, Random};
use crate::simulation::plan::{Plan, is_foreseen, limits, long_lived};
use crate::specification::{LinkChange, LinkSpecification, QueueSpecification, Specification, Trace};
use crate::time::{Duration, Time};
use crate::units::Rate;

/// What is built of a plan's links.
pub struct Links {
    pub links: Vec<Link>,
    pub sources: Vec<Due>,
    /// Of each row; see [`long_lived`].
    pub long_lived: Arc<[bool]>,
}

/// # Errors
/// One line if a discipline is wrong.
pub fn build(plan: &mut Plan, clocks: &[Clock], plugins: &dyn Plugins) -> Result<Links, String> {
    let links = &plan.specification.links;
    plan.routes.find_followers(|index, feeder| {
        let link = &links[index as usize];
        link.queue.is_none() && link.is_plain() && !links[feeder as usize].reorders()
    });
    let with_arrivals = plan.routes.links_with_arrivals();
    let limits = limits(plan.specification, &plan.round_trips)?;
    let mut builder = Builder {
        plan,
        clocks,
        plugins,
        flows: Arc::new(FlowTable::new(&plan.specification.flow_groups())),
        epochs: Epochs::new(plan),
        sources: Vec::new(),
    };
    let mut built = Vec::new();
    for (index, (link, limit)) in links.iter().zip(limits).enumerate() {
        built.push(builder.link(index, link, limit, with_arrivals.contains(&(index as u32)))?);
    }
    Ok(Links { links: built, sources: builder.sources, long_lived: builder.epochs.long_lived })
}

struct Builder<'a> {
    plan: &'a Plan<'a>,
    /// Of each node.
    clocks: &'a [Clock],
    plugins: &'a dyn Plugins,
    flows: Arc<FlowTable>,
    epochs: Epochs,
    sources: Vec<Due>,
}

impl Builder<'_> {
    fn link(
        &mut self,
        index: usize,
        given: &LinkSpecification,
        limit: Option<Limit>,
        has_arrivals: bool,
    ) -> Result<Link, String> {
        let Specification { seed, duration: end, .. } = *self.plan.specification;
        let link = given.with_all_changes(seed, end);
        let link = link.as_ref();
        let egress = match &link.queue {
            None => Egress::Unlimited,
            Some(queue) => {
                let misfit = |error: String| format!("queue {}: {error}", self.plan.specification.ends(link));
                let discipline = self.discipline(queue, link.rate, limit).map_err(misfit)?;
                let queue = self.queue(index, link, discipline);
                match link.aggregation {
                    None if is_foreseen(given) => {
                        let behind = Transmitter::new(link.rate, std::iter::empty(), link.framing);
                        Egress::Foreseen(Box::new(ForeseenQueue::new(queue, behind)))
                    }
                    None => Egress::Queue(Box::new(queue)),
                    Some(aggregation) => Egress::Frames(Box::new(FramedQueue::new(queue, aggregation))),
                }
            }
        };
        let arrivals = if has_arrivals { self.source(Due::Arrival(index as u32)) } else { Source::NONE };
        let (rate, rates) = over_time(link.rate, rate_changes(link), link.rate_trace.as_ref(), Rate, end);
        let delays = changes(link, |change| change.delay);
        let (delay, delays) = over_time(link.delay, delays, link.delay_trace.as_ref(), Duration, end);
        let special = (!link.is_plain()).then(|| {
            let ratio = Varying::new(link.loss, changes(link, |change| change.loss));
            let random = Random::stream(seed, Purpose::Loss, index as u64);
            Box::new(Special {
                policer: link.impairments.policer.map(Policer::new),
                losses: Some(Losses::new(link.drop.clone(), ratio, random)),
                wire: Some(Wire::new(&link.impairments, seed, index as u64)),
                ..Special::default()
            })
        });
        let transmitter = Transmitter::new(rate, rates.iter().copied(), link.framing);
        let host = Some(self.clocks[link.to]).filter(|clock| *clock != Clock::HOSTS);
        Ok(Link::new(transmitter, Varying::new(delay, delays), egress, special, arrivals, host))
    }

    fn discipline(&self, queue: &QueueSpecification, rate: Rate, limit: Option<Limit>) -> Result<Discipline, String> {
        let mut discipline = match queue.plugin {
            None => Discipline::new(&queue.name, limit, &queue.parameters)?,
            Some(plugin) => {
                let plugin = self.plugins.queue(plugin, &queue.parameters)?;
                Discipline::Plugin(PluginDiscipline::new(plugin, self.plugins.failure(), limit)?)
            }
        };
        discipline.set_link_rate(rate);
        discipline.set_flows(&self.flows)?;
        Ok(discipline)
    }

    fn queue(&mut self, index: usize, link: &LinkSpecification, discipline: Discipline) -> MeasuredQueue {
        let Specification { seed, probe, .. } = self.plan.specification;
        let needs_events = !is_foreseen(link);
        let epochs = || self.epochs.of(index, link.rate, self.plan.round_trips.over(index));
        let holds_back = discipline.holds_back();
        // A user's discipline is asked on time: what it does then may be seen elsewhere.
        let is_plugin = matches!(discipline, Discipline::Plugin(_));
        MeasuredQueue {
            holds_back,
            puts_off: needs_events && !holds_back && !is_plugin && link.is_plain() && link.aggregation.is_none(),
            discipline,
            random: Random::stream(*seed, Purpose::Queue, index as u64),
            outcome: Outcome::default(),
            probe: probe.queue_statistics.then(|| QueueProbe::new(epochs())),
            rate_changes: rate_changes(link).filter(|(_, rate)| *rate > Rate(0)).rev().collect(),
            device: Device::new(link.device_queue),
            room: if needs_events { self.source(Due::DeviceHasRoom(index as u32)) } else { Source::NONE },
            asks: false,
            is_awaited: false,
        }
    }

    fn source(&mut self, due: Due) -> Source {
        self.sources.push(due);
        Source(self.sources.len() as u32 - 1)
    }
}

/// What congestion epochs are found from.
struct Epochs {
    /// Which rows are long-lived.
    long_lived: Arc<[bool]>,
    /// How many of them cross each link.
    crossing: Vec<u64>,
}

impl Epochs {
    fn new(plan: &Plan) -> Epochs {
        let mut rows = Vec::new();
        let mut crossing = vec![0; plan.specification.links.len()];
        for (group, counts) in plan.groups.iter().zip(long_lived(plan.specification)) {
            rows.extend(std::iter::repeat_n(counts, group.flow.count as usize));
            if counts {
                group.way.there.iter().for_each(|link| crossing[*link] += group.flow.count);
            }
        }
        Epochs { long_lived: rows.into(), crossing }
    }

    /// Those at a link; none if no long-lived flow crosses it.
    fn of(&self, link: usize, rate: Rate, base: Option<Duration>) -> Option<LossEpochs> {
        let crossing = self.crossing[link];
        (crossing > 0).then(|| LossEpochs::new(base.unwrap_or_default(), rate, Arc::clone(&self.long_lived), crossing))
    }
}

/// A property of a link at first, and its later values: those of its trace, if it has one.
fn over_time<T>(
    first: T,
    changes: impl Iterator<Item = (Time, T)>,
    trace: Option<&Trace>,
    value: fn(u64) -> T,
    end: Time,
) -> (T, Vec<(Time, T)>) {
    match trace {
        None => (first, changes.collect()),
        Some(trace) => {
            let changes = trace.changes(end).into_iter().map(|(time, changed)| (time, value(changed)));
            (value(trace.first()), changes.collect())
        }
    }
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
