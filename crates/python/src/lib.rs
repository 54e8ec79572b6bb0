//! Python bindings of the engine: a specification goes in as JSON, columns come out.

mod bare_loop;
mod columns;
mod exports;
mod generator;
mod hashes;
mod learning;
mod packetdrill;
mod plugins;
mod quantiles;
mod stepping;

use std::cell::RefCell;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::catalogue;
use sojourn_engine::queue::{Limit, RedParameters};
use sojourn_engine::simulation::{self, Simulation, Stopped};
use sojourn_engine::specification::Specification;
use sojourn_engine::units::Rate;

create_exception!(_engine, SpecificationError, PyValueError, "The specification of a run is wrong: one clear line.");
create_exception!(_engine, Cancelled, PyException, "The run was cancelled.");
create_exception!(
    _engine,
    ScriptError,
    PyValueError,
    "A text is no script of packetdrill: line, column and what was expected."
);
create_exception!(_engine, PluginFailed, PyException, "A plugin of the run failed: its complaint, one line.");

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

/// Checks that a specification is one of a run, in little memory. Returns the bits a second that its flows can send together at most.
#[pyfunction]
fn check(py: Python<'_>, specification: &str) -> PyResult<u64> {
    let specification = parse(specification)?;
    py.detach(|| simulation::check(specification)).map_err(SpecificationError::new_err)
}

/// About how many bytes of memory a run takes at most, its result included.
#[pyfunction]
fn memory(specification: &str) -> PyResult<u64> {
    simulation::memory(&parse(specification)?).map_err(SpecificationError::new_err)
}

/// Simulates one run. The GIL is released meanwhile. `plugins` are those of the specification, as Python loaded them.
#[pyfunction]
#[pyo3(signature = (specification, cancellation = None, plugins = None))]
fn run<'py>(
    py: Python<'py>,
    specification: &str,
    cancellation: Option<&Cancellation>,
    plugins: Option<Vec<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyDict>> {
    let specification = parse(specification)?;
    let flag = cancellation.map_or_else(Arc::default, |cancellation| Arc::clone(&cancellation.flag));
    let (simulation, recorded) = plugins::build(py, &specification, plugins)?;
    let result = py.detach(|| simulation.run(&flag)).map_err(stopped)?;
    columns::to_python(py, &specification, &result, &recorded)
}

/// Simulates several runs without plugins, one after the other, for less than running each costs. The first that fails ends all.
#[pyfunction]
fn run_all<'py>(
    py: Python<'py>,
    specifications: Vec<String>,
    cancellation: &Cancellation,
) -> PyResult<Bound<'py, PyDict>> {
    let runs = py.detach(|| {
        let one = |text: &String| {
            let specification = parse(text)?;
            let simulation = Simulation::new(&specification).map_err(SpecificationError::new_err)?;
            let result = simulation.run(&cancellation.flag).map_err(stopped)?;
            Ok((specification, result))
        };
        specifications.iter().map(one).collect::<PyResult<Vec<_>>>()
    })?;
    columns::all_to_python(py, &runs)
}

fn stopped(stopped: Stopped) -> PyErr {
    match stopped {
        Stopped::Failed(complaint) => PluginFailed::new_err(complaint),
        Stopped::Cancelled => Cancelled::new_err("the run was cancelled"),
        Stopped::TooLarge(reason) => PyMemoryError::new_err(reason),
    }
}

/// The base round-trip time of each entry of a specification's flows, in picoseconds; none where there is no way back.
#[pyfunction]
fn base_round_trips(specification: &str) -> PyResult<Vec<Option<u64>>> {
    let round_trips = simulation::base_round_trips(&parse(specification)?);
    Ok(round_trips.into_iter().map(|round_trip| round_trip.map(|each| each.0)).collect())
}

