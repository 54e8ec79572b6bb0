//! Estimates of a run's memory, and refusals for it.

use std::sync::atomic::AtomicBool;

use serde_json::json;
use sojourn_engine::simulation::{Simulation, Stopped, check, memory};
use sojourn_engine::specification::{SourceSpecification, Specification};

fn specification() -> Specification {
    let link =
        |from, to, rate: u64| json!({"from": from, "to": to, "rate": rate, "delay": 0, "queue": null, "drop": null});
    serde_json::from_value(json!({
        "seed": 1, "duration": 1_000_000_000_000u64, "warm_up": 0, "sender_overhead": 0,
        "nodes": ["a", "b"], "links": [link(0, 1, 1_000_000), link(1, 0, 1_000_000)], "stacks": [{}],
        "flows": [{
            "count": 1, "from": 0, "to": 1, "group": "a-b", "start": 0, "start_within": 0, "size": null,
            "source": {
                "name": "cbr", "slow_start": "standard", "stack": 0,
                "parameters": {"rate": 1_000_000_000, "packet_size": 1000},
            },
        }],
        "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed")
}

fn sender() -> SourceSpecification {
    serde_json::from_value(json!({"name": "cubic", "slow_start": "standard", "stack": 0})).expect("well formed")
}

/// A source above the rate of its host's link, which has no limit, is refused before the run: the backlog is there, not at the
/// slowest link, whose queue is short. The bytes are (rate - link's rate) x duration / packet x 80.
#[test]
fn backlog_at_the_host() {
    let mut given = specification();
    given.nodes.push("c".to_owned());
    given.links[0].rate.0 = 10_000_000;
    let mut slowest = given.links[0].clone();
    (slowest.from, slowest.to, slowest.rate.0) = (1, 2, 1_000_000);
    slowest.queue =
        Some(serde_json::from_value(json!({"name": "droptail", "limit": {"packets": 10}})).expect("well formed"));
    given.links.push(slowest);
    given.flows[0].to = 2;
    let backlog = (1_000_000_000 - 10_000_000) / 8_000;
    let estimate = memory(&given).expect("valid");
    assert!((backlog * 80..backlog * 80 * 5 / 4).contains(&estimate), "{estimate} bytes for {backlog} packets");
    given.flows[0].source.parameters["rate"] = json!(1_000_000_000_000u64);
    let refused = check(given).expect_err("124,998,750 packets take 10 GB");
    assert!(
        refused.starts_with("link a -> b: its flows' rates are above its own, and 124,998,750 packets wait"),
        "{refused}"
    );
}

/// Messages that are written faster than the path carries them wait, and so many that they take 58 TB are refused: of 10^12 in a
/// second, a link of 1 Mbit/s carries 125,000 bytes.
#[test]
fn waiting_messages() {
    let mut given = specification();
    given.flows[0].source = sender();
    given.flows[0].application =
        Some(serde_json::from_value(json!({"periodic": {"size": {"fixed": 1}, "every": 1}})).expect("well formed"));
    let refused = check(given).expect_err("they take terabytes");
    assert!(refused.starts_with("flows[0] (a-b): 999,999,875,000 messages wait"), "{refused}");
}

/// Connections of sessions have numbers, of which one is kept for each: so many that they alone would take 17 GB are refused
/// before that.
#[test]
fn many_sessions() {
    let mut given = specification();
    given.flows[0].count = u32::MAX.into();
    given.flows[0].source = sender();
    given.flows[0].application = Some(
        serde_json::from_value(json!({"periodic": {"size": {"fixed": 1000}, "every": 1_000_000_000_000u64}}))
            .expect("well formed"),
    );
    let refused = Simulation::new(&given).expect_err("4,294,967,295 flows take terabytes");
    assert!(refused.starts_with("flows[0].count (a-b): 4,294,967,295 flows"), "{refused}");
}

/// The backlog that such a source leaves, of which nothing but the rates and the duration is given, is the excess of its
/// rate over the link's.
#[test]
fn estimated_backlog() {
    let estimate = memory(&specification()).expect("valid");
    let backlog = (1_000_000_000 - 1_000_000) / 8_000;
    assert!((backlog * 80..backlog * 80 * 5 / 4).contains(&estimate), "{estimate} bytes for {backlog} packets");
}

/// A source of a thousand times the link's rate ends the run when more packets wait than a run may hold.
#[test]
fn too_many_packets() {
    let mut simulation = Simulation::new(&specification()).expect("valid");
    simulation.most_packets = 50_000;
    let stopped = simulation.run(&AtomicBool::new(false)).expect_err("124,875 packets wait at the end");
    let Stopped::TooLarge(reason) = stopped else { panic!("{stopped:?}") };
    assert!(reason.ends_with("a run may hold 50,000, about 4 GiB of memory"), "{reason}");
}
