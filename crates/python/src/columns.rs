//! A result as columns: a dictionary of lists for each frame, in seconds and bytes.

use std::collections::HashMap;
use std::ops::Deref;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use sojourn_engine::columns::{self, Column, RecordedValue, Value};
use sojourn_engine::result::RunResult;
use sojourn_engine::specification::Specification;
use sojourn_native::Recorded;

/// The columns of every frame, by its name: their names, types, units and meanings.
#[pyfunction(name = "columns")]
pub fn described() -> HashMap<&'static str, Vec<(&'static str, &'static str, &'static str, &'static str)>> {
    let told = |column: Column| (column.name, column.kind.name(), column.unit, column.meaning);
    columns::frames().into_iter().map(|(name, listed)| (name, listed.into_iter().map(told).collect())).collect()
}

/// The frames `flows`, `queues`, `queue_series`, `flow_series`, `transfers`, `recorded` and the `summary`.
pub fn to_python<'py>(
    py: Python<'py>,
    specification: &Specification,
    result: &RunResult,
    values: &Recorded,
) -> PyResult<Bound<'py, PyDict>> {
    let (frames, _) = frames(py, &[(specification, result)], values.take())?;
    let summary = PyDict::new(py);
    summary.set_item("events", result.events)?;
    summary.set_item("data_packets_delivered", result.data_packets_delivered)?;
    frames.set_item("summary", summary)?;
    Ok(frames)
}

/// The same of several runs without plugins, under one another: the `summary` has lists, and `rows` how many rows of each frame each
/// run has.
pub fn all_to_python<'py>(py: Python<'py>, runs: &[(Specification, RunResult)]) -> PyResult<Bound<'py, PyDict>> {
    let of_runs: Vec<_> = runs.iter().map(|(specification, result)| (specification, result)).collect();
    let (frames, rows) = frames(py, &of_runs, Vec::new())?;
    let summary = PyDict::new(py);
    summary.set_item("events", runs.iter().map(|(_, result)| result.events).collect::<Vec<_>>())?;
    let delivered: Vec<_> = runs.iter().map(|(_, result)| result.data_packets_delivered).collect();
    summary.set_item("data_packets_delivered", delivered)?;
    frames.set_item("summary", summary)?;
    frames.set_item("rows", rows)?;
    Ok(frames)
}

/// The frames of runs, each frame's rows run by run, and how many rows of each frame each run has. Only a single run may have recorded
/// values of hooks.
fn frames<'py>(
    py: Python<'py>,
    runs: &[(&Specification, &RunResult)],
    mut recorded: Vec<RecordedValue>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let made = (PyDict::new(py), PyDict::new(py));
    let recorded = runs.iter().map(|(of, result)| {
        let mut rows = std::mem::take(&mut recorded);
        rows.extend(columns::state_rows(of, &result.series.states));
        rows
    });
    add(&made, "recorded", columns::RECORDED, recorded)?;
    add(&made, "flows", columns::FLOWS, runs.iter().map(|(of, result)| columns::flow_rows(of, result)))?;
    add(&made, "queues", columns::QUEUES, runs.iter().map(|(of, result)| columns::link_rows(of, &result.queues)))?;
    let samples = runs.iter().map(|(of, result)| columns::link_rows(of, &result.series.queues));
    add(&made, "queue_series", columns::QUEUE_SERIES, samples)?;
    add(&made, "flow_series", columns::FLOW_SERIES, runs.iter().map(|(_, result)| &result.series.flows[..]))?;
    add(&made, "transfers", columns::TRANSFERS, runs.iter().map(|(of, result)| columns::transfer_rows(of, result)))?;
    Ok(made)
}

/// Adds a frame, and its numbers of rows; the parts are those of runs.
fn add<Row, Get: Fn(&Row) -> Value<'_>>(
    (frames, rows): &(Bound<'_, PyDict>, Bound<'_, PyDict>),
    name: &str,
    listed: &[(Column, Get)],
    parts: impl Iterator<Item = impl Deref<Target = [Row]>>,
) -> PyResult<()> {
    let parts: Vec<_> = parts.collect();
    frames.set_item(name, frame(frames.py(), listed, parts.iter().flat_map(|part| part.iter()))?)?;
    rows.set_item(name, parts.iter().map(|part| part.len()).collect::<Vec<_>>())
}

/// Rows as columns.
pub fn frame<'py, 'row, Row: 'row, Get: Fn(&Row) -> Value<'_>>(
    py: Python<'py>,
    listed: &[(Column, Get)],
    rows: impl IntoIterator<Item = &'row Row> + Clone,
) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    for (column, get) in listed {
        let rows = rows.clone().into_iter();
        let values: Vec<Bound<'py, PyAny>> = rows.map(|row| to_object(py, get(row))).collect::<PyResult<_>>()?;
        frame.set_item(column.name, PyList::new(py, values)?)?;
    }
    Ok(frame)
}

/// One string stands for all that say the same.
fn to_object<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Whole(value) => value.into_bound_py_any(py),
        Value::Real(value) => value.into_bound_py_any(py),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Text(text) => Ok(PyString::intern(py, &text).into_any()),
    }
}
