//! New Reno: RFC 6582. Like Reno, but a partial acknowledgement, one of new data that does not cover all data sent
//! before the loss was detected, indicates the next loss, which is retransmitted immediately.

use super::{Entry, Immediate, Inflation, Next, Repair, Step, inflation};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::time::Time;

#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno {
    /// The inflated window of the current episode, `None` if the algorithm sets the window.
    inflation: Option<Inflation>,
    /// Whether the current episode has had a partial acknowledgement.
    had_partial: bool,
}

impl Repair for NewReno {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.is_past_last_loss() && flight.count_duplicate()
    }

    fn enter(&mut self, flight: &mut Flight, _arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        self.inflation = inflation::enter(flight, reduce);
        self.had_partial = false;
        flight.begin_recovery(nxt);
        Entry::Repair { first: Immediate::Segment(flight.scoreboard.una()) }
    }

    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        let mss = flight.window.mss;
        if arrival.acked == 0 {
            if let Some(inflation) = &mut self.inflation {
                inflation.on_duplicate(mss);
            }
            return Step::REPAIR;
        }
        if let Some(inflation) = &mut self.inflation {
            inflation.on_partial(arrival.acked, mss);
        }
        flight.scoreboard.mark_first_lost();
        // RFC 6582 section 3.2 step 3: only the first partial acknowledgement restarts the timer.
        let restarts_timer = !std::mem::replace(&mut self.had_partial, true);
        Step::Repair { at_once: Immediate::Segment(flight.scoreboard.una()), restarts_timer }
    }

    fn leave(&mut self, flight: &mut Flight) {
        if self.inflation.take().is_some() {
            let window = &flight.window;
            flight.window.cwnd = Inflation::exit(window.ssthresh, flight.outstanding(), window.mss);
        }
    }

    inflates!(inflation);
}
