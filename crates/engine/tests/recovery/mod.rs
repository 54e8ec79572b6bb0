//! Loss recovery, acknowledgement by acknowledgement.

mod ns2_linux;
mod ns3;
mod rack;
mod vectors;
