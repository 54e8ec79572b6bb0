//! RED: laws of Floyd and Jacobson 1993, and results of ns-3's tests and of ns-2.35.

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, Limit, QueueDiscipline, Red, RedParameters};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, count, data, number, packet, rows, vector};

/// ns-3's default link rate, with which its vectors were made.
const LINK: Rate = Rate(1_500_000);

pub fn red(limit: Limit, rate: Rate, parameters: Value, seed: u64) -> Bench<Red> {
    let parameters: RedParameters = serde_json::from_value(parameters).unwrap();
    let mut red = Red::new(limit, parameters);
    red.set_link_rate(rate);
    Bench::new(red, seed)
}

/// Parameters of RED in packets, with these thresholds in packets.
fn in_packets(min: u64, max: u64, weight: f64, more: Value) -> Value {
    let mut parameters = json!({
        "min": {"packets": min}, "max": {"packets": max}, "weight": weight, "queue_in_bytes": false,
        "byte_mode": false, "maximum_probability": 0.02,
    });
    parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    parameters
}

/// Offers packets of 500 bytes back to back without departures. Returns the early drops and marks.
fn burst(bench: &mut Bench<impl QueueDiscipline>, packets: u64, ecn_flag: u8) -> (u64, u64) {
    for _ in 0..packets {
        bench.enqueue(Time::ZERO, packet(500, ecn_flag));
    }
    (bench.drops(DropCause::Early), bench.outcome.marks)
}

/// With a small weight the average does not follow a burst, and nothing is dropped.
#[test]
fn burst_without_drops() {
    let row = vector("red-no_drop_slow_average-1");
    let inputs = &row["inputs"];
    let number_of = |name: &str| count(&inputs[name]);
    for queue_in_bytes in [false, true] {
        let parameters = in_packets(
            number_of("min_th"),
            number_of("max_th"),
            number(&inputs["qw"]),
            json!({"queue_in_bytes": queue_in_bytes, "mean_packet_size": 500}),
        );
        let mut bench = red(Limit::Packets(number_of("qsize")), LINK, parameters, 1);
        burst(&mut bench, number_of("packets"), 0);
        assert_eq!(bench.outcome.dropped.len() as u64, count(&row["expected"]["drops"]));
    }
}

/// There are more drops with thresholds nearer to each other, with a greater maximum probability, without gentle mode
/// and without waiting.
#[test]
fn published_order_of_drops() {
    let row = vector("red-ordering-2");
    let packets = count(&row["inputs"]["packets"]);
    let drops = |max: u64, more: Value| -> u64 {
        let seeds = 1..=10;
        seeds
            .map(|seed| {
                let parameters = in_packets(70, max, 0.02, more.clone());
                burst(&mut red(Limit::Packets(packets), LINK, parameters, seed), packets, 0).0
            })
            .sum()
    };
    let t3 = drops(150, json!({}));
    let others = [
        drops(100, json!({})),
        drops(150, json!({"maximum_probability": 0.2})),
        drops(150, json!({"gentle": false})),
        drops(150, json!({"wait": false})),
    ];
    assert_eq!(rows(&row["expected"]["relations"]).len(), 1 + others.len());
    assert!(t3 > 0 && others.iter().all(|other| *other > t3), "{t3} and {others:?}");
}

/// ECN-capable packets are marked instead of dropped, unless the average is above the maximum threshold and hard drops
/// are on.
#[test]
fn marks() {
    let row = vector("red-ecn-3");
    let inputs = &row["inputs"];
    let run = |weight: f64, ecn_flag: u8, more: Value| {
        let mut set = json!({"ecn": true, "maximum_probability": inputs["max_p"], "gentle": inputs["gentle"]});
        set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let parameters = in_packets(count(&inputs["min_th"]), count(&inputs["max_th"]), weight, set);
        let mut bench = red(Limit::Packets(count(&inputs["qsize"])), LINK, parameters, 1);
        burst(&mut bench, count(&inputs["packets"]), ecn_flag)
    };
    let weight = number(&inputs["qw"]);
    let (drops, marks) = run(weight, 0, json!({}));
    assert!(drops > 0 && marks == 0, "not capable: {drops} drops, {marks} marks");
    let (drops, marks) = run(weight, flags::ECT_0, json!({}));
    assert!(drops == 0 && marks > 0, "capable: {drops} drops, {marks} marks");
    assert_eq!(run(weight, flags::ECT_0, json!({"ecn": false})).1, 0);
    // The average equals the queue length and ends far above the maximum threshold.
    let (drops, marks) = run(1.0, flags::ECT_0, json!({}));
    assert!(drops > 0 && marks > 0, "above the maximum: {drops} drops, {marks} marks");
    let (drops, marks) = run(1.0, flags::ECT_0, json!({"hard_drop": false}));
    assert!(drops == 0 && marks > 100, "soft above the maximum: {drops} drops, {marks} marks");
}

