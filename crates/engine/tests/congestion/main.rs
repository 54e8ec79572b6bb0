//! Congestion controls, slow starts and the retransmission timeout against published figures: `tests/data`, and the equations
//! of the papers where a test names them.

mod bbr;
mod compound;
mod cubic;
mod flow;
mod newreno;
mod path;
mod rto;
mod slow_start;
