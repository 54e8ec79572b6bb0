//! A result as columns: a dictionary of lists for each frame, in seconds and bytes.

use std::collections::HashMap;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use sojourn_engine::columns::{self, Column, Value};
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
    let frames = PyDict::new(py);
    let (queues, series) = (&result.queues, &result.series);
    frames.set_item("recorded", frame(py, columns::RECORDED, &values.take())?)?;
    frames.set_item("flows", frame(py, columns::FLOWS, &columns::flow_rows(specification, result))?)?;
    frames.set_item("queues", frame(py, columns::QUEUES, &columns::link_rows(specification, queues))?)?;
    let samples = columns::link_rows(specification, &series.queues);
    frames.set_item("queue_series", frame(py, columns::QUEUE_SERIES, &samples)?)?;
    frames.set_item("flow_series", frame(py, columns::FLOW_SERIES, &series.flows)?)?;
    let transfers = columns::transfer_rows(specification, result);
    frames.set_item("transfers", frame(py, columns::TRANSFERS, &transfers)?)?;
    let summary = PyDict::new(py);
    summary.set_item("events", result.events)?;
    summary.set_item("data_packets_delivered", result.data_packets_delivered)?;
    frames.set_item("summary", summary)?;
    Ok(frames)
}

/// Rows as columns.
pub fn frame<'py, Row, Get: Fn(&Row) -> Value<'_>>(
    py: Python<'py>,
    listed: &[(Column, Get)],
    rows: &[Row],
) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    for (column, get) in listed {
        let values: Vec<Bound<'py, PyAny>> = rows.iter().map(|row| to_object(py, get(row))).collect::<PyResult<_>>()?;
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
