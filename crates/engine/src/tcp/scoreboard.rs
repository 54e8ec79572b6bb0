//! The state of each segment between SND.UNA and SND.NXT (RFC 6675 sections 2 to 4).
//!
//! The stream is divided at multiples of the segment size (only the last segment may be short), so a segment is
//! identified by its index and found in a ring in O(1). The cost is amortised O(1) per segment and per acknowledgement,
//! however many segments are lost:
//!
//! * A maximal run of SACKed segments stores its bounds at both ends (boundary tags). A SACK block that repeats known
//!   ones is skipped in one step, and runs merge in one step.
//! * `frontier`, below which every segment not SACKed is lost, only increases.
//! * `next_lost` and `next_hole`, at which retransmission continues, only increase within an episode, except that a
//!   retransmission detected as lost by time moves `next_lost` back.
//! * pipe is computed from counters.

use std::collections::VecDeque;

use super::segment_ring::SegmentRing;
use crate::packet::{Block, MAXIMUM_SACK_BLOCKS, SackBlocks};

/// One segment in 4 bytes: three bits of state and the tag of its run.
#[derive(Clone, Copy, Debug, Default)]
struct Segment(u32);

impl Segment {
    const SACKED: u32 = 1;
    const LOST: u32 = 1 << 1;
    /// Retransmitted since it was last marked lost, and thus counted in pipe again.
    const RETRANSMITTED: u32 = 1 << 2;
    const TAG_SHIFT: u32 = 3;

    fn is(self, state: u32) -> bool {
        self.0 & state != 0
    }

    /// 1 if the segment has this state, otherwise 0.
    fn one_if(self, state: u32) -> u64 {
        u64::from(self.is(state))
    }

    fn set(&mut self, state: u32) {
        self.0 |= state;
    }

    fn clear(&mut self, state: u32) {
        self.0 &= !state;
    }

    /// At the first segment of a run of SACKed segments, the index after its last. At the last segment, the index of
    /// the first. In between, undefined. Only the low bits of an index are stored.
    fn tag(&mut self, index: u64) {
        self.0 = (self.0 & ((1 << Segment::TAG_SHIFT) - 1)) | ((index as u32) << Segment::TAG_SHIFT);
    }

    /// The distance of the tagged index above `from`.
    fn tag_above(self, from: u64) -> u64 {
        u64::from((self.0 >> Segment::TAG_SHIFT).wrapping_sub(from as u32) & (u32::MAX >> Segment::TAG_SHIFT))
    }

    /// The distance of the tagged index below `from`.
    fn tag_below(self, from: u64) -> u64 {
        u64::from((from as u32).wrapping_sub(self.0 >> Segment::TAG_SHIFT) & (u32::MAX >> Segment::TAG_SHIFT))
    }
}

/// Sequence number of the first byte of data. The SYN occupies 0.
pub const FIRST_DATA: u64 = 1;

/// The maximum number of outstanding segments for which tags are unambiguous.
pub const MOST_SEGMENTS: u64 = 1 << (u32::BITS - Segment::TAG_SHIFT);

/// The rule by which a segment is considered lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRule {
    /// As many segments above it as the duplicate threshold are SACKed: IsLost() of RFC 6675.
    Above,
    /// The highest SACKed segment is the duplicate threshold above it: Mathis and Mahdavi 1996, section 2.2.
    Forward,
    /// The highest SACKed segment is one more than the duplicate threshold above it: ns-2.35 tcp/scoreboard1.cc,
    /// UpdateScoreBoard.
    Beyond,
    /// As `Above`. A retransmission counts as in flight until it is cumulatively acknowledged, though it is SACKed: ns-3
    /// tcp-tx-buffer.cc, Update, which keeps `m_retrans`.
    Ns3,
    /// The time since it was sent, as measured by the recovery.
    Time,
    /// As the recovery counts duplicate acknowledgements. Which segments they stand for is not known, only their number
    /// ([`Scoreboard::presume_arrived`]).
    Duplicates,
}

