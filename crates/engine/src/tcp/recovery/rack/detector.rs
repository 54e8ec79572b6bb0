//! Time-based loss detection: RFC 8985 section 6.2. A segment is lost when a segment sent later has been delivered and
//! the reordering window has elapsed.

use std::collections::VecDeque;

use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::transmissions::{Transmission, Transmissions};
use crate::time::{Duration, Time};

/// Number of recoveries after which a widened reordering window is reset: step 4.
const REORDERING_PERSISTS: u32 = 16;
/// Divisor of the minimum RTT that gives one step of the reordering window: step 4.
const REORDERING_STEP: u64 = 4;

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
struct Again {
    sent: Time,
    index: u64,
    /// The first segment that had not been sent before.
    nxt: u64,
}

state! {
    /// The state of section 5.2.
    pub(super) Detector() {
        transmissions: Transmissions = Transmissions::new(),
        /// Segments are sent for the first time in order: those below have been looked at.
        first: u64,
        /// Those that were sent again, in the order of their transmissions. Entries of earlier transmissions are skipped.
        again: VecDeque<Again>,
        /// RACK.xmit_ts and RACK.segment: of the delivered segments, the one sent last.
        latest: Option<(Time, u64)>,
        /// RACK.rtt.
        rtt: Duration,
        /// RACK.min_RTT.
        min_rtt: Duration = Duration(u64::MAX),
        /// RACK.fack: one past the highest delivered segment.
        highest: u64,
        reordering_seen: bool,
        /// By how many segments one was overtaken at most.
        degree: u64,
        /// RACK.reo_wnd_mult.
        steps: u64 = 1,
        /// RACK.reo_wnd_persist.
        persists: u32 = REORDERING_PERSISTS,
        /// RACK.dsack_round: the window grows no further until this segment is acknowledged.
        round: Option<u64>,
    }
}

impl Detector {
    /// Records a transmission of a segment. `una` is the first unacknowledged segment, `nxt` the first that had not been sent
    /// before.
    pub(super) fn on_sent(&mut self, index: u64, una: u64, nxt: u64, now: Time) {
        self.transmissions.on_sent(index, una, nxt, now);
        if index < nxt {
            self.again.push_back(Again { sent: now, index, nxt });
        }
    }

    pub(super) fn degree_of_reordering(&self) -> u64 {
        self.degree
    }

    pub(super) fn has_seen_reordering(&self) -> bool {
        self.reordering_seen
    }

    /// Whether a segment, which is not forgotten yet, has been sent more than once.
    pub(super) fn was_sent_again(&self, index: u64) -> bool {
        self.transmissions.of(index).again
    }

    /// Takes a round-trip time sample: step 1.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// Records the delivery of a segment: steps 2 and 3. `echo_ended` is the end of the clock tick of the echoed
    /// timestamp, if any. Returns the segment's latest transmission.
    pub(super) fn on_delivered(&mut self, index: u64, echo_ended: Option<Time>, now: Time) -> Transmission {
        let transmission = self.transmissions.of(index);
        let Transmission { sent, again } = transmission;
        if index >= self.highest {
            self.highest = index + 1;
        } else if !again {
            self.reordering_seen = true;
            self.degree = self.degree.max(self.highest - 1 - index);
        }
        // An acknowledgement of the first transmission gives no information on the retransmission.
        let rtt = now.since(sent);
        if again && (echo_ended.is_some_and(|ended| ended <= sent) || rtt < self.min_rtt) {
            return transmission;
        }
        self.rtt = rtt;
        if self.latest.is_none_or(|latest| latest < (sent, index)) {
            self.latest = Some((sent, index));
        }
        transmission
    }

    /// Widens the reordering window after a duplicate delivery, which shows that it was too small (step 4).
    pub(super) fn on_duplicate(&mut self, una: u64, nxt: u64) {
        if self.round.is_some_and(|end| una >= end) {
            self.round = None;
        }
        if self.round.is_none() {
            self.round = Some(nxt);
            self.steps += 1;
            self.persists = REORDERING_PERSISTS;
        }
    }

