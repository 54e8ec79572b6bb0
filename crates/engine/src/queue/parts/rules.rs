//! Whose rules a discipline follows.

use crate::choice;

choice! {
    /// Whose rules a discipline follows where they differ.
    pub enum QueueRules {
        Published = "published",
        Linux = "linux",
    }
}
