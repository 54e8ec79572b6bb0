//! Recovery of ns-3's sockets: RFC 6675 as tcp-socket-base.cc and tcp-tx-buffer.cc have it, with the reduction of the release. Unlike
//! the RFC it sends a segment on a partial acknowledgement, whatever the window allows, counts a retransmission as in flight until
//! it is cumulatively acknowledged, though it is SACKed, and sends lost segments outside of fast recovery too.

use super::{Entry, Immediate, Next, Repair, Step};
use crate::tcp::flight::{Arrival, Flight};
use crate::tcp::rto::Rto;
use crate::time::Time;

/// A release of ns-3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    /// 3.30, with TcpClassicRecovery.
    Classic,
    /// 3.48, with TcpPrrRecovery.
    Proportional,
}

#[derive(Clone, Copy, Debug)]
pub struct Ns3 {
    release: Release,
    /// The reduction of the current episode, if it is proportional and the algorithm does not set the window.
    reduction: Option<Reduction>,
    /// Whether the current episode has had a partial acknowledgement (`m_isFirstPartialAck`).
    had_partial: bool,
}

impl Ns3 {
    /// That of release 3.30, which reduces the window at once.
    pub fn classic() -> Ns3 {
        Ns3 { release: Release::Classic, reduction: None, had_partial: false }
    }

    /// That of release 3.48, which reduces it in proportion.
    pub fn proportional() -> Ns3 {
        Ns3 { release: Release::Proportional, ..Ns3::classic() }
    }

    /// Whether an acknowledgement is a duplicate. In 3.30 its SACK blocks may repeat what is known (TcpTxBuffer::Update is true also
    /// then); 3.48 counts bytes newly SACKed.
    pub fn is_duplicate(&self, flight: &Flight, arrival: &Arrival) -> bool {
        match self.release {
            Release::Classic => arrival.has_blocks && flight.scoreboard.sacked() > 0,
            Release::Proportional => arrival.progress.newly_sacked > 0,
        }
    }

    /// The next lost segment, or a new one: TcpTxBuffer::NextSeg without rule 3. In 3.48 a lost one has to be below the highest one
    /// SACKed, if there is any.
    pub fn lost_then_new(&self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        let scoreboard = &mut flight.scoreboard;
        let (una, highest_sacked) = (scoreboard.una(), scoreboard.highest_sacked());
        let lost = if scoreboard.first_is_lost() { Some(una) } else { scoreboard.next_lost() };
        match lost {
            Some(index) if self.release == Release::Classic || highest_sacked <= una || index < highest_sacked => {
                Some(Next::Retransmission(index))
            }
            _ => has_new.then_some(Next::New),
        }
    }
}

