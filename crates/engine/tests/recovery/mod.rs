//! Loss recovery, acknowledgement by acknowledgement.

mod rack;
mod vectors;
