//! FRED: the rules of Lin and Morris 1997, calculated by hand.

use serde_json::{Value, json};
use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{DropCause, Fred, FredParameters, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};

/// FRED on a link of 1000 packets of 1500 bytes per second.
fn fred(limit: Limit, parameters: Value) -> Bench<Fred> {
    let parameters: FredParameters = serde_json::from_value(parameters).unwrap();
    let mut fred = Fred::new(limit, parameters);
    fred.set_link_rate(Rate(12_000_000));
    Bench::new(fred, 1)
}

fn of_flow(flow: u32, ecn_flag: u8) -> Packet {
    Packet { flow, ..packet(1500, ecn_flag) }
}

/// Offers packets of a flow. Returns the number queued.
fn offer(bench: &mut Bench<Fred>, flow: u32, packets: u64) -> u64 {
    let before = bench.queue.packets();
    for _ in 0..packets {
        bench.enqueue(Time::ZERO, of_flow(flow, 0));
    }
    bench.queue.packets() - before
}

/// A flow may have up to min packets queued. A flow that has tried more than once to exceed that is limited to the
/// average, until it has none queued. With an average that hardly moves this is one packet.
#[test]
fn unresponsive_flow() {
    let mut bench = fred(UNLIMITED, json!({"min": {"packets": 10}, "weight": 1e-9}));
    assert_eq!(offer(&mut bench, 0, 11), 10);
    bench.dequeue(Time::ZERO);
    assert_eq!(offer(&mut bench, 0, 2), 1, "one strike is none");
    for _ in 0..9 {
        bench.dequeue(Time::ZERO);
        assert_eq!(offer(&mut bench, 0, 1), 0, "held to the average, {} queued", bench.queue.packets());
    }
    assert_eq!(offer(&mut bench, 1, 5), 5, "another flow is not");
    bench.dequeue(Time::ZERO);
    assert_eq!(offer(&mut bench, 0, 20), 10, "it has been forgotten");
    assert_eq!(bench.drops(DropCause::Overflow), 0);
}

/// Random drops are only of flows that have at least as many packets queued as the average flow, and at least `spared`.
#[test]
fn flows_with_few_packets() {
    // Twenty packets of flow 0 and one of each of twenty others. The average is the queue length before the arrival.
    let run = |spared: u64| {
        let set = json!({
            "min": {"packets": 21}, "max": {"packets": 60}, "weight": 1.0, "maximum_probability": 1.0, "spared": spared,
        });
        let mut bench = fred(UNLIMITED, set);
        offer(&mut bench, 0, 20);
        for flow in 1..=20 {
            offer(&mut bench, flow, 1);
        }
        assert_eq!(bench.outcome.dropped.len(), 0);
        bench
    };
    // Halfway between the thresholds, the average flow has two packets.
    let mut bench = run(2);
    for flow in 1..=10 {
        assert_eq!(offer(&mut bench, flow, 1), 1, "one queued");
    }
    assert_eq!(offer(&mut bench, 0, 1), 0, "twenty queued, and ten since the last drop");
    let mut bench = run(4);
    for _ in 0..3 {
        assert_eq!(offer(&mut bench, 1, 1), 1, "up to three queued");
    }
    for flow in 2..=8 {
        assert_eq!(offer(&mut bench, flow, 1), 1);
    }
    assert_eq!(offer(&mut bench, 1, 1), 0, "four queued");
}

/// From max on all arrivals are dropped. With automatic thresholds max is half the limit, or what the link sends in 100
/// ms if that is less.
#[test]
fn maximum_threshold() {
    let mut bench = fred(Limit::Packets(200), json!({"weight": 1.0, "maximum_probability": 0.0}));
    for flow in 0..300 {
        offer(&mut bench, flow, 1);
    }
    // The hundred-and-first arrival finds 100 packets. The average includes them only when it is queued.
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (101, 199));
    let mut bench = fred(UNLIMITED, json!({"weight": 1.0, "maximum_probability": 0.0}));
    for flow in 0..300 {
        offer(&mut bench, flow, 1);
    }
    assert_eq!(bench.queue.packets(), 201, "100 and 200 packets: 100 ms");
}

/// The average is updated at departures too, and falls while the link is idle: calculated by hand with a weight of 1/2.
#[test]
fn average_at_departures() {
    let mut bench = fred(UNLIMITED, json!({"min": {"packets": 10}, "weight": 0.5}));
    let at = |bench: &mut Bench<Fred>, milliseconds: Option<u64>, expected: f64| {
        match milliseconds {
            Some(milliseconds) => {
                bench.enqueue(Time::ZERO + Duration::from_milliseconds(milliseconds), of_flow(0, 0));
            }
            None => drop(bench.dequeue(Time::ZERO)),
        }
        assert!((bench.queue.average() - expected).abs() < 1e-12, "{}, not {expected}", bench.queue.average());
    };
    at(&mut bench, Some(0), 0.0);
    at(&mut bench, Some(0), 0.5);
    at(&mut bench, Some(0), 1.25);
    at(&mut bench, None, 1.625);
    at(&mut bench, None, 1.3125);
    at(&mut bench, None, 0.65625);
    // The link finds the queue empty and is idle for four transmission times.
    at(&mut bench, None, 0.65625);
    at(&mut bench, Some(4), 0.65625 / 16.0);
}

/// Random drops of ECN-capable packets become marks. All other drops remain drops.
#[test]
fn marks() {
    let run = |ecn_flag: u8, min: u64, max: u64| {
        let set = json!({
            "min": {"packets": min}, "max": {"packets": max}, "weight": 1.0, "maximum_probability": 1.0, "ecn": true, "spared": 0,
        });
        let mut bench = fred(UNLIMITED, set);
        for arrival in 0..40 {
            bench.enqueue(Time::ZERO, of_flow(arrival % 4, ecn_flag));
        }
        (bench.drops(DropCause::Early), bench.outcome.marks)
    };
    let (drops, marks) = run(flags::ECT_0, 12, 60);
    assert!(drops == 0 && marks > 0, "{drops} {marks}");
    let (drops, marks) = run(0, 12, 60);
    assert!(drops > 0 && marks == 0, "{drops} {marks}");
    let (drops, _) = run(flags::ECT_0, 10, 20);
    assert!(drops > 0, "above the maximum");
}
