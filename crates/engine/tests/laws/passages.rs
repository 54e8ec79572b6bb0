//! Laws of the records of packets that pass the ends of links.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::time::Time;

use crate::support::{MS, Path, S, constant_rate, droptail, tcp, tcp_flows};

/// The links of `Path`, in the order of its specification.
const FIRST: usize = 0;
const BOTTLENECK: usize = 1;
const LAST: usize = 2;
const LINKS: usize = 6;

fn short_path() -> Path {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(20);
    path.duration = 10 * S;
    path.warm_up = 0;
    path.flows = vec![tcp_flows("newreno", 2, S)];
    path
}

fn record(simulation: &mut Simulation, ends: &[(usize, End)]) -> Vec<Passage> {
    for (link, end) in ends {
        simulation.record(*link, *end).expect("the link exists");
    }
    while simulation.step() {}
    simulation.take_passages_before(Time::NEVER)
}

fn times(passages: &[Passage], link: usize) -> Vec<Time> {
    passages.iter().filter(|passage| passage.link == link).map(|passage| passage.time).collect()
}

/// A run with recording on all links gives the same result, including the number of events.
#[test]
fn recording_has_no_effect() {
    let mut lossy = short_path().specification();
    lossy.links[BOTTLENECK].loss = 0.01;
    for specification in [short_path().specification(), lossy] {
        let run = |recorded: bool| {
            let mut simulation = Simulation::new(&specification).expect("valid");
            if recorded {
                for link in 0..LINKS {
                    simulation.record(link, End::Near).expect("the link exists");
                    simulation.record(link, End::Far).expect("the link exists");
                }
            }
            format!("{:?}", simulation.run(&AtomicBool::new(false)).expect("nobody cancels"))
        };
        assert_eq!(run(false), run(true));
    }
}

/// A packet passes the far end of a link one delay after the near end, in the same order. At the near end packets are
/// at least their transmission time apart.
#[test]
fn link_delay_and_spacing() {
    let mut path = short_path();
    path.flows = vec![tcp("newreno"), constant_rate(1_000_000, 500, true)];
    for (link, delay) in [(FIRST, 0), (BOTTLENECK, 10 * MS), (LAST, 0)] {
        let rate = if link == BOTTLENECK { path.rate } else { path.edge_rate };
        let near = record(&mut path.simulation(), &[(link, End::Near)]);
        let far = record(&mut path.simulation(), &[(link, End::Far)]);
        assert!(near.len() > 5_000, "{} packets", near.len());
        assert_eq!(near.len(), far.len());
        for (sent, arrived) in near.iter().zip(&far) {
            assert_eq!((sent.packet.flow, sent.packet.number), (arrived.packet.flow, arrived.packet.number));
            assert_eq!(arrived.time.since(sent.time).0, delay);
        }
        for pair in near.windows(2) {
            let transmission = u64::from(pair[1].packet.size) * 8 * S / rate;
            assert!(pair[1].time.since(pair[0].time).0 >= transmission, "link {link}: {pair:?}");
        }
    }
}

/// Recorded arrivals at a host equal its counters, whether the passage of the last link is computed with the previous
/// one or not. Packets that enter the bottleneck's queue leave it or are dropped there.
#[test]
fn records_match_counters() {
    let path = short_path();
    let result = path.run();
    let mut simulation = path.simulation();
    let ends = [(FIRST, End::Far), (BOTTLENECK, End::Near), (LAST, End::Far)];
    let passages = record(&mut simulation, &ends);
    let end = Time(path.duration);
    let data = |link: usize| {
        let all = passages.iter().filter(|passage| passage.link == link && passage.time < end);
        all.filter(|passage| passage.packet.has(flags::DATA)).count() as u64
    };
    assert_eq!(data(LAST), result.data_packets_delivered);
    let counts = &result.queues[0].statistics.window;
    assert!(counts.drops() > 0);
    let entered = times(&passages, FIRST).iter().filter(|time| **time < end).count() as u64;
    assert_eq!(entered, counts.arrivals);
    // The last packet that left the queue may still be in transmission at the end of the run.
    assert!(counts.departures - times(&passages, BOTTLENECK).iter().filter(|time| **time < end).count() as u64 <= 1);
}

