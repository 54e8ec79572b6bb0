//! A run that Python carries out bit by bit, with looks at it in between.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::columns::{MOMENT_FLOWS, MOMENT_QUEUES, RECORDED, link_rows, state_rows};
use sojourn_engine::probe::{FlowLook, QueueLook};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Time;
use sojourn_native::Recorded;

use crate::columns::{frame, to_python};
use crate::{check_plugins, parse, plugins};

/// A run under way. Times are in picoseconds.
#[pyclass]
pub struct Stepping {
    specification: Specification,
    /// None once the result has been handed out.
    simulation: Option<Simulation>,
    /// What hooks of plugins record.
    recorded: Recorded,
    /// Up to when all has happened.
    reached: Time,
}

#[pymethods]
impl Stepping {
    #[new]
    #[pyo3(signature = (specification, plugins = None))]
    fn new(py: Python<'_>, specification: &str, plugins: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Stepping> {
        let specification = parse(specification)?;
        let (simulation, recorded) = plugins::build(py, &specification, plugins)?;
        Ok(Stepping { specification, simulation: Some(simulation), recorded, reached: Time::ZERO })
    }

    /// Goes on until a moment or the end, whichever is earlier, but not for more than so many events. Whether it got there.
    fn advance(&mut self, py: Python<'_>, until: u64, most_events: u64) -> PyResult<bool> {
        let until = Time(until).min(self.specification.duration);
        let simulation = self.simulation.as_mut().ok_or_else(ended)?;
        let is_there = py.detach(|| simulation.advance(until, most_events));
        check_plugins(simulation)?;
        self.reached = self.reached.max(if is_there { until } else { simulation.now() });
        Ok(is_there)
    }

    /// Up to when all has happened.
    #[getter]
    fn now(&self) -> u64 {
        self.reached.0
    }

    /// How many steps of the event loop have been made.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.simulation.as_ref().ok_or_else(ended)?.steps())
    }

    /// The queues as they stand, in the order of `queues` of a result; what they did is counted from the start of the run.
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<QueueLook> = self.simulation.as_ref().ok_or_else(ended)?.queues().collect();
        frame(py, MOMENT_QUEUES, &link_rows(&self.specification, &rows))
    }

    /// The flows as they stand, in the order of `flows` of a result.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<FlowLook> = self.simulation.as_ref().ok_or_else(ended)?.flows().collect();
        frame(py, MOMENT_FLOWS, &rows)
    }

    /// The inner states as they stand, as rows of `recorded`.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let states = self.simulation.as_ref().ok_or_else(ended)?.states();
        frame(py, RECORDED, &state_rows(&self.specification, &states))
    }

    /// What `run` returns of the same specification, once the end has been reached.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.reached < self.specification.duration {
            return Err(PyValueError::new_err("the run has not come to its end"));
        }
        let result = self.simulation.take().ok_or_else(ended)?.finish();
        to_python(py, &self.specification, &result, &self.recorded)
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the result of the run has been handed out")
}
