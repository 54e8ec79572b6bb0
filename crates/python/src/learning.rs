//! Environments of agents that learn: many runs, each at a question, which native threads carry on.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use sojourn_engine::specification::Specification;
use sojourn_learning::action::Space;
use sojourn_learning::agents;
use sojourn_learning::crew::{Crew, Work};
use sojourn_learning::environment::{Environment, Outcome};
use sojourn_learning::observer::TERMS;
use sojourn_learning::policy;
use sojourn_learning::specification::AgentSpecification;
use sojourn_native::Recorded;

use crate::columns::to_python;

use crate::{PluginFailed, SpecificationError, parse};

/// Features, actions, rewards and the raw terms of rewards, as JSON.
#[pyfunction]
pub fn learning_catalogue() -> String {
    sojourn_learning::catalogue().to_string()
}

/// The text of the crate that carries agents out, for a digest.
#[pyfunction]
pub fn learning_sources() -> String {
    sojourn_learning::sources::SOURCES.iter().flat_map(|(name, text)| [*name, "\n", *text]).collect()
}

/// Checks an agent as a specification has it, and says what its observations and actions are, as JSON: `low` and `high`, and `box` with
/// two bounds or the number of `steps`.
#[pyfunction]
pub fn describe_agent(agent: &str) -> PyResult<String> {
    let agent: AgentSpecification =
        serde_json::from_str(agent).map_err(|error| SpecificationError::new_err(error.to_string()))?;
    let kind = agents::check(&agent).map_err(SpecificationError::new_err)?;
    let (low, high): (Vec<f32>, Vec<f32>) = kind.bounds().into_iter().unzip();
    let mut described = json!({"low": low, "high": high});
    match kind.action.space() {
        Space::Box { least, most } => described["box"] = json!([least, most]),
        Space::Discrete(steps) => described["steps"] = json!(steps),
    }
    Ok(described.to_string())
}

/// Checks the text of a policy's file, which is JSON.
#[pyfunction]
pub fn check_policy(text: &str) -> PyResult<()> {
    policy::check(text).map_err(SpecificationError::new_err)
}

/// A run under way, and what its agents see.
#[derive(Default)]
struct Slot {
    run: Option<(Specification, Environment)>,
    observations: Vec<f32>,
    rewards: Vec<f64>,
    terms: Vec<f64>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
}

impl Slot {
    /// Begins a run, which is one of so many.
    fn begin(&mut self, text: &str, runs: usize) -> Result<(), String> {
        let specification: Specification = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let environment = Environment::new(&specification, runs)?;
        let count = environment.flows().len();
        self.observations.resize(count * environment.width(), 0.0);
        self.rewards.resize(count, 0.0);
        self.terms.resize(count * TERMS.len(), 0.0);
        self.terminated.resize(count, 0);
        self.truncated.resize(count, 0);
        self.run = Some((specification, environment));
        self.tell();
        self.rewards.fill(0.0);
        Ok(())
    }

    fn step(&mut self, actions: &[f64]) -> Result<(), String> {
        if let Some((_, environment)) = &mut self.run
            && !environment.is_over()
        {
            environment.step(actions)?;
            self.tell();
        }
        Ok(())
    }

    fn tell(&mut self) {
        let Slot { run, observations, rewards, terms, terminated, truncated } = self;
        if let Some((_, environment)) = run {
            environment.tell(&mut Outcome { observations, rewards, terms, terminated, truncated });
        }
    }
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs that begin at some places.
struct Beginning {
    slots: Arc<Vec<Mutex<Slot>>>,
    places: Vec<usize>,
    specifications: Vec<String>,
}

impl Work for Beginning {
    fn part(&self, number: usize) -> Result<(), String> {
        lock(&self.slots[self.places[number]]).begin(&self.specifications[number], self.slots.len())
    }
}

/// A step of all runs, but of those that begin.
struct Step {
    beginning: Beginning,
    actions: Vec<f64>,
    agents: usize,
}

impl Step {
    fn of(&self, place: usize) -> &[f64] {
        &self.actions[place * self.agents..][..self.agents]
    }
}

impl Work for Step {
    fn part(&self, place: usize) -> Result<(), String> {
        match self.beginning.places.iter().position(|each| *each == place) {
            Some(number) => self.beginning.part(number),
            None => lock(&self.beginning.slots[place]).step(self.of(place)),
        }
    }
}

/// Runs of scenarios with equally many agents, each at a question of its own.
#[pyclass]
pub struct Environments {
    slots: Arc<Vec<Mutex<Slot>>>,
    crew: Mutex<Crew>,
    agents: usize,
}

/// What Python reads: observations, rewards, terms, and whether agents and runs have come to their ends.
type Buffers = (PyBuffer<f32>, PyBuffer<f64>, PyBuffer<f64>, PyBuffer<u8>, PyBuffer<u8>);

#[pymethods]
impl Environments {
    /// Places for so many runs of so many agents. Without a number of threads, as many as the machine has cores.
    #[new]
    #[pyo3(signature = (count, agents = 1, threads = None))]
    fn new(count: usize, agents: usize, threads: Option<usize>) -> Environments {
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = threads.unwrap_or_else(cores).clamp(1, count.max(1));
        let slots = Arc::new((0..count).map(|_| Mutex::default()).collect());
        Environments { slots, crew: Mutex::new(Crew::new(threads)), agents }
    }

