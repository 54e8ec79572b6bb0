//! Links that change during a run: their effect on queues, transports and loss ratios.

use std::sync::atomic::AtomicBool;

use crate::support::{MS, Path, S, constant_rate, droptail, required_parameters, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::queue::Discipline;
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::{LinkChange, Specification, Trace, TraceValues};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Bytes;

/// Runs the path with these changes of its bottleneck.
fn run(path: &Path, changes: Value) -> RunResult {
    let mut specification = path.specification();
    specification.links[1].changes = serde_json::from_value::<Vec<LinkChange>>(changes).expect("well formed");
    let simulation = Simulation::new(&specification).expect("a valid specification");
    simulation.run(&AtomicBool::new(false)).expect("nobody cancels")
}

/// A rate of 10 Mbit/s, and of 50 from 20 s to 40 s.
fn steps() -> Value {
    json!([{"at": 20 * S, "rate": 50_000_000}, {"at": 40 * S, "rate": 10_000_000}])
}

/// Unresponsive 20 Mbit/s in packets of 1500 bytes fill DropTail at 10 Mbit/s by 1 / 0.6 - 1 / 1.2 packets per
/// millisecond. At 50 Mbit/s it drains by 1 / 0.24 - 1 / 0.6 of them per millisecond, until it is empty.
#[test]
fn queue_growth_at_current_rate() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(1_000_000);
    path.flows = vec![constant_rate(20_000_000, 1500, false)];
    path.queue_series = Some(10 * MS);
    path.duration = 60 * S;
    let result = run(&path, steps());
    let (fills, drains) = (1.0 / 0.6 - 1.0 / 1.2, 1.0 / 0.24 - 1.0 / 0.6);
    let mut checked = 0;
    for sample in &result.series.queues {
        let time = sample.time.seconds() * 1e3;
        let expected = match time {
            time if time <= 20e3 => fills * time,
            time if time <= 40e3 => (fills * 20e3 - drains * (time - 20e3)).max(0.0),
            time => fills * (time - 40e3),
        };
        // One packet that has just arrived and one in transmission.
        assert!(
            (sample.packets as f64 - expected).abs() <= 2.5,
            "{} packets at {time} ms, not {expected}",
            sample.packets
        );
        checked += 1;
    }
    assert!(checked > 5_000, "{checked} samples");
}