/// The links that data and answers of each entry of a specification's flows cross, and for each link the unit and the amount of what its
/// discipline holds at most; none without a discipline or a limit.
#[pyfunction]
#[allow(clippy::type_complexity)] // It has no other use.
fn layout(specification: &str) -> PyResult<(Vec<(Vec<usize>, Vec<usize>)>, Vec<Option<(&'static str, u64)>>)> {
    let layout = simulation::layout(&parse(specification)?).map_err(SpecificationError::new_err)?;
    let limits = layout.limits.into_iter().map(|limit| {
        limit.map(|limit| match limit {
            Limit::Packets(packets) => ("packets", packets),
            Limit::Bytes(bytes) => ("bytes", bytes),
        })
    });
    Ok((layout.ways, limits.collect()))
}

/// Whether the flows of each entry of a specification have unlimited demand and are there for the measuring window.
#[pyfunction]
fn long_lived(specification: &str) -> PyResult<Vec<bool>> {
    Ok(simulation::long_lived(&parse(specification)?))
}

/// The thresholds of RED with these parameters on a link of this rate, in bytes, and its weight.
#[pyfunction]
fn red_settings(parameters: &str, rate: u64) -> PyResult<(f64, f64, f64)> {
    let parameters: RedParameters =
        serde_json::from_str(parameters).map_err(|error| SpecificationError::new_err(error.to_string()))?;
    let settings = parameters.settings(Rate(rate));
    Ok((settings.minimum * parameters.bytes(), settings.maximum * parameters.bytes(), settings.weight))
}

/// When each flow of a specification starts, in picoseconds.
#[pyfunction]
fn flow_starts(specification: &str) -> PyResult<Vec<u64>> {
    let starts = simulation::flow_starts(&parse(specification)?);
    Ok(starts.into_iter().map(|start| start.0).collect())
}

/// The loads of a specification's flows that arrive by themselves: the links that limit them, and the parts of their rates.
#[pyfunction]
fn loads(specification: &str) -> PyResult<Vec<(usize, f64)>> {
    simulation::loads(&parse(specification)?).map_err(SpecificationError::new_err)
}

/// The bits a second that a specification's flows can send together at most.
#[pyfunction]
fn carried(specification: &str) -> PyResult<u64> {
    simulation::carried(&parse(specification)?).map_err(SpecificationError::new_err)
}

thread_local! {
    /// Where the latest panic of this thread happened.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Where in the engine's source the latest panic of this thread happened, for the one line that reports it.
#[pyfunction]
fn panicked_at() -> Option<String> {
    PANICKED_AT.take()
}

/// The exception for a plugin that failed, if one did.
fn check_plugins(simulation: &Simulation) -> PyResult<()> {
    match simulation.failure() {
        None => Ok(()),
        Some(complaint) => Err(PluginFailed::new_err(complaint.to_owned())),
    }
}

/// A panic is an exception in Python, which says what is to be said: the standard hook would print a backtrace besides.
fn keep_panics_quiet() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!("{}:{}", location.file(), location.line()));
        PANICKED_AT.set(place);
    }));
}

/// The engine of Sojourn.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_panics_quiet();
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(digest, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue_json, module)?)?;
    module.add_function(wrap_pyfunction!(columns::described, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(memory, module)?)?;
    module.add_function(wrap_pyfunction!(panicked_at, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_all, module)?)?;
    module.add_function(wrap_pyfunction!(base_round_trips, module)?)?;
    module.add_function(wrap_pyfunction!(flow_starts, module)?)?;
    module.add_function(wrap_pyfunction!(layout, module)?)?;
    module.add_function(wrap_pyfunction!(long_lived, module)?)?;
    module.add_function(wrap_pyfunction!(red_settings, module)?)?;
    module.add_function(wrap_pyfunction!(loads, module)?)?;
    module.add_function(wrap_pyfunction!(carried, module)?)?;
    module.add_function(wrap_pyfunction!(bare_loop::bare_loop, module)?)?;
    module.add_function(wrap_pyfunction!(exports::capture, module)?)?;
    module.add_function(wrap_pyfunction!(exports::write_packets, module)?)?;
    module.add_function(wrap_pyfunction!(hashes::hashes, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill, module)?)?;
    module.add_function(wrap_pyfunction!(quantiles::beta_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(quantiles::student_quantile, module)?)?;
    plugins::register(module)?;
    module.add_function(wrap_pyfunction!(learning::learning_catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(learning::learning_sources, module)?)?;
    module.add_function(wrap_pyfunction!(learning::describe_agent, module)?)?;
    module.add_function(wrap_pyfunction!(learning::check_policy, module)?)?;
    module.add_class::<learning::Environments>()?;
    module.add_class::<exports::Connections>()?;
    module.add_class::<Cancellation>()?;
    module.add_class::<generator::Generator>()?;
    module.add_class::<stepping::Stepping>()?;
    module.add("SpecificationError", module.py().get_type::<SpecificationError>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add("ScriptError", module.py().get_type::<ScriptError>())?;
    module.add("PluginFailed", module.py().get_type::<PluginFailed>())?;
    Ok(())
}