/// The state of the outstanding segments. In the order in which an acknowledgement accesses its fields, as in
/// [`Sender`](super::sender::Sender).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    /// Index of the first unacknowledged segment.
    una: u64,
    /// Index of the next new segment.
    nxt: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    mss: u64,
    ring: SegmentRing<Segment>,
    /// Every segment below the frontier is SACKed or lost. This and the next two may be below `una`, which then takes their place.
    frontier: u64,
    /// No lost segment below this index is waiting for retransmission.
    next_lost: u64,
    /// No segment below this index is retransmitted under NextSeg rule 3.
    next_hole: u64,
    /// One past the highest SACKed segment, at most `una` if there is none.
    highest_sacked: u64,
    /// SACKed segments at or above the frontier. A segment at the frontier that is not SACKed is lost once their number
    /// reaches the duplicate threshold.
    sacked_above_frontier: u64,
    /// One past the highest segment ever marked lost.
    lost_end: u64,
    /// Segments that were retransmitted and cumulatively acknowledged without having been SACKed.
    repaired: u64,
    duplicate_threshold: u64,
    rule: LossRule,
    /// What the latest acknowledgement SACKed. Allocated with the first that SACKs anything.
    reported: Option<Box<Reported>>,
    /// Segments detected as lost and not yet reported, `None` if losses are not reported, as for most flows: a pointer is all that takes.
    #[allow(clippy::box_collection)]
    unreported_losses: Option<Box<VecDeque<u64>>>,
}

/// The SACK blocks of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    blocks: SackBlocks,
    /// Index one past the last segment of the first block.
    end: u64,
}

/// The changes caused by an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Segments newly known to be delivered.
    pub delivered: u64,
    pub newly_sacked: u64,
    pub newly_lost: u64,
    /// Segments that were delivered once more, by reports of duplicates that are believed.
    pub needless: u64,
}

/// Who is told of each segment that is newly known to be delivered.
pub trait Told {
    /// A segment has been delivered: either acknowledged or SACKed.
    fn of_delivery(&mut self, index: u64, is_sacked: bool);
}

/// Nobody.
impl Told for () {
    #[inline(always)]
    fn of_delivery(&mut self, _index: u64, _is_sacked: bool) {}
}

impl Scoreboard {
    /// Creates an empty scoreboard for segments of `mss` bytes.
    pub fn new(mss: u64, duplicate_threshold: u64, rule: LossRule) -> Scoreboard {
        Scoreboard {
            mss,
            duplicate_threshold,
            rule,
            ring: SegmentRing::new(),
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            repaired: 0,
            highest_sacked: 0,
            frontier: 0,
            sacked_above_frontier: 0,
            next_lost: 0,
            lost_end: 0,
            next_hole: 0,
            unreported_losses: None,
            reported: None,
        }
    }

    /// DupThresh: the number of duplicate acknowledgements, or of segments SACKed above, that indicates a loss.
    pub fn duplicate_threshold(&self) -> u64 {
        self.duplicate_threshold
    }

    pub fn report_losses(&mut self) {
        self.unreported_losses = Some(Box::default());
    }

    pub fn has_unreported_losses(&self) -> bool {
        self.unreported_losses.as_ref().is_some_and(|losses| !losses.is_empty())
    }

    /// Takes the next unreported loss, in the order of detection. A segment lost twice is reported twice.
    pub fn next_unreported_loss(&mut self) -> Option<u64> {
        self.unreported_losses.as_mut()?.pop_front()
    }

    fn note_loss(&mut self, index: u64) {
        if let Some(losses) = &mut self.unreported_losses {
            losses.push_back(index);
        }
    }

    fn segment(&self, index: u64) -> Segment {
        self.ring[index]
    }

    fn segment_mut(&mut self, index: u64) -> &mut Segment {
        &mut self.ring[index]
    }

    /// Sequence number of a segment's first byte.
    pub fn sequence(&self, index: u64) -> u64 {
        FIRST_DATA + index * self.mss
    }

    /// Index of the segment that holds this sequence number.
    pub fn index_of(&self, sequence: u64) -> u64 {
        sequence.saturating_sub(FIRST_DATA) / self.mss
    }

