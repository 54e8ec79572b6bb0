//! Base round-trip times.

use std::sync::atomic::AtomicBool;

use serde_json::json;
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::simulation::{Simulation, base_round_trips};
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Duration;

/// On random meshes the base round-trip time of a flow is the minimum RTT that it measures. The transmission of a full packet over
/// ten hops adds 1.2 us.
#[test]
fn base_round_trip_time() {
    let mut random = Random::stream(1, Purpose::Source, 0);
    for _ in 0..20 {
        let pairs = (0..6).flat_map(|from| (from + 1..6).map(move |to| (from, to)));
        let links: Vec<_> = pairs
            .filter(|pair| random.unit() < 0.6 || *pair == (0, 5))
            .collect::<Vec<_>>()
            .into_iter()
            .flat_map(|(from, to)| {
                let delay = if (from, to) == (0, 5) { 1_100 } else { 1 + random.index(999) } * 1_000_000;
                [(from, to), (to, from)].map(|(from, to)| {
                    json!({"from": from, "to": to, "rate": 100_000_000_000u64, "delay": delay, "queue": null, "drop": null})
                })
            })
            .collect();
        let specification: Specification = serde_json::from_value(json!({
            "seed": 1, "duration": 1_000_000_000_000u64, "warm_up": 0, "sender_overhead": 0,
            "nodes": ["a", "b", "c", "d", "e", "f"], "links": links, "stacks": [{}],
            "flows": [{
                "count": 1, "from": 0, "to": 5, "group": "a-f", "start": 0, "start_within": 0, "size": 10_000,
                "source": {"name": "cubic", "slow_start": "standard", "stack": 0},
            }],
            "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
        }))
        .expect("well formed");
        let base = base_round_trips(&specification)[0].expect("a route there and back");
        let simulation = Simulation::new(&specification).expect("valid");
        let result = simulation.run(&AtomicBool::new(false)).expect("nobody cancels");
        let measured = result.flows[0].tcp.as_ref().expect("a TCP flow").statistics.min_rtt;
        assert!((base..=base + Duration::from_microseconds(2)).contains(&measured), "{measured:?}, base {base:?}");
    }
}
