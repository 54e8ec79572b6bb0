//! Fuzz targets: `make test-long` runs each on random inputs, `cargo bolero test --package sojourn-fuzz NAME` (with
//! cargo-bolero) with a fuzzer. `make test` tries the same properties on inputs of proptest, which compiles sooner.

#![cfg(test)]

mod connections;
mod queues;
mod scripts;
