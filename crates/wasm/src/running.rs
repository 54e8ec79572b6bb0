//! A run that the page carries out bit by bit, with looks at it in between.

use std::cell::RefCell;

use serde_json::{Value, json};
use sojourn_engine::about::Listed;
use sojourn_engine::columns::{
    FLOW_SERIES, FLOWS, QUEUE_SERIES, QUEUES, TRANSFERS, flow_rows, link_rows, transfer_rows,
};
use sojourn_engine::probe::{StateSample, Whose};
use sojourn_engine::queue::{Red, RedParameters};
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Time;

use crate::columns::{Columns, rows};
use crate::flights::{Flights, Sample, Taken};
use crate::plugins::OfPage;
use crate::trace::Trace;
use crate::{DONE, FAILED, MORE, answer, given, parse, say};

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// A run under way.
struct Run {
    specification: Specification,
    simulation: Simulation,
    /// The packets of its bottleneck, if they are wanted.
    trace: Option<Trace>,
    /// Samples of queues, flows and inner states that the page has.
    taken: (usize, usize, usize),
    /// What flows have in flight, where inner states are sampled.
    flights: Option<Flights>,
    /// Sojourn times at the bottleneck, kept when the run is at its end.
    sojourns: Vec<(f64, u64)>,
}

impl Run {
    fn begin(specification: &str, traced: bool) -> Result<Run, String> {
        let specification = parse(specification)?;
        let mut simulation = Simulation::with_plugins(&specification, &OfPage::new())?;
        let trace = if traced { Some(Trace::begin(&specification, &mut simulation)?) } else { None };
        let flights = Flights::of(&specification);
        Ok(Run { specification, simulation, trace, taken: (0, 0, 0), flights, sojourns: Vec::new() })
    }

    fn advance(&mut self, until: Time, most_events: u64) -> Result<bool, String> {
        let until = until.min(self.specification.duration);
        let is_there = match (&mut self.trace, &mut self.flights) {
            (Some(trace), _) => trace.advance(&mut self.simulation, until, most_events),
            (None, Some(flights)) => flights.advance(&mut self.simulation, until, most_events),
            (None, None) => self.simulation.advance(until, most_events),
        };
        match self.simulation.failure() {
            Some(complaint) => Err(complaint.to_owned()),
            None => Ok(is_there),
        }
    }
}

fn with_run<T>(act: impl FnOnce(&mut Run) -> Result<T, String>) -> Result<T, String> {
    RUN.with_borrow_mut(|run| run.as_mut().ok_or_else(|| "no run is under way".to_owned()).and_then(act))
}

/// Begins the run of the given specification. With `traced`, its packets at the bottleneck are kept for [`packets`].
#[unsafe(no_mangle)]
pub extern "C" fn begin(traced: u32) -> u32 {
    // The one before gives back its memory first.
    RUN.set(None);
    answer(Run::begin(&given(), traced != 0), |run| {
        RUN.set(Some(run));
        Vec::new()
    })
}

/// Continues until a moment, in picoseconds, or the end, for at most `most_events` events.
#[unsafe(no_mangle)]
pub extern "C" fn advance(until: f64, most_events: u32) -> u32 {
    match with_run(|run| run.advance(Time(until as u64), most_events.into())) {
        Ok(true) => DONE,
        Ok(false) => MORE,
        Err(line) => {
            say(line.into_bytes());
            FAILED
        }
    }
}

/// The time of the latest event, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn now() -> f64 {
    with_run(|run| Ok(run.simulation.now().seconds())).unwrap_or(f64::NAN)
}

/// Says the samples since this was called last.
#[unsafe(no_mangle)]
pub extern "C" fn samples() -> u32 {
    answer(
        with_run(|run| {
            let series = run.simulation.series();
            let (queues, flows) = (&series.queues[run.taken.0..], &series.flows[run.taken.1..]);
            let states = &series.states.samples[run.taken.2..];
            let mut names = Vec::new();
            let of_states = named(&run.specification, states, &mut names);
            let mut columns = Columns::new(json!({ "names": names, "red": red(&run.specification) }));
            let of_link =
                |link: Option<usize>| queues.iter().filter(|each| Some(each.link) == link).copied().collect::<Vec<_>>();
            let mut queued = queued(&run.specification);
            columns.add("queue_series", QUEUE_SERIES, &link_rows(&run.specification, &of_link(queued.next())));
            columns.add("queue_back", QUEUE_SERIES, &link_rows(&run.specification, &of_link(queued.next())));
            columns.add("flow_series", FLOW_SERIES, flows);
            columns.numbers("state.time", of_states.iter().map(|(sample, ..)| sample.time.seconds()));
            columns.indices("state.flow", of_states.iter().map(|(_, flow, _)| *flow));
            columns.indices("state.name", of_states.iter().map(|(.., name)| *name));
            columns.numbers("state.value", of_states.iter().map(|(sample, ..)| sample.value));
            run.taken = (series.queues.len(), series.flows.len(), series.states.samples.len());
            let Taken { in_flight, delivered } = run.flights.as_mut().map(Flights::take).unwrap_or_default();
            for (name, samples) in [("in_flight", in_flight), ("delivered", delivered)] {
                let columns = &mut columns;
                columns.numbers(&format!("{name}.time"), samples.iter().map(|Sample { time, .. }| time.seconds()));
                columns.indices(&format!("{name}.flow"), samples.iter().map(|Sample { flow, .. }| *flow));
                columns.numbers(&format!("{name}.bytes"), samples.iter().map(|Sample { bytes, .. }| *bytes as f64));
            }
            Ok(columns)
        }),
        Columns::into_bytes,
    )
}

