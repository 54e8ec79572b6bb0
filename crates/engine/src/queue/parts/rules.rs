//! Whose rules a discipline follows.

choice! {
    /// Whose rules a discipline follows where they differ.
    pub enum QueueRules {
        Published = "published",
        Linux = "linux",
    }
}
