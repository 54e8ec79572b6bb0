//! Congestion controls, slow start algorithms and the retransmission timeout compared with published values
//! (`tests/data`) and with the equations of the cited papers.

mod bbr;
mod bbr3;
mod bic;
mod compound;
mod cubic;
mod dctcp;
mod flow;
mod hstcp;
mod htcp;
mod hybla;
mod hystartpp;
mod illinois;
mod ledbat;
mod linux;
mod lp;
mod names;
mod newreno;
mod ns3;
mod path;
mod prague;
mod real;
mod rounds;
mod rto;
mod scalable;
mod slow_start;
mod vcp;
mod vegas;
mod veno;
mod westwood;
mod yeah;