    /// Index of the first segment wholly above this sequence number: one of which a block covers the end only has not arrived.
    fn index_from(&self, sequence: u64) -> u64 {
        sequence.saturating_sub(FIRST_DATA).div_ceil(self.mss)
    }

    /// Index one past the last segment wholly below this sequence number, where the short last segment of the stream
    /// counts as whole. At least that of SND.UNA.
    pub fn index_past(&self, sequence: u64) -> u64 {
        self.index_past_from(self.una, sequence)
    }

    /// The same, at least `least`.
    fn index_past_from(&self, least: u64, sequence: u64) -> u64 {
        // Most acknowledgements cover one or two segments, and a division would dominate the cost.
        let above = sequence.saturating_sub(self.sequence(least));
        least
            + match above {
                0 => 0,
                _ if above <= self.mss => 1,
                _ if above <= 2 * self.mss => 2,
                _ => above.div_ceil(self.mss),
            }
    }

    /// Records that the next new segment has been sent.
    pub fn on_sent(&mut self) {
        self.ring.hold(self.una, self.nxt);
        *self.segment_mut(self.nxt) = Segment::default();
        self.nxt += 1;
    }

    /// Records the retransmission of a lost segment, or of a hole under NextSeg rule 3.
    pub fn on_retransmitted(&mut self, index: u64) {
        self.on_rescued(index);
        self.next_lost = self.next_lost.max(index + 1);
        self.next_hole = self.next_hole.max(index + 1);
    }

    /// Records a retransmission under NextSeg rule 4, which does not move the point at which retransmission continues.
    pub fn on_rescued(&mut self, index: u64) {
        let segment = self.segment_mut(index);
        debug_assert!(!segment.is(Segment::SACKED), "a SACKed segment is never retransmitted");
        if !segment.is(Segment::RETRANSMITTED) {
            segment.set(Segment::RETRANSMITTED);
            self.retransmitted += 1;
        }
    }

    /// Processes a cumulative acknowledgement of all bytes below `number` and SACK blocks. Tells of each segment newly known to be
    /// delivered.
    pub fn on_acknowledgement(&mut self, number: u64, blocks: &[Block], told: &mut impl Told) -> Progress {
        let acknowledged = self.on_cumulative(number, |index| told.of_delivery(index, false));
        if blocks.is_empty() {
            return Progress { delivered: acknowledged, ..Progress::default() };
        }
        let progress = self.on_sacks(blocks, |index| told.of_delivery(index, true));
        Progress { delivered: progress.delivered + acknowledged, ..progress }
    }

    /// Processes a cumulative acknowledgement of all bytes below `acknowledgement`. Calls `arrived` for each segment
    /// newly known to be delivered, and returns their number.
    pub fn on_cumulative(&mut self, acknowledgement: u64, mut arrived: impl FnMut(u64)) -> u64 {
        let una = self.index_past(acknowledgement).min(self.nxt);
        let mut delivered = una.saturating_sub(self.una);
        if self.sacked + self.lost + self.retransmitted > 0 {
            for index in self.una..una {
                let segment = self.segment(index);
                if segment.is(Segment::SACKED) {
                    self.sacked -= 1;
                    delivered -= 1;
                    if index >= self.frontier {
                        self.sacked_above_frontier -= 1;
                    }
                } else {
                    self.repaired += segment.one_if(Segment::RETRANSMITTED);
                    arrived(index);
                }
                self.lost -= segment.one_if(Segment::LOST);
                self.retransmitted -= segment.one_if(Segment::RETRANSMITTED);
            }
            // A run that the acknowledgement has split starts at SND.UNA. (Receivers do not send such acknowledgements,
            // but no rule forbids them.)
            if una > self.una
                && una < self.nxt
                && self.segment(una).is(Segment::SACKED)
                && self.segment(una - 1).is(Segment::SACKED)
            {
                let end = self.end_of_run_by_steps(una);
                self.tag_run(una, end);
            }
        } else {
            (self.una..una).for_each(arrived);
        }
        self.una = self.una.max(una);
        debug_assert!(self.counts_agree());
        delivered
    }

