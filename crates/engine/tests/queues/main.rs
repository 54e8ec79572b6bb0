//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod bench;
mod blue;
mod codel;
mod drophead;
mod droptail;
mod pie;
mod settings;
mod vcp;
