//! A run that Python carries out bit by bit, with looks at it in between.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::probe::{FlowSample, QueueTotals};
use sojourn_engine::simulation::{FlowLook, QueueLook, Simulation};
use sojourn_engine::specification::Specification;
use sojourn_engine::time::{Duration, Time};
use sojourn_native::Recorded;

use crate::columns::{self, column, link_name};
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

    /// The queues as they stand, in the order of `queues` of a result; what they did is counted from the start of the run.
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<QueueLook> = self.simulation.as_ref().ok_or_else(ended)?.queues().collect();
        let frame = PyDict::new(py);
        column(&frame, "link", &rows, |row| link_name(&self.specification, row.link))?;
        column(&frame, "packets", &rows, |row| row.packets)?;
        column(&frame, "bytes", &rows, |row| row.bytes)?;
        let count = |select: fn(QueueTotals) -> u64| move |row: &QueueLook| row.totals.map(select);
        column(&frame, "drops", &rows, count(|totals| totals.counts.drops()))?;
        column(&frame, "marks", &rows, count(|totals| totals.counts.marks))?;
        column(&frame, "departures", &rows, count(|totals| totals.counts.departures))?;
        column(&frame, "bytes_sent", &rows, count(|totals| totals.counts.bytes_sent))?;
        column(&frame, "sojourn_sum", &rows, |row| row.totals.map(|totals| totals.sojourn_sum))?;
        Ok(frame)
    }

    /// The flows as they stand, in the order of `flows` of a result.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<FlowLook> = self.simulation.as_ref().ok_or_else(ended)?.flows().collect();
        let frame = PyDict::new(py);
        column(&frame, "bytes_delivered", &rows, |row| row.bytes_delivered)?;
        column(&frame, "cwnd", &rows, |row| row.sample.map(|sample| sample.cwnd))?;
        let rtt = |sample: FlowSample| sample.rtt.map(Duration::seconds);
        column(&frame, "rtt", &rows, |row| row.sample.and_then(rtt))?;
        Ok(frame)
    }

    /// What `run` returns of the same specification, once the end has been reached.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.reached < self.specification.duration {
            return Err(PyValueError::new_err("the run has not come to its end"));
        }
        let result = self.simulation.take().ok_or_else(ended)?.finish();
        columns::to_python(py, &self.specification, &result, &self.recorded)
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the result of the run has been handed out")
}