/// Sends 1000 packets/s of 1000 bytes over one link of 16 Mbit/s with these changes. Returns the number of arrivals at
/// each moment, in seconds. All packets are counted after each event.
fn arrived(queue: Value, device_queue: u64, changes: Value, moments: &[f64]) -> Vec<u64> {
    let mut source = constant_rate(8_000_000, 1000, false);
    source["to"] = json!(1);
    let specification: Specification = serde_json::from_value(json!({
        "seed": 1, "duration": 10 * S, "warm_up": 0, "sender_overhead": 0, "nodes": ["sender", "receiver"],
        "links": [{
            "from": 0, "to": 1, "rate": 16_000_000, "delay": 5 * MS, "queue": queue, "device_queue": device_queue,
            "drop": null, "changes": changes,
        }],
        "stacks": [{}], "flows": [source],
        "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed");
    let mut simulation = Simulation::new(&specification).expect("a valid specification");
    let mut count = |moment: &f64| {
        let until = Time((moment * S as f64) as u64);
        while !simulation.advance(until, 1) {
            assert!(simulation.census().is_complete(), "{:?}", simulation.census());
        }
        simulation.census().delivered
    };
    moments.iter().map(&mut count).collect()
}

/// A second at 0 or 1 bit/s delays 1000 packets, with or without a queue or a ring. Nothing arrives meanwhile, and a second
/// at twice the source's rate makes up for it.
#[test]
fn second_without_service() {
    let moments = [2.01, 2.99, 3.5, 4.01, 9.0];
    for rate in [0, 1] {
        let changes = json!([{"at": 2 * S, "rate": rate}, {"at": 3 * S, "rate": 16_000_000}]);
        for (queue, device_queue) in [(Value::Null, 0), (droptail(5_000), 0), (droptail(5_000), 10)] {
            let arrived = arrived(queue, device_queue, changes.clone(), &moments);
            for (count, expected) in arrived.iter().zip([2000, 2000, 2990, 4000, 8995u64]) {
                assert!(count.abs_diff(expected) <= 6, "{arrived:?} at {moments:?} s, after {rate} bit/s");
            }
            assert_eq!(arrived[0], arrived[1], "arrivals at {rate} bit/s");
        }
    }
}

/// After a rate of zero without a later change nothing arrives, and neither use nor sojourn times are out of range.
#[test]
fn link_down_for_good() {
    for device_queue in [0, 10] {
        let changes = json!([{"at": 2 * S, "rate": 0}]);
        let arrived = arrived(droptail(100), device_queue, changes, &[2.01, 9.9]);
        assert!(arrived[0].abs_diff(2000) <= 6 && arrived[0] == arrived[1], "{arrived:?}");
    }
    for (at, expected) in [(0, 0.0), (40 * S, 1.0)] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = droptail(1_000);
        path.device_queue = 5;
        path.flows = vec![constant_rate(20_000_000, 1500, false)];
        let statistics = run(&path, json!([{"at": at, "rate": 0}])).queues[0].statistics.clone();
        assert!((statistics.busy_share - expected).abs() < 1e-4, "use {}, not {expected}", statistics.busy_share);
        assert!(statistics.sojourn.is_none_or(|sojourn| sojourn.max < 60.0), "{:?}", statistics.sojourn);
    }
}

/// Two of each three seconds at zero leave a third of the link, all of which is used. Output is what it could carry times the use,
/// whatever the discipline.
/// All packets are counted after every event.
#[test]
fn periodic_outages_under_every_discipline() {
    for (about, _) in Discipline::catalogue() {
        let mut path = Path::new(2_000_000, 20 * MS);
        path.queue =
            json!({"name": about.name, "limit": {"packets": 200}, "parameters": required_parameters(about.name)});
        path.device_queue = 2;
        path.flows = vec![constant_rate(4_000_000, 1500, true)];
        (path.warm_up, path.duration) = (3 * S, 15 * S);
        path.changes = (0..5)
            .flat_map(|cycle| {
                [(3 * cycle, 0), (3 * cycle + 2, 2_000_000)].map(|(at, rate)| json!({"at": at * S, "rate": rate}))
            })
            .collect();
        path.run_with_census(about.name);
        let result = path.run();
        let statistics = &result.queues[0].statistics;
        let sent = statistics.window.bytes_sent as f64 * 8.0;
        let case = format!("{}: use {}, {sent} bits", about.name, statistics.busy_share);
        let least = if about.name == "droptail" { 1.0 - 1e-4 } else { 0.0 };
        assert!((least..=1.0).contains(&statistics.busy_share), "{case}");
        // The packets that left before the window and those that remain in the device are at most three each.
        let capacity = 2e6 * 4.0 * statistics.busy_share;
        assert!((sent - capacity).abs() <= 3.0 * 12_000.0, "{case}, not {capacity}");
    }
}

/// On a trace the use is what was carried over what could have been: all if packets always wait, though three of four milliseconds are
/// without an opportunity, and half for a source of half the rate.
#[test]
fn use_of_a_trace() {
    for (rate, expected) in [(6_000_000, 1.0), (1_500_000, 0.5)] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.edge_rate = 1_000_000_000;
        path.queue = droptail(1_000);
        path.flows = vec![constant_rate(rate, 1500, false)];
        let mut specification = path.specification();
        let counts = [1, 0, 0, 0];
        specification.links[1].rate_trace = Some(Trace {
            name: "a packet each 4 ms".to_owned(),
            values: TraceValues::Slots { step: Duration(MS), unit: 12_000_000, counts: counts.to_vec() },
            until: Duration(4 * MS),
            repeats: true,
        });
        let result =
            Simulation::new(&specification).expect("valid").run(&AtomicBool::new(false)).expect("not cancelled");
        let share = result.queues[0].statistics.busy_share;
        assert!((share - expected).abs() < 1e-3 && share <= 1.0, "use {share}, not {expected}");
    }
}

