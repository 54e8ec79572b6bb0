//! Receive offload: segments in sequence that arrive within a short time reach TCP as one, which has one acknowledgement. Linux
//! net/core/gro.c, dev_gro_receive, and net/ipv4/tcp_offload.c, tcp_gro_receive; the time is that by which a network card delays its
//! interrupt.

use crate::packet::Block;
use crate::tcp::receiver::Segment;
use crate::time::{Duration, Time};

/// The most bytes that reach TCP as one: Linux include/linux/netdevice.h, GRO_LEGACY_MAX_SIZE.
const MOST_BYTES: u64 = 65_536;

/// Segments in sequence.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// All of them as one.
    pub segment: Segment,
    pub count: u64,
    /// When they reach TCP at the latest.
    pub due: Time,
}

impl Run {
    fn length(&self) -> u64 {
        self.segment.block.end - self.segment.block.start
    }

    /// Whether a segment is the next, and alike as far as TCP can tell.
    fn is_followed_by(&self, next: &Segment) -> bool {
        let run = &self.segment;
        !run.fin
            && run.block.end == next.block.start
            && self.length() + (next.block.end - next.block.start) <= MOST_BYTES
            && (run.marked, run.window_reduced, run.load_factor) == (next.marked, next.window_reduced, next.load_factor)
    }
}

/// The segments of a connection that wait for others.
#[derive(Clone, Debug)]
pub struct Offload {
    wait: Duration,
    run: Option<Run>,
}

impl Offload {
    /// Nothing waits. A segment waits this long for others.
    pub fn new(wait: Duration) -> Offload {
        Offload { wait, run: None }
    }

    /// A segment arrives. Returns the run that reaches TCP now, if one does: that before a segment which does not continue it.
    pub fn take(&mut self, segment: Segment, now: Time) -> Option<Run> {
        if let Some(run) = self.run.as_mut().filter(|run| run.is_followed_by(&segment)) {
            let Block { end, .. } = segment.block;
            run.segment.block.end = end;
            run.segment.fin = segment.fin;
            run.count += 1;
            return None;
        }
        self.run.replace(Run { segment, count: 1, due: now + self.wait })
    }

    /// When the waiting segments reach TCP.
    pub fn due(&self) -> Time {
        self.run.map_or(Time::NEVER, |run| run.due)
    }

    /// The waiting segments, if it is time.
    pub fn take_due(&mut self, now: Time) -> Option<Run> {
        self.run.take_if(|run| run.due <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn segment(number: u64) -> Segment {
        Segment { block: Block { start: number * MSS, end: (number + 1) * MSS }, ..Segment::default() }
    }

    fn at(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(microseconds)
    }

    /// Linux net/ipv4/tcp_offload.c, tcp_gro_receive, by hand: a run ends before a gap, before a segment with another mark, after
    /// a FIN, and where it would exceed 65,536 bytes; it reaches TCP a wait after its first segment.
    #[test]
    fn ends_of_runs() {
        let marked = Segment { marked: true, ..segment(5) };
        let last = Segment { fin: true, ..segment(6) };
        let mut offload = Offload::new(Duration::from_microseconds(50));
        let mut counts = Vec::new();
        let arrivals =
            [segment(0), segment(1), segment(3), segment(4), marked, Segment { marked: true, ..last }, segment(7)];
        for (arrival, time) in arrivals.into_iter().zip(0..) {
            counts.extend(offload.take(arrival, at(time)).map(|run| (run.segment.block.start / MSS, run.count)));
        }
        assert_eq!(counts, [(0, 2), (3, 2), (5, 2)]);
        assert_eq!(offload.due(), at(6 + 50));
        assert!(offload.take_due(at(55)).is_none());
        assert_eq!(offload.take_due(at(56)).map(|run| run.count), Some(1));
        assert_eq!(offload.due(), Time::NEVER);
        let full = (0..100).find_map(|number| offload.take(segment(number), at(100))).expect("a run is full");
        assert_eq!(full.count, 65_536 / MSS);
    }
}
