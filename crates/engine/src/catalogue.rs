//! What the engine knows, as JSON: the one source for names, parameters and profiles everywhere else.

use serde_json::{Value, json};

use crate::about::About;
use crate::parameter::Description;
use crate::queue::Discipline;
use crate::tcp::congestion::Algorithm;
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartKind;

/// Version of the engine; part of a run's identity.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

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
        "congestion_controls": entries(Algorithm::catalogue()),
        "slow_starts": SlowStartKind::CATALOGUE,
        "queues": entries(Discipline::catalogue()),
        "stack_settings": settings,
        "profiles": profiles,
    })
}

fn entries(algorithms: Vec<(&About, Vec<Description>)>) -> Vec<Value> {
    algorithms
        .into_iter()
        .map(|(about, parameters)| {
            let mut entry = json!(about);
            entry["parameters"] = json!(parameters);
            entry
        })
        .collect()
}