/// The drop rate at a drop probability, over 100 000 arrivals that each find 50 packets.
fn rate_of_drops(drop_probability: f64, wait: bool, seed: u64) -> f64 {
    // Halfway between the thresholds.
    let parameters =
        in_packets(25, 75, 1.0, json!({"maximum_probability": 2.0 * drop_probability, "wait": wait, "gentle": false}));
    let mut bench = red(UNLIMITED, LINK, parameters, seed);
    while bench.queue.packets() < 50 {
        bench.enqueue(Time::ZERO, packet(1000, 0));
    }
    let before = bench.drops(DropCause::Early);
    for _ in 0..100_000 {
        bench.enqueue(Time::ZERO, packet(1000, 0));
        if bench.queue.packets() > 50 {
            bench.dequeue(Time::ZERO);
        }
    }
    (bench.drops(DropCause::Early) - before) as f64 / 1e5
}

fn mean_rate_of_drops(drop_probability: f64, wait: bool) -> f64 {
    (1..=10).map(|seed| rate_of_drops(drop_probability, wait, seed)).sum::<f64>() / 10.0
}

/// Law red-uniform: intervals between drops are uniform on 1 to 1/p, so the rate is between 2p/(1 + p) and 2p.
#[test]
fn uniform_drop_intervals() {
    let law = &data()["laws"]["red-uniform"];
    for row in rows(&law["worked"]) {
        let (p, rate) = (number(&row["p_b"]), mean_rate_of_drops(number(&row["p_b"]), false));
        let band = 0.98 * number(&row["rate"])..=1.02 * 2.0 * p;
        assert!(band.contains(&rate), "p = {p}: {rate}, not in {band:?}");
    }
}

/// Law red-wait: with waiting the intervals are uniform on 1/p to 2/p, so the rate is 2p/3, with a tolerance of 3 %. At
/// 0.1, where intervals are whole numbers of packets, the expected rate is simulated.
#[test]
fn drop_intervals_with_waiting() {
    let law = &data()["laws"]["red-wait"];
    for row in rows(&law["worked"]) {
        let (p, rate) = (number(&row["p_b"]), mean_rate_of_drops(number(&row["p_b"]), true));
        let expected = [number(&row["rate"]), number(&row["simulated_here"])];
        assert!(expected.iter().any(|expected| (rate / expected - 1.0).abs() < 0.03), "p = {p}: {rate}, {expected:?}");
    }
}

/// Law red-ewma: after n arrivals that find q packets the average is q (1 - (1 - w)^n). An idle time in which m packets
/// could have been sent multiplies it by (1 - w)^m.
#[test]
fn average_queue() {
    let law = &data()["laws"]["red-ewma"];
    for row in rows(&law["worked"]) {
        let (weight, arrivals) = (number(&row["w"]), count(&row["n"]));
        // 1.5 Mbit/s are 125 packets of 1500 bytes per second.
        let mut bench = red(Limit::Packets(100), LINK, in_packets(1000, 3000, weight, json!({})), 1);
        while bench.queue.packets() < 100 {
            bench.enqueue(Time::ZERO, packet(1500, 0));
        }
        // The initial fill has decayed and is negligible. Measure from here.
        let start = bench.queue.average();
        for _ in 0..arrivals {
            bench.enqueue(Time::ZERO, packet(1500, 0));
        }
        let kept = 1.0 - number(&row["frac"]);
        let expected = 100.0 + (start - 100.0) * (1.0 - weight).powi(arrivals as i32);
        assert!((bench.queue.average() - expected).abs() < 1e-9, "{row}: {}", bench.queue.average());
        assert!(((100.0 - bench.queue.average()) / (100.0 - start) - kept).abs() < 0.5e-5, "{row}: printed figure");
        while bench.dequeue(Time::ZERO).is_some() {}
        let before = bench.queue.average();
        bench.enqueue(Time::ZERO + Duration::from_seconds(4), packet(1500, 0));
        let expected = before * (1.0 - weight).powi(500);
        assert!((bench.queue.average() - expected).abs() < 1e-9, "idle: {}", bench.queue.average());
        // A second arrival finds one packet and no idle time.
        let expected = (1.0 - weight) * expected + weight;
        bench.enqueue(Time::ZERO + Duration::from_seconds(9), packet(1500, 0));
        assert!((bench.queue.average() - expected).abs() < 1e-9, "busy again: {}", bench.queue.average());
    }
}

