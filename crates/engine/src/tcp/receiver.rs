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

/// A connection's receiving end. What a segment that arrives in order touches is one cache line.
#[derive(Clone, Debug)]
pub struct Receiver {
    rcv_nxt: u64,
    /// Last.ACK.sent.
    last_ack_sent: u64,
    /// TS.Recent: the timestamp to echo.
    echo: Time,
    /// When the delayed acknowledgement is due; `NEVER` when none is owed.
    pub ack_deadline: Time,
    /// Sequence number of the FIN; the last there is while it is not known.
    fin: u64,
    /// What arrived out of order; none before that first happens.
    reassembly: Option<Box<Reassembly>>,
    /// Segments received in order and not yet acknowledged.
    unacknowledged: u32,
}

impl Receiver {
    /// Waits for data from `rcv_nxt` on.
    pub fn new(rcv_nxt: u64) -> Receiver {
        Receiver {
            rcv_nxt,
            last_ack_sent: rcv_nxt,
            echo: Time::ZERO,
            ack_deadline: Time::NEVER,
            fin: u64::MAX,
            reassembly: None,
            unacknowledged: 0,
        }
    }

    /// RCV.NXT: every byte below has been handed to the application.
    pub fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Bytes of payload handed to the application, SYN and FIN left out.
    pub fn delivered(&self, first_data: u64) -> u64 {
        self.rcv_nxt.saturating_sub(first_data) - u64::from(self.rcv_nxt > self.fin)
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
            self.fin = block.end - 1;
        }
        // RFC 7323 section 4.3 (2): the echo is that of the segment that advances the left edge last acknowledged.
        if block.start <= self.last_ack_sent {
            self.echo = stamp;
        }
        if block.end <= self.rcv_nxt {
            return Response::Acknowledge; // Nothing new: a needless retransmission.
        }
        if block.start > self.rcv_nxt {
            self.reassembly.get_or_insert_default().insert(block);
            return Response::Acknowledge;
        }
        self.rcv_nxt = block.end;
        let mut fills_a_gap = false;
        if let Some(reassembly) = &mut self.reassembly
            && !reassembly.blocks.is_empty()
        {
            fills_a_gap = true; // The first, or a part of it.
            self.rcv_nxt = reassembly.absorb(self.rcv_nxt);
        }
        self.unacknowledged += 1;
        if fills_a_gap || fin || self.unacknowledged >= profile.delayed_ack_count {
            return Response::Acknowledge;
        }
        if self.ack_deadline == Time::NEVER {
            self.ack_deadline = now + profile.delayed_ack_timeout;
        }
        Response::Delay
    }

    /// An acknowledgement leaves: gives its SACK blocks, the most recent first (RFC 2018 section 4).
    pub fn on_ack_sent(&mut self, profile: &ReceiverProfile) -> SackBlocks {
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
        self.last_ack_sent = self.rcv_nxt;
        match &mut self.reassembly {
            Some(reassembly) => reassembly.sacks(self.rcv_nxt, profile.maximum_sack_blocks),
            None => SackBlocks::default(),
        }
    }
}

/// Data that arrived out of order.
#[derive(Clone, Debug, Default)]
struct Reassembly {
    /// Sorted, disjoint, not adjacent, all above RCV.NXT. Losses are filled from the left, so the work is at its ends.
    blocks: VecDeque<Block>,
    /// A sequence number in each of the blocks that grew last, the most recent first.
    recent: RecentBlocks,
}

impl Reassembly {
    /// Takes what has become contiguous with data up to `rcv_nxt`. Returns the new RCV.NXT.
    fn absorb(&mut self, mut rcv_nxt: u64) -> u64 {
        while let Some(first) = self.blocks.front()
            && first.start <= rcv_nxt
        {
            rcv_nxt = rcv_nxt.max(first.end);
            self.blocks.pop_front();
        }
        rcv_nxt
    }

    fn insert(&mut self, block: Block) {
        // The first block that ends at or after the new one's start, hence touches it or follows it.
        let position = match self.blocks.back() {
            Some(last) if last.end < block.start => self.blocks.len(),
            Some(last) if last.start <= block.start => self.blocks.len() - 1,
            _ => self.blocks.partition_point(|other| other.end < block.start),
        };
        let mut merged = block;
        let mut after = position;
        while let Some(other) = self.blocks.get(after)
            && other.start <= merged.end
        {
            merged.start = merged.start.min(other.start);
            merged.end = merged.end.max(other.end);
            after += 1;
        }
        if after == position {
            self.blocks.insert(position, merged);
        } else {
            self.blocks[position] = merged;
            self.blocks.drain(position + 1..after);
        }
        self.recent.touch(merged);
    }

    fn sacks(&mut self, rcv_nxt: u64, maximum: usize) -> SackBlocks {
        let mut sacks = SackBlocks::default();
        if self.blocks.is_empty() || maximum == 0 {
            return sacks;
        }
        self.recent.forget_below(rcv_nxt);
        for sequence in self.recent.as_slice().iter().take(maximum) {
            let position = self.blocks.partition_point(|block| block.end <= *sequence);
            sacks.push(self.blocks[position]);
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
