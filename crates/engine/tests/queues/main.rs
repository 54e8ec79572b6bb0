//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod apd;
mod ared;
mod bench;
mod codel;
mod droptail;
mod fred;
mod growth_drop;
mod pie;
mod red;
mod red_dynamic;
mod settings;
mod sred;
mod vcp;
mod wred;
