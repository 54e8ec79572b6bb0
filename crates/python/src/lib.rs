//! Python bindings of the engine: a specification goes in as JSON, columns come out.

mod bare_loop;
mod columns;
mod exports;
mod stepping;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::catalogue;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;

create_exception!(_engine, SpecificationError, PyValueError, "The specification of a run is wrong: one clear line.");
create_exception!(_engine, Cancelled, PyException, "The run was cancelled.");

/// A flag that stops runs; shared by as many runs as it is given to.
#[pyclass(frozen)]
#[derive(Default)]
struct Cancellation {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Stops every run that was given this flag, within the next hundred thousand events.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    catalogue::VERSION
}

/// SHA-256 of the engine's sources and of `Cargo.lock`, in hexadecimal digits.
#[pyfunction]
fn digest() -> &'static str {
    catalogue::DIGEST
}

/// Congestion controls, slow starts, queue disciplines, stack settings and profiles, as JSON.
#[pyfunction(name = "catalogue")]
fn catalogue_json() -> String {
    catalogue::catalogue().to_string()
}

fn parse(specification: &str) -> PyResult<Specification> {
    serde_json::from_str(specification).map_err(|error| SpecificationError::new_err(error.to_string()))
}

/// Simulates one run. The GIL is released meanwhile.
#[pyfunction]
#[pyo3(signature = (specification, cancellation = None))]
fn run<'py>(py: Python<'py>, specification: &str, cancellation: Option<&Cancellation>) -> PyResult<Bound<'py, PyDict>> {
    let specification = parse(specification)?;
    let flag = cancellation.map_or_else(Arc::default, |cancellation| Arc::clone(&cancellation.flag));
    let result = py.detach(|| Simulation::new(&specification).map(|simulation| simulation.run(&flag)));
    match result.map_err(SpecificationError::new_err)? {
        None => Err(Cancelled::new_err("the run was cancelled")),
        Some(result) => columns::to_python(py, &specification, &result),
    }
}

/// The engine of Sojourn.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(digest, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue_json, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(bare_loop::bare_loop, module)?)?;
    module.add_function(wrap_pyfunction!(exports::capture, module)?)?;
    module.add_class::<exports::Connections>()?;
    module.add_class::<Cancellation>()?;
    module.add_class::<stepping::Stepping>()?;
    module.add("SpecificationError", module.py().get_type::<SpecificationError>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    Ok(())
}