/// ns-2.35's automatic thresholds: half of what the link sends in 5 ms, at least five packets, and three times that.
/// They follow the link's rate. By hand: at 622 Mbit/s 622e6 / 8 * 2.5e-3 = 194 375 bytes.
#[test]
fn automatic_thresholds() {
    let mut bench = red(UNLIMITED, Rate(622_000_000), json!({}), 1);
    assert_eq!(bench.queue.thresholds(), (194_375.0, 583_125.0));
    bench.queue.set_link_rate(Rate(10_000_000));
    assert_eq!(bench.queue.thresholds(), (7_500.0, 22_500.0), "five packets");
    let mut bench =
        red(UNLIMITED, Rate(622_000_000), json!({"queue_in_bytes": false, "target_delay": 20_000_000_000u64}), 1);
    let packets = 194_375.0 * 4.0 / 1500.0;
    let (min, max) = bench.queue.thresholds();
    assert!((min - packets).abs() < 1e-9 && (max - 3.0 * packets).abs() < 1e-9, "{min} {max}");
    bench.queue.set_link_rate(LINK);
    assert_eq!(bench.queue.thresholds(), (5.0, 15.0));
    let set = json!({"min": {"bytes": 9_000}, "queue_in_bytes": false});
    assert_eq!(red(UNLIMITED, LINK, set, 1).queue.thresholds(), (6.0, 18.0), "bytes in packets of the mean size");
    let set = json!({"min": {"packets": 6}, "max": {"packets": 10}});
    assert_eq!(red(UNLIMITED, LINK, set, 1).queue.thresholds(), (9_000.0, 15_000.0));
}

/// The automatic weight has a time constant of ten round-trip times, so an idle second, ten times 100 ms, reduces the
/// average to 1/e for any rate.
#[test]
fn automatic_weight() {
    for (rate, round_trip_ms, idle_ms) in [(1_500_000, 100, 1_000), (150_000_000, 100, 1_000), (10_000_000, 30, 300)] {
        let set = json!({"round_trip_time": round_trip_ms * 1_000_000_000u64, "min": {"packets": 1000}});
        let mut bench = red(UNLIMITED, Rate(rate), set, 1);
        burst(&mut bench, 100, 0);
        while bench.dequeue(Time::ZERO).is_some() {}
        let before = bench.queue.average();
        bench.enqueue(Time::ZERO + Duration::from_milliseconds(idle_ms), packet(1500, 0));
        let ratio = bench.queue.average() / before;
        assert!((ratio - (-1.0f64).exp()).abs() < 1e-9, "{rate} bit/s: {ratio}");
    }
}

/// In byte mode a packet's drop probability is proportional to its size. Otherwise it does not depend on it.
#[test]
fn byte_mode() {
    let shares = |byte_mode: bool| {
        let parameters =
            in_packets(25, 75, 1.0, json!({"byte_mode": byte_mode, "mean_packet_size": 1000, "wait": false}));
        let mut bench = red(UNLIMITED, LINK, parameters, 1);
        while bench.queue.packets() < 50 {
            bench.enqueue(Time::ZERO, packet(1000, 0));
        }
        for arrival in 0..200_000u64 {
            let size = if arrival % 2 == 0 { 1500 } else { 500 };
            bench.enqueue(Time::ZERO, packet(size, 0));
            if bench.queue.packets() > 50 {
                bench.dequeue(Time::ZERO);
            }
        }
        let large = bench.outcome.dropped.iter().filter(|dropped| dropped.packet.size == 1500).count() as f64;
        (large, bench.outcome.dropped.len() as f64 - large)
    };
    // About 3000 and 1000 of 200 000 packets are dropped. Three standard deviations of the ratio are 0.33.
    let (large, small) = shares(true);
    assert!((large / small - 3.0).abs() < 0.33, "{large} and {small}");
    let (large, small) = shares(false);
    assert!((large / small - 1.0).abs() < 0.13, "{large} and {small}");
}

