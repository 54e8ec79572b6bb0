//! Errors in the settings of disciplines.

use serde_json::json;
use sojourn_engine::queue::{Discipline, Limit};

/// A limit of zero, an unknown parameter or discipline and values out of range are errors of one line that name the
/// mistake.
#[test]
fn invalid_settings() {
    let cases = [
        ("droptail", Some(Limit::Packets(0)), json!({}), "limit"),
        ("pie", Some(Limit::Bytes(0)), json!({}), "limit"),
        ("codel", None, json!({"targett": 5}), "targett"),
        ("droptail", None, json!({"target": 5}), "target"),
        ("pie", None, json!({"alpha": -0.1}), "alpha"),
        ("pie", None, json!({"mark_threshold": 1.5}), "mark_threshold"),
        ("pie", None, json!({"update_interval": 0}), "update_interval"),
        ("pie", None, json!({"departure_threshold": 0}), "departure_threshold"),
        ("pie", None, json!({"estimator": "crystal_ball"}), "crystal_ball"),
        ("codel", None, json!({"interval": -1}), "interval"),
        ("codel", None, json!({"ecn": "yes"}), "yes"),
        ("fq_codel", None, json!({"queues": 0}), "queues"),
        ("drr", None, json!({"quantum": 0}), "quantum"),
        ("tbf", None, json!({"burst": 0}), "burst"),
        ("cake", None, json!({"isolation": "nobody"}), "nobody"),
        ("blue_green", None, json!({}), "blue_green"),
    ];
    for (name, limit, parameters, named) in cases {
        let error = Discipline::new(name, limit, &parameters).expect_err(named);
        assert!(error.contains(named) && !error.contains('\n'), "{name} {parameters}: {error}");
    }
    for (about, _) in Discipline::catalogue() {
        assert!(Discipline::new(about.name, Some(Limit::Packets(1)), &json!({})).is_ok(), "{}", about.name);
    }
}
