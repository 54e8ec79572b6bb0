//! Congestion controls, slow starts and the retransmission timeout against published figures: `tests/data`, and the equations
//! of the papers where a test names them.

mod bic;
mod compound;
mod cubic;
mod flow;
mod hstcp;
mod htcp;
mod hybla;
mod illinois;
mod newreno;
mod rto;
mod scalable;
mod slow_start;
mod veno;
mod westwood;
