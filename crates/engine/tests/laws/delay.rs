//! Laws of delay-based congestion controls over a bottleneck: their queue, and their shares. The expected values and
//! tolerances were set before the algorithms were written.

use crate::support::{MS, Path, S, acknowledge_every_segment, droptail, tcp};
use serde_json::{Value, json};
use sojourn_engine::tcp::profile::StackProfile;

/// A Vegas flow that starts at this time. Its slow start doubles the window in each round trip or in every other.
fn vegas(start: u64, every_other_round: bool) -> Value {
    let mut flow = tcp("vegas");
    flow["start"] = json!(start);
    flow["source"]["parameters"] = json!({"every_other_round": every_other_round});
    flow
}

/// vegas-queue: N flows that all know the base RTT keep N alpha to N beta packets in the queue (2 and 4), within one
/// packet per flow, without losses. The RTT is the base RTT plus the queueing delay. The flows start within a round
/// trip, each with one packet that meets no other.
#[test]
fn vegas_queue_length() {
    for every_other_round in [false, true] {
        for flows in 1..=10 {
            let mut path = Path::new(12_000_000, 50 * MS); // 1500 B in 1 ms: BDP 50 packets.
            path.queue = droptail(500);
            path.stack = StackProfile { initial_window: 1, ..acknowledge_every_segment() };
            path.flows = (0..flows).map(|index| vegas(index * 3 * MS, every_other_round)).collect();
            path.duration = 120 * S;
            path.warm_up = 60 * S;
            let result = path.run();
            let queue = &result.queues[0].statistics;
            let n = flows as f64;
            let case = format!("{flows} flows, every other round {every_other_round}: {queue:?}");
            assert!((2.0 * n - n..=4.0 * n + n).contains(&queue.mean_packets), "{case}");
            assert_eq!(queue.window.drops_overflow + queue.before_window.drops_overflow, 0, "{case}");
            let rtt = result.flows[0].tcp.as_ref().expect("a TCP flow").statistics.min_rtt.seconds();
            assert!((rtt - 0.051 - queue.mean_packets * 0.001).abs() < 0.0015, "{case}: RTT {rtt}");
        }
    }
}

/// vegas-late: a flow that starts 20 s after another counts the existing queue as part of the base RTT, and gets more
/// than half (mean of ten seeds). The queue exists since the first flow reduces the queue of its slow start by only one
/// packet per round trip.
#[test]
fn late_vegas_flow() {
    let mut share = 0.0;
    for seed in 1..=10 {
        let mut path = Path::new(24_000_000, 100 * MS); // BDP 200 packets.
        path.queue = droptail(2000);
        path.seed = seed;
        let mut late = vegas(20 * S, false);
        late["start_within"] = json!(S);
        path.flows = vec![vegas(0, false), late];
        path.duration = 200 * S;
        path.warm_up = 160 * S;
        let result = path.run();
        let [first, late] = [0, 1].map(|flow| result.flows[flow].bytes_delivered as f64);
        share += late / (first + late) / 10.0;
    }
    assert!(share > 0.5, "the late flow has {share} of the goodput");
}

/// 12 Mbit/s and a base RTT of 50 ms, with a buffer of three times the target of LEDBAT.
fn ledbat_path(seed: u64) -> Path {
    let mut path = Path::new(12_000_000, 50 * MS);
    path.queue = droptail(300); // 1500 B in 1 ms: 100 packets in the 100 ms of the target.
    path.duration = 180 * S;
    path.warm_up = 60 * S;
    path.seed = seed;
    path
}

/// ledbat-target: one flow keeps the queueing delay at its target of 100 ms, within 10 %, without losses.
#[test]
fn ledbat_target_delay() {
    let mut mean = 0.0;
    for seed in 1..=10 {
        let mut path = ledbat_path(seed);
        path.flows = vec![tcp("ledbat")];
        path.flows[0]["start_within"] = json!(S);
        let result = path.run();
        let queue = &result.queues[0].statistics;
        mean += queue.sojourn.expect("packets were sent").mean / 10.0;
        assert_eq!(queue.window.drops_overflow + queue.before_window.drops_overflow, 0, "seed {seed}");
    }
    assert!((mean - 0.100).abs() <= 0.010, "queueing delay {mean}");
}

/// ledbat-target: if a Reno flow keeps more than the target in the queue, a LEDBAT flow gets less than 5 % (mean of ten
/// seeds).
#[test]
fn ledbat_yields_to_reno() {
    let mut share = 0.0;
    for seed in 1..=10 {
        let mut path = ledbat_path(seed);
        path.flows = vec![tcp("ledbat"), tcp("newreno")];
        path.flows[1]["start_within"] = json!(S);
        let result = path.run();
        let [ledbat, reno] = [0, 1].map(|flow| result.flows[flow].bytes_delivered as f64);
        share += ledbat / (ledbat + reno) / 10.0;
    }
    assert!(share < 0.05, "LEDBAT has {share} of the goodput");
}