/// The links that have a queue: the bottleneck, and then the way back, if that has one.
fn queued(specification: &Specification) -> impl Iterator<Item = usize> {
    let links = specification.links.iter().enumerate();
    links.filter(|(_, link)| link.queue.is_some()).map(|(index, _)| index)
}

/// What stands in place of a flow's number where a value is of the bottleneck's discipline.
const BOTTLENECK: u32 = u32::MAX;

/// The samples of inner states of flows and of the first discipline, each with its flow and the place of its name among the names.
fn named<'a>(
    specification: &Specification,
    states: &'a [StateSample],
    names: &mut Vec<&'a str>,
) -> Vec<(&'a StateSample, u32, u32)> {
    let bottleneck = queued(specification).next();
    let of = |sample: &'a StateSample| {
        let flow = match sample.whose {
            Whose::Flow(flow) => flow as u32,
            Whose::Link(link) => (Some(link) == bottleneck).then_some(BOTTLENECK)?,
        };
        let place = names.iter().position(|name| **name == *sample.name);
        let place = place.unwrap_or_else(|| {
            names.push(&sample.name);
            names.len() - 1
        });
        Some((sample, flow, place as u32))
    };
    states.iter().filter_map(of).collect()
}

/// The thresholds that RED has at the bottleneck, in the unit of its average; null of another discipline.
fn red(specification: &Specification) -> Value {
    let bottleneck = specification.links.iter().find_map(|link| Some((link.rate, link.queue.as_ref()?)));
    let settings = bottleneck.filter(|(_, queue)| queue.name == Red::ABOUT.name).and_then(|(rate, queue)| {
        let parameters: RedParameters = serde_json::from_value(queue.parameters.clone()).ok()?;
        Some(parameters.settings(rate))
    });
    settings.map_or(Value::Null, |settings| json!({ "minimum": settings.minimum, "maximum": settings.maximum }))
}

/// Ends a run that has come to its end, and says its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> u32 {
    let run = with_run(|run| {
        run.sojourns = queued(&run.specification).next().map(|link| run.simulation.sojourns(link)).unwrap_or_default();
        Ok(())
    });
    let run = run.and_then(|()| RUN.take().ok_or_else(|| "no run is under way".to_owned()));
    answer(run, |run| {
        let result = run.simulation.finish();
        let mut columns = Columns::new(numbers(&run.specification, &result));
        columns.add("transfers", TRANSFERS, &transfer_rows(&run.specification, &result));
        columns.numbers("sojourns.at_most", run.sojourns.iter().map(|(time, _)| *time));
        columns.numbers("sojourns.packets", run.sojourns.iter().map(|(_, count)| *count as f64));
        columns.into_bytes()
    })
}

/// Says the packets of the bottleneck, and forgets them.
#[unsafe(no_mangle)]
pub extern "C" fn packets() -> u32 {
    answer(with_run(|run| run.trace.take().ok_or_else(|| "the run keeps no packets".to_owned())), |trace| {
        trace.columns().into_bytes()
    })
}

/// Ends the run that is under way, if one is.
#[unsafe(no_mangle)]
pub extern "C" fn forget() {
    RUN.set(None);
    say(Vec::new());
}

/// The numbers of a result, called as the columns of a result in Python.
fn numbers(specification: &Specification, result: &RunResult) -> Value {
    json!({
        "events": result.events,
        "data_packets_delivered": result.data_packets_delivered,
        "flows": rows(FLOWS, &flow_rows(specification, result)),
        "queues": rows(QUEUES, &link_rows(specification, &result.queues)),
    })
}
