//! Laws of rate-based sources.

use crate::support::{MS, Path, S, droptail, tcp, tcp_flows};
use serde_json::json;
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::result::RunResult;
use sojourn_engine::tcp::ecn::EcnKind;

/// The gap between 1000-byte packets: one millisecond.
const GAP: u64 = MS;

fn on_off(on: u64, off: u64, exponential: bool) -> Path {
    let mut path = Path::new(100_000_000, 20 * MS);
    let mut flow = tcp("cbr");
    flow["source"]["parameters"] =
        json!({"rate": 8_000_000, "packet_size": 1000, "on": on, "off": off, "exponential": exponential});
    path.flows = vec![flow];
    path
}

/// The transmission time of each packet: the first link forwards it immediately.
fn sent_at(path: &Path) -> Vec<u64> {
    let mut simulation = path.simulation();
    let mut times = Vec::new();
    let mut created = 0;
    while simulation.step() {
        if simulation.census().created > created {
            created = simulation.census().created;
            times.push(simulation.now().0);
        }
    }
    times
}

/// on-off: each period of 50 ms on and 150 ms off has 50 packets, a millisecond apart and all in the time on.
#[test]
fn on_off_periods() {
    let (on, off) = (50 * MS, 150 * MS);
    let mut path = on_off(on, off, false);
    path.duration = 10 * S;
    path.warm_up = S;
    let times = sent_at(&path);
    assert_eq!(times.len(), 50 * 50);
    for (index, time) in times.iter().enumerate() {
        let (period, place) = (index as u64 / 50, index as u64 % 50);
        assert_eq!(*time, period * (on + off) + place * GAP, "packet {index}");
    }
}

/// on-off: a gap that is cut short by the end of a time on continues in the next. With 2.5 gaps per time on there are
/// five packets in two periods, and the mean rate is exactly rate * on / (on + off).
#[test]
fn on_off_gap_across_pause() {
    let (on, off) = (5 * GAP / 2, 7 * GAP);
    let mut path = on_off(on, off, false);
    path.duration = 2000 * (on + off);
    path.warm_up = S;
    let times = sent_at(&path);
    assert_eq!(times.len(), 5 * 1000);
    for time in &times {
        assert!(time % (on + off) < on, "a packet at {time} ps");
    }
    let first: Vec<u64> = times.iter().take(6).copied().collect();
    let period = on + off;
    assert_eq!(first, [0, GAP, 2 * GAP, period + GAP / 2, period + 3 * GAP / 2, 2 * period]);
}

/// on-off with exponential times: the share of time on has the mean on / (on + off), and over n periods a standard
/// error of sqrt(2 / n) * on * off / (on + off)^2 (the delta method for a ratio of two exponential means).
#[test]
fn exponential_on_off_mean_rate() {
    let (on, off) = (100 * MS, 300 * MS);
    let mut path = on_off(on, off, true);
    path.duration = 8000 * S;
    path.warm_up = 1;
    let delivered = path.run().flows[0].bytes_delivered;
    let share = delivered as f64 * 8.0 / 8e6 / 8000.0;
    let periods = 8000.0 / 0.4;
    let standard_error = f64::sqrt(2.0 / periods) * 0.1 * 0.3 / (0.4 * 0.4);
    assert!((share - 0.25).abs() < 3.0 * standard_error, "{share}, 3 standard errors are {}", 3.0 * standard_error);
}

/// Poisson gaps within times on, constant or exponential, do not change the mean rate. Counts over n periods of m
/// packets on average have a standard deviation of sqrt(n m) with constant times on.
#[test]
fn poisson_on_off() {
    let (on, off) = (50 * MS, 150 * MS);
    let mut path = on_off(on, off, false);
    path.flows[0]["source"]["parameters"]["poisson"] = json!(true);
    path.duration = 400 * S;
    path.warm_up = 1;
    let times = sent_at(&path);
    for time in &times {
        assert!(time % (on + off) < on, "a packet at {time} ps");
    }
    let expected = 2000.0 * 50.0;
    assert!((times.len() as f64 - expected).abs() < 3.0 * f64::sqrt(expected), "{} packets", times.len());
}

