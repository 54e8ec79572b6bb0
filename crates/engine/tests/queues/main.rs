//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod ared;
mod avq;
mod bench;
mod blue;
mod choke;
mod codel;
mod codel_adaptive;
mod codel_hungriest;
mod drophead;
mod droptail;
mod pi;
mod pie;
mod red;
mod rem;
mod settings;
mod sfb;
mod sred;
mod vcp;
