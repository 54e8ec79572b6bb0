//! Queue disciplines against published figures: the rows of `data/queue.json`, each with its source.

mod ared;
mod avq;
mod bench;
mod blue;
mod cake;
mod choke;
mod cobalt;
mod codel;
mod codel_adaptive;
mod codel_hungriest;
mod drophead;
mod droptail;
mod drr;
mod flows;
mod fq_codel;
mod fq_pie;
mod pi;
mod pie;
mod red;
mod rem;
mod settings;
mod sfb;
mod sfq;
mod sred;
mod tbf;
mod vcp;
