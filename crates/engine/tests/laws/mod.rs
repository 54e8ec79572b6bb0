//! Laws of whole runs: each test states its law, and compares with expected values and tolerances set in advance.

mod aggregation;
mod asymmetry;
mod bottleneck;
mod buffers;
mod calls;
mod codel;
mod congestion;
mod delay;
mod dualq;
mod impairments;
mod links;
mod losses;
mod marks;
mod model;
mod offload;
mod one_way_delay;
mod passages;
mod queues;
mod rate;
mod recovery;
mod red;
mod responsiveness;
mod scheduling;
mod stepping;
mod stop;
mod transfers;
