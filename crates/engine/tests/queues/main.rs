//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod bench;
mod cake;
mod cobalt;
mod codel;
mod droptail;
mod drr;
mod flows;
mod fq_codel;
mod fq_pie;
mod pie;
mod settings;
mod sfq;
mod tbf;
mod vcp;