    /// Processes SACK blocks, after the cumulative acknowledgement of the same packet (RFC 6675 section 4, Update()).
    /// Calls `arrived` for each newly SACKed segment, in the order of the stream: the first block is the most recent one, not
    /// the lowest (RFC 2018 section 4), and an acknowledgement may report several new ones.
    pub fn on_sacks(&mut self, blocks: &[Block], mut arrived: impl FnMut(u64)) -> Progress {
        let newly_sacked = match self.growth(blocks) {
            Some((start, end)) => self.mark_sacked(start.max(self.una), end, &mut arrived),
            None => self.mark_all_sacked(blocks, &mut arrived),
        };
        let newly_lost = if newly_sacked > 0 { self.advance_frontier() } else { 0 };
        debug_assert!(self.counts_agree());
        Progress { delivered: newly_sacked, newly_sacked, newly_lost, needless: 0 }
    }

    /// The segments by which the first block has grown, if nothing else has changed since the latest acknowledgement with blocks.
    fn growth(&mut self, blocks: &[Block]) -> Option<(u64, u64)> {
        let Reported { blocks: before, end: start } = self.reported.as_deref()?;
        let ((first, others), (first_before, others_before)) =
            (blocks.split_first()?, before.as_slice().split_first()?);
        if first.start != first_before.start || first.end < first_before.end || others != others_before {
            return None;
        }
        let (start, end) = (*start, self.index_past_from(*start, first.end).min(self.nxt));
        let reported = self.reported.as_deref_mut()?;
        reported.blocks.set_first(*first);
        reported.end = end.max(start);
        Some((start, end))
    }

    fn mark_all_sacked(&mut self, blocks: &[Block], arrived: &mut impl FnMut(u64)) -> u64 {
        let mut ordered = [Block::default(); MAXIMUM_SACK_BLOCKS];
        let ordered = &mut ordered[..blocks.len()];
        ordered.copy_from_slice(blocks);
        ordered.sort_unstable_by_key(|block| block.start);
        let mut newly_sacked = 0;
        for block in ordered {
            let start = self.index_from(block.start).max(self.una);
            let end = self.index_past(block.end).min(self.nxt);
            newly_sacked += self.mark_sacked(start, end, arrived);
        }
        let end = blocks.first().map_or(0, |first| self.index_past(first.end).min(self.nxt));
        **self.reported.get_or_insert_default() = Reported { blocks: SackBlocks::new(blocks), end };
        newly_sacked
    }

    fn mark_sacked(&mut self, start: u64, end: u64, arrived: &mut impl FnMut(u64)) -> u64 {
        let forgotten = match self.rule {
            LossRule::Ns3 => Segment::LOST,
            _ => Segment::LOST | Segment::RETRANSMITTED,
        };
        let mut newly_sacked = 0;
        let mut index = start;
        while index < end {
            if self.segment(index).is(Segment::SACKED) {
                let starts_run = index == self.una || !self.segment(index - 1).is(Segment::SACKED);
                index = if starts_run { self.run_end(index) } else { self.end_of_run_by_steps(index) };
                continue;
            }
            let first = index;
            while index < end && !self.segment(index).is(Segment::SACKED) {
                let segment = self.segment_mut(index);
                segment.set(Segment::SACKED);
                let before = *segment;
                segment.clear(forgotten);
                self.lost -= before.one_if(Segment::LOST & forgotten);
                self.retransmitted -= before.one_if(Segment::RETRANSMITTED & forgotten);
                if index >= self.frontier {
                    self.sacked_above_frontier += 1;
                }
                arrived(index);
                newly_sacked += 1;
                index += 1;
            }
            // Merge with the adjacent runs.
            let joined_start = if first > self.una && self.segment(first - 1).is(Segment::SACKED) {
                self.run_start(first - 1)
            } else {
                first
            };
            let joined_end =
                if index < self.nxt && self.segment(index).is(Segment::SACKED) { self.run_end(index) } else { index };
            self.tag_run(joined_start, joined_end);
            self.highest_sacked = self.highest_sacked.max(joined_end);
            index = joined_end;
        }
        self.sacked += newly_sacked;
        newly_sacked
    }

