//! What the engine knows, as JSON: the one source for names, parameters and profiles everywhere else.

use serde_json::{Value, json};

use crate::parameter::{Description, ParameterType};
use crate::queue::Discipline;
use crate::tcp::congestion::Algorithm;
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartKind;

/// Version of the engine; part of a run's identity.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Congestion controls, slow starts, queue disciplines, stack settings and stack profiles.
pub fn catalogue() -> Value {
    let congestion_controls: Vec<Value> = Algorithm::catalogue()
        .into_iter()
        .map(|(about, parameters)| {
            json!({
                "name": about.name, "aliases": about.aliases, "title": about.title, "class": about.class,
                "year": about.year, "source": about.source, "departures": about.departures, "parameters": parameters,
            })
        })
        .collect();
    let queues: Vec<Value> = Discipline::catalogue()
        .into_iter()
        .map(|(about, parameters)| {
            json!({
                "name": about.name, "aliases": about.aliases, "title": about.title, "class": about.class,
                "year": about.year, "source": about.source, "departures": about.departures, "parameters": parameters,
            })
        })
        .collect();
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
        "congestion_controls": congestion_controls,
        "slow_starts": SlowStartKind::CHOICES,
        "queues": queues,
        "stack_settings": settings,
        "profiles": profiles,
    })
}
