//! Properties of links with impairments, traces and frames, anywhere in a network: every packet is accounted for after every event,
//! the same specification gives the same result, and each kind acts where it is.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;

use crate::support::{MS, S, constant_rate, tcp};

/// What may be set of a link, each by itself.
fn kinds() -> Vec<(&'static str, Value)> {
    let impaired = |impairments: Value| json!({ "impairments": impairments });
    let slots = json!({"step": MS, "unit": 12_000_000, "counts": [1, 0, 0, 1, 0, 2]});
    let steps = |values: [u64; 2]| json!([[0, values[0]], [40 * MS, values[1]]]);
    let trace = |values: Value| json!({"name": "a trace", "until": 90 * MS, "repeats": true, "steps": values});
    vec![
        ("policer", impaired(json!({"policer": {"rate": 3_000_000, "burst": 20_000}}))),
        ("burst_loss", impaired(json!({"burst_loss": {"enter": 0.02, "leave": 0.3, "inside": 1.0, "outside": 0.0}}))),
        ("bit_error_ratio", impaired(json!({"bit_error_ratio": 1e-5}))),
        ("duplication", impaired(json!({"duplication": 0.05}))),
        ("jitter", impaired(json!({"jitter": {"distribution": "uniform", "mean": 3 * MS, "reorders": false}}))),
        (
            "jitter that reorders",
            impaired(json!({"jitter": {"distribution": "exponential", "mean": 3 * MS, "reorders": true}})),
        ),
        ("slot", impaired(json!({"slot": 7 * MS}))),
        ("loss", json!({"loss": 0.05})),
        (
            "rate trace of mahimahi",
            json!({"rate_trace": {"name": "m", "until": 6 * MS, "repeats": true, "slots": slots}}),
        ),
        ("rate trace", json!({"rate_trace": trace(steps([9_000_000, 2_000_000]))})),
        ("delay trace", json!({"delay_trace": trace(steps([2 * MS, 20 * MS]))})),
        (
            "aggregation",
            json!({
                "queue": {"name": "codel", "limit": {"packets": 50}},
                "aggregation": {
                    "packets": 8, "size": 65_535, "airtime": 4 * MS, "access": MS / 7, "response": MS / 31,
                    "response_size": 58, "header": 42,
                },
            }),
        ),
        ("ACK filter", json!({"rate": 300_000, "queue": {"name": "ack_filter", "limit": {"packets": 30}}})),
    ]
}

/// A name, the number of nodes, and pairs of nodes that are joined in both directions.
type Topology = (&'static str, usize, Vec<(usize, usize)>);

/// Flows go from the first node to the last and back.
fn topologies() -> Vec<Topology> {
    vec![
        ("one link", 2, vec![(0, 1)]),
        ("dumbbell", 6, vec![(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)]),
        ("chain", 5, vec![(0, 1), (1, 2), (2, 3), (3, 4)]),
        ("ring", 4, vec![(0, 1), (1, 2), (2, 3), (3, 0)]),
    ]
}

/// Links of 10 Mbit/s in both directions, and flows that cross them in both.
fn network(nodes: usize, pairs: &[(usize, usize)], seed: u64) -> Value {
    let links: Vec<Value> = pairs
        .iter()
        .flat_map(|(one, other)| [(one, other), (other, one)])
        .map(|(from, to)| json!({"from": from, "to": to, "rate": 10_000_000, "delay": 2 * MS, "queue": null, "drop": null}))
        .collect();
    let between = |mut flow: Value, from: usize, to: usize| {
        (flow["from"], flow["to"]) = (json!(from), json!(to));
        flow
    };
    let last = nodes - 1;
    json!({
        "seed": seed, "duration": S / 5, "warm_up": 0, "sender_overhead": 0,
        "nodes": (0..nodes).map(|node| format!("n{node}")).collect::<Vec<_>>(),
        "links": links, "stacks": [{}],
        "flows": [
            between(tcp("cubic"), 0, last), between(tcp("newreno"), last, 0), between(constant_rate(500_000, 500, true), 0, last),
        ],
        "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    })
}

fn read(network: &Value) -> Specification {
    serde_json::from_value(network.clone()).expect("well formed")
}

/// What flows and queues did, as text.
fn outcome(network: &Value) -> String {
    let simulation = Simulation::new(&read(network)).expect("valid");
    format!("{:?}", simulation.run(&AtomicBool::new(false)).expect("nobody cancels"))
}

/// The same, with every packet accounted for after every event.
fn conserved(network: &Value) -> Result<String, String> {
    let mut simulation = Simulation::new(&read(network)).expect("valid");
    while simulation.step() {
        let census = simulation.census();
        if !census.is_complete() {
            return Err(format!("{census:?}"));
        }
    }
    Ok(format!("{:?}", simulation.finish()))
}

fn set(link: &mut Value, settings: &Value) {
    for (key, value) in settings.as_object().expect("a table") {
        match (link.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
            (Some(held), Some(more)) if key == "impairments" => held.extend(more.clone()),
            _ => link[key] = value.clone(),
        }
    }
}

/// Each kind, on each link of each topology and in each direction, is conserved, deterministic, and changes what flows over it.
#[test]
fn each_kind_on_each_link() {
    for (topology, nodes, pairs) in topologies() {
        let plain = network(nodes, &pairs, 1);
        let without = outcome(&plain);
        for link in 0..2 * pairs.len() {
            let ends = pairs[link / 2];
            let is_crossed = topology != "dumbbell" || (ends != (1, 2) && ends != (3, 4));
            let is_crossed = is_crossed && (topology != "ring" || ends == (3, 0));
            for (kind, settings) in kinds() {
                let mut with = plain.clone();
                set(&mut with["links"][link], &settings);
                let place = format!("{kind} on link {link} of the {topology}");
                let found = conserved(&with).unwrap_or_else(|census| panic!("{place}: {census}"));
                assert_eq!(found, outcome(&with), "{place} is not deterministic");
                let is_same = found == without;
                assert!(
                    is_crossed != is_same || (!is_crossed && with["links"][link]["queue"] != Value::Null),
                    "{place}"
                );
            }
        }
    }
}

/// What is written out as nothing is nothing: no impairments give the result of a link that has no such key.
#[test]
fn nothing_is_nothing() {
    let plain = network(2, &[(0, 1)], 1);
    let mut written = plain.clone();
    set(&mut written["links"][0], &json!({"impairments": {"slot": 0, "duplication": 0.0}, "aggregation": null}));
    assert_eq!(outcome(&plain), outcome(&written));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With all kinds at once, on links drawn at random, every packet is accounted for and the result is the same again.
    #[test]
    fn all_kinds_at_once(
        topology in 0..4usize,
        seed in 0..1000u64,
        chosen in prop::collection::vec((0..10usize, 0..13usize), 1..40),
    ) {
        let (_, nodes, pairs) = topologies().swap_remove(topology);
        let mut network = network(nodes, &pairs, seed);
        let kinds = kinds();
        for (link, kind) in chosen {
            set(&mut network["links"][link % (2 * pairs.len())], &kinds[kind % kinds.len()].1);
        }
        prop_assert_eq!(conserved(&network), Ok(outcome(&network)));
    }
}
