//! The receiving end: reassembly, delayed acknowledgements (RFC 5681 section 4.2), SACK generation (RFC 2018) and the
//! timestamp to echo (RFC 7323 section 4.3).
//!
//! The application reads at once, so the advertised window is always the whole receive buffer; both ends know it from
//! the stack profile and acknowledgements need not carry it.

use std::collections::VecDeque;

use crate::packet::{Block, MAXIMUM_SACK_BLOCKS, SackBlocks};
use crate::time::{Duration, Time};

/// What the receiver needs of the stack profile.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverProfile {
    /// Acknowledge at least every so many full segments.
    pub delayed_ack_count: u32,
    /// Acknowledge at the latest after this.
    pub delayed_ack_timeout: Duration,
    /// How many SACK blocks fit into an acknowledgement; 0 without SACK.
    pub maximum_sack_blocks: usize,
}

/// What the receiver does about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Acknowledge now.
    Acknowledge,
    /// Acknowledge when the delayed-acknowledgement timer fires, unless another segment comes first.
    Delay,
}

/// A connection's receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    rcv_nxt: u64,
    /// Sorted, disjoint, not adjacent, all above `rcv_nxt`. Losses are filled from the left, so the work is at its ends.
    out_of_order: VecDeque<Block>,
    /// A sequence number in each of the blocks that grew last, the most recent first.
    recent: RecentBlocks,
    /// Segments received in order and not yet acknowledged.
    unacknowledged: u32,
    /// When the delayed acknowledgement is due; `NEVER` when none is owed.
    pub ack_deadline: Time,
    /// TS.Recent: the timestamp to echo.
    echo: Time,
    /// Last.ACK.sent.
    last_ack_sent: u64,
    /// Sequence number of the FIN, once it is known.
    fin: Option<u64>,
}

impl Receiver {
    /// Waits for data from `rcv_nxt` on.
    pub fn new(rcv_nxt: u64) -> Receiver {
        Receiver {
            rcv_nxt,
            out_of_order: VecDeque::new(),
            recent: RecentBlocks::default(),
            unacknowledged: 0,
            ack_deadline: Time::NEVER,
            echo: Time::ZERO,
            last_ack_sent: rcv_nxt,
            fin: None,
        }
    }

    /// RCV.NXT: every byte below has been handed to the application.
    pub fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Bytes of payload handed to the application, SYN and FIN left out.
    pub fn delivered(&self, first_data: u64) -> u64 {
        let fin_received = self.fin.is_some_and(|fin| self.rcv_nxt > fin);
        self.rcv_nxt.saturating_sub(first_data) - u64::from(fin_received)
    }

    /// The timestamp to echo in the next acknowledgement.
    pub fn echo(&self) -> Time {
        self.echo
    }

    /// A segment arrived: sequence numbers `block`, its FIN (if any) being the last of them.
    pub fn on_segment(
        &mut self,
        block: Block,
        fin: bool,
        stamp: Time,
        now: Time,
        profile: &ReceiverProfile,
    ) -> Response {
        if fin {
            self.fin = Some(block.end - 1);
        }
        // RFC 7323 section 4.3 (2): the echo is that of the segment that advances the left edge last acknowledged.
        if block.start <= self.last_ack_sent {
            self.echo = stamp;
        }
        if block.end <= self.rcv_nxt {
            return Response::Acknowledge; // Nothing new: a needless retransmission.
        }
        if block.start > self.rcv_nxt {
            self.insert(block);
            return Response::Acknowledge;
        }
        self.rcv_nxt = block.end;
        let filled_a_gap = self.absorb();
        self.unacknowledged += 1;
        if filled_a_gap || !self.out_of_order.is_empty() || fin || self.unacknowledged >= profile.delayed_ack_count {
            return Response::Acknowledge;
        }
        if self.ack_deadline == Time::NEVER {
            self.ack_deadline = now + profile.delayed_ack_timeout;
        }
        Response::Delay
    }

    /// Takes what has become contiguous. Returns whether there was any.
    fn absorb(&mut self) -> bool {
        let mut any = false;
        while let Some(first) = self.out_of_order.front()
            && first.start <= self.rcv_nxt
        {
            self.rcv_nxt = self.rcv_nxt.max(first.end);
            self.out_of_order.pop_front();
            any = true;
        }
        any
    }

    fn insert(&mut self, block: Block) {
        // The first block that ends at or after the new one's start, hence touches it or follows it.
        let position = match self.out_of_order.back() {
            Some(last) if last.end < block.start => self.out_of_order.len(),
            Some(last) if last.start <= block.start => self.out_of_order.len() - 1,
            _ => self.out_of_order.partition_point(|other| other.end < block.start),
        };
        let mut merged = block;
        let mut after = position;
        while let Some(other) = self.out_of_order.get(after)
            && other.start <= merged.end
        {
            merged.start = merged.start.min(other.start);
            merged.end = merged.end.max(other.end);
            after += 1;
        }
        if after == position {
            self.out_of_order.insert(position, merged);
        } else {
            self.out_of_order[position] = merged;
            self.out_of_order.drain(position + 1..after);
        }
        self.recent.touch(merged);
    }

    /// An acknowledgement leaves: gives its SACK blocks, the most recent first (RFC 2018 section 4).
    pub fn on_ack_sent(&mut self, profile: &ReceiverProfile) -> SackBlocks {
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
        self.last_ack_sent = self.rcv_nxt;
        let mut sacks = SackBlocks::default();
        if self.out_of_order.is_empty() || profile.maximum_sack_blocks == 0 {
            return sacks;
        }
        self.recent.forget_below(self.rcv_nxt);
        for sequence in self.recent.as_slice().iter().take(profile.maximum_sack_blocks) {
            let position = self.out_of_order.partition_point(|block| block.end <= *sequence);
            sacks.push(self.out_of_order[position]);
        }
        sacks
    }
}

/// The blocks that grew last, as many as an acknowledgement may report.
#[derive(Clone, Debug, Default)]
struct RecentBlocks {
    sequences: [u64; MAXIMUM_SACK_BLOCKS],
    length: usize,
}

impl RecentBlocks {
    fn as_slice(&self) -> &[u64] {
        &self.sequences[..self.length]
    }

    fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let mut kept = 0;
        for index in 0..self.length {
            if keep(self.sequences[index]) {
                self.sequences[kept] = self.sequences[index];
                kept += 1;
            }
        }
        self.length = kept;
    }

    /// `block` grew: it comes first, and what it swallowed goes.
    fn touch(&mut self, block: Block) {
        self.retain(|sequence| sequence < block.start || sequence >= block.end);
        self.length = (self.length + 1).min(MAXIMUM_SACK_BLOCKS);
        self.sequences[..self.length].rotate_right(1);
        self.sequences[0] = block.start;
    }

    fn forget_below(&mut self, sequence: u64) {
        self.retain(|recent| recent >= sequence);
    }
}
