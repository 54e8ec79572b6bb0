//! Recovery with selective acknowledgements: RFC 6675. The scoreboard determines which segments are lost, with one of
//! several rules (`sack`, `fack`). The window is reduced at once or in proportion to the data delivered (`prr`).

use super::{Entry, Immediate, Next, ProportionalRateReduction, Repair, Step, lost_then_new};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::time::Time;

#[derive(Clone, Copy, Debug)]
pub struct Sack {
    /// Whether the window is reduced in proportion to the data delivered.
    is_proportional: bool,
    /// The reduction of the current episode, if it is proportional and the algorithm does not set the window.
    reduction: Option<ProportionalRateReduction>,
    /// The SND.UNA from which NextSeg() rule 4 may be used: RescueRxt + 1. The rule thus waits for the acknowledgement
    /// of the first retransmission and applies once per episode.
    rescue_from: u64,
}

impl Sack {
    /// Creates a recovery that reduces the window at once.
    pub fn at_once() -> Sack {
        Sack { is_proportional: false, reduction: None, rescue_from: u64::MAX }
    }

    /// Creates a recovery that reduces the window in proportion to the data delivered (RFC 9937).
    pub fn proportional() -> Sack {
        Sack { is_proportional: true, ..Sack::at_once() }
    }

    /// NextSeg() rule 4: once per episode, the highest segment, in case the end of the window was lost.
    fn rescue(&mut self, flight: &Flight) -> Option<Next> {
        if flight.una < self.rescue_from {
            return None;
        }
        self.rescue_from = u64::MAX;
        flight.scoreboard.last_hole().map(Next::Rescue)
    }
}

impl Repair for Sack {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.is_past_last_loss() && flight.count_duplicate()
    }

    /// Enters fast recovery: section 5, step 4.
    fn enter(&mut self, flight: &mut Flight, arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        flight.scoreboard.start_episode();
        flight.scoreboard.mark_first_lost();
        reduce(flight);
        if flight.settings.is_governed {
            self.reduction = None;
        } else if self.is_proportional {
            self.reduction = Some(ProportionalRateReduction::enter(flight, arrival, false));
        } else {
            flight.window.cwnd = flight.window.ssthresh;
        }
        self.rescue_from = flight.una + flight.window.mss;
        flight.begin_recovery(nxt);
        Entry::Repair { first: Immediate::Segment(flight.scoreboard.una()) }
    }

    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        if let Some(reduction) = &mut self.reduction {
            reduction.reduce(flight, arrival);
        }
        Step::REPAIR
    }

    fn leave(&mut self, flight: &mut Flight) {
        self.reduction = None;
        if !flight.settings.is_governed {
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    /// NextSeg() of section 4.
    fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        lost_then_new(flight, has_new)
            .or_else(|| flight.scoreboard.next_hole().map(Next::Retransmission))
            .or_else(|| self.rescue(flight))
    }

    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        self.reduction = None;
        flight.scoreboard.mark_all_lost();
    }

    fn on_sent(&mut self, _flight: &Flight, _index: u64, payload: u64, _now: Time) {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(payload);
        }
    }
}
