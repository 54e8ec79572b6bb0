//! Plugins of a run: what the user's own files define, made for the engine.
//!
//! Python loads the files (`sojourn.plugins.loading`) and hands over an object a plugin: of a file in Python what makes instances of
//! its classes, of a library the addresses of what it defines.

mod check;
mod control;
mod oracle;
mod queue;
pub mod recorded;
mod shown;

mod views;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use serde_json::Value;
use sojourn_engine::failure::Failure;
use sojourn_engine::plugin::{Plugins, Unloaded};
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::congestion::PluginControl;
use sojourn_learning::Agents;
use sojourn_native::{Recorded, Recorder};

use crate::SpecificationError;
use control::PythonControl;
use queue::PythonQueue;

/// A file in Python as Python loaded it.
#[derive(Debug)]
struct File {
    object: Py<PyAny>,
    name: String,
}

impl File {
    fn clone_ref(&self, py: Python<'_>) -> File {
        File { object: self.object.clone_ref(py), name: self.name.clone() }
    }

    /// One line on an exception, with the line of the user's file that raised it.
    fn explain(&self, py: Python<'_>, hook: &str, error: &PyErr) -> String {
        let explained = self.object.call_method1(py, "explain", (hook, error.clone_ref(py).into_value(py)));
        explained.and_then(|line| line.extract(py)).unwrap_or_else(|_| format!("{}: {hook}: {error}", self.name))
    }

    /// One line on what a hook did wrong, with the line where it is defined.
    fn complaint(&self, kind: &str, hook: &str, what: &str) -> String {
        Python::attach(|py| {
            let place: PyResult<String> =
                self.object.call_method1(py, "place", (kind, hook)).and_then(|place| place.extract(py));
            format!("{}: {hook} {what}", place.unwrap_or_else(|_| self.name.clone()))
        })
    }
}

/// What a plugin is made of.
enum Source {
    Python(File),
    /// The addresses of what a library defines; zero for what it does not.
    Library {
        file: String,
        control: usize,
        queue: usize,
    },
}

/// The plugins of a run.
struct Loaded {
    sources: Vec<Source>,
    failure: Failure,
    recorded: Recorded,
    /// The links with disciplines of plugins, in the order in which these are asked for.
    links: Mutex<VecDeque<String>>,
}

impl Loaded {
    fn of(plugins: Vec<Bound<'_, PyAny>>) -> PyResult<Loaded> {
        let sources = plugins.into_iter().map(|plugin| {
            let name: String = plugin.getattr("file")?.extract()?;
            Ok(match plugin.getattr("addresses")?.extract::<Option<(usize, usize)>>()? {
                Some((control, queue)) => Source::Library { file: name, control, queue },
                None => Source::Python(File { object: plugin.unbind(), name }),
            })
        });
        let sources = sources.collect::<PyResult<_>>()?;
        Ok(Loaded { sources, failure: Failure::default(), recorded: Recorded::default(), links: Mutex::default() })
    }
}

impl Plugins for Loaded {
    fn control(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        match &self.sources[plugin] {
            Source::Python(file) => Python::attach(|py| {
                let (failure, recorded) = (self.failure.clone(), self.recorded.clone());
                let control = PythonControl::new(py, file.clone_ref(py), parameters.to_string(), failure, recorded);
                control.map(|control| Box::new(control) as Box<dyn PluginControl>)
            }),
            // SAFETY: Python keeps open what it has opened.
            Source::Library { file, control, .. } => {
                let (failure, recorded) = (self.failure.clone(), self.recorded.clone());
                unsafe { sojourn_native::control(*control, file, parameters, failure, recorded) }
                    .map_err(|error| format!("{file}: {error}"))
            }
        }
    }

