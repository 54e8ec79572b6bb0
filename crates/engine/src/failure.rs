//! Where code from outside the engine says that a run cannot go on.

use std::sync::{Arc, OnceLock};

/// The first complaint of the plugins of a run; its clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<String>>);

impl Failure {
    /// Notes why the run cannot go on, unless something was noted before.
    pub fn report(&self, complaint: String) {
        let _ = self.0.set(complaint);
    }

    /// Why the run cannot go on, if it cannot.
    pub fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    pub fn is_set(&self) -> bool {
        self.0.get().is_some()
    }
}
