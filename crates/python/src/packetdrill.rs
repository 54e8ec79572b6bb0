//! Scripts of packetdrill, carried out on the engine's TCP.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_packetdrill::run::{Verdict, run};
use sojourn_packetdrill::script::parse;

use crate::ScriptError;

/// Carries out a script. Returns its `verdict`: `passed`, `failed` with `line`, `at`, `expected` and `seen`, or `not for us` with the
/// `feature` that it needs; and `packets`, those sent and received, in the notation of scripts.
#[pyfunction]
pub fn packetdrill<'py>(py: Python<'py>, script: &str) -> PyResult<Bound<'py, PyDict>> {
    let script = parse(script).map_err(|problem| ScriptError::new_err(problem.to_string()))?;
    let mut packets = Vec::new();
    let verdict = py.detach(|| run(&script, &mut |packet| packets.push(packet)));
    let told = PyDict::new(py);
    told.set_item("packets", packets)?;
    match verdict {
        Verdict::Passed => told.set_item("verdict", "passed")?,
        Verdict::NotForUs(feature) => {
            told.set_item("verdict", "not for us")?;
            told.set_item("feature", feature)?;
        }
        Verdict::Failed(difference) => {
            told.set_item("verdict", "failed")?;
            told.set_item("line", difference.line)?;
            told.set_item("at", difference.at)?;
            told.set_item("expected", difference.expected)?;
            told.set_item("seen", difference.seen)?;
        }
    }
    Ok(told)
}