/// A packet lost on a link's wire passes its near end but not the far end. A packet dropped by a plan passes neither.
#[test]
fn lost_packets() {
    let loss = |pattern: Value, ratio: f64| {
        let mut path = short_path();
        path.drop = pattern;
        let mut specification = path.specification();
        specification.links[BOTTLENECK].loss = ratio;
        let mut simulation = Simulation::new(&specification).expect("valid");
        let passages = record(&mut simulation, &[(BOTTLENECK, End::Near), (BOTTLENECK, End::Far), (LAST, End::Far)]);
        let lost = simulation.run(&AtomicBool::new(false)).expect("nobody cancels").queues[0].link_losses as usize;
        assert!(lost > 0);
        (passages, lost)
    };
    let (passages, lost) = loss(Value::Null, 0.02);
    // The packets that pass only one end of the same link.
    assert_eq!(times(&passages, BOTTLENECK).len(), 2 * times(&passages, LAST).len() + lost);
    let (passages, _) = loss(json!({"every": 100}), 0.0);
    assert_eq!(times(&passages, BOTTLENECK).len(), 2 * times(&passages, LAST).len());
}

/// Each passage is reported once, in order of time and only after it has happened, however often passages are
/// requested.
#[test]
fn order_of_passages() {
    let path = short_path();
    let ends = [(FIRST, End::Near), (BOTTLENECK, End::Far), (LAST, End::Near), (4, End::Far)];
    let all: Vec<_> =
        record(&mut path.simulation(), &ends).iter().map(|passage| (passage.time, passage.link)).collect();
    assert!(all.is_sorted_by_key(|(time, _)| *time));
    let mut simulation = path.simulation();
    for (link, end) in ends {
        simulation.record(link, end).expect("the link exists");
    }
    let mut told = Vec::new();
    loop {
        let is_over = simulation.advance(Time::NEVER, 100);
        let moment = if is_over { Time::NEVER } else { simulation.now() };
        told.extend(simulation.take_passages_before(moment).iter().map(|passage| (passage.time, passage.link)));
        if is_over {
            break;
        }
    }
    assert!(told.is_sorted_by_key(|(time, _)| *time));
    let sorted = |mut passages: Vec<(Time, usize)>| {
        passages.sort_unstable();
        passages
    };
    assert_eq!(sorted(told), sorted(all));
}

/// The counters of a connection agree with its packets recorded on its first link.
#[test]
fn connection_counters() {
    let mut path = short_path();
    path.flows = vec![tcp("cubic")];
    path.queue = droptail(10);
    let mut simulation = path.simulation();
    simulation.record(FIRST, End::Near).expect("the link exists");
    simulation.record(LINKS - 1, End::Far).expect("the link exists");
    while simulation.step() {}
    let passages = simulation.take_passages_before(Time::NEVER);
    let info = simulation.tcp_info(0).expect("a connection");
    let data = passages.iter().filter(|passage| passage.packet.has(flags::DATA));
    let numbers: Vec<u64> = data.map(|passage| passage.packet.number).collect();
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(info.segments_sent, numbers.len() as u64);
    assert_eq!(info.retransmissions, (numbers.len() - distinct.len()) as u64);
    assert!(info.retransmissions > 0);
    let now = simulation.now();
    let answers = passages.iter().filter(|passage| passage.packet.has(flags::ACK) && passage.time <= now);
    let acknowledged = answers.map(|passage| passage.packet.number).max().expect("answers");
    assert_eq!(info.bytes_acknowledged, acknowledged - 1);
    assert_eq!(info.outstanding, distinct.len() as u64 - info.bytes_acknowledged / info.mss);
    assert_eq!(simulation.algorithm(0).is_some(), simulation.tcp_info(0).is_some());
}
