//! Loss recovery, acknowledgement by acknowledgement.

mod linux_newreno;
mod ns2_linux;
mod ns3;
mod rack;
mod vectors;
