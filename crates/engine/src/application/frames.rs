//! Responses that share a connection frame by frame, as the streams of HTTP/2 do (RFC 9113 section 5): streams take turns, each with a
//! frame, the next with what is left at its end. RFC 9113 leaves the order to the server; turns are what servers give streams of equal
//! weight (RFC 7540 section 5.3.2), or responses that clients ask for with `i` (RFC 9218 section 4.2).
//!
//! As little is written ahead as keeps the connection busy, so that a later request soon has its turn: a frame more than the window lets
//! go. Linux tells a server when to go on if it sets `TCP_NOTSENT_LOWAT`. Frame headers, of 9 bytes each, are left out.

use std::collections::VecDeque;

/// Streams that have more to send, that whose turn it is first.
#[derive(Debug)]
pub struct Frames {
    /// The greatest payload of a frame.
    frame: u64,
    /// Numbers of streams, and what they have left.
    open: VecDeque<(usize, u64)>,
}

/// Bytes to write, of which the last end a stream, if they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    pub bytes: u64,
    /// The stream whose response ends with them.
    pub ends: Option<usize>,
}

impl Frames {
    pub fn new(frame: u64) -> Frames {
        Frames { frame, open: VecDeque::new() }
    }

    /// A stream has a response to send, after those whose turns come before.
    pub fn open(&mut self, stream: usize, bytes: u64) {
        self.open.push_back((stream, bytes));
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The next frames that begin within `room` bytes: up to the end of a response, or until there is room for no more.
    pub fn take(&mut self, room: u64) -> Option<Portion> {
        let mut bytes = 0;
        while bytes < room {
            let Some((stream, left)) = self.open.pop_front() else { break };
            let payload = left.min(self.frame);
            bytes += payload;
            if payload == left {
                return Some(Portion { bytes, ends: Some(stream) });
            }
            self.open.push_back((stream, left - payload));
        }
        (bytes > 0).then_some(Portion { bytes, ends: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams take turns: a short response is over after as many frames of the others as it has itself, and all bytes are sent once.
    #[test]
    fn turns() {
        let mut frames = Frames::new(10);
        for (stream, bytes) in [(0, 35), (1, 10), (2, 12)] {
            frames.open(stream, bytes);
        }
        let portions: Vec<Portion> = std::iter::from_fn(|| frames.take(u64::MAX)).collect();
        let ends = portions.iter().map(|portion| (portion.bytes, portion.ends));
        assert!(ends.eq([(20, Some(1)), (22, Some(2)), (15, Some(0))]), "{portions:?}");
        assert!(frames.is_empty());
    }

    /// No frame begins beyond the room that there is, and a stream that opens later has its turn after those that wait.
    #[test]
    fn room() {
        let mut frames = Frames::new(10);
        frames.open(0, 100);
        assert_eq!(frames.take(11), Some(Portion { bytes: 20, ends: None }));
        assert_eq!(frames.take(0), None);
        frames.open(1, 5);
        assert_eq!(frames.take(u64::MAX), Some(Portion { bytes: 15, ends: Some(1) }));
        assert_eq!(frames.take(u64::MAX), Some(Portion { bytes: 70, ends: Some(0) }));
    }
}
