//! What agents tell of themselves where a run asks for inner states.
//!
//! A question is closed by an environment at its time and by others at the hook after it. So that all tell the same, what is told is as
//! of the latest hook at which actions take effect.

use serde_json::{Value, json};
use sojourn_engine::inner::{StateValue, Tell};

use crate::action::Target;

const QUESTIONS: StateValue =
    StateValue { name: "questions", unit: "", doc: "questions so far, answered or not", phases: None };

const ACTION: StateValue = StateValue {
    name: "action",
    unit: "",
    doc: "latest action, as it was given: a number within the action's bounds, or that of a step",
    phases: None,
};

const REWARD: StateValue = StateValue {
    name: "reward",
    unit: "",
    doc: "what the latest interval was worth; none without a reward, or of one that is over all agents",
    phases: None,
};

/// Of a flow's agent.
pub const OF_FLOWS: [StateValue; 5] = [
    QUESTIONS,
    ACTION,
    StateValue { name: "set_window", unit: "B", doc: "window that the latest action set", phases: None },
    StateValue { name: "set_rate", unit: "bit/s", doc: "pacing rate that the latest action set", phases: None },
    REWARD,
];

/// Of a queue's agent.
pub const OF_QUEUES: [StateValue; 4] = [
    QUESTIONS,
    ACTION,
    StateValue {
        name: "set_probability",
        unit: "",
        doc: "probability of a mark or a drop that the latest action set",
        phases: None,
    },
    REWARD,
];

/// What an agent tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub questions: u64,
    pub action: Option<f64>,
    /// What that action made of its target.
    pub set: Option<f64>,
    pub reward: Option<f64>,
}

impl Shown {
    /// Tells what there is.
    pub fn tell(&self, target: Target, tell: &mut Tell<'_>) {
        let set = match target {
            Target::Window => "set_window",
            Target::Rate => "set_rate",
            Target::Probability => "set_probability",
        };
        tell(QUESTIONS.name, self.questions as f64);
        for (name, value) in [(ACTION.name, self.action), (set, self.set), (REWARD.name, self.reward)] {
            if let Some(value) = value {
                tell(name, value);
            }
        }
    }
}

/// The values, for the catalogue.
pub fn catalogue() -> Value {
    json!({"flow": OF_FLOWS, "queue": OF_QUEUES})
}
