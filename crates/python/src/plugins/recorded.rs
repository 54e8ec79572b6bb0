//! What hooks record, for files in Python; and the flow whose hook is carried out.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_engine::time::Time;
use sojourn_native::Recorder as Values;

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
