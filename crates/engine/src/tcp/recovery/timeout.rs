//! What acknowledgements after a retransmission timeout show of it: F-RTO with SACK (RFC 5682 section 3), and the timestamp of an
//! acknowledgement that is older than the first retransmission (RFC 3522), as in Linux tcp_input.c, tcp_process_loss.

use crate::time::Time;

/// What the current acknowledgement delivers.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// A segment from before the timeout that was sent once.
    original: bool,
    /// A segment, by a transmission before the first retransmission.
    overtaken: bool,
}

/// The state since the latest timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeout {
    /// One past the highest segment sent before it.
    end: u64,
    /// When a segment was first sent again, in this recovery or the one that the timeout interrupted.
    first_again: Time,
    /// Whether segments that were sent once may still show that it was spurious.
    may_be_spurious: bool,
    /// Whether new segments are sent before lost ones (step 2.b).
    sends_new: bool,
    seen: Seen,
}

impl Timeout {
    pub(super) fn new() -> Timeout {
        Timeout { end: 0, first_again: Time::NEVER, may_be_spurious: false, sends_new: false, seen: Seen::default() }
    }

    /// A timeout, before anything is sent again. `end` is one past the highest segment sent. It is not examined if it
    /// interrupts the repair of another loss (step 1; section 3.2 for timeouts of the same segment).
    pub(super) fn begin(&mut self, end: u64, may_be_spurious: bool) {
        *self = Timeout { end, may_be_spurious, ..Timeout { first_again: self.first_again, ..Timeout::new() } };
    }

    /// Nothing that was sent again is in flight.
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_again = Time::NEVER;
    }

    pub(super) fn on_retransmitted(&mut self, now: Time) {
        self.first_again = self.first_again.min(now);
    }

    /// A segment was delivered; `again` tells whether it was sent more than once, `echo_ended` is the end of the tick of the
    /// echoed timestamp.
    #[inline]
    pub(super) fn on_delivered(&mut self, index: u64, again: bool, echo_ended: Option<Time>) {
        self.seen.original |= !again && index < self.end;
        self.seen.overtaken |= echo_ended.is_some_and(|ended| ended <= self.first_again);
    }

    /// Whether the current acknowledgement answers a transmission before the first retransmission. `without` is the answer if nothing
    /// was sent again.
    pub(super) fn is_overtaken(&self, without: bool) -> bool {
        self.seen.overtaken && (without || self.first_again != Time::NEVER)
    }

    /// The timestamp that the current acknowledgement echoes is to show nothing.
    pub(super) fn ignore_echo(&mut self) {
        self.seen.overtaken = false;
    }

    /// Whether something was sent for the first time after the timeout; `nxt` is one past the highest segment sent.
    pub(super) fn is_followed_by(&self, nxt: u64) -> bool {
        nxt > self.end
    }

    /// Whether an acknowledgement during the repair shows that the timeout was spurious. It may acknowledge data
    /// (`advances`) or all that was sent before the timeout (`completes`), and SACK (`sacks`). `nxt` is one past the highest
    /// segment sent.
    pub(super) fn was_spurious(&mut self, advances: bool, completes: bool, sacks: bool, nxt: u64) -> bool {
        let Seen { original, overtaken } = std::mem::take(&mut self.seen);
        self.sends_new = false;
        if advances && overtaken || self.may_be_spurious && original {
            return true;
        }
        if nxt > self.end {
            // Step 3.a: what was sent in step 2.b arrived, and what was sent before the timeout did not.
            self.may_be_spurious &= advances && !sacks;
        } else {
            self.sends_new = self.may_be_spurious && advances && !completes;
        }
        false
    }

    /// An acknowledgement outside such a repair.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.seen = Seen::default();
    }

    /// Whether the next segment is a new one, if one is available. Otherwise the repair goes on in the conventional way.
    pub(super) fn prefers_new(&mut self, has_new: bool) -> bool {
        self.may_be_spurious &= !self.sends_new || has_new;
        self.sends_new &= has_new;
        self.sends_new
    }
}
