//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2, RFC 9768): marks reduce the window once for a
//! window of data, as a loss does, and nothing is sent again.

use super::{Acknowledgement, Sender};
use crate::tcp::congestion::CongestionControl;
use crate::tcp::profile::EcnKind;
use crate::tcp::recovery::Phase;
use crate::time::Time;

/// What the sender knows of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// The receiver's count, as last told.
    told: u64,
    /// No further reduction until more than this is acknowledged: the window in which the last was made, and the segment
    /// that announces it.
    answered: u64,
    /// Whether the next new segment says that the window was reduced.
    announces: bool,
}

impl Sender {
    /// How many segments this acknowledgement shows to have been marked; with the classic echo, all it acknowledges.
    pub(super) fn count_marks(&mut self, ack: &Acknowledgement, delivered: u64) -> u64 {
        if let Some(marks) = ack.options.marks {
            let marked = marks.saturating_sub(self.marks.told);
            self.marks.told += marked;
            marked
        } else if ack.echoes_congestion {
            delivered.max(1)
        } else {
            0
        }
    }

    /// Marks are reported: the window is reduced unless that was done for this window of data.
    pub(super) fn on_marks(&mut self, now: Time) {
        if self.una <= self.marks.answered || !matches!(self.phase, Phase::Open) {
            return;
        }
        let gently = self.profile.abe;
        self.window.ssthresh = self.algorithm.reduce_on_marks(&self.window, self.flight_size(), now, gently);
        if !self.is_governed {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
        self.statistics.mark_reductions += 1;
        self.on_loss_answered();
    }

    /// The window was reduced for everything now in flight, marks included.
    pub(super) fn on_loss_answered(&mut self) {
        self.marks.answered = self.next_sequence();
        self.marks.announces = true;
    }

    /// The CWR bit of the next new segment.
    pub(super) fn take_announcement(&mut self) -> bool {
        std::mem::take(&mut self.marks.announces) && self.profile.ecn == EcnKind::Classic
    }
}
