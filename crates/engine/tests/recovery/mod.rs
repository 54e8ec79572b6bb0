//! Loss recovery, acknowledgement by acknowledgement.

mod ns2_linux;
mod rack;
mod vectors;
