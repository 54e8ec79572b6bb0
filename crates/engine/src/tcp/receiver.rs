//! The receiver: reassembly, delayed acknowledgements (RFC 5681 section 4.2), SACK generation (RFC 2018), the timestamp
//! to echo (RFC 7323 section 4.3) and the echo of congestion marks (RFC 3168, RFC 9768).
//!
//! Where the application reads immediately, the advertised window is the whole receive buffer, unless it grows. Both ends know it
//! from the stack profile, and acknowledgements do not carry it.

use std::collections::VecDeque;

use super::advertisement::{Advertised, Advertisement, Held};
use super::ecn::EcnKind;
use super::receive_window::{Offer, ReceiveWindow};
use super::timer_wheel;
use crate::packet::{AckOptions, Block, LoadFactor, MAXIMUM_SACK_BLOCKS, SackBlocks};
use crate::time::{Duration, Time};

/// The settings of the stack profile that the receiver uses.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverProfile {
    /// Acknowledge at least every n full segments.
    pub delayed_ack_count: u32,
    /// Maximum delay of an acknowledgement.
    pub delayed_ack_timeout: Duration,
    /// The tick of the host's timers.
    pub timer_tick: Duration,
    /// The number of initial segments that are acknowledged immediately, and of those after a duplicate or a pause (Linux
    /// tcp_input.c, tcp_enter_quickack_mode and tcp_event_data_recv).
    pub quick_acks: u8,
    /// The number of segments that are acknowledged immediately when the first mark is echoed; 0 not to mind marks.
    pub quick_acks_on_marks: u8,
    /// Of a receive window that grows, the size of a segment and the most that it may have.
    pub growing_window: Option<(u64, u64)>,
    /// Of a window that acknowledgements carry.
    pub advertised: Option<Advertised>,
    /// Maximum number of SACK blocks in an acknowledgement, 0 without SACK.
    pub maximum_sack_blocks: usize,
    /// Whether SACK blocks report duplicates.
    pub duplicate_sack: bool,
    /// Whether data that has not arrived is acknowledged when later data arrives.
    pub conceals_losses: bool,
    /// Maximum delay of an acknowledgement of data above a gap, zero for none, as far as the host bounds it.
    pub sack_compression: Duration,
    pub ecn: EcnKind,
    /// Whether one-way delays and arrival times are reported.
    pub one_way_delay: bool,
    /// Whether load factors are echoed.
    pub load_factor: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// Its sequence numbers, including a FIN.
    pub block: Block,
    /// Whether the last sequence number is a FIN.
    pub fin: bool,
    pub stamp: Time,
    pub marked: bool,
    /// Whether the sender reports that it has responded to the echo of a mark (CWR).
    pub window_reduced: bool,
    pub load_factor: Option<LoadFactor>,
}

/// The response to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    Acknowledge,
    /// Acknowledge immediately and report the duplicate (RFC 2883).
    AcknowledgeDuplicate(Block),
    /// Acknowledge when the delayed-acknowledgement timer expires, unless another segment arrives first.
    Delay,
}

