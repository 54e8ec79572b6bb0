//! Agents as the specification of a run has them: one of its `plugins` whose key `agent` is this.

use serde::Deserialize;
use serde_json::Value;
use sojourn_engine::time::Duration;

/// The key of an agent in an entry of a specification's `plugins`.
pub const KEY: &str = "agent";

/// What an agent sees, when it is asked, what it sets, and who decides.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpecification {
    /// When it is asked.
    pub interval: Interval,
    /// Names of features (`feature`).
    pub observe: Vec<String>,
    /// Of how many intervals an observation tells.
    pub history: usize,
    /// What it sets.
    pub action: ActionSpecification,
    /// The name of its reward (`reward`); none where nobody asks for one.
    pub reward: Option<NamedSpecification>,
    /// Whether it sees only what a kernel's `tcp_info` shows, in that structure's units.
    #[serde(default)]
    pub only_tcp_info: bool,
    /// The built-in congestion control whose window it changes; none for an agent that alone sets it.
    #[serde(default)]
    pub over: Option<NamedSpecification>,
    /// Who decides.
    pub decider: DeciderSpecification,
}

/// A name and its parameters, all of which are given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedSpecification {
    /// The name.
    pub name: String,
    /// The parameters by name, in base units.
    pub parameters: Value,
}

/// When an agent is asked.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// At each multiple of a time, from the start of the run.
    Time(Duration),
    /// Once so many smoothed round-trip times have passed since the last question; first when the connection is open.
    RoundTrips(f64),
    /// After so many acknowledgements.
    Acknowledgements(u64),
}

/// What an agent sets: the name of a kind of action (`action`) and its parameters.
pub type ActionSpecification = NamedSpecification;

/// Who decides.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeciderSpecification {
    /// A program that steps through the run. Without one there is no run.
    Environment,
    /// Actions that were written down: of each flow, by its number, or of each queue, by its place among those of agents.
    Script(Vec<Vec<f64>>),
    /// A policy, as its file says (`policy`).
    Policy(Value),
}

impl AgentSpecification {
    /// The agent in an entry of a specification's `plugins`, if it is one.
    ///
    /// # Errors
    /// One line that says what is wrong with it.
    pub fn of_plugin(plugin: &Value) -> Option<Result<AgentSpecification, String>> {
        let agent = plugin.get(KEY)?;
        Some(AgentSpecification::deserialize(agent).map_err(|error| format!("{KEY}: {error}")))
    }

    /// How many numbers an observation has.
    pub fn observed(&self) -> usize {
        self.observe.len() * self.history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An agent is read as a specification writes it, and a plugin of another kind is none.
    #[test]
    fn reading() {
        let plugin = json!({"file": "mine.json", "agent": {
            "interval": {"round_trips": 1.0},
            "observe": ["latency_ratio", "send_ratio"],
            "history": 10,
            "action": {"name": "window_factor", "parameters": {"least": 2, "most": 5000}},
            "reward": {"name": "pcc", "parameters": {}},
            "decider": {"script": [[1.0, 0.5]]},
        }});
        let agent = AgentSpecification::of_plugin(&plugin).unwrap().unwrap();
        assert_eq!((agent.interval, agent.observed()), (Interval::RoundTrips(1.0), 20));
        assert_eq!(agent.decider, DeciderSpecification::Script(vec![vec![1.0, 0.5]]));
        assert_eq!(AgentSpecification::of_plugin(&json!({"file": "mine.py"})), None);
    }

    /// A key that does not exist is named in the complaint.
    #[test]
    fn unknown_keys() {
        let wrong = AgentSpecification::of_plugin(&json!({"agent": {"intervals": 1}})).unwrap().unwrap_err();
        assert!(wrong.contains("intervals"), "{wrong}");
    }
}
