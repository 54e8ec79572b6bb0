//! What hooks record, for files in Python and as columns; and the flow whose hook is carried out.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::time::Time;
use sojourn_native::{Recorded, Recorder as Values};

use crate::columns::column;

/// The values of a run as columns, in the order in which they were recorded.
pub fn to_python<'py>(py: Python<'py>, recorded: &Recorded) -> PyResult<Bound<'py, PyDict>> {
    let rows = recorded.take();
    let frame = PyDict::new(py);
    column(&frame, "time", &rows, |row| row.time)?;
    column(&frame, "kind", &rows, |row| row.kind)?;
    frame.set_item("which", rows.iter().map(|row| &*row.which).collect::<Vec<&str>>())?;
    frame.set_item("measure", rows.iter().map(|row| &*row.measure).collect::<Vec<&str>>())?;
    column(&frame, "value", &rows, |row| row.value)?;
    Ok(frame)
}

/// Where the hooks of one flow, or of one queue, record values.
#[pyclass(module = "sojourn._engine")]
pub struct Recorder(Values);

impl Recorder {
    pub fn new(values: Values) -> Recorder {
        Recorder(values)
    }

    /// A hook is about to be called.
    pub fn at(&mut self, now: Time) {
        self.0.at(now);
    }
}

#[pymethods]
impl Recorder {
    /// Records a value under a name, at the time of the hook that is running.
    fn record(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.0.record(name, value).map_err(PyValueError::new_err)
    }
}

thread_local! {
    /// The flow whose hook this thread carries out.
    static FLOW: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The hook of a flow is entered, or left.
pub fn enter(flow: Option<u32>) {
    FLOW.set(flow);
}

/// The number of the flow whose hook this thread carries out; none outside of such hooks.
#[pyfunction]
pub fn plugin_flow() -> Option<u32> {
    FLOW.get()
}
