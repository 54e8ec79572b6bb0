//! A run that the page carries out bit by bit, with looks at it in between.

use std::cell::RefCell;

use serde_json::{Map, Value, json};
use sojourn_engine::probe::QueueSample;
use sojourn_engine::result::{FlowResult, QueueResult, RunResult};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::sender::SenderStatistics;
use sojourn_engine::time::{Duration, Time};

use crate::columns::Columns;
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
    /// Samples of queues and flows that the page has.
    taken: (usize, usize),
    /// Sojourn times at the bottleneck, kept when the run is at its end.
    sojourns: Vec<(f64, u64)>,
}

impl Run {
    fn begin(specification: &str, traced: bool) -> Result<Run, String> {
        let specification = parse(specification)?;
        let mut simulation = Simulation::with_plugins(&specification, &OfPage::new())?;
        let trace = if traced { Some(Trace::begin(&specification, &mut simulation)?) } else { None };
        Ok(Run { specification, simulation, trace, taken: (0, 0), sojourns: Vec::new() })
    }

    fn advance(&mut self, until: Time, most_events: u64) -> Result<bool, String> {
        let until = until.min(self.specification.duration);
        let is_there = match &mut self.trace {
            None => self.simulation.advance(until, most_events),
            Some(trace) => trace.advance(&mut self.simulation, until, most_events),
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
            let mut columns = Columns::new(json!({}));
            columns.numbers("queue_series.time", queues.iter().map(|row| row.time.seconds()));
            columns.indices("queue_series.link", queues.iter().map(|row| row.link as u32));
            columns.numbers("queue_series.packets", queues.iter().map(|row| row.packets as f64));
            columns.numbers("queue_series.bytes", queues.iter().map(|row| row.bytes as f64));
            let drops = |row: &QueueSample| row.drops.map_or(f64::NAN, |drops| drops as f64);
            columns.numbers("queue_series.drops", queues.iter().map(drops));
            columns.numbers("flow_series.time", flows.iter().map(|row| row.time.seconds()));
            columns.indices("flow_series.flow", flows.iter().map(|row| row.flow as u32));
            columns.numbers("flow_series.cwnd", flows.iter().map(|row| row.cwnd as f64));
            let known = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
            columns.numbers("flow_series.ssthresh", flows.iter().map(|row| known(row.ssthresh)));
            columns.numbers("flow_series.rtt", flows.iter().map(|row| row.rtt.map_or(f64::NAN, Duration::seconds)));
            columns.numbers("flow_series.bytes_delivered", flows.iter().map(|row| row.bytes_delivered as f64));
            columns.numbers("flow_series.bytes_received", flows.iter().map(|row| row.bytes_received as f64));
            run.taken = (series.queues.len(), series.flows.len());
            Ok(columns)
        }),
        Columns::into_bytes,
    )
}

/// Ends a run that has come to its end, and says its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> u32 {
    let run = with_run(|run| {
        let link = run.specification.links.iter().position(|link| link.queue.is_some());
        run.sojourns = link.map(|link| run.simulation.sojourns(link)).unwrap_or_default();
        Ok(())
    });
    let run = run.and_then(|()| RUN.take().ok_or_else(|| "no run is under way".to_owned()));
    answer(run, |run| {
        let result = run.simulation.finish();
        let mut columns = Columns::new(numbers(&run.specification, &result));
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
        "flows": result.flows.iter().map(|row| of_flow(specification, row)).collect::<Vec<Value>>(),
        "queues": result.queues.iter().map(|row| of_queue(specification, row)).collect::<Vec<Value>>(),
    })
}

fn of_flow(specification: &Specification, row: &FlowResult) -> Value {
    let group = &specification.flows[row.group];
    let counts = row.statistics();
    let has_rtt = counts.rtt_samples > 0;
    let rtt = |select: fn(&SenderStatistics) -> f64| has_rtt.then(|| select(&counts));
    let tcp = row.tcp.as_ref();
    json!({
        "flow_group": group.group,
        "algorithm": group.source.name,
        "start": row.start.seconds(),
        "established": tcp.and_then(|tcp| tcp.established).map(Time::seconds),
        "completed": tcp.and_then(|tcp| tcp.completed).map(Time::seconds),
        "bytes_delivered": row.bytes_delivered,
        "total_bytes_delivered": row.total_bytes_delivered,
        "packets_dropped": row.packets_dropped,
        "segments_sent": counts.segments_sent,
        "retransmissions": counts.retransmissions,
        "timeouts": counts.timeouts,
        "fast_recoveries": counts.fast_recoveries,
        "mark_reductions": counts.mark_reductions,
        "undone_reductions": counts.undone_reductions,
        "rtt_samples": counts.rtt_samples,
        "rtt_mean": rtt(|counts| counts.rtt_sum.seconds() / counts.rtt_samples as f64),
        "rtt_min": rtt(|counts| counts.min_rtt.seconds()),
        "rtt_max": rtt(|counts| counts.max_rtt.seconds()),
        "long_lived": row.long_lived,
    })
}

fn of_queue(specification: &Specification, row: &QueueResult) -> Value {
    let link = &specification.links[row.link];
    let statistics = &row.statistics;
    let (window, before) = (&statistics.window, &statistics.before_window);
    let mut numbers = Map::new();
    let mut add = |name: &str, value: Value| numbers.insert(name.to_owned(), value);
    add("link", format!("{}->{}", specification.nodes[link.from], specification.nodes[link.to]).into());
    add("discipline", link.queue.as_ref().map(|queue| queue.name.clone()).into());
    for (name, count) in [
        ("arrivals", window.arrivals),
        ("departures", window.departures),
        ("drops", window.drops()),
        ("drops_overflow", window.drops_overflow),
        ("drops_early", window.drops_early),
        ("marks", window.marks),
        ("bytes_sent", window.bytes_sent),
    ] {
        add(name, count.into());
    }
    add("total_drops", (before.drops() + window.drops()).into());
    add("total_link_losses", row.link_losses.into());
    add("mean_packets", statistics.mean_packets.into());
    add("sd_packets", statistics.sd_packets.into());
    add("max_packets", statistics.max_packets.into());
    add("mean_bytes", statistics.mean_bytes.into());
    let times = statistics.sojourn;
    for (name, time) in [
        ("sojourn_mean", times.map(|times| times.mean)),
        ("sojourn_p50", times.map(|times| times.p50)),
        ("sojourn_p95", times.map(|times| times.p95)),
        ("sojourn_p99", times.map(|times| times.p99)),
        ("sojourn_max", times.map(|times| times.max)),
    ] {
        add(name, time.into());
    }
    add("utilisation", statistics.busy_share.into());
    add("queued_at_end", statistics.queued_at_end.into());
    Value::Object(numbers)
}