    fn queue(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        let link = self.links.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default();
        let (failure, recorder) = (self.failure.clone(), Recorder::of_queue(self.recorded.clone(), &link));
        match &self.sources[plugin] {
            Source::Python(file) => Python::attach(|py| {
                let queue = PythonQueue::new(py, file.clone_ref(py), parameters.to_string(), failure, recorder);
                queue.map(|queue| Box::new(queue) as Box<dyn PluginQueue>)
            }),
            // SAFETY: as above.
            Source::Library { file, queue, .. } => {
                unsafe { sojourn_native::queue(*queue, file, parameters, failure, recorder) }
                    .map_err(|error| format!("{file}: {error}"))
            }
        }
    }

    fn failure(&self) -> Failure {
        self.failure.clone()
    }
}

/// Builds a run, and the place for what its hooks record. Without its plugins it can be checked, but not run; agents need none.
pub fn build(
    py: Python<'_>,
    specification: &Specification,
    plugins: Option<Vec<Bound<'_, PyAny>>>,
) -> PyResult<(Simulation, Recorded)> {
    let mut recorded = Recorded::default();
    let built = match plugins {
        None => {
            let others = specification.plugins.iter().filter(|plugin| !Agents::is_agent(plugin)).count();
            let unloaded = Unloaded::new(others);
            py.detach(|| Simulation::with_plugins(specification, &Agents::new(specification, &unloaded, None)?))
        }
        Some(plugins) => {
            let loaded = Loaded::of(plugins)?;
            if loaded.sources.len() != specification.plugins.len() {
                return Err(SpecificationError::new_err("plugins: not those of the specification"));
            }
            let with_plugins = specification
                .links
                .iter()
                .enumerate()
                .filter(|(_, link)| link.queue.as_ref().is_some_and(|queue| queue.plugin.is_some()));
            *loaded.links.lock().unwrap_or_else(PoisonError::into_inner) =
                with_plugins.map(|(link, _)| specification.link_name(link)).collect();
            recorded = loaded.recorded.clone();
            Agents::new(specification, &loaded, None)
                .and_then(|agents| Simulation::with_plugins(specification, &agents))
        }
    };
    built.map(|simulation| (simulation, recorded)).map_err(SpecificationError::new_err)
}

/// Describes what the library with these addresses defines: JSON with `control` and `queue`, null for what it does not.
#[pyfunction]
pub fn describe_library(control: usize, queue: usize) -> PyResult<String> {
    let mut described = serde_json::json!({"control": null, "queue": null});
    if control != 0 {
        // SAFETY: Python keeps open what it has opened.
        let control = unsafe { sojourn_native::describe_control(control) };
        described["control"] = control.map_err(SpecificationError::new_err)?;
    }
    if queue != 0 {
        // SAFETY: as above.
        let queue = unsafe { sojourn_native::describe_queue(queue) };
        described["queue"] = queue.map_err(SpecificationError::new_err)?;
    }
    Ok(described.to_string())
}

/// How often hooks of plugins were entered and left; odd while one runs.
#[pyfunction]
pub fn plugin_calls() -> u64 {
    sojourn_native::calls()
}

/// Adds the names that users' files see.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(describe_library, module)?)?;
    module.add_function(wrap_pyfunction!(plugin_calls, module)?)?;
    module.add_function(wrap_pyfunction!(recorded::plugin_flow, module)?)?;
    module.add_class::<recorded::Recorder>()?;
    module.add_function(wrap_pyfunction!(check::exercise_control, module)?)?;
    module.add_function(wrap_pyfunction!(check::exercise_queue, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::oracle, module)?)?;
    views::register(module)
}

/// The hooks of an instance that its class defines, bound.
struct Hooks<'py> {
    instance: Bound<'py, PyAny>,
    defined: Vec<String>,
}

impl Hooks<'_> {
    fn get(&self, hook: &str) -> PyResult<Option<Py<PyAny>>> {
        if self.defined.iter().any(|defined| defined == hook) {
            return Ok(Some(self.instance.getattr(hook)?.unbind()));
        }
        Ok(None)
    }
}
