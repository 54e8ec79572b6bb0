//! Hashes of texts that differ in their middle, as those of a cell's runs do: several are computed side by side.

use blake2b_simd::Params;
use blake2b_simd::many::{HashManyJob, hash_many};
use pyo3::prelude::*;

/// Texts that are there at the same time.
const AT_ONCE: usize = 16;

/// The BLAKE2b hash of each text `before + middle + after`, of so many bytes, in hexadecimal digits.
#[pyfunction]
pub fn hashes(before: &str, middles: Vec<String>, after: &str, size: usize) -> Vec<String> {
    let mut params = Params::new();
    params.hash_length(size);
    let mut texts = vec![String::new(); AT_ONCE.min(middles.len())];
    let mut found = Vec::with_capacity(middles.len());
    for some in middles.chunks(AT_ONCE) {
        for (text, middle) in texts.iter_mut().zip(some) {
            text.clear();
            text.extend([before, middle, after]);
        }
        let mut jobs: Vec<_> =
            texts[..some.len()].iter().map(|text| HashManyJob::new(&params, text.as_bytes())).collect();
        hash_many(&mut jobs);
        found.extend(jobs.iter().map(|job| job.to_hash().to_hex().to_string()));
    }
    found
}
