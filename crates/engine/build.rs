//! Computes the digest of what decides the engine's results: its sources and `Cargo.lock`.
//!
//! The digest depends on the files' contents and on their paths inside the crate, and on nothing else: neither on where the crate
//! is, nor on line endings or times, so that a clone, a source distribution and a wheel made of either agree.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

const LOCK: &str = "Cargo.lock";

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    // The lock file is the workspace's, or the package's own where the package stands alone.
    let lock = package
        .ancestors()
        .map(|folder| folder.join(LOCK))
        .find(|file| file.is_file())
        .ok_or("no Cargo.lock beside the crate or above it")?;
    let mut files = vec![(LOCK.to_owned(), lock)];
    collect(&package.join("src"), "src", &mut files)?;
    files.sort();
    let mut hasher = Sha256::new();
    for (name, file) in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let text = fs::read_to_string(file)?.replace("\r\n", "\n");
        // The lengths keep apart what would otherwise run together.
        for part in [name, &text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    // A file may be added to a folder or taken from it.
    println!("cargo:rerun-if-changed={}", package.join("src").display());
    println!("cargo:rustc-env=SOJOURN_ENGINE_DIGEST={:x}", hasher.finalize());
    Ok(())
}

/// Adds all Rust sources in a folder and below, each with its path inside the crate, written with `/` on every system.
fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let file_name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name that is not UTF-8")?;
        let name = format!("{name}/{file_name}");
        if path.is_dir() {
            collect(&path, &name, files)?;
        } else if file_name.ends_with(".rs") {
            files.push((name, path));
        }
    }
    Ok(())
}