    fn tag_run(&mut self, start: u64, end: u64) {
        self.segment_mut(end - 1).tag(start);
        // Written last: in a run of one segment only the end matters, since `run_start` needs no tag there.
        self.segment_mut(start).tag(end);
    }

    /// The end of the run that starts at `index`.
    fn run_end(&self, index: u64) -> u64 {
        index + self.segment(index).tag_above(index)
    }

    /// The start of the run that ends with `index`.
    fn run_start(&self, index: u64) -> u64 {
        if index == self.una || !self.segment(index - 1).is(Segment::SACKED) {
            return index;
        }
        // A start below SND.UNA has since been acknowledged: the run now starts at SND.UNA.
        index.saturating_sub(self.segment(index).tag_below(index)).max(self.una)
    }

    /// The end of a run, searched from a segment within it, for an old block whose bounds differ from those of the
    /// known runs. Not needed if acknowledgements arrive in order.
    fn end_of_run_by_steps(&self, index: u64) -> u64 {
        (index..self.nxt).find(|step| !self.segment(*step).is(Segment::SACKED)).unwrap_or(self.nxt)
    }

    /// Whether a segment at the frontier that is not SACKed is lost.
    fn frontier_is_behind(&self) -> bool {
        match self.rule {
            LossRule::Above | LossRule::Ns3 => self.sacked_above_frontier >= self.duplicate_threshold,
            LossRule::Forward => self.highest_sacked > self.frontier + self.duplicate_threshold,
            LossRule::Beyond => self.highest_sacked > self.frontier + self.duplicate_threshold + 1,
            LossRule::Time | LossRule::Duplicates => false,
        }
    }

    fn advance_frontier(&mut self) -> u64 {
        let mut newly_lost = 0;
        self.frontier = self.frontier.max(self.una);
        while self.frontier < self.nxt && self.frontier_is_behind() {
            if self.segment(self.frontier).is(Segment::SACKED) {
                self.sacked_above_frontier -= 1;
            } else {
                newly_lost += self.mark_lost(self.frontier);
            }
            self.frontier += 1;
        }
        newly_lost
    }

    fn mark_lost(&mut self, index: u64) -> u64 {
        let segment = self.segment_mut(index);
        if segment.is(Segment::LOST) {
            return 0;
        }
        segment.set(Segment::LOST);
        self.lost += 1;
        self.lost_end = self.lost_end.max(index + 1);
        self.note_loss(index);
        1
    }

    /// Whether a segment is presumed in the network: sent, and neither delivered nor lost since.
    pub fn is_under_way(&self, index: u64) -> bool {
        if index < self.una || index >= self.nxt {
            return false;
        }
        let segment = self.segment(index);
        !segment.is(Segment::SACKED) && (!segment.is(Segment::LOST) || segment.is(Segment::RETRANSMITTED))
    }

    /// Marks a segment in the network as lost, or its retransmission if there was one. Returns one.
    pub fn mark_lost_anew(&mut self, index: u64) -> u64 {
        if self.mark_lost(index) == 0 {
            self.note_loss(index);
        }
        let segment = self.segment_mut(index);
        let again = segment.one_if(Segment::RETRANSMITTED);
        segment.clear(Segment::RETRANSMITTED);
        self.retransmitted -= again;
        self.next_lost = self.next_lost.min(index);
        1
    }

    /// So many of the outstanding segments are taken to have arrived above a gap, without SACK.
    pub fn presume_arrived(&mut self, segments: u64) {
        debug_assert!(self.rule == LossRule::Duplicates);
        self.sacked = segments;
    }

    /// Takes back that segments are lost, after a timeout that was spurious. Those that were sent again are in flight twice.
    pub fn unmark_losses(&mut self) {
        for index in self.una..self.nxt {
            self.segment_mut(index).clear(Segment::LOST);
        }
        self.lost = 0;
    }

