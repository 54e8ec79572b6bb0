//! The agents of a run, made for the engine among its other plugins.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use sojourn_engine::failure::Failure;
use sojourn_engine::plugin::Plugins;
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::congestion::{Algorithm, PluginControl};

use crate::action::Of;
use crate::agent::{AgentControl, Asked, Deciding, Kind, Makes};
use crate::decider::{Decider, Script};
use crate::policy::Network;
use crate::queue::AgentQueue;
use crate::specification::{AgentSpecification, DeciderSpecification};

/// Makes the agents of a run, and has others make its other plugins.
pub struct Agents<'a> {
    others: &'a dyn Plugins,
    /// By the place among the plugins of the specification; none where the plugin is no agent.
    prepared: Vec<Option<Prepared>>,
    /// How many queues of agents there are so far.
    queues: AtomicU32,
}

struct Prepared {
    kind: Arc<Kind>,
    leader: Option<Algorithm>,
    deciding: Deciding,
}

/// Makes a script of each flow's actions.
#[derive(Debug)]
struct Scripts(Vec<Vec<f64>>);

impl Makes for Scripts {
    fn decider(&self, number: u32) -> Box<dyn Decider> {
        Box::new(Script::new(self.0.get(number as usize).cloned().unwrap_or_default()))
    }
}

/// Why a run does not start that has an agent for whom nobody decides.
pub const NOBODY_DECIDES: &str = "agent = true: it waits for an environment, which sojourn.environment makes; give \"policy\" or \"actions\" to run it alone";

impl<'a> Agents<'a> {
    /// The agents of a specification. Those who wait for an environment are put where it finds them; without one there is no run.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn new(
        specification: &Specification,
        others: &'a dyn Plugins,
        asked: Option<&Asked>,
    ) -> Result<Agents<'a>, String> {
        let prepare = |plugin: &Value| match AgentSpecification::of_plugin(plugin) {
            None => Ok(None),
            Some(agent) => prepare(&agent?, asked).map(Some),
        };
        let prepared = specification.plugins.iter().map(prepare).collect::<Result<_, String>>()?;
        Ok(Agents { others, prepared, queues: AtomicU32::new(0) })
    }

    /// Whether a plugin is an agent.
    pub fn is_agent(plugin: &Value) -> bool {
        plugin.get(crate::specification::KEY).is_some()
    }
}

/// Checks an agent, without what it needs to run.
///
/// # Errors
/// As [`Agents::new`].
pub fn check(agent: &AgentSpecification) -> Result<Kind, String> {
    leader_of(agent)?;
    let kind = Kind::of(agent)?;
    if let DeciderSpecification::Policy(policy) = &agent.decider {
        Network::of(policy, kind.width(), kind.action.space())?;
    }
    Ok(kind)
}

fn leader_of(agent: &AgentSpecification) -> Result<Option<Algorithm>, String> {
    let leader = agent.over.as_ref().map(|over| Algorithm::new(&over.name, &over.parameters));
    leader.transpose().map_err(|error| format!("over: {error}"))
}

fn prepare(agent: &AgentSpecification, asked: Option<&Asked>) -> Result<Prepared, String> {
    let kind = Arc::new(Kind::of(agent)?);
    let deciding = match (&agent.decider, asked) {
        (DeciderSpecification::Environment, None) => return Err(NOBODY_DECIDES.to_owned()),
        (DeciderSpecification::Environment, Some(asked)) => Deciding::Environment(asked.clone()),
        (DeciderSpecification::Script(actions), _) => Deciding::Alone(Arc::new(Scripts(actions.clone()))),
        (DeciderSpecification::Policy(policy), _) => {
            Deciding::Alone(Arc::new(Network::of(policy, kind.width(), kind.action.space())?))
        }
    };
    Ok(Prepared { kind, leader: leader_of(agent)?, deciding })
}

impl Plugins for Agents<'_> {
    fn control(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        match self.prepared.get(plugin).and_then(Option::as_ref) {
            Some(Prepared { kind, leader, deciding }) if kind.action.target.of() == Of::Flow => {
                Ok(Box::new(AgentControl::new(kind.clone(), leader.clone(), deciding.clone())))
            }
            Some(_) => Err("action: probability: a flow has a window or a rate".to_owned()),
            None => self.others.control(plugin, parameters),
        }
    }

    fn queue(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        match self.prepared.get(plugin).and_then(Option::as_ref) {
            Some(Prepared { kind, deciding, .. }) if kind.action.target.of() == Of::Queue => {
                Ok(Box::new(AgentQueue::new(kind.clone(), deciding, self.queues.fetch_add(1, Ordering::Relaxed))))
            }
            Some(_) => Err("action: a queue has a probability".to_owned()),
            None => self.others.queue(plugin, parameters),
        }
    }

    fn failure(&self) -> Failure {
        self.others.failure()
    }
}
