//! The catalogue of the engine as JSON: the single source of names, parameters and profiles for all other components.

use serde_json::{Value, json};

use crate::about::About;
use crate::parameter::Description;
use crate::queue::Discipline;
use crate::tcp::congestion::{Algorithm, CongestionControl, hooks};
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartKind;
use crate::traffic::Traffic;
use crate::video::rules::Rule;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// SHA-256 of the engine's sources and of `Cargo.lock`, computed by `build.rs`. Engines with the same digest compute
/// the same results.
pub const DIGEST: &str = env!("SOJOURN_ENGINE_DIGEST");

/// Congestion controls, slow start algorithms, queue disciplines, rules of video, stack settings, stack profiles, and
/// the hooks of own algorithms.
pub fn catalogue() -> Value {
    let settings: Vec<Description> = StackProfile::describe();
    let profiles: Vec<Value> = StackProfile::named()
        .into_iter()
        .map(|profile| {
            let settings: Vec<Value> = profile
                .settings
                .into_iter()
                .map(|setting| json!({"name": setting.name, "value": setting.value, "source": setting.source}))
                .collect();
            let defaults: Vec<Value> = profile
                .defaults
                .into_iter()
                .map(|default| {
                    json!({
                        "algorithm": default.algorithm,
                        "kind": default.kind,
                        "parameter": default.parameter,
                        "value": default.value,
                        "source": default.source,
                    })
                })
                .collect();
            json!({"name": profile.name, "title": profile.title, "settings": settings, "defaults": defaults})
        })
        .collect();
    json!({
        "version": VERSION,
        "congestion_controls": congestion_controls(),
        "slow_starts": slow_starts(),
        "queues": queues(),
        "video_rules": Rule::catalogue(),
        "stack_settings": settings,
        "profiles": profiles,
        "own": hooks::catalogue(),
    })
}

/// What the random numbers of a congestion control determine.
const PROBES: &str = "times at which it probes";

/// Window-based congestion controls, then rate-based sources, which may be one-way or unresponsive. `random` tells what is drawn at
/// random, `random_if` which boolean parameters enable random draws.
fn congestion_controls() -> Vec<Value> {
    let mut listed = Vec::new();
    for (about, parameters) in Algorithm::catalogue() {
        let needs = Algorithm::new(about.name, &json!({})).map(|algorithm| algorithm.needs());
        let mut entry = entry(about, parameters);
        entry["random"] = json!(needs.is_ok_and(|needs| needs.random).then_some(PROBES));
        listed.push(entry);
    }
    for kind in Traffic::catalogue() {
        let mut entry = entry(kind.about, kind.parameters);
        entry["one_way"] = json!(kind.one_way);
        entry["unresponsive"] = json!(kind.unresponsive);
        entry["random_if"] = json!(Traffic::random_if(kind.about.name));
        listed.push(entry);
    }
    listed
}

fn slow_starts() -> Vec<Value> {
    SlowStartKind::catalogue().into_iter().map(|(about, parameters)| entry(about, parameters)).collect()
}

fn entry(about: &About, parameters: Vec<Description>) -> Value {
    let mut entry = json!(about);
    entry["parameters"] = json!(parameters);
    entry
}

fn queues() -> Vec<Value> {
    let mut listed = Vec::new();
    for (about, parameters) in Discipline::catalogue() {
        let mut entry = entry(about, parameters);
        entry["random"] = json!(Discipline::random(about.name));
        if let Some(rules) = Discipline::random_rules(about.name) {
            entry["random_rules"] = json!(rules);
        }
        listed.push(entry);
    }
    listed
}