    /// Marks the first unacknowledged segment as lost when the duplicate threshold is reached. Returns the number of
    /// segments newly marked.
    pub fn mark_first_lost(&mut self) -> u64 {
        if self.una == self.nxt || self.segment(self.una).is(Segment::SACKED) {
            return 0;
        }
        self.mark_lost(self.una)
    }

    /// Marks all segments that are not SACKed as lost after a timeout (RFC 6675 section 5.1, RFC 5681 section 3.1).
    pub fn mark_all_lost(&mut self) {
        for index in self.una..self.nxt {
            if self.is_under_way(index) {
                self.note_loss(index);
            }
            let segment = self.segment_mut(index);
            segment.clear(Segment::RETRANSMITTED);
            if !segment.is(Segment::SACKED) {
                segment.set(Segment::LOST);
            }
        }
        self.retransmitted = 0;
        self.lost = self.nxt - self.una - self.sacked;
        self.lost_end = self.nxt;
        self.frontier = self.nxt;
        self.sacked_above_frontier = 0;
        self.next_lost = self.una;
        self.next_hole = self.una;
        debug_assert!(self.counts_agree());
    }

    /// Takes everything outstanding as sent once and in the network, as a sender does that forgets what it was told of it.
    pub fn forget(&mut self) {
        if self.sacked + self.lost + self.retransmitted > 0 {
            for index in self.una..self.nxt {
                *self.segment_mut(index) = Segment::default();
            }
        }
        (self.sacked, self.lost, self.retransmitted, self.sacked_above_frontier) = (0, 0, 0, 0);
        self.reported = None;
        self.highest_sacked = self.una;
        (self.frontier, self.next_lost, self.lost_end, self.next_hole) = (self.una, self.una, self.una, self.una);
        debug_assert!(self.counts_agree());
    }

    /// Starts a recovery episode: retransmission starts from SND.UNA (RFC 6675 section 5 (4.2): HighRxt = HighACK).
    pub fn start_episode(&mut self) {
        self.next_lost = self.una;
        self.next_hole = self.una;
    }

