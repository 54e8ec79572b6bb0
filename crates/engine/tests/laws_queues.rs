//! What the authors of queue disciplines claim of them when TCP answers: whole paths over one bottleneck.

mod support;

use serde_json::{Value, json};
use sojourn_engine::probe::QueueStatistics;
use sojourn_engine::tcp::profile::EcnKind;
use support::{MS, Path, S, tcp_flows};

/// So many NewReno flows over a link of 45 Mbit/s, 3750 packets a second as in Hollot et al. 2001; from 100 s to 200 s.
fn bottleneck(queue: Value, flows: u64, rtt: u64, ecn: bool) -> QueueStatistics {
    let mut path = Path::new(45_000_000, rtt);
    path.queue = queue;
    path.flows = vec![tcp_flows("newreno", flows, 10 * S)];
    path.stack.ecn = if ecn { EcnKind::Classic } else { EcnKind::Off };
    path.duration = 200 * S;
    path.warm_up = 100 * S;
    path.run().queues.into_iter().next().expect("the bottleneck's queue").statistics
}

/// Hollot et al. 2001: the PI controller, designed for at least 60 flows and round-trip times up to 240 ms, keeps the
/// queue at its reference whatever the load, on which that of RED depends.
#[test]
fn pi_keeps_the_queue_at_its_reference_under_tcp() {
    for (reference, flows) in [(200, 60), (200, 120), (300, 60)] {
        let queue = json!({"name": "pi", "limit": {"packets": 800}, "parameters": {"reference": reference, "w": 160}});
        let statistics = bottleneck(queue, flows, 200 * MS, false);
        let length = statistics.mean_packets;
        assert!((length / f64::from(reference) - 1.0).abs() < 0.1, "{flows} flows: {length} packets, not {reference}");
        assert!(statistics.busy_share > 0.99, "{flows} flows: {}", statistics.busy_share);
    }
}

/// Athuraliya et al. 2001: REM matches the rate and clears the buffer: marking, it keeps the queue at its target of 20
/// packets and the link busy, whatever the number of flows.
#[test]
fn rem_matches_the_rate_and_clears_the_buffer() {
    for flows in [30, 60, 90] {
        let queue = json!({"name": "rem", "limit": {"packets": 800}, "parameters": {"ecn": true}});
        let statistics = bottleneck(queue, flows, 80 * MS, true);
        let (length, busy) = (statistics.mean_packets, statistics.busy_share);
        assert!((length - 20.0).abs() < 4.0, "{flows} flows: {length} packets");
        assert!(busy > 0.96, "{flows} flows: {busy} of the time busy");
        assert_eq!(statistics.window.drops_overflow, 0);
    }
}

/// Kunniyur and Srikant 2004: AVQ keeps the link as busy as desired, whatever the number of flows, and loses nothing to
/// the limit.
#[test]
fn avq_keeps_the_link_as_busy_as_desired_under_tcp() {
    for (flows, gamma) in [(30, 0.98), (60, 0.98), (120, 0.98), (120, 0.9)] {
        let queue = json!({"name": "avq", "limit": {"packets": 200}, "parameters": {"gamma": gamma}});
        let statistics = bottleneck(queue, flows, 80 * MS, false);
        let busy = statistics.busy_share;
        assert!((busy - gamma).abs() < 0.005, "{flows} flows: {busy} of the time busy, not {gamma}");
        assert_eq!(statistics.window.drops_overflow, 0);
    }
}
