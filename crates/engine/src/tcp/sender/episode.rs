//! Episodes of fast recovery: entering, going through and leaving them.

use super::Sender;
use crate::packet::Packet;
use crate::tcp::congestion::CongestionControl;
use crate::tcp::profile::{FlightSize, RecoveryKind};
use crate::tcp::recovery::{Inflation, Phase, ProportionalRateReduction, Reduction};
use crate::tcp::scoreboard::Progress;
use crate::time::Time;

impl Sender {
    /// What is reduced on congestion. Late in a long episode the data not cumulatively acknowledged is mostly SACKed
    /// and may be many windows, hence the bound.
    pub(super) fn flight_size(&self) -> u64 {
        let segments = match self.profile.flight_size {
            FlightSize::Outstanding => self.scoreboard.outstanding() - self.limited_transmitted,
            FlightSize::Pipe => self.scoreboard.pipe(),
            FlightSize::Window => return self.window.cwnd,
        };
        (segments * self.window.mss).min(self.window.cwnd)
    }

    pub(super) fn enter_recovery(&mut self, progress: Progress, now: Time, outbox: &mut Vec<Packet>) {
        if self.profile.recovery == RecoveryKind::Tahoe {
            self.window.ssthresh = self.algorithm.reduce(&self.window, self.flight_size(), now);
            self.statistics.fast_recoveries += 1;
            return self.start_over(now, outbox);
        }
        let mss = self.window.mss;
        let recover_fs = (self.scoreboard.outstanding() - self.scoreboard.sacked() + progress.delivered) * mss;
        self.scoreboard.start_episode();
        if self.rack.is_none() {
            self.scoreboard.mark_first_lost();
        }
        self.note_for_undo();
        self.window.ssthresh = self.algorithm.reduce(&self.window, self.flight_size(), now);
        self.statistics.fast_recoveries += 1;
        self.on_loss_answered();
        let reduction = match self.profile.recovery {
            _ if self.is_governed => Reduction::AtOnce,
            RecoveryKind::Tahoe => unreachable!("Tahoe does not recover, it starts over"),
            RecoveryKind::Reno | RecoveryKind::NewReno => {
                self.window.cwnd = self.window.ssthresh;
                Reduction::Inflation(Inflation::enter(self.window.ssthresh, self.duplicate_acks, mss))
            }
            RecoveryKind::Sack | RecoveryKind::Fack => {
                self.window.cwnd = self.window.ssthresh;
                Reduction::AtOnce
            }
            RecoveryKind::Prr | RecoveryKind::Rack => {
                let mut reduction = ProportionalRateReduction::new(recover_fs);
                let inflight = self.scoreboard.pipe() * mss;
                let delivered = progress.delivered * mss;
                if let Some(cwnd) = reduction.on_ack(delivered, inflight, self.window.ssthresh, false, mss) {
                    self.window.cwnd = cwnd;
                }
                Reduction::Proportional(reduction)
            }
        };
        self.limited_transmitted = 0;
        self.recover = self.next_sequence();
        self.phase = Phase::Recovery { point: self.recover, reduction, rescue_from: self.una + mss };
        // The first lost segment goes out whatever the window (RFC 5681 section 3.2 step 2, RFC 6675 section 5 (4.3)).
        let first = if self.rack.is_some() { self.scoreboard.next_lost() } else { Some(self.scoreboard.una()) };
        if let Some(first) = first {
            self.retransmit(first, now, outbox);
        }
    }

    /// Slow start from one segment, in which everything not known to have arrived is sent again.
    pub(super) fn start_over(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.algorithm.on_timeout();
        self.window.cwnd = self.window.mss;
        self.slow_start.restart();
        self.recover = self.next_sequence();
        self.on_loss_answered();
        self.phase = Phase::Loss { point: self.recover };
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
        if !self.rack_mark_losses_on_timeout(now) {
            self.scoreboard.mark_all_lost();
        }
        // The timer's retransmission waits for no pacing: Linux tcp_timer.c, tcp_retransmit_timer.
        self.next_release = self.next_release.min(now);
        self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.5) and (5.6)
        if self.scoreboard.pipe() > 0 {
            // What RACK leaves in flight fills the window of one segment; the first goes out nevertheless: RFC 6298 (5.4).
            self.retransmit(self.scoreboard.una(), now, outbox);
        }
        self.send(now, outbox);
    }

    /// Whether an acknowledgement of so many bytes ends fast recovery: Reno's at the first new data (RFC 5681 section
    /// 3.2 step 6), all others' once everything sent before it is acknowledged.
    pub(super) fn ends_recovery(&self, acked: u64, point: u64) -> bool {
        self.una >= point || (acked > 0 && self.profile.recovery == RecoveryKind::Reno)
    }

    /// Returns whether the retransmission timer is to be restarted.
    pub(super) fn on_ack_in_recovery(
        &mut self,
        acked: u64,
        progress: Progress,
        now: Time,
        outbox: &mut Vec<Packet>,
    ) -> bool {
        let mss = self.window.mss;
        let inflight = self.scoreboard.pipe() * mss;
        let Phase::Recovery { reduction, .. } = &mut self.phase else {
            return true;
        };
        match reduction {
            Reduction::AtOnce => true,
            Reduction::Proportional(reduction) => {
                let safe = acked > 0 && progress.newly_lost == 0;
                let delivered = progress.delivered * mss;
                if let Some(cwnd) = reduction.on_ack(delivered, inflight, self.window.ssthresh, safe, mss) {
                    self.window.cwnd = cwnd;
                }
                true
            }
            Reduction::Inflation(inflation) if acked == 0 => {
                inflation.on_duplicate(mss);
                true
            }
            Reduction::Inflation(inflation) => {
                let first_partial = inflation.on_partial(acked, mss);
                self.scoreboard.mark_first_lost();
                self.retransmit(self.scoreboard.una(), now, outbox);
                first_partial
            }
        }
    }

    pub(super) fn leave_recovery(&mut self, now: Time) {
        self.window.cwnd = match self.profile.recovery {
            _ if self.is_governed => self.window.cwnd,
            RecoveryKind::NewReno => {
                Inflation::exit(self.window.ssthresh, self.scoreboard.outstanding() * self.window.mss, self.window.mss)
            }
            _ => self.window.ssthresh,
        };
        self.phase = Phase::Open;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
        self.algorithm.on_recovered(&mut self.window, now);
    }
}
