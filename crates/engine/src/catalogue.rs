//! What the engine knows, as JSON: the one source for names, parameters and profiles everywhere else.

use serde_json::{Value, json};

use crate::about::About;
use crate::parameter::Description;
use crate::queue::Discipline;
use crate::tcp::congestion::Algorithm;
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartKind;
use crate::traffic::Traffic;

/// Version of the engine.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// SHA-256 of the engine's sources and of `Cargo.lock`, as `build.rs` computed it: engines with the same digest compute the same
/// results.
pub const DIGEST: &str = env!("SOJOURN_ENGINE_DIGEST");

/// Congestion controls, slow starts, queue disciplines, stack settings and stack profiles.
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
            json!({"name": profile.name, "title": profile.title, "settings": settings})
        })
        .collect();
    json!({
        "version": VERSION,
        "congestion_controls": congestion_controls(),
        "slow_starts": SlowStartKind::CATALOGUE,
        "queues": entries(Discipline::catalogue()),
        "stack_settings": settings,
        "profiles": profiles,
    })
}

/// Those with a window, then the rate-based ones, which may be one-way.
fn congestion_controls() -> Vec<Value> {
    let mut listed = entries(Algorithm::catalogue());
    for (about, parameters, one_way) in Traffic::catalogue() {
        let mut entry = entry(about, parameters);
        entry["one_way"] = json!(one_way);
        listed.push(entry);
    }
    listed
}

fn entry(about: &About, parameters: Vec<Description>) -> Value {
    let mut entry = json!(about);
    entry["parameters"] = json!(parameters);
    entry
}

fn entries(algorithms: Vec<(&About, Vec<Description>)>) -> Vec<Value> {
    algorithms.into_iter().map(|(about, parameters)| entry(about, parameters)).collect()
}
