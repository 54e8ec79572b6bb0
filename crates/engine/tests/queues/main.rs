//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod bench;
mod codel;
mod codel_adaptive;
mod codel_hungriest;
mod droptail;
mod dualpi2;
mod pie;
mod settings;
mod vcp;
