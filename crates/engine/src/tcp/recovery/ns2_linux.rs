//! Recovery of ns-2's Agent/TCP/Linux: tcp/tcp-linux.cc and tcp/scoreboard1.cc of release 2.35. Unlike RFC 6675 it finds lost
//! retransmissions, and sends a segment again as often as later ones arrive before it. As every acknowledgement restarts the
//! retransmission timer, it does so for as long as any arrive.

use std::collections::VecDeque;

use super::{Entry, Immediate, Repair, Step};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::Progress;
use crate::tcp::segment_ring::SegmentRing;
use crate::time::Time;

/// A retransmission is lost once one sent this many later has arrived: ScoreBoard1::UpdateScoreBoard, `dupack_threshold` and one.
const LATER_RETRANSMISSIONS: u64 = 4;

/// A retransmission of which nothing has been heard.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    index: u64,
    /// Its place among all retransmissions, from one.
    place: u64,
    /// The next new segment when it was sent.
    nxt: u64,
}

#[derive(Clone, Debug)]
pub struct Ns2Linux {
    /// In the order in which they were sent.
    retransmissions: VecDeque<Retransmission>,
    /// The place of each segment's latest retransmission; 0 if there was none.
    places: SegmentRing<u64>,
    sent: u64,
    /// The place of the retransmission that arrived last (`acked_rtx_id_`).
    arrived: u64,
    /// While the window is halved, the segments that may be in flight (`next_pkts_in_flight_`).
    halving: u64,
}

impl Default for Ns2Linux {
    fn default() -> Ns2Linux {
        Ns2Linux { retransmissions: VecDeque::new(), places: SegmentRing::new(), sent: 0, arrived: 0, halving: 0 }
    }
}

impl Ns2Linux {
    pub fn on_delivered(&mut self, index: u64) {
        match self.places[index] {
            0 => {}
            place => self.arrived = place,
        }
    }

    /// Marks retransmissions as lost that a later segment or a later retransmission has overtaken.
    pub fn find_losses(&mut self, flight: &mut Flight, progress: &mut Progress) {
        while let Some(&Retransmission { index, place, nxt }) = self.retransmissions.front() {
            if flight.scoreboard.is_under_way(index) && self.places[index] == place {
                let overtaken =
                    nxt < flight.scoreboard.highest_sacked() || place + LATER_RETRANSMISSIONS < self.arrived;
                if !overtaken {
                    return;
                }
                progress.newly_lost += flight.scoreboard.mark_lost_anew(index);
            }
            self.retransmissions.pop_front();
        }
    }
}

impl Repair for Ns2Linux {
    /// There is a loss if the scoreboard knows of one: no count of duplicates.
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.scoreboard.first_is_lost()
    }

    fn enter(&mut self, flight: &mut Flight, _arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        flight.scoreboard.start_episode();
        self.halving = flight.window.cwnd / flight.window.mss;
        reduce(flight);
        if !flight.settings.is_governed {
            flight.window.cwnd = flight.window.ssthresh;
        }
        flight.begin_recovery(nxt);
        self.halving = self.halving.min(flight.scoreboard.pipe() + 1);
        Entry::Repair { first: Immediate::Nothing }
    }

    fn on_ack(&mut self, flight: &mut Flight, _arrival: &Arrival) -> Step {
        self.halving = self.halving.min(flight.scoreboard.pipe() + 1);
        Step::REPAIR
    }

    /// The scoreboard begins anew, also above a gap that is still there (tcp_fastretrans_alert). The next SACK blocks, three at
    /// most, are all that is known then: what they leave out counts as lost, is sent again, and is a loss for another recovery.
    fn leave(&mut self, flight: &mut Flight) {
        self.halving = 0;
        flight.scoreboard.forget();
        self.retransmissions.clear();
        if !flight.settings.is_governed {
            flight.window.cwnd = flight.window.cwnd.max(flight.window.ssthresh);
        }
    }

    /// The reduced window, or what is left of the one before it: each segment sent takes one off (LinuxTcpAgent::send_much).
    fn window(&self, flight: &Flight) -> u64 {
        flight.window.cwnd.max(self.halving * flight.window.mss)
    }

    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        flight.scoreboard.mark_all_lost();
        self.halving = 0;
        self.retransmissions.clear();
    }

    fn on_sent(&mut self, flight: &Flight, index: u64, _payload: u64, _now: Time) {
        let nxt = flight.scoreboard.nxt();
        self.places.hold(flight.scoreboard.una(), index);
        if index < nxt {
            self.sent += 1;
            self.places[index] = self.sent;
            self.retransmissions.push_back(Retransmission { index, place: self.sent, nxt });
        } else {
            self.places[index] = 0;
        }
        // What is sent now counts as in flight only after this.
        self.halving = self.halving.min(flight.scoreboard.pipe().max(1));
    }
}