/// Gentle mode: the drop probability rises from max_p at the maximum threshold to 1 at twice that. Otherwise it is 1
/// from the maximum threshold on.
#[test]
fn gentle_slope() {
    let rate = |held: u64, max: u64, gentle: bool| {
        // Marks do not change the queue.
        let parameters = json!({
            "min": {"packets": 1}, "max": {"packets": max}, "weight": 1.0, "gentle": gentle, "wait": false,
            "queue_in_bytes": false, "byte_mode": false, "maximum_probability": 0.02, "ecn": true, "hard_drop": false,
        });
        let mut bench = red(UNLIMITED, LINK, parameters, 1);
        for _ in 0..held {
            bench.enqueue(Time::ZERO, packet(1000, flags::ECT_0));
        }
        let before = bench.outcome.marks;
        for _ in 0..10_000 {
            bench.enqueue(Time::ZERO, packet(1000, flags::ECT_0));
            bench.dequeue(Time::ZERO);
        }
        (bench.outcome.marks - before) as f64 / 1e4
    };
    assert_eq!(rate(100, 100, false), 1.0);
    assert_eq!(rate(200, 100, true), 1.0, "twice the maximum");
    // At the maximum threshold the probability is max_p: a rate between 2p/(1 + p) and 2p.
    let at_maximum = rate(100, 100, true);
    assert!((0.035..0.045).contains(&at_maximum), "{at_maximum}");
    // At a quarter of the slope the probability is 0.02 + 0.98 / 4.
    let (p, on_the_way) = (0.265, rate(125, 100, true));
    assert!((2.0 * p / (1.0 + p)..1.02 * 2.0 * p).contains(&on_the_way), "{on_the_way}");
}

/// An arrival at an empty queue is not dropped early, for any average. Overflows are counted as overflow.
#[test]
fn empty_queue_early_drops() {
    let mut bench = red(UNLIMITED, LINK, in_packets(5, 15, 0.02, json!({})), 1);
    burst(&mut bench, 100, 0);
    assert!(bench.queue.average() > 15.0);
    let mut overflowing = red(Limit::Packets(10), LINK, in_packets(20, 60, 0.5, json!({})), 1);
    burst(&mut overflowing, 25, 0);
    assert_eq!((overflowing.drops(DropCause::Early), overflowing.drops(DropCause::Overflow)), (0, 15));
    while bench.dequeue(Time::ZERO).is_some() {}
    let before = bench.outcome.dropped.len();
    for _ in 0..10 {
        bench.enqueue(Time::ZERO, packet(1500, 0));
        assert!(bench.queue.average() > 5.0, "{}", bench.queue.average());
        assert!(bench.dequeue(Time::ZERO).is_some());
    }
    assert_eq!(bench.outcome.dropped.len(), before);
}

/// Linux's RED counts bytes: a limit of ten packets is 15,000 bytes, which 71 packets of 210 bytes fill (net/sched/sch_red.c; tc-red(8)).
#[test]
fn limit_of_linux_is_in_bytes() {
    for (rules, size, held) in [("linux", 210, 71), ("linux", 1500, 10), ("published", 210, 10)] {
        let parameters =
            json!({"rules": rules, "min": {"packets": 100}, "max": {"packets": 300}, "gentle": false, "wait": false});
        let mut bench = red(Limit::Packets(10), LINK, parameters, 1);
        (0..100).for_each(|_| bench.enqueue(Time::ZERO, packet(size, 0)));
        assert_eq!(bench.queue.packets(), held, "{rules}, {size} bytes");
    }
}

/// A change of the link's rate leaves Linux's RED alone: with an average above the maximum threshold it goes on dropping each arrival.
/// The automatic thresholds of RED as published follow the rate, and at a thousand times the first one spare them.
#[test]
fn rate_change_leaves_linux_alone() {
    for (rules, more, dropped) in [("linux", json!({"gentle": false, "wait": false}), 50), ("published", json!({}), 0)]
    {
        let mut parameters = json!({"rules": rules, "weight": 0.5});
        parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut bench = red(UNLIMITED, LINK, parameters, 1);
        (0..50).for_each(|_| bench.enqueue(Time::ZERO, packet(1500, 0)));
        let before = bench.drops(DropCause::Early);
        assert!(before > 10, "{rules}: {before} dropped at the first rate");
        bench.queue.set_link_rate(Rate(1000 * LINK.0));
        (0..50).for_each(|_| bench.enqueue(Time::ZERO, packet(1500, 0)));
        assert_eq!(bench.drops(DropCause::Early) - before, dropped, "{rules}");
    }
}