    /// Begins runs at some places, up to their first questions.
    fn reset(&self, py: Python<'_>, places: Vec<usize>, specifications: Vec<String>, into: Buffers) -> PyResult<()> {
        self.check(&places, &specifications)?;
        let count = places.len();
        let beginning = Arc::new(Beginning { slots: self.slots.clone(), places, specifications });
        py.detach(|| self.carry_out(beginning.clone(), count)).map_err(SpecificationError::new_err)?;
        for place in &beginning.places {
            let agents = lock(&self.slots[*place]).rewards.len();
            if agents != self.agents {
                let message = format!("the scenario has {agents} agents; this environment has {}", self.agents);
                return Err(SpecificationError::new_err(message));
            }
        }
        self.fill(py, &into)
    }

    /// Gives all agents their actions and goes on to the next questions; at some places runs begin instead. What has come to its end
    /// stays there.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyBuffer<f64>,
        places: Vec<usize>,
        specifications: Vec<String>,
        into: Buffers,
    ) -> PyResult<()> {
        self.check(&places, &specifications)?;
        let actions = actions.to_vec(py)?;
        if actions.len() != self.slots.len() * self.agents {
            let message =
                format!("action: {} numbers; {} are asked for", actions.len(), self.slots.len() * self.agents);
            return Err(PyValueError::new_err(message));
        }
        let beginning = Beginning { slots: self.slots.clone(), places, specifications };
        let step = Step { beginning, actions, agents: self.agents };
        let begins = &step.beginning.places;
        for (place, slot) in self.slots.iter().enumerate().filter(|(place, _)| !begins.contains(place)) {
            let slot = lock(slot);
            let run = slot.run.as_ref().filter(|(_, run)| !run.is_over());
            if let Some(fault) = run.and_then(|(_, run)| run.fault(step.of(place))) {
                return Err(PyValueError::new_err(fault));
            }
        }
        let count = self.slots.len();
        py.detach(|| self.carry_out(Arc::new(step), count)).map_err(PluginFailed::new_err)?;
        self.fill(py, &into)
    }

    /// The numbers of the flows that the agents of a run decide for.
    fn flows(&self, place: usize) -> Vec<u32> {
        lock(&self.slots[place]).run.as_ref().map(|(_, run)| run.flows()).unwrap_or_default()
    }

    /// Up to when all has happened in a run, in picoseconds.
    fn now(&self, place: usize) -> u64 {
        lock(&self.slots[place]).run.as_ref().map_or(0, |(_, run)| run.now().0)
    }

    /// The actions of a run so far: flow, time in picoseconds, and action.
    fn actions(&self, place: usize) -> Vec<(u32, u64, f64)> {
        let slot = lock(&self.slots[place]);
        let Some((_, run)) = &slot.run else { return Vec::new() };
        run.actions().iter().map(|(flow, time, action)| (*flow, time.0, *action)).collect()
    }

    /// Ends a run, without further answers, and hands out what `run` returns of a run.
    fn finish<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyDict>> {
        let run = lock(&self.slots[place]).run.take();
        let (specification, environment) = run.ok_or_else(|| PyValueError::new_err("no run is under way"))?;
        let result = py.detach(|| environment.finish_run()).map_err(PluginFailed::new_err)?;
        to_python(py, &specification, &result, &Recorded::default())
    }
}

impl Environments {
    fn check(&self, places: &[usize], specifications: &[String]) -> PyResult<()> {
        for specification in specifications {
            parse(specification)?;
        }
        if places.len() != specifications.len() || places.iter().any(|place| *place >= self.slots.len()) {
            return Err(PyValueError::new_err("places: not those of the specifications"));
        }
        Ok(())
    }

    fn carry_out(&self, work: Arc<dyn Work>, count: usize) -> Result<(), String> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner).carry_out(work, count)
    }

    /// Writes what all agents see into Python's arrays.
    fn fill(&self, py: Python<'_>, (observations, rewards, terms, terminated, truncated): &Buffers) -> PyResult<()> {
        let slots: Vec<_> = self.slots.iter().map(lock).collect();
        fn gather<'a, T: Copy + 'a>(parts: impl Iterator<Item = &'a Vec<T>>) -> Vec<T> {
            parts.flatten().copied().collect()
        }
        observations.copy_from_slice(py, &gather(slots.iter().map(|slot| &slot.observations)))?;
        rewards.copy_from_slice(py, &gather(slots.iter().map(|slot| &slot.rewards)))?;
        terms.copy_from_slice(py, &gather(slots.iter().map(|slot| &slot.terms)))?;
        terminated.copy_from_slice(py, &gather(slots.iter().map(|slot| &slot.terminated)))?;
        truncated.copy_from_slice(py, &gather(slots.iter().map(|slot| &slot.truncated)))?;
        Ok(())
    }
}
