//! Spurious retransmissions: duplicate segments reported by the receiver (RFC 2883), and the undo of a reduction once
//! all retransmissions of an episode have proved unnecessary (RFC 3708; RFC 8985 section 9.4).

use crate::packet::Block;
use crate::tcp::window::Window;

/// The block that reports a duplicate segment: the first one, if it is below the cumulative acknowledgement or within
/// the second block (RFC 2883 section 4).
pub(super) fn duplicate_of(acknowledgement: u64, sacks: &[Block]) -> Option<Block> {
    let first = *sacks.first()?;
    let within = sacks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
    (first.end <= acknowledgement || within).then_some(first)
}

/// The segments that a connection has sent again, and those reported as duplicates. Reports of more than were sent again tell of
/// copies that the network has made: Linux tcp_input.c, tcp_dsack_seen, believes none from then on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Balance {
    sent_again: u64,
    reported: u64,
}

impl Balance {
    pub(super) fn on_retransmitted(&mut self) {
        self.sent_again += 1;
    }

    /// Counts a report of this many segments. Returns whether it is believed.
    pub(super) fn on_report(&mut self, segments: u64) -> bool {
        self.reported += segments;
        self.reported <= self.sent_again
    }
}

/// The latest reduction of the window, and its retransmissions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    before: Window,
    /// SND.UNA at the reduction.
    una: u64,
    /// Retransmissions of the episode not yet shown to be spurious.
    unexplained: u64,
}

impl Undo {
    /// `in_flight` retransmissions were under way before.
    pub(super) fn new(before: Window, una: u64, in_flight: u64) -> Undo {
        Undo { before, una, unexplained: in_flight }
    }

    pub(super) fn before(&self) -> Window {
        self.before
    }

    /// Whether a block is of data that were not yet acknowledged at the reduction.
    pub(super) fn concerns(&self, block: Block) -> bool {
        block.end > self.una
    }

    /// Counts a retransmission of the episode.
    pub(super) fn on_retransmitted(&mut self) {
        self.unexplained += 1;
    }

    /// Counts spurious retransmissions. Returns the window before the reduction once all were spurious.
    pub(super) fn on_needless(&mut self, segments: u64) -> Option<Window> {
        if self.unexplained == 0 {
            return None;
        }
        self.unexplained = self.unexplained.saturating_sub(segments);
        (self.unexplained == 0).then_some(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux tcp_input.c, tcp_dsack_seen: reports are believed up to the segments that were sent again, and later ones count
    /// against those that are sent again from then on.
    #[test]
    fn reports_beyond_retransmissions() {
        let mut balance = Balance::default();
        assert!(!balance.on_report(1), "a copy of the network's");
        balance.on_retransmitted();
        assert!(!balance.on_report(1));
        (0..3).for_each(|_| balance.on_retransmitted());
        assert!(balance.on_report(2));
        assert!(!balance.on_report(1));
    }

    /// RFC 2883 section 4: the first SACK block reports a duplicate if it is below the cumulative acknowledgement or
    /// contained in the second block.
    #[test]
    fn dsack_detection() {
        let block = |start, end| Block { start, end };
        for (acknowledgement, sacks, expected) in [
            (20, vec![block(10, 20)], true),
            (20, vec![block(20, 30)], false),
            (20, vec![block(30, 40), block(25, 50)], true),
            (20, vec![block(30, 40), block(30, 40)], true),
            (20, vec![block(30, 40), block(50, 60)], false),
            (20, vec![block(30, 60), block(30, 50)], false),
            (20, vec![], false),
        ] {
            let duplicate = duplicate_of(acknowledgement, &sacks);
            assert_eq!(duplicate, sacks.first().copied().filter(|_| expected), "{sacks:?}");
        }
    }
}
