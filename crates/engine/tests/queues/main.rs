//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod afpft;
mod avq;
mod bench;
mod blue;
mod choke;
mod codel;
mod drophead;
mod droptail;
mod pi;
mod pie;
mod red;
mod rem;
mod settings;
mod sfb;
mod vcp;