impl Repair for Ns3 {
    /// TcpSocketBase::DupAck: the third duplicate, or a loss on the scoreboard, in 3.30 not of the first segment but of the one after it
    /// (`IsLost (m_highRxAckMark + m_segmentSize)`, which passes over those of which nothing is known).
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.duplicate_acks += 1;
        let scoreboard = &flight.scoreboard;
        flight.duplicate_acks == scoreboard.duplicate_threshold()
            || match self.release {
                Release::Classic => scoreboard.is_followed_by_loss(),
                Release::Proportional => scoreboard.first_is_marked_lost(),
            }
    }

    /// TcpSocketBase::EnterRecovery. 3.30 sends what is next (DoRetransmit), 3.48 the first segment (`m_highRxAckMark`), though it may
    /// be under way again.
    fn enter(&mut self, flight: &mut Flight, arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        let una = flight.scoreboard.una();
        flight.scoreboard.start_episode();
        if !flight.scoreboard.first_is_marked_lost() {
            flight.scoreboard.mark_lost_anew(una);
        }
        reduce(flight);
        self.reduction = None;
        self.had_partial = false;
        flight.begin_recovery(nxt);
        match self.release {
            Release::Classic => {
                if !flight.settings.is_governed {
                    flight.window.cwnd = flight.window.ssthresh;
                }
                Entry::Repair { first: Immediate::Next }
            }
            Release::Proportional => {
                if !flight.settings.is_governed {
                    self.reduction = Some(Reduction::enter(flight, arrival));
                }
                Entry::Repair { first: Immediate::Segment(una) }
            }
        }
    }

    /// TcpSocketBase::ProcessAck. A partial acknowledgement sends a segment. 3.30 forgets that the first has been sent again
    /// (DeleteRetransmittedFlagFromHead), so that it is once more; 3.48 sends nothing then (IsRetransmittedDataAcked). Only the
    /// first partial acknowledgement restarts the timer.
    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        if let Some(reduction) = &mut self.reduction {
            reduction.reduce(flight, arrival);
        }
        if arrival.acked == 0 {
            return Step::REPAIR;
        }
        let is_under_way_again = match self.release {
            Release::Classic => {
                flight.scoreboard.forget_first_retransmission();
                false
            }
            Release::Proportional => flight.scoreboard.first_is_retransmitted(),
        };
        Step::Repair {
            at_once: if is_under_way_again { Immediate::Nothing } else { Immediate::Next },
            restarts_timer: !std::mem::replace(&mut self.had_partial, true),
        }
    }

    fn leave(&mut self, flight: &mut Flight) {
        self.reduction = None;
        if !flight.settings.is_governed {
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    /// It waits for duplicates again: ProcessAck goes to CA_OPEN.
    fn knows_of_loss(&self, _flight: &mut Flight) -> bool {
        false
    }

    /// TcpTxBuffer::NextSeg with rule 3, which in 3.30 has no upper bound. There is no rule 4.
    fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        self.lost_then_new(flight, has_new).or_else(|| {
            let scoreboard = &mut flight.scoreboard;
            let end = match self.release {
                Release::Classic => scoreboard.nxt(),
                Release::Proportional => scoreboard.highest_sacked(),
            };
            scoreboard.next_hole_below(end).map(Next::Retransmission)
        })
    }

    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        self.reduction = None;
        flight.scoreboard.mark_all_lost();
    }

    fn on_sent(&mut self, _flight: &Flight, _index: u64, payload: u64, _now: Time) {
        if let Some(reduction) = &mut self.reduction {
            reduction.out += payload;
        }
    }
}

/// The proportional reduction of ns-3.48: tcp-prr-recovery.cc. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reduction {
    /// What was in flight, without what was known to be lost.
    recover_fs: u64,
    delivered: u64,
    out: u64,
    /// The retransmissions acknowledged before the current acknowledgement.
    repaired: u64,
}

impl Reduction {
    /// EnterRecovery.
    fn enter(flight: &mut Flight, arrival: &Arrival) -> Reduction {
        let repaired = flight.scoreboard.repaired();
        let mut reduction = Reduction { recover_fs: flight.pipe(), delivered: 0, out: 0, repaired };
        reduction.set_window(flight, arrival.progress.delivered, true, false);
        reduction
    }

    /// An acknowledgement that SACKs and acknowledges new data counts twice (DupAck and ProcessAck).
    fn reduce(&mut self, flight: &mut Flight, arrival: &Arrival) {
        let repaired = flight.scoreboard.repaired();
        let safe = std::mem::replace(&mut self.repaired, repaired) < repaired;
        let delivered = arrival.progress.delivered;
        if arrival.progress.newly_sacked > 0 {
            self.set_window(flight, delivered, true, safe);
        }
        if arrival.acked > 0 && delivered > 0 {
            self.set_window(flight, delivered, false, safe);
        }
    }

    /// DoRecovery. A duplicate counts as one more segment delivered. `safe` tells that a retransmission was
    /// acknowledged.
    fn set_window(&mut self, flight: &mut Flight, delivered: u64, is_duplicate: bool, safe: bool) {
        let (mss, ssthresh, in_flight) = (flight.window.mss, flight.window.ssthresh, flight.pipe());
        let more = is_duplicate && self.delivered < self.recover_fs;
        let delivered = (delivered + u64::from(more)) * mss;
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if in_flight > ssthresh {
            // The product has 32 bits.
            let product = u64::from((self.delivered as u32).wrapping_mul(ssthresh as u32));
            product.div_ceil(self.recover_fs.max(1)).saturating_sub(self.out)
        } else if self.delivered < self.out {
            // The difference is unsigned, and so great, and then a negative number.
            (self.delivered + if safe { mss } else { 0 }).saturating_sub(self.out).min(ssthresh - in_flight)
        } else {
            let limit = (self.delivered - self.out).max(delivered) + if safe { mss } else { 0 };
            limit.min(ssthresh - in_flight)
        };
        let least = if self.out > 0 { 0 } else { mss };
        flight.window.cwnd = in_flight + allowed.max(least);
    }
}
