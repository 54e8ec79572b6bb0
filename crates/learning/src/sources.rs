//! The text of this crate, which says which version of it made a run: the digest of the engine knows only its own.

macro_rules! sources {
    ($($file:literal)*) => {
        /// The crate's files, in order: name and text.
        pub const SOURCES: &[(&str, &str)] = &[$(($file, include_str!($file))),*];
    };
}

sources! {
    "action.rs" "agent.rs" "agents.rs" "crew.rs" "decider.rs" "environment.rs" "feature.rs" "lib.rs" "observer.rs" "policy/layer.rs" "policy/mod.rs"
    "queue.rs" "queue_observer.rs" "reward.rs" "shown.rs" "sources.rs" "specification.rs"
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn files(folder: &Path, below: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = format!("{below}{}", entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                files(&entry.path(), &format!("{name}/"), found);
            } else {
                found.push(name);
            }
        }
    }

    /// No file of the crate is left out.
    #[test]
    fn all_sources() {
        let mut found = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
        found.sort();
        assert_eq!(SOURCES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), found);
    }
}
