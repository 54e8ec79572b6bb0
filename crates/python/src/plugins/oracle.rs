//! Two congestion controls side by side in one run, as columns.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::oracle::{Oracle, Row, Standing};
use sojourn_engine::plugin::Plugins;

use super::Loaded;
use crate::{PluginFailed, SpecificationError};

/// Carries out a run with a follower. The columns of both algorithms begin with `leader_` and `follower_`; windows are in bytes, rates
/// in bit/s, times in seconds.
#[pyfunction]
pub fn oracle<'py>(py: Python<'py>, oracle: &str, plugins: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
    let oracle: Oracle =
        serde_json::from_str(oracle).map_err(|error| SpecificationError::new_err(error.to_string()))?;
    let loaded = Loaded::of(plugins)?;
    let rows = py.detach(|| oracle.rows(&loaded)).map_err(SpecificationError::new_err)?;
    if let Some(complaint) = loaded.failure().get() {
        return Err(PluginFailed::new_err(complaint.to_owned()));
    }
    let frame = PyDict::new(py);
    frame.set_item("event", (1..=rows.len()).collect::<Vec<usize>>())?;
    column(&frame, "time", &rows, |row| row.now.seconds())?;
    column(&frame, "kind", &rows, |row| row.kind.name())?;
    column(&frame, "rtt", &rows, |row| row.rtt.map(|rtt| rtt.seconds()))?;
    standing(&frame, "leader", &rows, |row| &row.leader)?;
    standing(&frame, "follower", &rows, |row| &row.follower)?;
    Ok(frame)
}

fn standing(frame: &Bound<'_, PyDict>, of: &str, rows: &[Row], select: impl Fn(&Row) -> &Standing) -> PyResult<()> {
    column(frame, &format!("{of}_cwnd"), rows, |row| select(row).window.cwnd)?;
    let ssthresh = |row: &Row| Some(select(row).window.ssthresh).filter(|threshold| *threshold != u64::MAX);
    column(frame, &format!("{of}_ssthresh"), rows, ssthresh)?;
    column(frame, &format!("{of}_pacing_rate"), rows, |row| select(row).pacing.map(|rate| rate.0))
}

/// Adds the column `name` with one value a row.
fn column<'py, T: IntoPyObject<'py>>(
    frame: &Bound<'py, PyDict>,
    name: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> T,
) -> PyResult<()> {
    frame.set_item(name, rows.iter().map(value).collect::<Vec<T>>())
}
