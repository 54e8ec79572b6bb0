//! The inner state of a user's object in Python: the attributes that its class declares.

use pyo3::prelude::*;
use sojourn_engine::inner::Tell;

use super::File;

/// The attributes, and of those that are phases their names.
#[derive(Clone, Debug, Default)]
pub struct Shown(Vec<(String, Option<Vec<String>>)>);

impl Shown {
    /// Those that a file declares for its congestion control or its queue discipline.
    pub fn of(py: Python<'_>, file: &File, kind: &str) -> PyResult<Shown> {
        Ok(Shown(file.object.call_method1(py, "shown", (kind,))?.extract(py)?))
    }

    /// Tells the attributes of an object that are known. Returns what is wrong with one, by its name.
    pub fn tell(&self, object: &Bound<'_, PyAny>, tell: &mut Tell<'_>) -> PyResult<Option<(&str, String)>> {
        for (name, phases) in &self.0 {
            let value = object.getattr(name.as_str())?;
            if value.is_none() {
                continue;
            }
            match (phases, value.extract::<String>()) {
                (Some(phases), Ok(word)) => match phases.iter().position(|phase| *phase == word) {
                    Some(place) => tell(name, place as f64),
                    None => {
                        let known = phases.join(", ");
                        return Ok(Some((name, format!("is \"{word}\", which is none of its phases: {known}"))));
                    }
                },
                _ => match value.extract::<f64>() {
                    Ok(number) => tell(name, number),
                    Err(_) => return Ok(Some((name, format!("is {}, which is no number", value.repr()?)))),
                },
            }
        }
        Ok(None)
    }
}
