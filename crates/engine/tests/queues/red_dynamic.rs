//! RED with dynamic thresholds: its rule calculated by hand.

use serde_json::json;
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{Limit, QueueDiscipline, RedDynamic, RedDynamicParameters};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, packet};

/// From 10 and 30 packets, a queue of 40 raises the thresholds by a tenth at a time until the maximum is above it, and
/// one of 49 until it is half the limit. When the queue is gone they return.
#[test]
fn dynamic_thresholds() {
    let parameters: RedDynamicParameters = serde_json::from_value(json!({
        "min": {"packets": 10}, "max": {"packets": 30}, "weight": 1.0, "queue_in_bytes": false, "ecn": true, "hard_drop": false,
    }))
    .unwrap();
    let mut queue = RedDynamic::new(Limit::Packets(100), parameters);
    queue.set_link_rate(Rate(10_000_000));
    let mut bench = Bench::new(queue, 1);
    let mut now = Time::ZERO;
    let mut adapt = |bench: &mut Bench<RedDynamic>, times: i32, scale: f64| {
        for _ in 0..times {
            now += Duration::from_milliseconds(500);
            bench.queue.on_timer(now);
        }
        let (min, max) = bench.queue.thresholds();
        assert!(
            (min - 10.0 * scale).abs() < 1e-9 && (max - 30.0 * scale).abs() < 1e-9,
            "{min} {max}, not times {scale}"
        );
    };
    let fill = |bench: &mut Bench<RedDynamic>, packets: u64| {
        while bench.queue.packets() < packets {
            bench.enqueue(Time::ZERO, packet(1500, flags::ECT_0));
        }
    };
    adapt(&mut bench, 3, 1.0);
    fill(&mut bench, 41);
    adapt(&mut bench, 3, 1.1f64.powi(3));
    adapt(&mut bench, 3, 1.1f64.powi(4));
    fill(&mut bench, 50);
    adapt(&mut bench, 1, 1.1f64.powi(5));
    adapt(&mut bench, 3, 50.0 / 30.0);
    while bench.dequeue(Time::ZERO).is_some() {}
    adapt(&mut bench, 1, 50.0 / 33.0);
    adapt(&mut bench, 10, 1.0);
    // After a rate change they start from the configured values again.
    bench.queue.set_link_rate(Rate(20_000_000));
    assert_eq!(bench.queue.thresholds(), (10.0, 30.0));
}