/// Mean sojourn time in seconds and utilisation of the link between two moments with this discipline.
fn between(discipline: &str, start: u64, end: u64) -> (f64, f64) {
    let mut path = Path::new(10_000_000, 40 * MS);
    path.edge_rate = 1_000_000_000;
    path.queue = json!({"name": discipline, "limit": {"packets": 1_000}});
    path.flows = vec![tcp_flows("newreno", 8, S)];
    (path.warm_up, path.duration) = (start * S, end * S);
    let result = run(&path, steps());
    let statistics = &result.queues[0].statistics;
    (statistics.sojourn.expect("packets were sent").mean, statistics.busy_share)
}

/// Before the rate changes, five seconds after an increase and five after a decrease, AQMs keep the same delay without
/// being configured for the rate, and the link is used.
#[test]
fn aqm_delay_at_any_rate() {
    // CoDel's delay is above its target of 5 ms, since each flow's share of the path at 10 Mbit/s is four packets.
    for (discipline, least, greatest) in [("codel", 0.005, 0.020), ("pie", 0.0135, 0.0165), ("dualpi2", 0.0135, 0.0165)]
    {
        for (start, end) in [(10, 20), (25, 40), (45, 60)] {
            let (delay, used) = between(discipline, start, end);
            let case = format!("{discipline} from {start} s to {end} s: {delay} s, use {used}");
            assert!((least..=greatest).contains(&delay) && used > 0.98, "{case}");
        }
        let (delay, _) = between(discipline, 40, 42);
        assert!(delay < 0.1, "{discipline} while a fifth of the rate is left: {delay} s");
    }
    assert!(between("droptail", 45, 60).0 > 0.5, "a queue that nobody manages");
}

/// Packets do not overtake earlier ones when the delay falls: there are no retransmissions without losses. At most
/// fifty packets are in flight, so the queue adds at most 60 ms to the delays of both directions.
#[test]
fn delay_change_without_reordering() {
    for (first, second) in [(100, 5), (5, 100), (200, 1)] {
        let mut path = Path::new(10_000_000, 2 * first * MS);
        path.queue = droptail(100);
        path.stack.send_buffer = Bytes(50 * 1448);
        let delays = [second, first].into_iter().cycle().take(40);
        let changes: Vec<Value> = (0..)
            .zip(delays)
            .map(|(index, delay)| json!({"at": 10 * S + index * 1_013 * MS, "delay": delay * MS}))
            .collect();
        let statistics = run(&path, json!(changes)).flows[0].statistics();
        assert_eq!((statistics.retransmissions, statistics.timeouts), (0, 0), "{first} ms, {second} ms and so on");
        let both_ways = |there: u64| (there + first) as f64 * 1e-3;
        for (seen, expected) in
            [(statistics.min_rtt, both_ways(first.min(second))), (statistics.max_rtt, both_ways(first.max(second)))]
        {
            let queueing = seen.seconds() - expected;
            assert!((0.0..=0.065).contains(&queueing), "{first} ms, {second} ms: {seen:?}, not {expected} s");
        }
    }
}

