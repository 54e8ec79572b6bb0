//! Drop on growth: its rule calculated by hand.

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, GrowthDrop, GrowthDropParameters, Limit, QueueDiscipline};
use sojourn_engine::time::Time;

use super::bench::{Bench, UNLIMITED, packet};

fn growth_drop(limit: Limit, parameters: Value) -> Bench<GrowthDrop> {
    let parameters: GrowthDropParameters = serde_json::from_value(parameters).unwrap();
    Bench::new(GrowthDrop::new(limit, parameters), 1)
}

fn arrive(bench: &mut Bench<GrowthDrop>, packets: u64, ecn_flag: u8) {
    for _ in 0..packets {
        bench.enqueue(Time::ZERO, packet(1500, ecn_flag));
    }
}

/// An interval with growth above the threshold causes one drop, of the next arrival. Growth equal to the threshold
/// causes none, nor does a queue that is constant or shrinks.
#[test]
fn drop_per_interval() {
    for growth in [json!({"packets": 10}), json!({"bytes": 15_000})] {
        let mut bench = growth_drop(UNLIMITED, json!({"growth": growth}));
        let mut step = |arrivals: u64, departures: u64, drops: u64| {
            arrive(&mut bench, arrivals, 0);
            for _ in 0..departures {
                bench.dequeue(Time::ZERO);
            }
            bench.queue.on_timer(Time::ZERO);
            assert_eq!(bench.drops(DropCause::Early), drops, "{} queued", bench.queue.packets());
        };
        step(10, 0, 0);
        step(11, 0, 0);
        // One of these is dropped, so the growth is eleven again.
        step(12, 0, 1);
        step(5, 0, 2);
        step(30, 30, 2);
        step(11, 20, 2);
        step(5, 0, 2);
    }
}

/// Without a later arrival growth causes no drop. A pending drop also applies to an arrival at an idle queue.
/// ECN-capable packets are marked instead. At the limit arrivals overflow.
#[test]
fn drop_of_next_arrival() {
    let mut bench = growth_drop(Limit::Packets(12), json!({"ecn": true}));
    assert!(bench.queue.lets_pass(&packet(1500, 0)));
    arrive(&mut bench, 20, 0);
    assert_eq!((bench.drops(DropCause::Overflow), bench.drops(DropCause::Early)), (8, 0));
    bench.queue.on_timer(Time::ZERO);
    while bench.dequeue(Time::ZERO).is_some() {}
    assert!(!bench.queue.lets_pass(&packet(1500, 0)));
    arrive(&mut bench, 2, flags::ECT_0);
    assert_eq!((bench.drops(DropCause::Early), bench.outcome.marks), (0, 1));
    bench.queue.on_timer(Time::ZERO);
    arrive(&mut bench, 2, flags::ECT_0);
    assert_eq!(bench.outcome.marks, 1);
}
