//! Adaptive RED: results of ns-3's tests, and the paper's rule for the maximum drop probability.

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{Ared, AredParameters, DropCause, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, count, number, packet, rows, vector};
use super::red::red;

fn ared(limit: Limit, rate: Rate, parameters: Value) -> Bench<Ared> {
    let parameters: AredParameters = serde_json::from_value(parameters).unwrap();
    let mut ared = Ared::new(limit, parameters);
    ared.set_link_rate(rate);
    Bench::new(ared, 1)
}

/// The number of early drops when 300 packets of 500 bytes arrive at once at a queue of 300.
fn drops_of_a_burst(rate: u64, set: &Value) -> u64 {
    let mut parameters =
        json!({"mean_packet_size": 500, "maximum_probability": 0.02, "queue_in_bytes": false, "byte_mode": false});
    parameters.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
    let mut bench = ared(Limit::Packets(300), Rate(rate), parameters);
    for _ in 0..300 {
        bench.enqueue(Time::ZERO, packet(500, 0));
    }
    bench.drops(DropCause::Early)
}

/// With the automatic weight of a link of 1.5 Mbit/s the average does not follow a burst of 300 packets. With that of a
/// link a hundred times as slow it does, and on both with the weight for a tenth of the round-trip time (q_weight of -2
/// in ns-2 and ns-3).
#[test]
fn automatic_weight() {
    let inputs = &vector("ared-auto_qw-1")["inputs"];
    let thresholds = |round_trip_ms: u64| {
        json!({
            "min": {"packets": inputs["min_th"]}, "max": {"packets": inputs["max_th"]},
            "round_trip_time": round_trip_ms * 1_000_000_000,
        })
    };
    assert_eq!(drops_of_a_burst(1_500_000, &thresholds(100)), 0);
    assert!(drops_of_a_burst(15_000, &thresholds(100)) > 0);
    let (fast, slow) = (drops_of_a_burst(1_500_000, &thresholds(10)), drops_of_a_burst(15_000, &thresholds(10)));
    assert!(fast > 0 && slow != fast, "{fast} and {slow}");
}

/// The automatic thresholds let the burst pass on a fast link only.
#[test]
fn automatic_thresholds() {
    let row = vector("ared-auto_thresholds-3");
    let weight = json!({"weight": row["inputs"]["qw"]});
    for (rate, drops) in rows(&row["inputs"]["link_bit_s"]).iter().zip(rows(&row["expected"]["drops"])) {
        let got = drops_of_a_burst(count(rate), &weight);
        assert_eq!(got > 0, drops == ">0", "{rate} bit/s: {got}");
    }
}

/// From the same maximum drop probability Adaptive RED drops fewer of 300 packets, one every 10 ms, at random than RED.
/// Random drops (ns-3: unforced) are those up to twice the maximum threshold, which is 15 packets for both.
#[test]
fn fewer_random_drops() {
    let max_p = number(&vector("ared-fewer_drops-2")["inputs"]["max_p"]);
    let common = json!({
        "mean_packet_size": 500, "maximum_probability": max_p, "queue_in_bytes": false, "byte_mode": false,
    });
    let mut fixed = common.clone();
    fixed["min"] = json!({"packets": 5});
    fixed["max"] = json!({"packets": 15});
    fixed["weight"] = json!(0.002);
    let rate = Rate(1_500_000);
    let mut adaptive = ared(Limit::Packets(300), rate, common);
    let mut fixed = red(Limit::Packets(300), rate, fixed, 1);
    let mut at_random = (0, 0);
    for arrival in 1..=300u64 {
        let now = Time::ZERO + Duration::from_milliseconds(10 * arrival);
        adaptive.enqueue(now, packet(500, 0));
        fixed.enqueue(now, packet(500, 0));
        if adaptive.queue.average() < 30.0 {
            at_random.0 = adaptive.drops(DropCause::Early);
        }
        if fixed.queue.average() < 30.0 {
            at_random.1 = fixed.drops(DropCause::Early);
        }
        if arrival % 50 == 0 {
            adaptive.queue.on_timer(now);
        }
    }
    assert!(0 < at_random.0 && at_random.0 < at_random.1, "{at_random:?}");
}

/// The maximum probability after each adaptation with a constant queue of `held` packets. The thresholds are 10 and 30
/// packets, so the target is 18 to 22.
fn probabilities(start: f64, held: u64, adaptations: usize, set: Value) -> Vec<f64> {
    let mut parameters = json!({
        "min": {"packets": 10}, "max": {"packets": 30}, "weight": 1.0, "maximum_probability": start,
        "queue_in_bytes": false, "byte_mode": false, "ecn": true,
    });
    parameters.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
    let mut bench = ared(UNLIMITED, Rate(10_000_000), parameters);
    for _ in 0..=held {
        bench.enqueue(Time::ZERO, packet(1500, flags::ECT_0));
    }
    assert_eq!(bench.queue.average(), held as f64);
    let mut adapt = |_| {
        bench.queue.on_timer(Time::ZERO);
        bench.queue.maximum_probability()
    };
    (0..adaptations).map(&mut adapt).collect()
}

fn same(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    assert!(
        got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12),
        "{got:?}, not {expected:?}"
    );
}

/// The paper's rule calculated by hand: above the target max_p rises by 0.01 or a quarter, whichever is less. Below it
/// max_p falls by a tenth, and within it max_p is constant. It does not rise from `top` on, nor fall from `bottom` on.
#[test]
fn adaptation_rule() {
    same(&probabilities(0.1, 23, 3, json!({})), &[0.11, 0.12, 0.13]);
    same(&probabilities(0.02, 23, 3, json!({})), &[0.025, 0.03125, 0.0390625]);
    same(&probabilities(0.1, 17, 3, json!({})), &[0.09, 0.081, 0.0729]);
    same(&probabilities(0.1, 18, 1, json!({})), &[0.1]);
    same(&probabilities(0.1, 22, 1, json!({})), &[0.1]);
    same(&probabilities(0.495, 23, 3, json!({})), &[0.505, 0.505, 0.505]);
    same(&probabilities(0.02, 17, 3, json!({"bottom": 0.019})), &[0.018, 0.018, 0.018]);
    // 10 Mbit/s are 125 packets of 1000 bytes in 100 ms, so the automatic bottom is 0.008.
    same(&probabilities(0.0089, 17, 3, json!({})), &[0.00801, 0.007209, 0.007209]);
}

/// While the link is idle the average falls, so that the maximum probability does not rise for a queue that is gone.
#[test]
fn average_while_idle() {
    let parameters =
        json!({"min": {"packets": 10}, "max": {"packets": 30}, "weight": 0.01, "maximum_probability": 0.1});
    let mut bench = ared(UNLIMITED, Rate(10_000_000), parameters);
    for _ in 0..300 {
        bench.enqueue(Time::ZERO, packet(1500, 0));
    }
    assert!(bench.queue.average() > 22.0 * 1500.0);
    bench.queue.on_timer(Time::ZERO);
    assert!(bench.queue.maximum_probability() > 0.1);
    while bench.dequeue(Time::ZERO).is_some() {}
    let before = bench.queue.maximum_probability();
    bench.queue.on_timer(Time::ZERO + Duration::from_milliseconds(500));
    assert!(bench.queue.maximum_probability() < before);
}