/// 1000 packets/s over a link whose delay falls from 40 to 5 ms at 2 s: packets sent before that keep their arrival
/// times, and later ones arrive behind them. So the packets sent by 1.98 s have arrived at 2.02 s, and those sent by
/// 2.04 s at 2.045 s.
#[test]
fn arrivals_after_delay_decrease() {
    let mut source = constant_rate(8_000_000, 1000, false);
    source["to"] = json!(1);
    let specification: Specification = serde_json::from_value(json!({
        "seed": 1, "duration": 4 * S, "warm_up": 0, "sender_overhead": 0, "nodes": ["sender", "receiver"],
        "links": [{
            "from": 0, "to": 1, "rate": 1_000_000_000, "delay": 40 * MS, "queue": null, "drop": null,
            "changes": [{"at": 2 * S, "delay": 5 * MS}],
        }],
        "stacks": [{}], "flows": [source],
        "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed");
    let mut simulation = Simulation::new(&specification).expect("a valid specification");
    let mut before = simulation.now();
    for (moment, arrived) in [(2.02, 1980), (2.045, 2040), (3.0, 2995)] {
        while simulation.now().seconds() < moment {
            assert!(simulation.step() && simulation.now() >= before, "time ran back from {before:?}");
            before = simulation.now();
        }
        let delivered = simulation.census().delivered;
        assert!(delivered.abs_diff(arrived) <= 1, "{delivered} at {moment} s, not {arrived}");
    }
}

/// Of 75 000 packets, half of them after a change of the loss ratio, the number lost is within five standard deviations
/// of the binomial distribution. All others arrive.
#[test]
fn random_loss_ratio() {
    for (seed, (before, after)) in (1..).zip([(0.0, 0.01), (0.01, 0.0), (0.001, 0.02), (0.1, 0.1), (0.5, 0.001)]) {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = droptail(100);
        path.flows = vec![constant_rate(5_000_000, 500, false)];
        path.warm_up = 0;
        path.seed = seed;
        let changes = json!([{"at": 0, "loss": before}, {"at": 30 * S, "loss": after}]);
        let result = run(&path, changes);
        let (sent, lost) = (result.flows[0].statistics().segments_sent, result.queues[0].link_losses);
        assert_eq!(sent, 75_000);
        let half = sent as f64 / 2.0;
        let expected = half * (before + after);
        let deviation = (half * (before * (1.0 - before) + after * (1.0 - after))).sqrt();
        let case = format!("loss of {before}, then {after}: {lost} lost of {sent}");
        assert!((lost as f64 - expected).abs() <= 5.0 * deviation, "{case}, not {expected}");
        // At most 14 packets were in the network in the last 10 ms and 0.4 ms of the link.
        let delivered = result.flows[0].bytes_delivered / 500;
        assert!((0..=14).contains(&(sent - lost - delivered)), "{case}, {delivered} delivered");
    }
}

/// Packets of 1500 bytes and 40 of overhead take 33 cells of 53 bytes on an ATM link, so that a full link carries 1500 / 1749 of its
/// rate; on PTM 1530 bytes take 1554. A change of the rate keeps the share.
#[test]
fn share_of_payload_in_cells() {
    for (overhead, framing, bytes) in [(40, "atm", 1749.0), (30, "ptm", 1554.0), (38, "noatm", 1538.0)] {
        for queue in [Value::Null, droptail(50)] {
            let mut path = Path::new(8_000_000, 20 * MS);
            path.queue = queue;
            path.flows = vec![constant_rate(40_000_000, 1500, false)];
            let mut specification = path.specification();
            let set = json!({"overhead": overhead, "mpu": 0, "framing": framing});
            specification.links[1].framing = serde_json::from_value(set).expect("well formed");
            specification.links[1].changes =
                serde_json::from_value(json!([{"at": 40 * S, "rate": 16_000_000}])).expect("well formed");
            let simulation = Simulation::new(&specification).expect("a valid specification");
            let result = simulation.run(&AtomicBool::new(false)).expect("nobody cancels");
            let expected = 12_000_000.0 * 1500.0 / bytes;
            let goodput = path.goodput(&result);
            assert!((goodput / expected - 1.0).abs() < 2e-3, "{framing}: {goodput} of {expected} bit/s");
        }
    }
}

/// What CAKE is for: a shaper of the line's rate before a modem with cells. If it allows for them, the modem has no queue; if not,
/// the modem's fills to its limit.
#[test]
fn shaper_before_a_line_with_cells() {
    let longest = |shaper: Value| {
        let mut source = constant_rate(20_000_000, 1500, false);
        source["to"] = json!(2);
        let mut cake = json!({"bandwidth": 8_000_000});
        cake.as_object_mut().unwrap().extend(shaper.as_object().unwrap().clone());
        let specification: Specification = serde_json::from_value(json!({
            "seed": 1, "duration": 10 * S, "warm_up": S, "sender_overhead": 0, "nodes": ["router", "modem", "provider"],
            "links": [
                {"from": 0, "to": 1, "rate": 1_000_000_000, "delay": 0, "drop": null,
                 "queue": {"name": "cake", "limit": {"packets": 100}, "parameters": cake}},
                {"from": 1, "to": 2, "rate": 8_000_000, "delay": 5 * MS, "drop": null, "queue": droptail(100),
                 "framing": {"overhead": 40, "mpu": 0, "framing": "atm"}},
            ],
            "stacks": [{}], "flows": [source],
            "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
        }))
        .expect("well formed");
        let simulation = Simulation::new(&specification).expect("a valid specification");
        let result = simulation.run(&AtomicBool::new(false)).expect("nobody cancels");
        result.queues[1].statistics.max_packets
    };
    assert!(longest(json!({"overhead": 40, "framing": "atm"})) <= 1);
    assert_eq!(longest(json!({})), 100);
}

/// Changes that repeat are those that a list of all of them makes.
#[test]
fn repeated_changes_are_a_list() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(100);
    let repeat = json!({"every": 10 * S, "spread": 0});
    let repeated = json!([
        {"at": 5 * S, "rate": 4_000_000, "repeat": repeat}, {"at": 7 * S, "rate": 10_000_000, "delay": 15 * MS, "repeat": repeat},
    ]);
    let listed: Vec<Value> = (0..6)
        .flat_map(|k| {
            let at = 10 * k * S;
            [
                json!({"at": 5 * S + at, "rate": 4_000_000}),
                json!({"at": 7 * S + at, "rate": 10_000_000, "delay": 15 * MS}),
            ]
        })
        .collect();
    let results = [repeated, json!(listed)].map(|changes| format!("{:?}", run(&path, changes)));
    assert_eq!(results[0], results[1]);
}

/// With a spread each repetition is later by a time that is uniform up to it, the same for changes that belong together and for both
/// directions, and another with another seed: the mean of a thousand is within five standard deviations of the middle.
#[test]
fn spread_of_repeated_changes() {
    let path = Path::new(10_000_000, 20 * MS);
    let mut specification = path.specification();
    let repeat = json!({"every": 15 * S, "spread": 2 * S});
    let changes =
        json!([{"at": 15 * S, "rate": 0, "repeat": repeat}, {"at": 16 * S, "rate": 10_000_000, "repeat": repeat}]);
    for link in [1, 4] {
        specification.links[link].changes = serde_json::from_value(changes.clone()).expect("well formed");
    }
    let times = |link: usize, seed: u64| -> Vec<f64> {
        let link = specification.links[link].with_all_changes(seed, Time(15_002 * S));
        link.changes.iter().map(|change| change.at.seconds()).collect()
    };
    let (found, other) = (times(1, 1), times(1, 2));
    assert!(found.len() == 2_000 && found == times(4, 1), "{} changes", found.len());
    assert!(found.iter().zip(&other).all(|(one, other)| one != other));
    let mut sum = 0.0;
    for (k, pair) in found.chunks(2).enumerate() {
        let later = pair[0] - 15.0 * (k + 1) as f64;
        assert!((0.0..2.0).contains(&later) && (pair[1] - pair[0] - 1.0).abs() < 1e-9, "{pair:?}");
        sum += later;
    }
    let deviation = 2.0 / 12f64.sqrt() / 1000f64.sqrt();
    assert!((sum / 1000.0 - 1.0).abs() < 5.0 * deviation, "{}", sum / 1000.0);
}
