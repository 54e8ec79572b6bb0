//! What links do to packets: policers, losses, copies, random delays, slots and traces.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::support::{MS, S, constant_rate};
use serde_json::{Value, json};
use sojourn_engine::probe::End;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Time;

/// What the source sends: a packet of 1000 bytes each millisecond.
const PACKET_BITS: u64 = 8_000;
/// The transmission of a packet at 16 Mbit/s, and the link's delay.
const PASSAGE: u64 = MS / 2 + 5 * MS;

/// A source of 1000 packets a second on a link of 16 Mbit/s and 5 ms with these settings, and a second link of 1 Gbit/s after it.
fn specification(seconds: u64, settings: &Value) -> Specification {
    let mut link = json!({"from": 0, "to": 1, "rate": 16_000_000, "delay": 5 * MS, "queue": null, "drop": null});
    for (key, value) in settings.as_object().expect("a table") {
        link[key] = value.clone();
    }
    let second = json!({"from": 1, "to": 2, "rate": 1_000_000_000, "delay": MS, "queue": null, "drop": null});
    let mut source = constant_rate(8_000_000, 1000, false);
    source["to"] = json!(2);
    serde_json::from_value(json!({
        "seed": 3, "duration": seconds * S, "warm_up": 0, "sender_overhead": 0, "nodes": ["sender", "router", "receiver"],
        "links": [link, second], "stacks": [{}], "flows": [source],
        "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed")
}

/// The packets that arrive at the end of the first link: when, in picoseconds, and their numbers. Every event leaves all packets
/// accounted for.
fn arrivals(seconds: u64, settings: Value) -> Vec<(u64, u64)> {
    let mut simulation = Simulation::new(&specification(seconds, &settings)).expect("a valid specification");
    simulation.record(0, End::Far).expect("the link exists");
    while simulation.step() {
        assert!(simulation.census().is_complete(), "{:?}", simulation.census());
    }
    let passages = simulation.take_passages_before(Time::NEVER);
    passages.iter().map(|passage| (passage.time.0, passage.packet.number)).collect()
}

/// When each packet is sent: by its number, with the first link as it is without settings.
fn sent(seconds: u64) -> BTreeMap<u64, u64> {
    arrivals(seconds, json!({})).into_iter().map(|(time, number)| (number, time - PASSAGE)).collect()
}

fn impaired(impairments: Value) -> Value {
    json!({ "impairments": impairments })
}

/// Of an overload a policer admits its burst and then its rate, to the packet; of less than its rate all.
#[test]
fn policer_admits_its_rate() {
    for (rate, burst) in [(4_000_000u64, 50_000u64), (7_900_000, 2_000), (800_000, 1_000_000)] {
        let count = arrivals(20, impaired(json!({"policer": {"rate": rate, "burst": burst}}))).len() as u64;
        let expected = (rate * 20 + burst * 8) / PACKET_BITS;
        assert!(count.abs_diff(expected.min(20_000)) <= 7, "{count} packets at {rate} bit/s, not {expected}");
    }
    let count = arrivals(20, impaired(json!({"policer": {"rate": 8_000_000, "burst": 1_000}}))).len();
    assert!(count >= 19_990, "{count}");
}

/// A packet of n bits arrives with the probability (1 - b)^n. Within four standard deviations.
#[test]
fn bit_errors_by_size() {
    for ratio in [1e-6f64, 1e-5, 1e-4] {
        let packets = 30_000.0;
        let expected = packets * (1.0 - ratio).powi(PACKET_BITS as i32);
        let count = arrivals(30, impaired(json!({"bit_error_ratio": ratio}))).len() as f64;
        let deviation = (expected * (1.0 - expected / packets)).sqrt();
        assert!((count - expected).abs() <= 4.0 * deviation + 7.0, "{count} of {packets}, not {expected}");
    }
}

/// The share of packets that a link duplicates arrives twice, the copy right behind the packet. Within four standard deviations.
#[test]
fn copies_follow_packets() {
    let arrived = arrivals(30, impaired(json!({"duplication": 0.1})));
    let copies = arrived.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let packets = arrived.len() - copies;
    assert!(packets >= 29_990, "{packets}");
    assert!((copies as f64 - 3_000.0).abs() <= 4.0 * (30_000f64 * 0.1 * 0.9).sqrt(), "{copies} copies");
    assert_eq!(arrivals(2, impaired(json!({"duplication": 1.0}))).len(), 2 * sent(2).len());
}

/// A random delay has its mean and, if packets may overtake one another, the standard deviation of its distribution: the mean over
/// the square root of three if uniform, the mean if exponential. Within five per cent, with 30,000 packets. If they may not, packets
/// stay in order, and none is early.
#[test]
fn jitter_by_distribution() {
    let sent = sent(30);
    for (distribution, deviation) in [("uniform", 1.0 / 3f64.sqrt()), ("exponential", 1.0)] {
        let jitter = |reorders| json!({"distribution": distribution, "mean": 4 * MS, "reorders": reorders});
        let late = |(time, number): &(u64, u64)| (*time - sent[number] - PASSAGE) as f64 / MS as f64;
        let arrived = arrivals(30, impaired(json!({"jitter": jitter(true)})));
        assert!(arrived.is_sorted() && !arrived.is_sorted_by_key(|(_, number)| *number));
        let delays: Vec<f64> = arrived.iter().map(late).collect();
        let count = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / count;
        let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count;
        assert!((mean / 4.0 - 1.0).abs() < 0.05, "{distribution}: mean {mean} ms");
        assert!(
            (variance.sqrt() / (4.0 * deviation) - 1.0).abs() < 0.05,
            "{distribution}: deviation {} ms",
            variance.sqrt()
        );
        let arrived = arrivals(30, impaired(json!({"jitter": jitter(false)})));
        assert!(arrived.is_sorted_by_key(|(_, number)| *number));
        assert!(arrived.iter().map(late).sum::<f64>() / arrived.len() as f64 >= mean);
    }
}

/// In slots, packets arrive at multiples of the slot only, each at the first that it can.
#[test]
fn slots_hold_packets() {
    let sent = sent(5);
    let slot = 7 * MS;
    for (time, number) in arrivals(5, impaired(json!({"slot": slot}))) {
        assert_eq!(time, (sent[&number] + PASSAGE).div_ceil(slot) * slot, "packet {number}");
    }
}

/// A link with packets to send delivers in each cycle of a trace exactly what the trace says. At an overload of 8 Mbit/s: 20 slots of
/// 0 to 3 opportunities of 1500 bytes in 100 ms, or the same as steps.
#[test]
fn trace_delivers_its_bytes() {
    let counts = [0u64, 0, 1, 3, 2, 0, 0, 0, 1, 1, 2, 0, 3, 0, 1, 0, 0, 2, 0, 1];
    let (step, unit) = (5 * MS, 1500 * 8 * 1_000 / 5);
    let bytes_a_cycle = 1500 * counts.iter().sum::<u64>();
    assert!(bytes_a_cycle < 100_000, "it must be an overload");
    let steps: Vec<(u64, u64)> =
        counts.iter().enumerate().map(|(index, count)| (step * index as u64, unit * count)).collect();
    for values in [json!({"slots": {"step": step, "unit": unit, "counts": counts}}), json!({ "steps": steps })] {
        let mut trace = json!({"name": "cell", "until": 100 * MS, "repeats": true});
        for (key, value) in values.as_object().expect("a table") {
            trace[key] = value.clone();
        }
        let arrived = arrivals(10, json!({"rate_trace": trace, "delay": 0}));
        for cycle in 1..100 {
            let count = arrived.iter().filter(|(time, _)| *time <= cycle * 100 * MS).count() as u64;
            // The first packet leaves after up to a millisecond; part of a packet may be on its way.
            assert!(
                (1000 * count).abs_diff(bytes_a_cycle * cycle) <= 2_000 + 1500 * 3,
                "{count} packets in {cycle} cycles"
            );
        }
    }
}

/// A delay follows its trace, and packets stay in order.
#[test]
fn delay_follows_trace() {
    let sent = sent(4);
    let steps = [(0, 5 * MS), (S / 2, 50 * MS)];
    let trace = json!({"name": "satellite", "until": S, "repeats": true, "steps": steps});
    let mut latest = 0;
    for (time, number) in arrivals(4, json!({"delay_trace": trace})) {
        let completion = sent[&number] + MS / 2;
        let delay = if completion % S < S / 2 { 5 * MS } else { 50 * MS };
        assert_eq!(time, (completion + delay).max(latest), "packet {number}");
        latest = time;
    }
}

/// Transfers of one segment to ten thousand complete over links with every impairment, in both directions, with each of them alone
/// and with all together; the same seed gives the same run.
#[test]
fn transfers_complete() {
    let all = [
        json!({"policer": {"rate": 8_000_000, "burst": 30_000}}),
        json!({"burst_loss": {"enter": 0.005, "leave": 0.3, "inside": 0.8, "outside": 0.001}}),
        json!({"bit_error_ratio": 5e-7}),
        json!({"duplication": 0.05}),
        json!({"jitter": {"distribution": "exponential", "mean": 2 * MS, "reorders": true}}),
        json!({"slot": 3 * MS}),
    ];
    let together = all.iter().fold(json!({}), |mut sum, each| {
        for (key, value) in each.as_object().expect("a table") {
            sum[key] = value.clone();
        }
        sum
    });
    for impairments in all.iter().chain([&together]) {
        for tcp in ["newreno", "cubic", "bbr"] {
            let link = |from: u64, to: u64| {
                json!({
                    "from": from, "to": to, "rate": 10_000_000, "delay": 10 * MS, "queue": null, "drop": null,
                    "impairments": impairments,
                })
            };
            let flow = |size: u64| {
                json!({
                    "count": 2, "from": 0, "to": 1, "group": format!("{size}"), "start": 0, "start_within": 0, "size": size,
                    "source": {"name": tcp, "slow_start": "standard", "stack": 0},
                })
            };
            let specification: Specification = serde_json::from_value(json!({
                "seed": 1, "duration": 300 * S, "warm_up": 0, "sender_overhead": 0, "nodes": ["a", "b"],
                "links": [link(0, 1), link(1, 0)], "stacks": [{}], "flows": [flow(1), flow(100_000), flow(3_000_000)],
                "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
            }))
            .expect("well formed");
            let run = || {
                let simulation = Simulation::new(&specification).expect("a valid specification");
                simulation.run(&AtomicBool::new(false)).expect("nobody cancels")
            };
            let result = run();
            assert!(
                result.flows.iter().all(|flow| flow.tcp.as_ref().is_some_and(|tcp| tcp.completed.is_some())),
                "{tcp} over {impairments}"
            );
            assert_eq!(format!("{result:?}"), format!("{:?}", run()));
        }
    }
}
