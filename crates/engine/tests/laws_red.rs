//! What the authors of RED's descendants claim of them, over a whole path.

mod support;

use serde_json::json;
use support::{MS, Path, S, tcp_flows};

/// The mean queue in bytes with so many flows of NewReno over 50 Mbit/s and 100 ms.
fn mean_queue(queue: &str, flows: u64, seed: u64) -> f64 {
    let mut path = Path::new(50_000_000, 100 * MS);
    path.queue = json!({"name": queue, "limit": {"packets": 400}});
    path.flows = vec![tcp_flows("newreno", flows, S)];
    path.duration = 90 * S;
    path.warm_up = 40 * S;
    path.seed = seed;
    path.run().queues.remove(0).statistics.mean_bytes
}

/// Adaptive RED keeps the average queue within its target, 0.4 to 0.6 of the way between the thresholds, whatever the load
/// (Floyd, Gummadi and Shenker 2001); RED's follows the load. Automatic thresholds: 2.5 ms and three times that.
#[test]
fn adaptive_red_keeps_the_queue_at_its_target_whatever_the_load() {
    let minimum = 50e6 / 8.0 * 2.5e-3;
    let way = |mean: f64| (mean - minimum) / (2.0 * minimum);
    let ways = |queue: &str| [10, 30, 60].map(|flows| way(mean_queue(queue, flows, 1)));
    let (adaptive, fixed) = (ways("ared"), ways("red"));
    assert!(adaptive.iter().all(|way| (0.4..0.6).contains(way)), "{adaptive:?}");
    assert!(fixed[2] - fixed[0] > 0.3, "{fixed:?}");
}
