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
        };
        (segments * self.window.mss).min(self.window.cwnd)
    }

    pub(super) fn enter_recovery(&mut self, progress: Progress, now: Time, outbox: &mut Vec<Packet>) {
        let mss = self.window.mss;
        let recover_fs = (self.scoreboard.outstanding() - self.scoreboard.sacked() + progress.delivered) * mss;
        self.scoreboard.start_episode();
        self.scoreboard.mark_first_lost();
        self.window.ssthresh = self.algorithm.reduce(&self.window, self.flight_size(), now);
        self.statistics.fast_recoveries += 1;
        let reduction = match self.profile.recovery {
            RecoveryKind::NewReno => {
                self.window.cwnd = self.window.ssthresh;
                Reduction::Inflation(Inflation::enter(self.window.ssthresh, self.duplicate_acks, mss))
            }
            RecoveryKind::Sack => {
                self.window.cwnd = self.window.ssthresh;
                Reduction::AtOnce
            }
            RecoveryKind::Prr => {
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
        self.retransmit(self.scoreboard.una(), now, outbox);
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
            RecoveryKind::NewReno => {
                Inflation::exit(self.window.ssthresh, self.scoreboard.outstanding() * self.window.mss, self.window.mss)
            }
            RecoveryKind::Sack | RecoveryKind::Prr => self.window.ssthresh,
        };
        self.phase = Phase::Open;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
        self.algorithm.on_recovered(&mut self.window, now);
    }
}