    /// Counts the end of a fast recovery (step 4).
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }

    /// RACK_update_reo_wnd(): zero if no reordering was seen so far and the losses are certain.
    fn reordering_window(&self, losses_are_plain: bool, srtt: Duration) -> Duration {
        if !self.reordering_seen && losses_are_plain {
            return Duration::ZERO;
        }
        Duration((self.min_rtt.0 / REORDERING_STEP).saturating_mul(self.steps)).min(srtt)
    }

    /// Whether what is under way was sent after all that has been delivered, so that nothing can be lost.
    #[inline(always)]
    pub(super) fn is_in_order(&self, scoreboard: &Scoreboard) -> bool {
        scoreboard.sacked() + scoreboard.lost() == 0 && self.again.is_empty()
    }

    /// Step 5: marks as lost the segments sent at least the reordering window before the latest delivered one. Returns
    /// their number and the time until the last of the remaining segments sent before it is lost.
    pub(super) fn find_losses(
        &mut self,
        scoreboard: &mut Scoreboard,
        losses_are_plain: bool,
        rto: &Rto,
        now: Time,
    ) -> (u64, Option<Duration>) {
        let Some(latest) = self.latest else { return (0, None) };
        while let Some((sent, index)) = self.earliest(scoreboard) {
            if self.is_current(sent, index, scoreboard) {
                if (sent, index) >= latest {
                    break;
                }
                return self.find_late(latest, scoreboard, losses_are_plain, rto, now);
            }
            self.skip(index);
        }
        (0, None)
    }

    /// The first in the order of transmissions, and when it was sent.
    #[inline(always)]
    fn earliest(&mut self, scoreboard: &Scoreboard) -> Option<(Time, u64)> {
        self.first = self.first.max(scoreboard.una());
        while self.first < scoreboard.nxt() && self.transmissions.of(self.first).again {
            self.first += 1;
        }
        match self.again.front() {
            Some(again) if self.first >= again.nxt => Some((again.sent, again.index)),
            _ if self.first < scoreboard.nxt() => Some((self.transmissions.of(self.first).sent, self.first)),
            _ => None,
        }
    }

    /// Looks no more at the first in the order of transmissions.
    #[inline(always)]
    fn skip(&mut self, index: u64) {
        if index == self.first {
            self.first += 1;
        } else {
            self.again.pop_front();
        }
    }

    /// Whether a segment is under way that was last sent then.
    #[inline(always)]
    fn is_current(&self, sent: Time, index: u64, scoreboard: &Scoreboard) -> bool {
        scoreboard.is_under_way(index) && self.transmissions.of(index).sent == sent
    }

    /// The same where a segment is under way that was sent before the latest delivered one.
    #[inline(never)]
    fn find_late(
        &mut self,
        latest: (Time, u64),
        scoreboard: &mut Scoreboard,
        losses_are_plain: bool,
        rto: &Rto,
        now: Time,
    ) -> (u64, Option<Duration>) {
        let patience = self.rtt + self.reordering_window(losses_are_plain, rto.srtt());
        let mut lost = 0;
        while let Some((sent, index)) = self.earliest(scoreboard) {
            if self.is_current(sent, index, scoreboard) {
                if (sent, index) >= latest {
                    break;
                }
                if sent + patience > now {
                    return (lost, self.last_before(latest, scoreboard).map(|sent| (sent + patience).since(now)));
                }
                lost += scoreboard.mark_lost_anew(index);
            }
            self.skip(index);
        }
        (lost, None)
    }

    /// When the last of the segments under way was sent that were sent before the latest delivered one.
    fn last_before(&self, latest: (Time, u64), scoreboard: &Scoreboard) -> Option<Time> {
        let is_one =
            |(sent, index): &(Time, u64)| (*sent, *index) < latest && self.is_current(*sent, *index, scoreboard);
        let first = (self.first..scoreboard.nxt()).rev().map(|index| (self.transmissions.of(index), index));
        let first = first.filter(|(each, _)| !each.again).map(|(each, index)| (each.sent, index)).find(is_one);
        let again = self.again.iter().rev().map(|again| (again.sent, again.index)).find(is_one);
        first.max(again).map(|(sent, _)| sent)
    }

    /// After a timeout, only the first segment and those sent at least an RTT ago are lost (section 6.3, but without a reordering
    /// window, as in Linux tcp_input.c, tcp_timeout_mark_lost).
    pub(super) fn mark_losses_on_timeout(&self, scoreboard: &mut Scoreboard, now: Time) {
        let una = scoreboard.una();
        for index in una..scoreboard.nxt() {
            let sent = self.transmissions.of(index).sent;
            if scoreboard.is_under_way(index) && (index == una || sent + self.rtt <= now) {
                scoreboard.mark_lost_anew(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Block;
    use crate::tcp::profile::StackProfile;
    use crate::tcp::recovery::RecoveryKind;
    use proptest::prelude::*;

    fn microseconds(time: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(time)
    }

    /// A detector with a minimum RTT of 100 us and this number of segments sent 10 us apart.
    fn detector_of(segments: u64) -> Detector {
        let mut detector = Detector::new();
        detector.on_rtt(Duration::from_microseconds(100));
        (0..segments).for_each(|index| detector.on_sent(index, 0, index, microseconds(10 * index)));
        detector
    }

    /// The reordering window with a smoothed round-trip time of 300 us, in microseconds.
    fn window(detector: &Detector) -> u64 {
        detector.reordering_window(false, Duration::from_microseconds(300)).0 / Duration::from_microseconds(1).0
    }

    /// Step 2 of section 6.2: the state follows the delivered segment that was sent last. Delivery of an earlier one
    /// after it is reordering (step 3).
    #[test]
    fn latest_sent_segment() {
        let mut detector = detector_of(4);
        detector.on_delivered(1, None, microseconds(120));
        detector.on_delivered(2, None, microseconds(121));
        assert!(!detector.reordering_seen);
        assert_eq!(detector.highest, 3);
        detector.on_delivered(0, None, microseconds(122));
        assert!(detector.reordering_seen);
        assert_eq!(detector.latest, Some((microseconds(20), 2)));
    }

    /// Step 3: a retransmission delivered below the highest delivered segment is not reordering.
    #[test]
    fn retransmission_not_reordering() {
        let mut detector = detector_of(2);
        detector.on_delivered(1, None, microseconds(120));
        detector.on_sent(0, 0, 2, microseconds(130));
        detector.on_delivered(0, None, microseconds(240));
        assert!(!detector.reordering_seen);
        assert_eq!(detector.latest, Some((microseconds(130), 0)));
    }

    /// Step 2 without timestamps: an acknowledgement less than the minimum RTT after the retransmission is attributed
    /// to the original transmission.
    #[test]
    fn spurious_sample_filter() {
        for (after, counts) in [(99, false), (100, true)] {
            let mut detector = detector_of(1);
            detector.on_sent(0, 0, 1, microseconds(500));
            detector.on_delivered(0, None, microseconds(500 + after));
            assert_eq!(detector.latest.is_some(), counts, "after {after} us");
            assert!(!detector.reordering_seen);
        }
    }

    /// Four segments of which the last has been SACKed 130 us after the first was sent, which makes the RTT 100 us and the reordering
    /// window 25 us.
    fn after_sack() -> (Detector, Scoreboard, Rto) {
        let limits = StackProfile::default().rto_limits();
        let mut rto = Rto::new(&limits);
        rto.sample(Duration::from_microseconds(300), &limits);
        let mut scoreboard = Scoreboard::new(1000, 3, RecoveryKind::Rack.loss_rule());
        (0..4).for_each(|_| scoreboard.on_sent());
        let block = Block { start: scoreboard.sequence(3), end: scoreboard.sequence(4) };
        scoreboard.on_sacks(&[block], |_| ());
        let mut detector = detector_of(4);
        detector.on_delivered(3, None, microseconds(130));
        (detector, scoreboard, rto)
    }

    /// Step 5: the first segment is lost after 125 us, and the timer waits for the last that may be, after 145 us.
    #[test]
    fn wait_for_last_segment() {
        let (mut detector, mut scoreboard, rto) = after_sack();
        let found = detector.find_losses(&mut scoreboard, false, &rto, microseconds(130));
        assert_eq!(found, (1, Some(Duration::from_microseconds(15))));
    }

    /// Linux tcp_input.c, tcp_timeout_mark_lost: all segments sent at least an RTT before a timeout are lost.
    #[test]
    fn timeout_without_reordering_window() {
        let (detector, mut scoreboard, _) = after_sack();
        detector.mark_losses_on_timeout(&mut scoreboard, microseconds(119));
        assert_eq!(scoreboard.lost(), 2, "segments sent after 0 and 10 us, not that after 20 us");
    }

    /// Step 4: each round trip with a DSACK adds a quarter of the minimum RTT to the reordering window, up to the
    /// smoothed RTT.
    #[test]
    fn window_growth_on_duplicates() {
        let mut detector = detector_of(1);
        assert_eq!(window(&detector), 25);
        detector.on_duplicate(10, 20);
        detector.on_duplicate(19, 30);
        assert_eq!(window(&detector), 50);
        detector.on_duplicate(20, 30);
        assert_eq!(window(&detector), 75);
        (0..20).for_each(|round| detector.on_duplicate(30 + 10 * round, 40 + 10 * round));
        assert_eq!(window(&detector), 300);
    }

    /// Step 4: after 16 recoveries without a DSACK the reordering window is again a quarter of the minimum RTT.
    #[test]
    fn window_reset_after_recoveries() {
        let mut detector = detector_of(1);
        detector.on_duplicate(10, 20);
        (0..15).for_each(|_| detector.on_recovered());
        assert_eq!(window(&detector), 50);
        detector.on_duplicate(20, 30);
        (0..15).for_each(|_| detector.on_recovered());
        assert_eq!(window(&detector), 75);
        detector.on_recovered();
        assert_eq!(window(&detector), 25);
    }

    /// RACK_update() of section 6.2, with a timestamp clock of a millisecond: the echoed timestamp identifies the
    /// acknowledged transmission, also if the retransmission was sent in the middle of a tick.
    #[test]
    fn timestamp_echo() {
        for (tick_echoed, counts) in [(0, false), (5_000, true)] {
            let mut detector = Detector::new();
            detector.on_rtt(Duration::from_microseconds(100));
            detector.on_sent(0, 0, 0, microseconds(0));
            detector.on_sent(0, 0, 1, microseconds(5_400));
            detector.on_delivered(0, Some(microseconds(tick_echoed + 1_000)), microseconds(6_000));
            assert_eq!(detector.latest.is_some(), counts, "echo of {tick_echoed} us");
        }
    }
    /// Step 5, RACK_detect_loss() of section 6.2 over all segments: whatever is sent, sent again, acknowledged and SACKed, those
    /// are lost that were sent before the latest delivered one and at least the RTT and the reordering window ago, and the timer
    /// waits for the last of the others that were sent before it.
    fn check_losses(
        detector: &mut Detector,
        scoreboard: &mut Scoreboard,
        rto: &Rto,
        now: Time,
    ) -> Result<(), TestCaseError> {
        let patience = detector.rtt + detector.reordering_window(false, rto.srtt());
        let sent = |index: u64| detector.transmissions.of(index).sent;
        let before = |index: &u64| scoreboard.is_under_way(*index) && Some((sent(*index), *index)) < detector.latest;
        let (lost, late): (Vec<u64>, Vec<u64>) =
            (scoreboard.una()..scoreboard.nxt()).filter(before).partition(|index| sent(*index) + patience <= now);
        let wait = late.iter().map(|index| (sent(*index) + patience).since(now)).max();
        let found = detector.find_losses(scoreboard, false, rto, now);
        prop_assert_eq!(found, (lost.len() as u64, wait));
        prop_assert!(lost.iter().all(|index| !scoreboard.is_under_way(*index)));
        Ok(())
    }

    proptest! {
        #[test]
        fn losses_as_defined(steps in prop::collection::vec((0u8..6, 0u64..20, 0u64..30), 1..200)) {
            let (mut detector, mut scoreboard) = (detector_of(0), Scoreboard::new(1000, 3, RecoveryKind::Rack.loss_rule()));
            let (_, _, rto) = after_sack();
            let mut now = microseconds(0);
            for (step, place, pause) in steps {
                now += Duration::from_microseconds(pause);
                let (una, nxt) = (scoreboard.una(), scoreboard.nxt());
                let index = una + place % (nxt - una).max(1);
                let sequence = |index| scoreboard.sequence(index);
                match step {
                    0..=2 => {
                        detector.on_sent(nxt, una, nxt, now);
                        scoreboard.on_sent();
                    }
                    3 => {
                        scoreboard.start_episode();
                        if let Some(lost) = scoreboard.next_lost() {
                            detector.on_sent(lost, una, nxt, now);
                            scoreboard.on_retransmitted(lost);
                        }
                    }
                    4 if index < nxt => {
                        let block = Block { start: sequence(index), end: sequence(index + 1) };
                        scoreboard.on_sacks(&[block], |index| { detector.on_delivered(index, None, now); });
                    }
                    _ if index < nxt => {
                        let number = sequence(index);
                        scoreboard.on_cumulative(number, |index| { detector.on_delivered(index, None, now); });
                    }
                    _ => {}
                }
                check_losses(&mut detector, &mut scoreboard, &rto, now)?;
            }
        }
    }
}
