//! A run that is advanced in steps and inspected in between gives the same result as an uninterrupted one, and so does one in which
//! nothing is done before the run is there.

use crate::support::{MS, Path, S, constant_rate, droptail, finite, required_parameters, tcp};
use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_engine::queue::Discipline;
use sojourn_engine::result::RunResult;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::time::{Duration, Time};

/// Window-based, rate-based and one-way flows share 5 Mbit/s for 4 s. PIE draws random numbers and has a timer.
fn path() -> Path {
    let mut path = Path::new(5_000_000, 20 * MS);
    path.queue = json!({"name": "pie", "limit": {"packets": 100}});
    path.flows = vec![tcp("cubic"), tcp("bbr"), tcp("tfrc"), constant_rate(500_000, 500, false)];
    (path.warm_up, path.duration) = (S, 4 * S);
    path.queue_series = Some(100 * MS);
    path.flow_series = Some(100 * MS);
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// For any strides and numbers of events per step the result is the same to the last digit.
    #[test]
    fn stepping_has_no_effect(strides in prop::collection::vec(1..500 * MS, 1..20), most_events in 1..5_000u64) {
        let mut simulation = path().simulation();
        let mut until = Time::ZERO;
        for stride in strides.into_iter().cycle() {
            until = Time(until.0 + stride);
            while !simulation.advance(until, most_events) {
                assert!(simulation.now() < until, "nothing happens beyond the stride");
                assert_eq!((simulation.queues().count(), simulation.flows().count()), (1, 4));
            }
            if until >= Time(4 * S) {
                break;
            }
        }
        prop_assert_eq!(format!("{:?}", simulation.finish()), format!("{:?}", path().run()));
    }
}

/// The values that a look shows at the end equal those of the result for the whole run.
#[test]
fn final_look() {
    let mut simulation = path().simulation();
    assert!(simulation.advance(Time(9 * S), u64::MAX));
    let queue = simulation.queues().next().expect("there is one queue");
    let delivered: Vec<u64> = simulation.flows().map(|flow| flow.bytes_delivered).collect();
    let totals = queue.totals.expect("queues are measured");
    let result = simulation.finish();
    let statistics = &result.queues[0].statistics;
    assert_eq!(totals.counts, statistics.before_window + statistics.window);
    assert_eq!(queue.packets, statistics.queued_at_end);
    assert_eq!(delivered, result.flows.iter().map(|flow| flow.total_bytes_delivered).collect::<Vec<_>>());
    assert!(totals.counts.drops() > 0 && statistics.before_window.departures > 0, "{totals:?}");

    // A window from the start covers all sojourn times in its mean.
    let mut whole = path();
    whole.warm_up = 0;
    let statistics = &whole.run().queues[0].statistics;
    let sum = statistics.sojourn.expect("packets were sent").mean * statistics.window.departures as f64;
    assert!((totals.sojourn_sum - sum).abs() < 1e-9 * sum, "{} and {sum}", totals.sojourn_sum);
}

/// Unpaced connections, of which some end, share 5 Mbit/s for 4 s.
fn unpaced() -> Path {
    let mut path = Path::new(5_000_000, 20 * MS);
    path.queue = droptail(30);
    path.flows = vec![tcp("cubic"), tcp("newreno"), tcp("vegas"), finite("newreno", 100_000)];
    (path.warm_up, path.duration) = (S, 4 * S);
    path
}

/// Far less than a packet takes to its host: 20 us.
const STRIDE: usize = MS as usize / 50;

fn text(result: &RunResult) -> String {
    format!("{result:?}")
}

/// Hosts that handle packets ahead of the run change nothing: in short strides, a run lets none do so. Ahead, there are fewer than
/// `most` steps for ten packets; without, more. With and without a time that senders take.
fn assert_same_ahead(mut path: Path, most: u64, what: &str) {
    for overhead in [0, MS] {
        path.sender_overhead = overhead;
        path.stack.random_overhead = overhead > 0;
        let (mut ahead, mut stepped) = (path.simulation(), path.simulation());
        assert!(ahead.advance(Time(path.duration), u64::MAX));
        for until in (0..=path.duration).step_by(STRIDE) {
            assert!(stepped.advance(Time(until), u64::MAX));
        }
        let (few, many) = (ahead.steps(), stepped.steps());
        let (ahead, stepped) = (ahead.finish(), stepped.finish());
        assert_eq!(text(&ahead), text(&stepped), "{what}");
        let packets = most * ahead.data_packets_delivered;
        assert!(
            10 * few < packets && packets < 10 * many,
            "{what}: {few} and {many} steps for {packets} / {most} packets"
        );
    }
}

#[test]
fn running_ahead_has_no_effect() {
    assert_same_ahead(unpaced(), 15, "unpaced");
}

