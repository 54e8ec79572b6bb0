//! Congestion controls, slow starts and the retransmission timeout against published figures: `tests/data`, and the equations
//! of the papers where a test names them.

mod compound;
mod cubic;
mod flow;
mod hystartpp;
mod ledbat;
mod lp;
mod newreno;
mod rounds;
mod rto;
mod slow_start;
mod vegas;
mod yeah;