state! {
    /// The receiver of a connection. The fields that an in-order segment accesses come first, in one cache line.
    #[derive(Clone)]
    #[repr(C)]
    pub Receiver(rcv_nxt: u64, profile: &ReceiverProfile) {
        /// What it expects next.
        rcv_nxt: u64 = rcv_nxt,
        /// Last.ACK.sent.
        last_ack_sent: u64 = rcv_nxt,
        /// TS.Recent: the timestamp to echo.
        echo: Time,
        /// When the delayed acknowledgement is due, `NEVER` if none is pending.
        pub ack_deadline: Time = Time::NEVER,
        /// Data received out of order. Allocated when this first occurs.
        reassembly: Option<Box<Reassembly>>,
        /// Measurements that only some senders request, and what was concealed.
        feedback: Option<Box<Feedback>>,
        /// A window whose growth is acknowledged. Allocated with the first segment of data.
        window: Option<Box<ReceiveWindow>>,
        /// Segments received in order and not yet acknowledged.
        unacknowledged: u16,
        /// The number of acknowledgements that are yet to be sent immediately.
        quick_acks: u8 = profile.quick_acks,
        echoes_congestion: bool,
        /// Sequence number of the FIN, `u64::MAX` while unknown.
        fin: u64 = u64::MAX,
        /// A window that acknowledgements carry. Allocated with the SYN.
        advertisement: Option<Box<Advertisement>>,
        /// Maximum delay of an acknowledgement of data above a gap, zero for none.
        pub sack_compression: Duration = profile.sack_compression,
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Feedback {
    marks: u64,
    latest_was_marked: bool,
    one_way_delay: Duration,
    arrived: Time,
    load_factor: Option<LoadFactor>,
    /// Bytes that have been acknowledged and have not arrived.
    concealed: u64,
}

impl Receiver {
    /// The SYN that was sent at `sent` has arrived. Returns the window that its answer carries, if any.
    pub fn on_syn(&mut self, sent: Time, now: Time, profile: &ReceiverProfile) -> Option<u64> {
        if let Some((segment, most)) = profile.growing_window {
            self.window = Some(Box::new(ReceiveWindow::new(segment, most, sent, now, profile.delayed_ack_timeout)));
        }
        let advertisement = Advertisement::new(profile.advertised?, self.window.as_deref(), self.rcv_nxt, now);
        let window = advertisement.window(self.rcv_nxt);
        self.advertisement = Some(Box::new(advertisement));
        Some(window)
    }

    fn held(&self) -> Held {
        let nothing = Held { rcv_nxt: self.rcv_nxt, waiting: 0, blocks: 0 };
        match &self.reassembly {
            Some(parts) if !parts.blocks.is_empty() => {
                Held { waiting: parts.waiting, blocks: parts.blocks.len() as u64, ..nothing }
            }
            _ => nothing,
        }
    }

    /// The application reads what it can until now.
    pub fn read(&mut self, now: Time) -> u64 {
        let rcv_nxt = self.rcv_nxt;
        self.advertisement.as_mut().map_or(rcv_nxt, |advertisement| advertisement.read(rcv_nxt, now))
    }

    /// The window that an acknowledgement carries now, if any.
    pub fn advertise(&mut self, now: Time) -> Option<u64> {
        self.read(now);
        let held = self.held();
        Some(self.advertisement.as_mut()?.offer(held, self.window.as_deref()))
    }

    /// When a larger window is advertised unasked, `NEVER` if it is not to be.
    pub fn update_due(&self) -> Time {
        match self.advertisement.as_deref().filter(|advertisement| advertisement.is_read_slowly()) {
            Some(advertisement) => advertisement.update_due(self.held(), self.window.as_deref()),
            None => Time::NEVER,
        }
    }

    /// A segment without data asks for an acknowledgement.
    pub fn on_probe(&mut self, stamp: Time) {
        self.echo = stamp;
    }

    /// RCV.NXT: all lower sequence numbers have been delivered to the application.
    pub fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Whether all has arrived, up to the FIN.
    pub fn has_fin(&self) -> bool {
        self.rcv_nxt > self.fin
    }

    /// Bytes of payload delivered to the application, without SYN and FIN.
    pub fn delivered(&self, first_data: u64) -> u64 {
        self.rcv_nxt.saturating_sub(first_data) - u64::from(self.has_fin()) - self.concealed()
    }

    /// Bytes of payload received, each counted once: those delivered and those above a gap.
    pub fn received(&self, first_data: u64) -> u64 {
        let waiting = self.reassembly.as_ref().map_or(0, |parts| parts.waiting);
        self.rcv_nxt.saturating_sub(first_data) + waiting - u64::from(self.fin != u64::MAX) - self.concealed()
    }

    fn concealed(&self) -> u64 {
        self.feedback.as_ref().map_or(0, |feedback| feedback.concealed)
    }

    pub fn echo(&self) -> Time {
        self.echo
    }

    pub fn echoes_congestion(&self) -> bool {
        self.echoes_congestion
    }

    /// A segment carries PSH: it is acknowledged as soon as the application has read it, which is at once if it is in order (Linux
    /// tcp_input.c, tcp_measure_rcv_mss; tcp.c, __tcp_cleanup_rbuf).
    pub fn on_push(&mut self, start: u64) {
        if start == self.rcv_nxt {
            self.quick_acks = self.quick_acks.max(1);
        }
    }

    // Inlined where segments arrive one by one, which is nearly always.
    #[inline(always)]
    pub fn on_segment(&mut self, segment: Segment, now: Time, profile: &ReceiverProfile) -> Response {
        let asks_nothing = profile.ecn == EcnKind::Off && !profile.one_way_delay && !profile.load_factor;
        let feedback_is_due = !asks_nothing && self.note(&segment, now, profile);
        match self.take(segment.block, segment.fin, segment.stamp, now, profile) {
            Response::Delay if feedback_is_due => Response::Acknowledge,
            response => response,
        }
    }

    /// More segments arrive as one with the next, which begins with the first of them.
    pub fn expect(&mut self, more: u64, next: &Segment, profile: &ReceiverProfile) {
        if next.block.start <= self.rcv_nxt {
            self.unacknowledged = self.unacknowledged.saturating_add(more as u16);
        }
        if next.marked && profile.ecn == EcnKind::Accurate {
            self.feedback.get_or_insert_default().marks += more;
        }
    }

    /// Records the segment's mark, load factor and delay. Returns whether to report to the sender immediately.
    fn note(&mut self, segment: &Segment, now: Time, profile: &ReceiverProfile) -> bool {
        if profile.load_factor {
            self.feedback.get_or_insert_default().load_factor = segment.load_factor;
        }
        match profile.ecn {
            EcnKind::Off => {}
            // RFC 3168 section 6.1.3: echoed until the sender reports that it has reduced its window.
            EcnKind::Classic => {
                let echoes = self.echoes_congestion && !segment.window_reduced;
                self.echoes_congestion = segment.marked || echoes;
                if profile.quick_acks_on_marks > 0 {
                    if segment.marked && !echoes {
                        self.quick_acks = self.quick_acks.max(profile.quick_acks_on_marks);
                    }
                    self.note_delay(segment, now, profile);
                    // The window of the sender may be so small that it waits for this (Linux tcp_input.c, tcp_ecn_accept_cwr).
                    return segment.window_reduced;
                }
            }
            EcnKind::Accurate => {
                let feedback = self.feedback.get_or_insert_default();
                let changes = segment.marked != feedback.latest_was_marked;
                feedback.marks += u64::from(segment.marked);
                feedback.latest_was_marked = segment.marked;
                self.note_delay(segment, now, profile);
                return changes; // RFC 9768 section 3.2.2.5.1, RFC 8257 section 3.2
            }
        }
        self.note_delay(segment, now, profile);
        false
    }

    fn note_delay(&mut self, segment: &Segment, now: Time, profile: &ReceiverProfile) {
        if profile.one_way_delay {
            let feedback = self.feedback.get_or_insert_default();
            feedback.one_way_delay = now.since(segment.stamp);
            feedback.arrived = now;
        }
    }

    #[inline(always)]
    fn take(&mut self, block: Block, fin: bool, stamp: Time, now: Time, profile: &ReceiverProfile) -> Response {
        if fin {
            self.fin = block.end - 1;
        }
        // RFC 7323 section 4.3 (2): the timestamp of the segment that advances the left edge last acknowledged is
        // echoed.
        if block.start <= self.last_ack_sent {
            self.echo = stamp;
        }
        if block.end <= self.rcv_nxt {
            return self.on_duplicate(block, profile);
        }
        if let Some(window) = &mut self.window {
            window.on_arrival(stamp, now);
            if window.may_grow(block.end - block.start) {
                self.grow_window(block.end - block.start);
            }
        }
        if block.start > self.rcv_nxt && profile.conceals_losses {
            self.conceal(block.start, stamp);
        }
        if block.start > self.rcv_nxt {
            let reassembly = self.reassembly.get_or_insert_default();
            let duplicate = (profile.duplicate_sack && reassembly.holds(block)).then_some(block);
            let is_new_block = duplicate.is_none() && reassembly.insert(block);
            reassembly.duplicate = None;
            if self.sack_compression == Duration::ZERO
                || self.quick_acks > 0
                || reassembly.is_acknowledged_at_once(self.rcv_nxt, is_new_block)
            {
                return duplicate.map_or(Response::Acknowledge, Response::AcknowledgeDuplicate);
            }
            reassembly.duplicate = duplicate;
            if self.ack_deadline == Time::NEVER {
                self.ack_deadline = now + self.sack_compression;
            }
            return Response::Delay;
        }
        self.rcv_nxt = block.end;
        let (mut fills_a_gap, mut duplicate) = (false, None);
        if let Some(reassembly) = &mut self.reassembly
            && !reassembly.blocks.is_empty()
        {
            fills_a_gap = true; // The first gap, or a part of it.
            reassembly.duplicate = None;
            duplicate = reassembly.overlap(block).filter(|_| profile.duplicate_sack);
            self.rcv_nxt = reassembly.absorb(self.rcv_nxt);
        }
        self.unacknowledged += 1;
        if let Some(window) = &mut self.window {
            // What waited above a gap is read in later pieces, for which no time has passed (Linux tcp_recvmsg_locked).
            let read = match &mut self.advertisement {
                Some(advertisement) => advertisement.read(block.end, now),
                None => block.end,
            };
            window.on_read(read, now);
            if window.ack_delay.on_data(now) {
                self.quick_acks = self.quick_acks.max(profile.quick_acks);
            }
        }
        if let Some(block) = duplicate {
            return Response::AcknowledgeDuplicate(block);
        }
        if self.quick_acks > 0 || fills_a_gap || fin || u32::from(self.unacknowledged) >= profile.delayed_ack_count {
            return Response::Acknowledge;
        }
        if self.ack_deadline == Time::NEVER {
            self.ack_deadline = now + self.ack_delay(profile);
        }
        Response::Delay
    }

    /// Takes the data below a sequence number for received. The data after it carries the timestamp to echo, as if it were in sequence.
    #[cold]
    fn conceal(&mut self, below: u64, stamp: Time) {
        self.feedback.get_or_insert_default().concealed += below - self.rcv_nxt;
        self.rcv_nxt = below;
        self.echo = stamp;
    }

    /// Lets the receive window grow with a segment, which is then acknowledged at once (Linux tcp_input.c, tcp_grow_window).
    #[inline(never)]
    fn grow_window(&mut self, length: u64) {
        let Held { rcv_nxt, waiting, blocks } = self.held();
        let unread = self.advertisement.as_ref().map_or(0, |advertisement| advertisement.unread(rcv_nxt));
        let Some(window) = &mut self.window else { return };
        if window.grows(length, Offer { unread, waiting, blocks }) {
            self.quick_acks |= 1;
        }
    }

    /// The response to a segment without new data: an unnecessary retransmission.
    fn on_duplicate(&mut self, block: Block, profile: &ReceiverProfile) -> Response {
        self.quick_acks = self.quick_acks.max(profile.quick_acks);
        if profile.duplicate_sack { Response::AcknowledgeDuplicate(block) } else { Response::Acknowledge }
    }

    /// Whether the delayed acknowledgement is due, now that its time has come: one of data in order waits for a tick of the timers.
    pub fn is_due(&mut self, now: Time, profile: &ReceiverProfile) -> bool {
        if self.unacknowledged > 0 {
            self.ack_deadline = timer_wheel::expiry(self.ack_deadline, self.ack_delay(profile), profile.timer_tick);
        }
        let is_due = self.ack_deadline <= now;
        if is_due
            && self.unacknowledged > 0
            && let Some(window) = &mut self.window
        {
            window.ack_delay.on_expiry();
        }
        is_due
    }

    /// How long an acknowledgement of data in order is delayed.
    fn ack_delay(&self, profile: &ReceiverProfile) -> Duration {
        self.window.as_ref().map_or(profile.delayed_ack_timeout, |window| window.ack_delay.present())
    }

    /// Updates the state for an outgoing acknowledgement. Returns whether it has options besides a duplicate block.
    #[inline(always)]
    pub fn on_ack_sent(&mut self) -> bool {
        self.unacknowledged = 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        self.ack_deadline = Time::NEVER;
        self.last_ack_sent = self.rcv_nxt;
        let has_gap = self.reassembly.as_mut().is_some_and(|reassembly| {
            reassembly.compressed = 0;
            !reassembly.blocks.is_empty()
        });
        has_gap || self.feedback.is_some()
    }

    /// The options of an acknowledgement that is sent now, besides a window.
    pub fn acknowledge(&mut self, duplicate: Option<Block>, profile: &ReceiverProfile) -> AckOptions {
        self.on_ack_sent();
        let mut options = AckOptions::NONE;
        self.report(duplicate, profile, &mut options);
        options
    }

    /// Adds the options of an acknowledgement. A duplicate block comes first (RFC 2883 section 4), then SACK blocks, the most
    /// recent first (RFC 2018 section 4).
    pub fn report(&mut self, duplicate: Option<Block>, profile: &ReceiverProfile, options: &mut AckOptions) {
        let waiting = self.reassembly.as_mut().and_then(|reassembly| reassembly.duplicate.take());
        if let Some(block) = duplicate.or(waiting) {
            options.sacks.push(block);
        }
        if let Some(reassembly) = &mut self.reassembly {
            reassembly.report(self.rcv_nxt, profile.maximum_sack_blocks, &mut options.sacks);
        }
        if let Some(feedback) = &self.feedback {
            options.one_way_delay = profile.one_way_delay.then_some(feedback.one_way_delay);
            options.arrived = profile.one_way_delay.then_some(feedback.arrived);
            options.marks = (profile.ecn == EcnKind::Accurate).then_some(feedback.marks);
            options.load_factor = feedback.load_factor;
        }
    }
}

/// The number of acknowledgements of data above the same gap that are never delayed: Linux include/net/tcp.h,
/// TCP_FASTRETRANS_THRESH.
const PROMPT_ACKS: u32 = 3;
/// The number of acknowledgements that one may stand for: Linux ip-sysctl.rst, tcp_comp_sack_nr.
const MOST_COMPRESSED: u32 = 44;
/// The number of SACK blocks up to which acknowledgements are delayed: Linux tcp_input.c, TCP_SACK_BLOCKS_EXPECTED.
const BLOCKS_EXPECTED: usize = 2;

/// Data received out of order.
#[derive(Clone, Debug, Default)]
struct Reassembly {
    /// Sorted, disjoint, not adjacent and above RCV.NXT. Gaps are filled from the left, so that updates are at the
    /// ends.
    blocks: VecDeque<Block>,
    /// The bytes that they are.
    waiting: u64,
    /// The blocks updated last, the most recent first.
    recent: RecentBlocks,
    /// The gap that the prompt acknowledgements are counted for, and their number.
    gap: u64,
    prompt: u32,
    /// Acknowledgements delayed since the last one that was sent.
    compressed: u32,
    /// A duplicate above the gap whose acknowledgement is delayed: the next segment makes the receiver forget it (Linux tcp_input.c,
    /// tcp_data_queue).
    duplicate: Option<Block>,
}

impl Reassembly {
    /// Whether to acknowledge data above the gap at `rcv_nxt` immediately: the first acknowledgements, which make the
    /// sender repair it, those that report more blocks than usual, and those that stand for many (Linux tcp_input.c,
    /// __tcp_ack_snd_check and tcp_sack_new_ofo_skb).
    fn is_acknowledged_at_once(&mut self, rcv_nxt: u64, is_new_block: bool) -> bool {
        if self.compressed >= MOST_COMPRESSED
            || (is_new_block && self.compressed > 0 && self.blocks.len() > BLOCKS_EXPECTED)
        {
            return true;
        }
        if self.gap != rcv_nxt {
            self.gap = rcv_nxt;
            self.prompt = 0;
        }
        if self.prompt < PROMPT_ACKS {
            self.prompt += 1;
            return true;
        }
        self.compressed += 1;
        false
    }

    /// The first part of a segment at the first gap that had arrived before, up to where something is missing in between (RFC 2883
    /// section 4.2; Linux tcp_input.c, tcp_ofo_queue).
    fn overlap(&self, block: Block) -> Option<Block> {
        let first = self.blocks.front().filter(|first| first.start < block.end)?;
        Some(Block { start: first.start, end: first.end.min(block.end) })
    }

    /// Removes the blocks that are contiguous with data up to `rcv_nxt`. Returns the new RCV.NXT.
    fn absorb(&mut self, mut rcv_nxt: u64) -> u64 {
        while let Some(first) = self.blocks.front()
            && first.start <= rcv_nxt
        {
            rcv_nxt = rcv_nxt.max(first.end);
            self.waiting -= first.end - first.start;
            self.blocks.pop_front();
        }
        rcv_nxt
    }

    /// Inserts a block. Returns whether it touches no other.
    fn insert(&mut self, block: Block) -> bool {
        // The first block that ends at or after the start of the new one: it touches the new one or follows it.
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
            self.waiting -= other.end - other.start;
            after += 1;
        }
        self.waiting += merged.end - merged.start;
        if after == position {
            self.blocks.insert(position, merged);
        } else {
            self.blocks[position] = merged;
            if after > position + 1 {
                self.blocks.drain(position + 1..after);
            }
        }
        self.recent.touch(merged);
        after == position
    }

    /// Whether the whole block has been received.
    fn holds(&self, block: Block) -> bool {
        let position = self.blocks.partition_point(|other| other.end <= block.start);
        self.blocks.get(position).is_some_and(|other| other.start <= block.start && block.end <= other.end)
    }

    /// Adds blocks, the most recent first, up to `maximum`.
    fn report(&mut self, rcv_nxt: u64, maximum: usize, sacks: &mut SackBlocks) {
        if self.blocks.is_empty() || maximum == 0 {
            return;
        }
        self.recent.forget_below(rcv_nxt);
        for block in self.recent.as_slice().iter().take(maximum - sacks.as_slice().len()) {
            debug_assert!(self.holds(*block), "what changes a block makes it the most recent");
            sacks.push(*block);
        }
    }
}

/// The blocks updated last, as many as an acknowledgement can report.
#[derive(Clone, Debug, Default)]
struct RecentBlocks {
    blocks: [Block; MAXIMUM_SACK_BLOCKS],
    length: usize,
}

impl RecentBlocks {
    fn as_slice(&self) -> &[Block] {
        &self.blocks[..self.length]
    }

    /// Puts `block` in front and removes the blocks that it covers.
    fn touch(&mut self, block: Block) {
        let (mut kept, mut next) = (0, block);
        for index in 0..self.length {
            let other = self.blocks[index];
            if other.start < block.start || other.start >= block.end {
                self.blocks[kept] = std::mem::replace(&mut next, other);
                kept += 1;
            }
        }
        if kept < MAXIMUM_SACK_BLOCKS {
            self.blocks[kept] = next;
            kept += 1;
        }
        self.length = kept;
    }

    fn forget_below(&mut self, sequence: u64) {
        let mut kept = 0;
        for index in 0..self.length {
            if self.blocks[index].start >= sequence {
                self.blocks[kept] = self.blocks[index];
                kept += 1;
            }
        }
        self.length = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile::StackProfile;

    const MSS: u64 = 1000;

    fn at(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(microseconds)
    }

    /// Linux tcp_input.c, tcp_data_queue: a duplicate makes the receiver acknowledge the next segments at once, its own acknowledgement
    /// included in their number.
    #[test]
    fn quick_after_duplicate() {
        let profile = ReceiverProfile { quick_acks: 2, ..StackProfile::default().receiver(false) };
        let mut receiver = Receiver::new(0, &profile);
        let mut is_delayed = |segment: u64| {
            let block = Block { start: segment * MSS, end: (segment + 1) * MSS };
            let response = receiver.on_segment(Segment { block, ..Segment::default() }, at(0), &profile);
            if response != Response::Delay {
                receiver.on_ack_sent();
            }
            response == Response::Delay
        };
        assert_eq!(
            [0, 1, 2, 3].map(&mut is_delayed),
            [false, false, true, false],
            "two at the start, then every second"
        );
        assert_eq!([3, 4, 5, 6].map(&mut is_delayed), [false, false, true, false], "the duplicate and one more");
    }

    /// Linux tcp_input.c, __tcp_ecn_check_ce and tcp_ecn_accept_cwr: what begins an echo makes two acknowledgements immediate, other
    /// marks of it none; the segment that says that the window was reduced is acknowledged immediately.
    #[test]
    fn quick_after_marks() {
        let ecn = StackProfile { ecn: EcnKind::Classic, ..StackProfile::default() };
        let profile = ReceiverProfile { quick_acks_on_marks: 2, ..ecn.receiver(false) };
        let mut receiver = Receiver::new(0, &profile);
        let mut is_delayed = |(segment, marked, window_reduced): (u64, bool, bool)| {
            let block = Block { start: segment * MSS, end: (segment + 1) * MSS };
            let segment = Segment { block, marked, window_reduced, ..Segment::default() };
            let response = receiver.on_segment(segment, at(0), &profile);
            if response != Response::Delay {
                receiver.on_ack_sent();
            }
            response == Response::Delay
        };
        let plain = |segment| (segment, false, false);
        assert_eq!([plain(0), plain(1)].map(&mut is_delayed), [true, false], "every second");
        let echoing = [(2, true, false), (3, true, false), (4, true, false), (5, true, false)];
        assert_eq!(echoing.map(&mut is_delayed), [false, false, true, false], "two at the first mark");
        assert_eq!(
            [(6, false, true), plain(7), plain(8)].map(&mut is_delayed),
            [false, true, false],
            "the segment with CWR"
        );
        assert_eq!(
            [(9, true, false), plain(10)].map(&mut is_delayed),
            [false, false],
            "the first mark of another echo"
        );
        assert!(receiver.echoes_congestion());
    }

    /// Linux tcp_input.c, tcp_measure_rcv_mss, and tcp.c, __tcp_cleanup_rbuf: a segment in order with PSH is acknowledged at once, one
    /// above a gap makes no later one so.
    #[test]
    fn push_is_acknowledged() {
        let profile = StackProfile::default().receiver(false);
        let mut receiver = Receiver::new(0, &profile);
        let mut responds = |segment: u64, pushes: bool| {
            let block = Block { start: segment * MSS, end: (segment + 1) * MSS };
            if pushes {
                receiver.on_push(block.start);
            }
            let response = receiver.on_segment(Segment { block, ..Segment::default() }, at(0), &profile);
            if response != Response::Delay {
                receiver.on_ack_sent();
            }
            response == Response::Acknowledge
        };
        assert!(!responds(0, false) && responds(1, false), "every second");
        assert!(responds(2, true), "alone");
        assert!(!responds(3, false), "the next is delayed again");
        assert!(responds(5, true) && responds(4, false) && !responds(6, false), "above a gap");
    }

    /// The delay of an acknowledgement in `ack_delay.rs` is the receiver's: 40 ms, then that of the handshake, 61 ms in whole ticks.
    #[test]
    fn delay_after_expiry() {
        let profile = ReceiverProfile {
            quick_acks: 0,
            quick_acks_on_marks: 0,
            growing_window: Some((MSS, 1 << 20)),
            delayed_ack_timeout: Duration::from_milliseconds(40),
            timer_tick: Duration::ZERO,
            ..StackProfile::default().receiver(false)
        };
        let mut receiver = Receiver::new(1, &profile);
        receiver.on_syn(at(0), at(30_100), &profile);
        let mut delays = vec![];
        for segment in 0..2 {
            let now = at(100_000 + 70_000 * segment);
            let block = Block { start: 1 + segment * MSS, end: 1 + (segment + 1) * MSS };
            let sent = Segment { block, stamp: at(60_200), ..Segment::default() };
            assert_eq!(receiver.on_segment(sent, now, &profile), Response::Delay);
            let due = receiver.ack_deadline;
            delays.push(due.since(now));
            assert!(receiver.is_due(due, &profile));
            receiver.on_ack_sent();
        }
        assert_eq!(delays, [40, 61].map(Duration::from_milliseconds));
    }

    /// Every second segment is acknowledged at once, others after 40 ms.
    fn delaying() -> ReceiverProfile {
        ReceiverProfile {
            delayed_ack_count: 2,
            delayed_ack_timeout: Duration::from_milliseconds(40),
            timer_tick: Duration::ZERO,
            quick_acks: 0,
            quick_acks_on_marks: 0,
            ..StackProfile::default().receiver(false)
        }
    }

    /// RFC 2883 section 4.2: a segment that fills the gap and reaches into what had arrived reports the part that it repeats, up to the
    /// next gap; one that only fills the gap reports none.
    #[test]
    fn repeated_part() {
        let block = |start: u64, end: u64| Block { start: start * MSS, end: end * MSS };
        let segment = |start, end| Segment { block: block(start, end), ..Segment::default() };
        let profile = ReceiverProfile { duplicate_sack: true, sack_compression: Duration::ZERO, ..delaying() };
        for (last, response) in [
            (1, Response::Acknowledge),
            (2, Response::AcknowledgeDuplicate(block(1, 2))),
            (5, Response::AcknowledgeDuplicate(block(1, 3))),
        ] {
            let mut receiver = Receiver::new(0, &profile);
            receiver.on_segment(segment(1, 3), at(0), &profile);
            receiver.on_segment(segment(4, 6), at(0), &profile);
            assert_eq!(receiver.on_segment(segment(0, last), at(0), &profile), response);
            assert_eq!(receiver.rcv_nxt(), if last < 4 { 3 * MSS } else { 6 * MSS });
        }
    }

    /// Linux tcp_input.c, __tcp_ack_snd_check, by hand: three acknowledgements above a gap are sent at once, then one a
    /// millisecond; a gap that moves, or a third block while one is delayed, has an acknowledgement at once.
    #[test]
    fn sack_compression() {
        let profile =
            ReceiverProfile { duplicate_sack: true, sack_compression: Duration::from_milliseconds(1), ..delaying() };
        let mut receiver = Receiver::new(0, &profile);
        let mut acknowledges = |segment: u64, time: u64| {
            let block = Block { start: segment * MSS, end: (segment + 1) * MSS };
            let response = receiver.on_segment(Segment { block, ..Segment::default() }, at(time), &profile);
            let due = receiver.ack_deadline;
            // The owner sends at the deadline; here before the next segment that is later.
            if response != Response::Delay {
                receiver.on_ack_sent();
            }
            (response == Response::Acknowledge, due)
        };
        for (segment, time) in [(1, 0), (2, 100), (3, 200)] {
            assert!(acknowledges(segment, time).0, "segment {segment} of the first three above the gap");
        }
        assert_eq!(acknowledges(4, 300), (false, at(1300)));
        assert_eq!(acknowledges(5, 900), (false, at(1300)), "the first that waits sets the time");
        assert_eq!(acknowledges(7, 1000), (false, at(1300)), "a second block");
        assert!(acknowledges(9, 1100).0, "a third block");
        assert_eq!(acknowledges(10, 1200), (false, at(2200)));
        assert!(acknowledges(0, 1300).0, "the gap is filled");
        for (segment, time) in [(11, 1400), (12, 1500), (13, 1600)] {
            assert!(acknowledges(segment, time).0, "segment {segment} of the first three above the next gap");
        }
        assert!(!acknowledges(14, 1700).0);
    }

    /// Linux tcp_input.c, tcp_data_queue_ofo and tcp_data_queue: the acknowledgement of a duplicate above a gap is delayed as others are,
    /// and does not report it if another segment has arrived meanwhile.
    #[test]
    fn duplicate_of_a_delayed_acknowledgement() {
        let profile =
            ReceiverProfile { duplicate_sack: true, sack_compression: Duration::from_milliseconds(1), ..delaying() };
        let block = |segment: u64| Block { start: segment * MSS, end: (segment + 1) * MSS };
        for (arriving, reported) in [(vec![4], true), (vec![4, 5], false), (vec![4, 0], false)] {
            let mut receiver = Receiver::new(0, &profile);
            let take = |receiver: &mut Receiver, segment: u64| {
                receiver.on_segment(Segment { block: block(segment), ..Segment::default() }, at(100), &profile)
            };
            for segment in 1..=4 {
                if take(&mut receiver, segment) == Response::Acknowledge {
                    receiver.acknowledge(None, &profile);
                }
            }
            for segment in &arriving {
                take(&mut receiver, *segment);
            }
            let sacks = receiver.acknowledge(None, &profile).sacks;
            assert_eq!(sacks.as_slice().first() == Some(&block(4)), reported, "{arriving:?}");
            assert_ne!(receiver.acknowledge(None, &profile).sacks.as_slice().first(), Some(&block(4)), "once");
        }
    }
}
