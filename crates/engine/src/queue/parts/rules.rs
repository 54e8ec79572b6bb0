//! Whose rules a discipline follows.

use crate::choice;

choice! {
    /// Whose rules a discipline follows where they differ.
    pub enum QueueRules {
        /// Those of its RFC or paper.
        Published = "published",
        /// Those of Linux.
        Linux = "linux",
    }
}
