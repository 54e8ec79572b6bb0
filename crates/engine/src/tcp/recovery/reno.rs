//! Reno: RFC 5681 section 3.2. Duplicate acknowledgements inflate the window. The first acknowledgement of new data
//! ends fast recovery, so that each further loss in a window is detected separately.

use super::{Entry, Immediate, Inflation, Next, Repair, Step, inflation};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::time::Time;

state! {
    #[derive(Clone, Copy)]
    pub Reno(repeats: bool) {
        /// Whether fast retransmit is repeated before all data sent at the last loss is acknowledged.
        repeats: bool = repeats,
        /// The inflated window of the current episode, `None` if the algorithm sets the window.
        inflation: Option<Inflation>,
    }
}

impl Repair for Reno {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        (self.repeats || flight.is_past_last_loss()) && flight.count_duplicate()
    }

    fn enter(&mut self, flight: &mut Flight, _arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        self.inflation = inflation::enter(flight, reduce);
        flight.begin_recovery(nxt);
        Entry::Repair { first: Immediate::Segment(flight.scoreboard.una()) }
    }

    /// Processes a duplicate: an acknowledgement of new data ends fast recovery.
    fn on_ack(&mut self, flight: &mut Flight, _arrival: &Arrival) -> Step {
        if let Some(inflation) = &mut self.inflation {
            inflation.on_duplicate(flight.window.mss);
        }
        Step::REPAIR
    }

    /// Ends with the first acknowledgement of new data: RFC 5681 section 3.2 step 6.
    fn is_over(&self, flight: &Flight, arrival: &Arrival) -> bool {
        arrival.acked > 0 || flight.una >= flight.recover
    }

    fn leave(&mut self, flight: &mut Flight) {
        if self.inflation.take().is_some() {
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    inflates!(inflation);
}
