//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2, RFC 9768): marks reduce the window once per
//! window of data, as a loss does, without retransmission.

use super::Acknowledgement;
use crate::tcp::ecn::EcnKind;

/// What each new segment asks stands last, beside what an acknowledgement accesses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Marks {
    /// The receiver's mark count in the latest report.
    reported: u64,
    /// No further reduction until the acknowledgement exceeds this: it covers the window of the last reduction and the
    /// segment that announces it.
    answered: u64,
    /// Whether the next new segment carries CWR.
    announces: bool,
    /// Whether the receiver echoes marks until it sees CWR.
    is_classic: bool,
}

impl Marks {
    pub(super) fn new(kind: EcnKind) -> Marks {
        Marks { is_classic: kind == EcnKind::Classic, reported: 0, answered: 0, announces: false }
    }

    /// The number of segments that an acknowledgement reports as marked. With the classic echo, all segments it
    /// delivers.
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

    /// Whether the window was already reduced for marks reported with SND.UNA at `una`.
    pub(super) fn are_answered(&self, una: u64) -> bool {
        una <= self.answered
    }

    /// Records a reduction of the window, which covers all marks up to SND.NXT.
    pub(super) fn on_reduced(&mut self, nxt: u64) {
        self.answered = nxt;
        self.announces = true;
    }

    pub(super) fn take_announcement(&mut self) -> bool {
        std::mem::take(&mut self.announces) && self.is_classic
    }
}
