//! Links whose reverse direction limits the rate of acknowledgements: RFC 3449 section 2.1.

use crate::support::{MS, Path, S, droptail};
use serde_json::{Value, json};
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::units::{Bytes, Rate};

const FORWARD: u64 = 10_000_000;
const REVERSE: u64 = 50_000;

/// The goodput over a link of 10 Mbit/s whose acknowledgements have 50 kbit/s and this queue, in bits per second.
fn goodput(reverse_queue: Value) -> f64 {
    let mut path = Path::new(FORWARD, 20 * MS);
    path.queue = droptail(200);
    // A hundred segments: neither queue ever drops data.
    path.stack = StackProfile { receive_buffer: Bytes(144_800), ..StackProfile::default() };
    (path.duration, path.warm_up) = (30 * S, 10 * S);
    let mut specification = path.specification();
    specification.links[4].rate = Rate(REVERSE);
    specification.links[4].queue = serde_json::from_value(reverse_queue).expect("well formed");
    let simulation = sojourn_engine::simulation::Simulation::new(&specification).expect("valid");
    let result = simulation.run(&std::sync::atomic::AtomicBool::new(false)).expect("nobody cancels");
    assert!(result.flows.iter().all(|flow| flow.packets_dropped == 0));
    path.goodput(&result)
}

/// One acknowledgement of 52 bytes for two segments lets through as many segments as twice the acknowledgements that the reverse
/// direction carries. With a filter the newest acknowledgement stands for all before it, and the forward direction is full. Within
/// one per cent.
#[test]
fn acknowledgements_limit_throughput() {
    let by_acknowledgements = REVERSE as f64 / (52.0 * 8.0) * 2.0 * 1448.0 * 8.0;
    let by_link = FORWARD as f64 * 1448.0 / 1500.0;
    for (queue, expected) in [
        (json!({"name": "droptail", "limit": {"packets": 1000}}), by_acknowledgements),
        (json!({"name": "ack_filter", "limit": {"packets": 1000}}), by_link),
        (json!({"name": "cake", "limit": null, "parameters": {"ack_filter": "aggressive"}}), by_link),
        (json!({"name": "cake", "limit": null, "parameters": {"ack_filter": "conservative"}}), by_link),
    ] {
        let found = goodput(queue.clone());
        assert!((found / expected - 1.0).abs() < 0.01, "{queue}: {found} bit/s, not {expected}");
    }
}