    /// The next lost segment to retransmit: NextSeg() rule 1.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        self.next_lost = self.next_lost.max(self.una);
        while self.next_lost < self.lost_end {
            let segment = self.segment(self.next_lost);
            if segment.is(Segment::LOST) && !segment.is(Segment::RETRANSMITTED) {
                return Some(self.next_lost);
            }
            self.next_lost += 1;
        }
        None
    }

    /// The next segment not known to be lost below the highest SACKed segment: NextSeg() rule 3.
    pub fn next_hole(&mut self) -> Option<u64> {
        self.next_hole_below(self.highest_sacked)
    }

    /// The same below this segment.
    pub fn next_hole_below(&mut self, end: u64) -> Option<u64> {
        self.next_hole = self.next_hole.max(self.una);
        while self.next_hole < end.min(self.nxt) {
            let segment = self.segment(self.next_hole);
            if !segment.is(Segment::SACKED) && !segment.is(Segment::RETRANSMITTED) {
                return Some(self.next_hole);
            }
            self.next_hole += 1;
        }
        None
    }

    /// The highest outstanding segment that is not SACKed: NextSeg() rule 4, the rescue retransmission.
    pub fn last_hole(&self) -> Option<u64> {
        (self.una..self.nxt).rev().find(|index| !self.segment(*index).is(Segment::SACKED))
    }

    /// Whether the first unacknowledged segment is lost and has not been retransmitted.
    pub fn first_is_lost(&self) -> bool {
        let first = self.segment(self.una);
        self.una < self.nxt && first.is(Segment::LOST) && !first.is(Segment::RETRANSMITTED)
    }

    /// Whether the first unacknowledged segment is lost, though it may have been retransmitted since, and one above it is SACKed.
    pub fn first_is_marked_lost(&self) -> bool {
        self.una < self.nxt && self.segment(self.una).is(Segment::LOST) && self.una + 1 < self.highest_sacked
    }

    /// Whether the first unacknowledged segment has been retransmitted since it was lost.
    pub fn first_is_retransmitted(&self) -> bool {
        self.una < self.nxt && self.segment(self.una).is(Segment::RETRANSMITTED)
    }

    /// Takes the first unacknowledged segment as not retransmitted. [`next_lost`](Self::next_lost) does not return to it.
    pub fn forget_first_retransmission(&mut self) {
        if self.first_is_retransmitted() {
            self.segment_mut(self.una).clear(Segment::RETRANSMITTED);
            self.retransmitted -= 1;
        }
    }

    /// Whether the first segment above the first unacknowledged one that is known to be lost or SACKed is lost, below one that is SACKed.
    pub fn is_followed_by_loss(&self) -> bool {
        self.una + 2 < self.highest_sacked
            && (self.una + 1..self.nxt)
                .map(|index| self.segment(index))
                .find(|segment| segment.is(Segment::LOST | Segment::SACKED))
                .is_some_and(|segment| segment.is(Segment::LOST))
    }

    /// Number of segments acknowledged after a retransmission, without having been SACKed.
    pub fn repaired(&self) -> u64 {
        self.repaired
    }

    pub fn una(&self) -> u64 {
        self.una
    }

    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    pub fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }

    /// Segments sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of retransmitted segments neither acknowledged nor SACKed since.
    pub fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Segments in the network according to RFC 6675's SetPipe(): those neither SACKed nor lost, plus retransmissions.
    pub fn pipe(&self) -> u64 {
        self.outstanding() - self.sacked - self.lost + self.retransmitted
    }

    /// Compares the counters with the segments. Checked in debug builds for small scoreboards.
    fn counts_agree(&self) -> bool {
        if self.outstanding() > 64 {
            return true;
        }
        let count = |test: fn(&Segment) -> bool| {
            (self.una..self.nxt).filter(|index| test(&self.segment(*index))).count() as u64
        };
        (count(|segment| segment.is(Segment::SACKED)) == self.sacked || self.rule == LossRule::Duplicates)
            && count(|segment| segment.is(Segment::LOST)) == self.lost
            && count(|segment| segment.is(Segment::RETRANSMITTED)) == self.retransmitted
            && count(|segment| segment.is(Segment::SACKED) && segment.is(Segment::LOST)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 100;

    fn block(start: u64, end: u64) -> Block {
        Block { start: FIRST_DATA + start * MSS, end: FIRST_DATA + end * MSS }
    }

    fn sent(segments: u64) -> Scoreboard {
        let mut scoreboard = Scoreboard::new(MSS, 3, LossRule::Above);
        for _ in 0..segments {
            scoreboard.on_sent();
        }
        scoreboard
    }

    /// RFC 6675 section 2, IsLost and SetPipe, computed directly from the definitions over all segments.
    struct Oracle {
        una: u64,
        nxt: u64,
        sacked: Vec<bool>,
    }

    impl Oracle {
        fn is_lost(&self, index: u64) -> bool {
            let above = (index + 1..self.nxt).filter(|other| self.sacked[*other as usize]).count();
            !self.sacked[index as usize] && above >= 3
        }

        fn pipe(&self) -> u64 {
            (self.una..self.nxt).filter(|index| !self.sacked[*index as usize] && !self.is_lost(*index)).count() as u64
        }
    }

    /// RFC 6675 section 4, IsLost: three SACKed segments above a segment make it lost, two do not. Pipe excludes the
    /// lost segment until it is retransmitted.
    #[test]
    fn loss_after_three_sacks() {
        let mut scoreboard = sent(10);
        scoreboard.on_sacks(&[block(1, 3)], |_| ());
        assert_eq!((scoreboard.pipe(), scoreboard.next_lost()), (8, None));
        let progress = scoreboard.on_sacks(&[block(1, 4)], |_| ());
        assert_eq!(progress, Progress { delivered: 1, newly_sacked: 1, newly_lost: 1, needless: 0 });
        assert_eq!((scoreboard.pipe(), scoreboard.next_lost()), (6, Some(0)));
        scoreboard.on_retransmitted(0);
        assert_eq!((scoreboard.pipe(), scoreboard.next_lost()), (7, None));
    }

    /// Each loss is reported once, in the order of detection, including lost retransmissions, and only if reports are
    /// enabled.
    #[test]
    fn loss_reports() {
        let mut scoreboard = sent(10);
        scoreboard.on_sacks(&[block(5, 8)], |_| ());
        assert_eq!(scoreboard.next_unreported_loss(), None, "reports are off");

        let mut scoreboard = sent(10);
        scoreboard.report_losses();
        scoreboard.on_sacks(&[block(2, 5), block(6, 7)], |_| ());
        scoreboard.on_retransmitted(1);
        let told =
            |scoreboard: &mut Scoreboard| std::iter::from_fn(|| scoreboard.next_unreported_loss()).collect::<Vec<_>>();
        assert_eq!(told(&mut scoreboard), [0, 1]);
        scoreboard.mark_all_lost();
        assert_eq!(told(&mut scoreboard), [1, 5, 7, 8, 9]);
        scoreboard.on_retransmitted(5);
        scoreboard.mark_lost_anew(5);
        assert_eq!(told(&mut scoreboard), [5]);
    }

    /// RFC 6675 section 4, NextSeg(): rule 3 selects the gaps below the highest SACKed segment, rule 4 one above it.
    #[test]
    fn next_seg_rules() {
        let mut scoreboard = sent(6);
        scoreboard.on_sacks(&[block(1, 2), block(3, 4)], |_| ());
        assert_eq!(scoreboard.next_hole(), Some(0));
        scoreboard.on_retransmitted(0);
        assert_eq!(scoreboard.next_hole(), Some(2));
        scoreboard.on_retransmitted(2);
        assert_eq!(scoreboard.next_hole(), None);
        assert_eq!(scoreboard.last_hole(), Some(5));
    }

    /// After a timeout all segments that are not SACKed are lost, and retransmitted in order.
    #[test]
    fn timeout_marks_unsacked_lost() {
        let mut scoreboard = sent(6);
        scoreboard.on_sacks(&[block(2, 3)], |_| ());
        scoreboard.mark_all_lost();
        assert_eq!(scoreboard.pipe(), 0);
        let mut retransmitted = Vec::new();
        while let Some(index) = scoreboard.next_lost() {
            scoreboard.on_retransmitted(index);
            retransmitted.push(index);
        }
        assert_eq!(retransmitted, [0, 1, 3, 4, 5]);
        assert_eq!(scoreboard.pipe(), 5);
    }

    proptest! {
        /// For any sequence of SACK blocks and acknowledgements, including ones that no receiver would send, losses and
        /// pipe agree with a slow implementation of the RFC's definitions.
        #[test]
        fn agrees_with_definitions(
            steps in prop::collection::vec((0u64..40, 1u64..12, 0u64..40, any::<bool>()), 1..60)
        ) {
            let mut scoreboard = sent(40);
            let mut oracle = Oracle { una: 0, nxt: 40, sacked: vec![false; 40] };
            for (start, length, acknowledgement, cumulative) in steps {
                if cumulative && acknowledgement > oracle.una && acknowledgement < oracle.una + 6 {
                    oracle.una = acknowledgement;
                    scoreboard.on_cumulative(FIRST_DATA + acknowledgement * MSS, |_| ());
                }
                let end = (start + length).min(40);
                let newly = (start.max(oracle.una)..end).filter(|index| !oracle.sacked[*index as usize]).count() as u64;
                for index in start..end {
                    oracle.sacked[index as usize] |= index >= oracle.una;
                }
                let progress = scoreboard.on_sacks(&[block(start, end)], |_| ());
                prop_assert_eq!(progress.newly_sacked, newly);
                prop_assert_eq!(scoreboard.pipe(), oracle.pipe());
                scoreboard.start_episode();
                let expected = (oracle.una..40).find(|index| oracle.is_lost(*index));
                prop_assert_eq!(scoreboard.next_lost(), expected);
            }
        }
    }
}
