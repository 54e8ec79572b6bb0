//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2, RFC 9768): marks reduce the window once for a
//! window of data, as a loss does, and nothing is sent again.

use super::Acknowledgement;
use crate::tcp::ecn::EcnKind;

/// What the sender knows of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// Whether the receiver echoes marks until it sees CWR.
    is_classic: bool,
    /// The receiver's count, as last reported.
    reported: u64,
    /// No further reduction until more than this is acknowledged: the window in which the last was made, and the segment
    /// that announces it.
    answered: u64,
    /// Whether the next new segment says that the window was reduced.
    announces: bool,
}

impl Marks {
    /// Of a new connection.
    pub(super) fn new(kind: EcnKind) -> Marks {
        Marks { is_classic: kind == EcnKind::Classic, reported: 0, answered: 0, announces: false }
    }

    /// How many segments an acknowledgement that delivered so many shows to have been marked; with the classic echo, all it
    /// acknowledges.
    pub(super) fn count(&mut self, ack: &Acknowledgement, delivered: u64) -> u64 {
        if let Some(marks) = ack.options.marks {
            let marked = marks.saturating_sub(self.reported);
            self.reported += marked;
            marked
        } else if ack.echoes_congestion {
            delivered.max(1)
        } else {
            0
        }
    }

    /// Whether the window was already reduced for marks that are reported with SND.UNA at `una`.
    pub(super) fn are_answered(&self, una: u64) -> bool {
        una <= self.answered
    }

    /// The window was reduced for everything up to SND.NXT, marks included.
    pub(super) fn on_reduced(&mut self, nxt: u64) {
        self.answered = nxt;
        self.announces = true;
    }

    /// Whether the next new segment carries CWR.
    pub(super) fn take_announcement(&mut self) -> bool {
        std::mem::take(&mut self.announces) && self.is_classic
    }
}
