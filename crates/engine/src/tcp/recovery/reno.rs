//! Reno: RFC 5681 section 3.2. The window is inflated by duplicate acknowledgements, and the first acknowledgement of new data
//! ends fast recovery: each further loss of a window is detected separately.

use super::{Entry, Inflation, Next, Repair, Step, inflation};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::time::Time;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// Whether it repeats fast retransmit before everything sent at the last loss is acknowledged.
    repeats: bool,
    /// The window of the present episode; none if the algorithm sets it.
    inflation: Option<Inflation>,
}

impl Reno {
    /// The recovery of a new connection.
    pub fn new(repeats: bool) -> Reno {
        Reno { repeats, inflation: None }
    }
}

impl Repair for Reno {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        (self.repeats || flight.is_past_last_loss()) && flight.count_duplicate()
    }

    fn enter(&mut self, flight: &mut Flight, _delivered: u64, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        self.inflation = inflation::enter(flight, reduce);
        flight.begin_recovery(nxt);
        Entry::Repair { first: Some(flight.scoreboard.una()) }
    }

    /// A duplicate, since an acknowledgement of new data ends fast recovery.
    fn on_ack(&mut self, flight: &mut Flight, _arrival: &Arrival) -> Step {
        if let Some(inflation) = &mut self.inflation {
            inflation.on_duplicate(flight.window.mss);
        }
        Step::REPAIR
    }

    /// RFC 5681 section 3.2 step 6.
    fn is_over(&self, flight: &Flight, arrival: &Arrival) -> bool {
        arrival.acked > 0 || flight.una >= flight.recover
    }

    fn leave(&mut self, flight: &mut Flight) {
        if self.inflation.take().is_some() {
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    fn in_flight(&self, flight: &Flight) -> u64 {
        flight.outstanding()
    }

    fn window(&self, flight: &Flight) -> u64 {
        self.inflation.map_or(flight.window.cwnd, |inflation| inflation.window())
    }

    fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        inflation::next_segment(self.inflation.as_ref(), flight, has_new)
    }

    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        self.inflation = None;
        flight.scoreboard.mark_all_lost();
    }
}
