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

/// The latest reduction of the window, and its retransmissions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    before: Window,
    /// Retransmissions of the episode not yet shown to be spurious.
    unexplained: u64,
}

impl Undo {
    pub(super) fn new(before: Window) -> Undo {
        Undo { before, unexplained: 0 }
    }

    pub(super) fn before(&self) -> Window {
        self.before
    }

    /// Counts a retransmission of the episode.
    pub(super) fn on_retransmitted(&mut self) {
        self.unexplained += 1;
    }

    /// Counts a spurious retransmission. Returns the window before the reduction once all were spurious.
    pub(super) fn on_needless(&mut self) -> Option<Window> {
        if self.unexplained == 0 {
            return None;
        }
        self.unexplained -= 1;
        (self.unexplained == 0).then_some(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