/// The same of paced hosts: of controls and sources with a rate of their own, and of a stack that paces.
#[test]
fn paced_hosts_run_ahead() {
    let sources = [constant_rate(1_000_000, 500, true), tcp("voice"), tcp("ping"), tcp("tfrc")];
    for name in ["bbr", "bbr3", "prague", "ledbat", "cubic"] {
        let mut path = unpaced();
        path.flows = [&[tcp(name), tcp(name), finite(name, 100_000)], &sources[..]].concat();
        path.stack.pacing = true;
        path.flow_series = Some(700 * MS);
        assert_same_ahead(path, 20, name);
    }
}

/// The same of hosts whose connections arrive: over a long queue and over one that loses many packets, so that connections end while
/// packets of theirs are under way, and where senders give up; of users who think, and of several groups.
#[test]
fn hosts_of_connections_that_arrive_run_ahead() {
    for (name, queue, loss, most) in [("newreno", 100, 0.0, 38), ("cubic", 5, 0.05, 38), ("bbr", 10, 0.3, 60)] {
        let arriving = |process: Value, mean: f64| {
            let mut flow = tcp(name);
            flow["arrivals"] = json!({"process": process, "sizes": {"exponential": {"mean": mean}}});
            flow
        };
        let users = json!({"users": {"count": 5, "think": 300 * MS}});
        let mut path = unpaced();
        path.flows = vec![arriving(json!({"poisson": {"load": 0.7}}), 20_000.0), arriving(users, 9_000.0), tcp(name)];
        path.queue = droptail(queue);
        path.changes = vec![json!({"at": 500 * MS, "loss": loss})];
        path.duration = 20 * S;
        (path.stack.minimum_rto, path.stack.initial_rto) = (Duration(100 * MS), Duration(200 * MS));
        path.stack.data_retries = 3;
        assert_same_ahead(path, most, name);
    }
}

/// A queue whose departures are foreseen is, to the last digit, the same as one that waits for them, as the queue of a link does that
/// may lose packets: of each discipline that decides on arrival, with and without ECN, with a ring below it and without.
#[test]
fn foresight_has_no_effect() {
    let names = Discipline::catalogue().into_iter().map(|(about, _)| about.name);
    let names: Vec<&str> = names.filter(|name| Discipline::decides_on_arrival(name)).collect();
    assert!(names.contains(&"droptail") && names.contains(&"red") && !names.contains(&"choke"), "{names:?}");
    for name in names {
        for (device_queue, has_series) in [(0, false), (10, true)] {
            let mut path = unpaced();
            path.flows.push(constant_rate(500_000, 500, false));
            path.queue = json!({"name": name, "limit": {"packets": 30}, "parameters": required_parameters(name)});
            path.device_queue = device_queue;
            path.queue_series = has_series.then_some(100 * MS);
            path.stack.ecn = if has_series { EcnKind::Classic } else { path.stack.ecn };
            let mut foreseen = path.run();
            // It loses none: none leaves after the end.
            path.changes = vec![json!({"at": 5 * S, "loss": 0.5})];
            let mut waiting = path.run();
            assert!(foreseen.events < waiting.events, "{name}: {} and {}", foreseen.events, waiting.events);
            (foreseen.events, waiting.events) = (0, 0);
            assert_eq!(text(&foreseen), text(&waiting), "{name}");
        }
    }
}

/// A queue that decides at departure lets its device take packets no sooner than another arrives, or than one might reach the end of the
/// link. To the last digit that is the same, in fewer steps, as taking each when there is room, as the queue of a link does that may lose
/// packets: of each discipline, with and without ECN, with a ring below it, rates that change and a timer, and without.
#[test]
fn putting_off_has_no_effect() {
    let names = Discipline::catalogue().into_iter().map(|(about, _)| about.name);
    let names: Vec<&str> = names.filter(|name| !Discipline::decides_on_arrival(name)).collect();
    assert!(names.contains(&"fq_codel") && names.contains(&"codel") && !names.contains(&"droptail"), "{names:?}");
    for name in names {
        for (device_queue, varies) in [(0, false), (10, true)] {
            let mut path = unpaced();
            path.flows.push(constant_rate(500_000, 500, false));
            path.queue = json!({"name": name, "limit": {"packets": 30}, "parameters": required_parameters(name)});
            path.device_queue = device_queue;
            path.queue_series = varies.then_some(100 * MS);
            path.stack.ecn = if varies { EcnKind::Classic } else { path.stack.ecn };
            let rates = [json!({"at": S + MS, "rate": 3_000_000}), json!({"at": 2 * S, "delay": 5 * MS})];
            path.changes = if varies { rates.to_vec() } else { Vec::new() };
            let run = |path: &Path| {
                let mut simulation = path.simulation();
                assert!(simulation.advance(Time(path.duration), u64::MAX));
                (simulation.steps(), text(&simulation.finish()))
            };
            let (few, putting_off) = run(&path);
            // It loses none: none leaves after the end.
            path.changes.push(json!({"at": 5 * S, "loss": 0.5}));
            let (many, at_once) = run(&path);
            assert_eq!(putting_off, at_once, "{name}");
            // A shaper says itself when it has a packet.
            assert_eq!(few < many, name != "tbf", "{name}: {few} and {many} steps");
        }
    }
}
