//! Tahoe: Jacobson, "Congestion avoidance and control", SIGCOMM 1988. Losses are detected by duplicate
//! acknowledgements. Instead of fast recovery, slow start restarts from one segment.

use super::{Entry, Repair, Step};
use crate::tcp::flight::{Arrival, Flight};

#[derive(Clone, Copy, Debug)]
pub struct Tahoe;

impl Repair for Tahoe {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.is_past_last_loss() && flight.count_duplicate()
    }

    fn enter(&mut self, flight: &mut Flight, _arrival: &Arrival, _nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        reduce(flight);
        Entry::StartOver
    }

    fn on_ack(&mut self, _flight: &mut Flight, _arrival: &Arrival) -> Step {
        unreachable!("Tahoe has no fast recovery")
    }

    fn leave(&mut self, _flight: &mut Flight) {
        unreachable!("Tahoe has no fast recovery")
    }
}
