//! Controllers that learn, for flows and queues of the engine.
//!
//! An agent is a congestion control or a queue discipline that is asked at intervals what to do: what happened since the last
//! question is an observation, and the answer an action. Who answers is a [`Decider`]: a file with the actions of an earlier episode,
//! a policy, or a program that trains one. All of them see the same and act at the same times, so that the same actions give the
//! same bytes.

pub mod action;
pub mod agent;
pub mod agents;
pub mod crew;
pub mod decider;
pub mod environment;
pub mod feature;
pub mod observer;
pub mod policy;
pub mod queue;
pub mod queue_observer;
pub mod reward;
pub mod shown;
pub mod sources;
pub mod specification;

pub use agents::Agents;
pub use decider::Decider;
pub use environment::Environment;
use serde_json::{Value, json};
pub use specification::AgentSpecification;

/// The features, actions and rewards that there are, the raw terms of rewards, and what agents tell of themselves.
pub fn catalogue() -> Value {
    let terms: Vec<_> = observer::TERMS
        .iter()
        .map(|(name, unit, meaning)| json!({"name": name, "unit": unit, "meaning": meaning}))
        .collect();
    json!({
        "features": feature::catalogue(),
        "actions": action::catalogue(),
        "rewards": reward::catalogue(),
        "state": shown::catalogue(),
        "terms": terms,
    })
}
