//! CHOKe, and its comparison in PIE and CoDel: Pan, Prabhakar and Psounis 2000, Piotrowska 2021.

use serde_json::json;
use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{
    Choke, ChokeCoDel, ChokeCoDelParameters, ChokePie, ChokePieParameters, DropCause, QueueDiscipline,
};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};

fn of(flow: u32) -> Packet {
    Packet { flow, ..packet(1500, 0) }
}

/// CHOKe whose average queue length equals the queue length, with a minimum threshold of four packets and without drops
/// by RED.
fn choke(seed: u64) -> Bench<Choke> {
    let parameters = json!({
        "min": {"packets": 4}, "max": {"packets": 1_000_000}, "weight": 1.0, "maximum_probability": 0.0,
    });
    let mut choke = Choke::new(UNLIMITED, serde_json::from_value(parameters).unwrap());
    choke.set_link_rate(Rate(10_000_000));
    Bench::new(choke, seed)
}

/// Up to the minimum threshold nothing is compared. Above it each arrival of a single flow is dropped together with a
/// queued packet.
#[test]
fn match_drops_both() {
    let mut bench = choke(1);
    for _ in 0..5 {
        bench.enqueue(Time::ZERO, of(0));
    }
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (5, 0));
    bench.enqueue(Time::ZERO, of(0));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (4, 2));
    let queued: Vec<bool> = bench.outcome.dropped.iter().map(|dropped| dropped.queued_since.is_some()).collect();
    assert_eq!(queued, [true, false]);
    bench.enqueue(Time::ZERO, of(0));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (5, 2), "four are not above four");
    for other in [of(1), Packet { flags: flags::ACK, ..of(0) }] {
        let before = bench.queue.packets();
        bench.enqueue(Time::ZERO, other);
        assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (before + 1, 2), "another flow");
    }
}

/// CHOKe of Linux or as published, with thresholds of two and four packets and hardly a drop between them.
fn with_rules(rules: &str, weight: f64) -> Bench<Choke> {
    let parameters = json!({
        "min": {"packets": 2}, "max": {"packets": 4}, "weight": weight, "maximum_probability": 0.0, "gentle": false,
        "queue_in_bytes": false, "rules": rules,
    });
    let mut choke = Choke::new(UNLIMITED, serde_json::from_value(parameters).unwrap());
    choke.set_link_rate(Rate(10_000_000));
    Bench::new(choke, 1)
}

/// choke_enqueue by hand, with a weight of a half: arrivals of different flows find 0 to 4 packets, and qavg is 0, 1, 3, 5 and 7 of
/// thresholds 4 and 8. The next finds 4 after a departure: qavg is 8, which is not above 8. One more finds 5 and makes it 9.
#[test]
fn arithmetic_of_linux() {
    let mut bench = with_rules("linux", 0.5);
    for flow in 0..5 {
        bench.enqueue(Time::ZERO, of(flow));
    }
    assert!(bench.dequeue(Time::ZERO).is_some());
    bench.enqueue(Time::ZERO, of(5));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (5, 0), "at the maximum");
    bench.enqueue(Time::ZERO, of(6));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (5, 1), "above the maximum");
}

/// choke_enqueue compares above the minimum: packets of one flow find 0, 1, 2 and 3, and qavg is 0, 1, 3 and 5 of a threshold of 4.
#[test]
fn match_in_linux() {
    let mut bench = with_rules("linux", 0.5);
    for _ in 0..3 {
        bench.enqueue(Time::ZERO, of(0));
    }
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (3, 0), "not above the minimum");
    bench.enqueue(Time::ZERO, of(0));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (2, 2));
}

/// Below `htb` CHOKe of Linux does not learn that its queue is empty (sch_htb.c, htb_dequeue_tree): after a thousand seconds of
/// silence it goes on with the same average. As published the average has decayed.
#[test]
fn average_of_an_empty_queue() {
    for (rules, dropped) in [("linux", 1), ("published", 0)] {
        let mut bench = with_rules(rules, 0.125);
        for flow in 0..40 {
            bench.enqueue(Time::ZERO, of(flow));
        }
        while bench.dequeue(Time::ZERO).is_some() {}
        bench.outcome.dropped.clear();
        bench.enqueue(Time::ZERO + Duration::from_seconds(1000), of(50));
        assert_eq!(bench.drops(DropCause::Early), dropped, "{rules}");
    }
}

/// An arrival is dropped with probability equal to its flow's share of the queue: 3 of 12 packets, over 4000 trials
/// with a standard deviation of 27.
#[test]
fn drop_probability_by_share() {
    let mut matches = 0;
    for seed in 0..4000 {
        let mut bench = choke(seed);
        for place in 0..12 {
            // Flows that occur once, below and above the threshold, so that none matches.
            bench.enqueue(Time::ZERO, of(if place % 4 == 0 { 0 } else { 100 + place }));
        }
        if bench.queue.packets() < 12 {
            continue;
        }
        bench.enqueue(Time::ZERO, of(0));
        matches += bench.drops(DropCause::Early) / 2;
    }
    // The third packet of flow 0 arrives ninth and finds two of its flow among eight packets. Three in four are
    // admitted.
    let law = 4000.0 * 0.75 * 0.25;
    assert!((matches as f64 - law).abs() < 90.0, "{matches}, by the law {law}");
}

/// In PIE nothing is compared while PIE would drop nothing, for example during the burst allowance. Then each arrival
/// of a single flow is dropped, without a queued packet, and arrivals of other flows with at most PIE's drop
/// probability.
#[test]
fn comparison_in_pie() {
    let mut bench = Bench::new(ChokePie::new(UNLIMITED, ChokePieParameters::default()), 1);
    for _ in 0..100 {
        bench.enqueue(Time::ZERO, of(0));
    }
    let late = Time::ZERO + Duration::from_milliseconds(100);
    bench.dequeue(late);
    for updates in 1..=10 {
        assert_eq!(bench.drops(DropCause::Early), 0, "update {updates}");
        bench.queue.on_timer(late);
        bench.enqueue(late, of(0));
    }
    // The tenth update ends the burst allowance of 150 ms.
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (108, 1));
    for _ in 0..20 {
        bench.enqueue(late, of(0));
    }
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (108, 21));
    assert!(bench.queue.drop_probability() < 0.1);
    for flow in 1..=100 {
        bench.enqueue(late, of(flow));
    }
    let dropped = bench.drops(DropCause::Early) - 21;
    assert!(dropped < 25, "{dropped} of 100 of other flows at p {}", bench.queue.drop_probability());
}

/// In CoDel arrivals are compared from its first drop on, 100 ms after the sojourn time exceeded 5 ms: each arrival of
/// a single flow is dropped, without a queued packet, and none of another flow.
#[test]
fn comparison_in_codel() {
    let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
    let mut bench = Bench::new(ChokeCoDel::new(UNLIMITED, ChokeCoDelParameters::default()), 1);
    for _ in 0..20 {
        bench.enqueue(Time::ZERO, of(0));
    }
    bench.dequeue(at(10));
    bench.enqueue(at(109), of(0));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (20, 0));
    bench.dequeue(at(110));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (18, 1));
    bench.enqueue(at(110), of(0));
    bench.enqueue(at(110), of(0));
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (18, 3));
    for flow in 1..=20 {
        bench.enqueue(at(110), of(flow));
    }
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (38, 3));
}