/// A time on that is too short for one packet is rejected with an error of one line.
#[test]
fn minimum_time_on() {
    let mut path = on_off(GAP - 1, GAP, false);
    let refused = |path: &Path| sojourn_engine::simulation::Simulation::new(&path.specification()).err();
    let error = refused(&path).expect("too short");
    assert!(error.starts_with("flows[0] (cbr): on: 0.000999999999 s is shorter than the gap of 0.001 s"), "{error}");
    path.flows[0]["source"]["parameters"]["off"] = json!(0);
    assert_eq!(refused(&path), None, "without pauses it does not matter");
}

/// A TFRC flow over a path that loses one packet per `interval` and has no other limit.
fn under_periodic_loss(interval: u64, rtt: u64, parameters: serde_json::Value) -> (f64, f64) {
    let mut path = Path::new(100_000_000_000, rtt);
    path.flows = vec![tcp("tfrc")];
    path.flows[0]["source"]["parameters"] = parameters;
    path.drop = json!({"every": interval});
    path.duration = 200 * S;
    path.warm_up = 50 * S;
    let result = path.run();
    let statistics = result.flows[0].statistics();
    let sent = statistics.segments_sent as f64 / 150.0;
    (sent, statistics.rtt_sum.seconds() / statistics.rtt_samples as f64)
}

/// The rate of RFC 5348 section 3.1 in segments per second at this loss event rate.
fn equation(p: f64, rtt: f64) -> f64 {
    1.0 / (rtt * (f64::sqrt(2.0 * p / 3.0) + 12.0 * f64::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p)))
}

/// tfrc-equation: with a constant loss rate TFRC sends at the rate of the equation, within 10 %.
#[test]
fn tfrc_periodic_loss() {
    for (interval, rtt) in [(50, 50), (100, 100), (1000, 100), (1000, 20), (10_000, 100)] {
        let (rate, measured_rtt) = under_periodic_loss(interval, rtt * MS, json!({}));
        let expected = equation(1.0 / interval as f64, measured_rtt);
        assert!((rate / expected - 1.0).abs() < 0.10, "one in {interval}, {rtt} ms: {rate}, expected {expected}");
    }
}

/// Equal numbers of New Reno and TFRC flows at a drop-tail queue of one bandwidth-delay product.
fn shared(flows: u64, rate: u64, rtt: u64, seed: u64) -> Path {
    let mut path = Path::new(rate, rtt);
    path.queue = droptail(rate / 8 * rtt / S / 1500);
    path.flows = vec![tcp_flows("newreno", flows, S), tcp_flows("tfrc", flows, S)];
    path.duration = 150 * S;
    path.warm_up = 30 * S;
    // About the transmission time of a packet, to avoid phase effects (Floyd and Jacobson 1991).
    path.sender_overhead = 1500 * 8 * S / rate;
    path.flow_series = Some(S);
    path.seed = seed;
    path
}

