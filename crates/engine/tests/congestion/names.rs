//! Names of congestion controls.

use serde_json::json;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::tcp::profile::{DefaultKind, StackProfile};
use sojourn_engine::traffic::Traffic;

/// The error for an unknown name lists all known names, including those of rate-based sources.
#[test]
fn unknown_name() {
    let specification: Specification = serde_json::from_value(json!({
        "seed": 1, "duration": 1, "warm_up": 0, "sender_overhead": 0, "nodes": ["a", "b"],
        "links": [{"from": 0, "to": 1, "rate": 1, "delay": 0, "queue": null, "drop": null}],
        "stacks": [{}],
        "flows": [{
            "count": 1, "from": 0, "to": 1, "group": "a-b", "start": 0, "start_within": 0, "size": null,
            "source": {"name": "newrino", "slow_start": "standard", "stack": 0},
        }],
        "probe": {"queue_statistics": false, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed");
    let error = Simulation::new(&specification).expect_err("there is none of that name");
    let (what, known) = error.split_once("; known: ").expect("a list");
    assert_eq!(what, "flows[0] (a-b): unknown congestion control \"newrino\"");
    let known: Vec<&str> = known.split(", ").collect();
    let windows = Algorithm::catalogue().into_iter().map(|(about, _)| about.name);
    let rates = Traffic::catalogue().into_iter().map(|kind| kind.about.name);
    assert_eq!(known, windows.chain(rates).collect::<Vec<_>>());
    assert!(known.contains(&"newreno") && known.contains(&"cbr") && known.contains(&"tfrc"), "{error}");
}

/// What a profile sets for a congestion control is a parameter of it, with a value that it may have.
#[test]
fn defaults_of_profiles() {
    for profile in StackProfile::named() {
        for default in profile.defaults.iter().filter(|default| default.kind == DefaultKind::Control) {
            let built = Algorithm::new(default.algorithm, &json!({default.parameter: default.value}));
            assert_eq!(built.err(), None, "{}: {}.{}", profile.name, default.algorithm, default.parameter);
        }
    }
}
