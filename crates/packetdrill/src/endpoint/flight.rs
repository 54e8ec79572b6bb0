//! The segments that have left, as far as what acknowledgements tell about their order and number is concerned.

use std::collections::BTreeMap;

use crate::script::{Segment, TcpOption};

/// Segments up to which reordering is expected from the beginning (Linux ip-sysctl.rst, tcp_reordering).
const FIRST_REORDERING: u64 = 3;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    end: u64,
    is_retransmitted: bool,
    is_sacked: bool,
}

/// What an acknowledgement covers that no earlier one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    pub segments: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Flight {
    /// By first sequence number.
    outstanding: BTreeMap<u64, Outstanding>,
    /// The highest sequence number that was selectively acknowledged, and one past the last byte acknowledged.
    highest: u64,
    /// The degree of reordering, in segments, and how often there was some (Linux tcp_input.c, tcp_check_sack_reordering).
    pub reordering: u64,
    pub reorderings: u64,
}

impl Default for Flight {
    fn default() -> Flight {
        Flight { outstanding: BTreeMap::new(), highest: 0, reordering: FIRST_REORDERING, reorderings: 0 }
    }
}

impl Flight {
    pub fn on_sent(&mut self, first: u64, end: u64) {
        let before = self.outstanding.get(&first);
        let is_sacked = before.is_some_and(|segment| segment.is_sacked);
        let is_retransmitted = before.is_some();
        self.outstanding.insert(first, Outstanding { end, is_retransmitted, is_sacked });
    }

    pub fn on_acknowledgement(&mut self, segment: &Segment, mss: u64) -> Delivered {
        let acknowledged = segment.acknowledgement.map_or(0, u64::from);
        let mut blocks = Vec::new();
        for option in segment.options.iter().flatten() {
            if let TcpOption::Sack(sacked) = option {
                blocks.extend(sacked.iter().map(|(first, end)| (u64::from(*first), u64::from(*end))));
            }
        }
        let mut delivered = Delivered::default();
        let mut latest = None;
        // What selective acknowledgements tell comes first.
        for (first, sent) in &mut self.outstanding {
            let is_covered = blocks.iter().any(|(from, to)| *from <= *first && sent.end <= *to);
            if !is_covered || sent.is_sacked {
                continue;
            }
            sent.is_sacked = true;
            delivered.segments += 1;
            delivered.bytes += sent.end - first;
            if !sent.is_retransmitted && *first < self.highest {
                latest = latest.or(Some(*first));
            }
        }
        if let Some(first) = latest {
            self.note_reordering(first, mss);
        }
        let top = blocks.iter().map(|(_, to)| *to).max().unwrap_or(0);
        let before = self.highest;
        self.highest = self.highest.max(top);
        let mut late = None;
        while let Some((first, sent)) = self.outstanding.pop_first() {
            if first >= acknowledged {
                self.outstanding.insert(first, sent);
                break;
            }
            let left = sent.end.min(acknowledged);
            if !sent.is_sacked {
                delivered.bytes += left - first;
                delivered.segments += u64::from(left == sent.end);
                if !sent.is_retransmitted && first < before {
                    late = late.or(Some(first));
                }
            }
            if left < sent.end {
                self.outstanding.insert(left, sent); // An acknowledgement may end within a segment.
                break;
            }
        }
        if let Some(first) = late {
            self.note_reordering(first, mss);
        }
        delivered
    }

    fn note_reordering(&mut self, first: u64, mss: u64) {
        if first < self.highest {
            self.reordering = self.reordering.max((self.highest - first).div_ceil(mss));
            self.reorderings += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledgement(number: u32, blocks: &[(u32, u32)]) -> Segment {
        let options = Some(vec![TcpOption::Sack(blocks.to_vec())]);
        Segment { acknowledgement: Some(number), options, ..Segment::default() }
    }

    /// Whatever is acknowledged in which way, each segment and each byte is delivered once.
    #[test]
    fn delivered_once() {
        let mut flight = Flight::default();
        (0..10).for_each(|index| flight.on_sent(1 + 1000 * index, 1001 + 1000 * index));
        let mut delivered = Delivered::default();
        let told = [
            (1, vec![(2001, 4001)]),
            (1, vec![(2001, 4001), (8001, 9001)]),
            (1501, vec![]),
            (5001, vec![]),
            (10001, vec![]),
        ];
        for (number, blocks) in told {
            let more = flight.on_acknowledgement(&acknowledgement(number, &blocks), 1000);
            delivered.segments += more.segments;
            delivered.bytes += more.bytes;
        }
        assert_eq!(delivered, Delivered { segments: 10, bytes: 10_000 });
    }

    /// Linux tcp_input.c, tcp_check_sack_reordering, by hand: the distance from the highest segment that was acknowledged, in segments;
    /// a segment that was sent again shows nothing.
    #[test]
    fn reordering_of_originals() {
        let mut flight = Flight::default();
        (0..10).for_each(|index| flight.on_sent(1 + 1000 * index, 1001 + 1000 * index));
        flight.on_acknowledgement(&acknowledgement(1, &[(8001, 9001)]), 1000);
        assert_eq!((flight.reordering, flight.reorderings), (FIRST_REORDERING, 0));
        flight.on_sent(1, 1001);
        flight.on_acknowledgement(&acknowledgement(1001, &[(8001, 9001)]), 1000);
        assert_eq!((flight.reordering, flight.reorderings), (FIRST_REORDERING, 0));
        flight.on_acknowledgement(&acknowledgement(1001, &[(2001, 3001), (8001, 9001)]), 1000);
        assert_eq!((flight.reordering, flight.reorderings), (7, 1));
        flight.on_acknowledgement(&acknowledgement(9001, &[]), 1000);
        assert_eq!((flight.reordering, flight.reorderings), (8, 2));
    }
}