/// Bytes delivered by each flow of a group in each second of the measuring window.
fn by_second(path: &Path, result: &RunResult, flows: std::ops::Range<u64>) -> Vec<Vec<f64>> {
    flows
        .map(|flow| {
            let of_flow = result.series.flows.iter().filter(|sample| sample.flow as u64 == flow);
            let steady = of_flow.filter(|sample| sample.time.0 >= path.warm_up);
            let delivered: Vec<u64> = steady.map(|sample| sample.bytes_delivered).collect();
            delivered.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn coefficient_of_variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    f64::sqrt(self::mean(&squares)) / mean
}

/// tfrc-fairness and tfrc-smoothness, RFC 5348 section 1: "reasonably fair" is a rate within a factor of two of TCP's
/// under the same conditions, and the throughput varies much less over time than TCP's.
#[test]
fn tfrc_and_new_reno() {
    for (flows, rate, rtt) in [(1, 5, 50), (4, 10, 50), (8, 20, 50), (8, 40, 100), (16, 40, 50)] {
        let mut ratios = Vec::new();
        for seed in 1..=3 {
            let path = shared(flows, rate * 1_000_000, rtt * MS, seed);
            let result = path.run();
            let newreno = by_second(&path, &result, 0..flows);
            let tfrc = by_second(&path, &result, flows..2 * flows);
            let rate_of = |group: &[Vec<f64>]| mean(&group.iter().map(|flow| mean(flow)).collect::<Vec<_>>());
            let variation =
                |group: &[Vec<f64>]| mean(&group.iter().map(|flow| coefficient_of_variation(flow)).collect::<Vec<_>>());
            ratios.push(rate_of(&tfrc) / rate_of(&newreno));
            let (ours, renos) = (variation(&tfrc), variation(&newreno));
            assert!(ours < renos, "{flows} and {flows} flows: {ours} against New Reno's {renos}");
        }
        let ratio = mean(&ratios);
        assert!((0.5..=2.0).contains(&ratio), "{flows} and {flows} flows at {rate} Mbit/s: {ratio}");
    }
}

/// conservation as in bottleneck.rs, with TFRC's data and feedback packets, which have options, dropped by AQMs and by
/// tail drop.
#[test]
fn packet_conservation() {
    for queue in ["droptail", "pie", "codel"] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": queue, "limit": {"packets": 20}});
        path.flows = vec![tcp_flows("newreno", 10, S), tcp_flows("tfrc", 20, S), tcp("cbr")];
        path.sender_overhead = MS;
        path.duration = 5 * S;
        path.warm_up = S;
        let dropped = path.run_with_census(queue);
        assert!(dropped > 100, "{queue}: {dropped} packets were dropped");
    }
}

/// A flow with a size sends that amount once and stops. Over a path without loss all of it is delivered.
#[test]
fn finite_rate_based_flow() {
    for name in ["tfrc", "cbr"] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.flows = vec![tcp(name)];
        path.flows[0]["size"] = json!(100_000);
        path.duration = 300 * S;
        path.warm_up = 1;
        let result = path.run();
        assert_eq!(result.flows[0].total_bytes_delivered, 100_000, "{name}");
        assert_eq!(result.flows[0].statistics().timeouts, 0, "{name}");
    }
}

/// On an ECN-capable stack TFRC responds to marks as to losses (RFC 5348 section 5.1): with CoDel, which marks, it
/// sends at the link's rate without losses.
#[test]
fn tfrc_with_marks() {
    let mut path = Path::new(10_000_000, 50 * MS);
    path.queue = json!({"name": "codel", "limit": {"packets": 1000}, "parameters": {"ecn": true}});
    path.flows = vec![tcp_flows("tfrc", 4, S)];
    path.stack.ecn = EcnKind::Classic;
    let result = path.run();
    let window = &result.queues[0].statistics.window;
    assert!(window.marks > 100, "{} marks", window.marks);
    assert_eq!(window.drops_early + window.drops_overflow, 0);
    assert!(path.goodput(&result) > 0.85 * 10e6, "{} bit/s", path.goodput(&result));
    let median = result.queues[0].statistics.sojourn.expect("packets were sent").p50;
    assert!(median < 0.020, "median sojourn {median} s");
}

/// The numbers of lost data packets, with independent losses.
fn independent_losses(probability: f64, packets: u64) -> Vec<u64> {
    let mut random = Random::stream(7, Purpose::Queue, 0);
    (1..=packets).filter(|_| random.unit() < probability).collect()
}

/// tfrc-equation with independent losses: a loss event includes the losses among the N packets sent in the round-trip
/// time after its first loss, so intervals have 1/p + N packets on average and the rate is the equation's at 1 / (1/p +
/// N), where N is that rate times the round-trip time. Within 15 %: the mean of eight random intervals varies, and the
/// rate is not linear in it.
#[test]
fn tfrc_random_loss() {
    for p in [0.02, 0.01, 0.001] {
        let mut path = Path::new(100_000_000_000, 100 * MS);
        path.flows = vec![tcp("tfrc")];
        path.drop = json!({"listed": independent_losses(p, 1_000_000)});
        path.duration = 1000 * S;
        path.warm_up = 50 * S;
        let statistics = path.run().flows[0].statistics();
        let rate = statistics.segments_sent as f64 / 950.0;
        let rtt = statistics.rtt_sum.seconds() / statistics.rtt_samples as f64;
        let mut in_a_round_trip = 1.0;
        for _ in 0..100 {
            in_a_round_trip = equation(1.0 / (1.0 / p + in_a_round_trip), rtt) * rtt;
        }
        let expected = in_a_round_trip / rtt;
        assert!((rate / expected - 1.0).abs() < 0.15, "p = {p}: {rate}, expected {expected}");
    }
}
