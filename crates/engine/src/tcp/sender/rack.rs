//! RACK-TLP (RFC 8985): losses are told by time, since the segment sent last that has arrived, and the end of a flight is
//! probed before the retransmission timer would expire.

use std::collections::VecDeque;

use super::Sender;
use crate::packet::{Block, Packet};
use crate::tcp::congestion::CongestionControl;
use crate::tcp::recovery::Phase;
use crate::tcp::scoreboard::{Progress, Scoreboard};
use crate::time::{Duration, Time};

/// Recoveries after which a widened reordering window narrows again: RFC 8985 section 6.2, step 4.
const REORDERING_PERSISTS: u32 = 16;
/// Share of the least RTT that is the reordering window's step: RFC 8985 section 6.2, step 4.
const REORDERING_STEP: u64 = 4;
/// How long a receiver may wait with an acknowledgement: RFC 8985 section 7.2, TLP.max_ack_delay.
const LONGEST_ACK_DELAY: Duration = Duration::from_milliseconds(200);
/// The probe timeout before any RTT sample: RFC 8985 section 7.2.
const FIRST_PROBE_TIMEOUT: Duration = Duration::from_seconds(1);

/// When a segment was sent last.
#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    sent: Time,
    again: bool,
}

/// What the deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// Segments may by now be lost and not just late.
    Reordering,
    /// The end of the flight is to be probed.
    Probe,
}

/// A tail loss probe that is not yet answered.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq, as a segment's index.
    end: u64,
    /// Whether it sent old data again.
    again: bool,
}

/// The state of sections 5.2 and 7.1.
#[derive(Debug)]
pub(super) struct Rack {
    /// A ring: a segment's last transmission is found by its index.
    transmissions: Vec<Transmission>,
    /// Segments in the order in which they were sent, those sent again at their latest time; earlier entries of theirs
    /// are passed over.
    order: VecDeque<(Time, u64)>,
    /// RACK.xmit_ts and RACK.segment: of all segments that have arrived the one sent last.
    latest: Option<(Time, u64)>,
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.min_RTT.
    least_rtt: Duration,
    /// RACK.fack: one past the highest segment that has arrived.
    highest: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    steps: u64,
    /// RACK.reo_wnd_persist.
    persists: u32,
    /// RACK.dsack_round: no further step until this segment is acknowledged.
    round: Option<u64>,
    probe: Option<Probe>,
    /// When the timer below is due.
    pub(super) deadline: Time,
    timer: Timer,
    undo: Option<Undo>,
}

impl Rack {
    pub(super) fn new() -> Rack {
        Rack {
            transmissions: vec![Transmission::default(); 16],
            order: VecDeque::new(),
            latest: None,
            rtt: Duration::ZERO,
            least_rtt: Duration(u64::MAX),
            highest: 0,
            reordering_seen: false,
            steps: 1,
            persists: REORDERING_PERSISTS,
            round: None,
            probe: None,
            deadline: Time::NEVER,
            timer: Timer::Probe,
            undo: None,
        }
    }

    fn slot(&self, index: u64) -> usize {
        index as usize & (self.transmissions.len() - 1)
    }

    /// A segment is sent, `again` or for the first time; `una` is the first that is not acknowledged.
    pub(super) fn on_sent(&mut self, index: u64, una: u64, again: bool, now: Time) {
        while index - una >= self.transmissions.len() as u64 {
            let mut wider = vec![Transmission::default(); 2 * self.transmissions.len()];
            for held in una..index {
                let slot = held as usize & (wider.len() - 1);
                wider[slot] = self.transmissions[self.slot(held)];
            }
            self.transmissions = wider;
        }
        let slot = self.slot(index);
        self.transmissions[slot] = Transmission { sent: now, again };
        self.order.push_back((now, index));
    }

    /// A round-trip time sample (section 6.2, step 1).
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.least_rtt = self.least_rtt.min(rtt);
    }

    /// A segment arrived: steps 2 and 3 of section 6.2. `echo_ended` is when the tick of the timestamp that the
    /// acknowledgement echoes was over, if it echoes one.
    pub(super) fn on_delivered(&mut self, index: u64, echo_ended: Option<Time>, now: Time) {
        let Transmission { sent, again } = self.transmissions[self.slot(index)];
        if index >= self.highest {
            self.highest = index + 1;
        } else if !again {
            self.reordering_seen = true;
        }
        // An acknowledgement of the first transmission says nothing of the second.
        let rtt = now.since(sent);
        if again && (echo_ended.is_some_and(|ended| ended <= sent) || rtt < self.least_rtt) {
            return;
        }
        self.rtt = rtt;
        self.latest = self.latest.max(Some((sent, index)));
    }

    /// Something arrived twice: the reordering window was too small (section 6.2, step 4).
    fn on_duplicate(&mut self, una: u64, nxt: u64) {
        if self.round.is_some_and(|end| una >= end) {
            self.round = None;
        }
        if self.round.is_none() {
            self.round = Some(nxt);
            self.steps += 1;
            self.persists = REORDERING_PERSISTS;
        }
    }

    /// Fast recovery ended (section 6.2, step 4).
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }

    /// RACK_update_reo_wnd() of section 6.2: none where nothing was ever reordered and losses are plain.
    fn reordering_window(&self, losses_are_plain: bool, srtt: Duration) -> Duration {
        if !self.reordering_seen && losses_are_plain {
            return Duration::ZERO;
        }
        Duration((self.least_rtt.0 / REORDERING_STEP).saturating_mul(self.steps)).min(srtt)
    }

    /// Step 5 of section 6.2: marks as lost what was sent so long before the latest that arrived. Returns how many, and how
    /// long the others that were sent before it are to be waited for.
    fn find_losses(&mut self, scoreboard: &mut Scoreboard, window: Duration, now: Time) -> (u64, Option<Duration>) {
        let Some(latest) = self.latest else { return (0, None) };
        let mut lost = 0;
        while let Some((sent, index)) = self.order.front().copied() {
            if scoreboard.is_under_way(index) && self.transmissions[self.slot(index)].sent == sent {
                // What follows was sent later and is due later: waiting for the first is enough.
                if (sent, index) >= latest {
                    break;
                }
                let due = sent + self.rtt + window;
                if due > now {
                    return (lost, Some(due.since(now)));
                }
                lost += scoreboard.mark_lost_anew(index);
            }
            self.order.pop_front();
        }
        (lost, None)
    }

    fn set(&mut self, timer: Timer, deadline: Time) {
        self.timer = timer;
        self.deadline = deadline;
    }
}

/// A block that tells of a segment that came twice: the first, if it lies below the acknowledgement or within the second
/// (RFC 2883 section 4).
fn duplicate_of(acknowledgement: u64, sacks: &[Block]) -> Option<Block> {
    let first = *sacks.first()?;
    let within = sacks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
    (first.end <= acknowledgement || within).then_some(first)
}

/// What is taken back when all that was sent again turns out to have been sent in vain (RFC 3708; RFC 8985 section 9.4).
#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// Retransmissions of the episode that have not been shown to be needless.
    unexplained: u64,
}

impl Sender {
    /// Loss detection after an acknowledgement, in `progress`.
    pub(super) fn rack_on_ack(&mut self, sacks: &[Block], progress: &mut Progress, now: Time) {
        let (una, nxt) = (self.scoreboard.una(), self.scoreboard.nxt());
        let Some(rack) = &mut self.rack else { return };
        let duplicate = duplicate_of(self.una, sacks);
        if duplicate.is_some() {
            rack.on_duplicate(una, nxt);
        }
        // TLP_process_ack() of section 7.4.
        let mut probe_repaired = false;
        if let Some(probe) = rack.probe
            && una >= probe.end
        {
            rack.probe = None;
            probe_repaired = probe.again && duplicate.is_none();
        }
        progress.newly_lost += self.rack_find_losses(now);
        if probe_repaired && matches!(self.phase, Phase::Open) {
            // The probe was the repair of a loss, to which the window is due an answer.
            // Half of what was in flight until this acknowledgement, which is often for all of it.
            let flight_size = (self.flight_size() + progress.delivered * self.window.mss).min(self.window.cwnd);
            self.window.ssthresh = self.algorithm.reduce(&self.window, flight_size, now);
            if !self.is_governed {
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
            self.on_loss_answered();
        }
        if duplicate.is_some() {
            self.on_needless_retransmission(now);
        }
    }

    /// An acknowledgement that a later one overtook still tells what came twice.
    pub(super) fn on_old_acknowledgement(&mut self, number: u64, sacks: &[Block], now: Time) {
        let (una, nxt) = (self.scoreboard.una(), self.scoreboard.nxt());
        if let Some(rack) = &mut self.rack
            && duplicate_of(number, sacks).is_some()
        {
            rack.on_duplicate(una, nxt);
            self.on_needless_retransmission(now);
        }
    }

    /// Marks what is lost by now, and waits for what may yet be.
    fn rack_find_losses(&mut self, now: Time) -> u64 {
        let losses_are_plain =
            !matches!(self.phase, Phase::Open) || self.scoreboard.sacked() >= self.profile.duplicate_ack_threshold;
        let srtt = self.rto.srtt();
        let Some(rack) = &mut self.rack else { return 0 };
        let window = rack.reordering_window(losses_are_plain, srtt);
        let (lost, wait) = rack.find_losses(&mut self.scoreboard, window, now);
        match wait {
            Some(wait) => rack.set(Timer::Reordering, now + wait),
            None if rack.timer == Timer::Reordering => rack.deadline = Time::NEVER,
            None => {}
        }
        lost
    }

    /// Arms the probe after new data was sent or acknowledged (section 7.2).
    pub(super) fn arm_probe(&mut self, now: Time) {
        let may_probe =
            matches!(self.phase, Phase::Open) && self.scoreboard.sacked() == 0 && self.scoreboard.outstanding() > 0;
        let Some(rack) = &mut self.rack else { return };
        if rack.timer == Timer::Reordering && rack.deadline != Time::NEVER {
            return;
        }
        if !may_probe || rack.probe.is_some() {
            rack.set(Timer::Probe, Time::NEVER);
            return;
        }
        let srtt = self.rto.srtt();
        let timeout = match srtt {
            Duration::ZERO => FIRST_PROBE_TIMEOUT,
            _ if self.scoreboard.outstanding() == 1 => srtt * 2 + LONGEST_ACK_DELAY,
            _ => srtt * 2,
        };
        rack.set(Timer::Probe, (now + timeout).min(self.retransmission));
    }

    /// The reordering or the probe timer expired.
    pub(super) fn on_rack_timer(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let Some(rack) = &mut self.rack else { return };
        rack.deadline = Time::NEVER;
        match rack.timer {
            Timer::Reordering => {
                let newly_lost = self.rack_find_losses(now);
                if newly_lost > 0 && matches!(self.phase, Phase::Open) {
                    self.enter_recovery(Progress { newly_lost, ..Progress::default() }, now, outbox);
                }
                self.send(now, outbox);
            }
            Timer::Probe if matches!(self.phase, Phase::Open) => self.probe(now, outbox),
            Timer::Probe => {}
        }
    }

    /// TLP_send_probe() of section 7.3: new data if there is some, or else the last segment again.
    fn probe(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let again = !self.may_send_new();
        if !again {
            self.send_new(now, outbox);
        } else if let Some(index) = self.scoreboard.last_hole() {
            self.transmit_again(index, now, outbox);
        }
        let end = self.scoreboard.nxt();
        if let Some(rack) = &mut self.rack {
            rack.probe = Some(Probe { end, again });
            // New data has armed the next, for which it is too early.
            rack.deadline = Time::NEVER;
        }
        self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
    }

    /// After a timeout only the first segment is surely lost, and what was sent as long ago as RACK waits (section 6.3).
    pub(super) fn rack_mark_losses_on_timeout(&mut self, now: Time) -> bool {
        let srtt = self.rto.srtt();
        let Some(rack) = &mut self.rack else { return false };
        let window = rack.reordering_window(false, srtt);
        for index in self.scoreboard.una()..self.scoreboard.nxt() {
            let sent = rack.transmissions[rack.slot(index)].sent;
            let first = index == self.scoreboard.una();
            if self.scoreboard.is_under_way(index) && (first || sent + rack.rtt + window <= now) {
                self.scoreboard.mark_lost_anew(index);
            }
        }
        rack.probe = None;
        rack.deadline = Time::NEVER;
        true
    }

    /// The window is about to be reduced for losses that may prove to be none.
    pub(super) fn note_for_undo(&mut self) {
        if let Some(rack) = &mut self.rack
            && self.profile.duplicate_sack
            && matches!(self.phase, Phase::Open)
        {
            rack.undo = Some(Undo { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh, unexplained: 0 });
        }
    }

    /// A segment of the episode is sent again.
    pub(super) fn count_for_undo(&mut self) {
        if let Some(undo) = self.rack.as_mut().and_then(|rack| rack.undo.as_mut()) {
            undo.unexplained += 1;
        }
    }

    /// One retransmission is shown to have been needless; once all are, the reduction is taken back.
    fn on_needless_retransmission(&mut self, now: Time) {
        let Some(rack) = &mut self.rack else { return };
        let Some(undo) = rack.undo.as_mut().filter(|undo| undo.unexplained > 0) else { return };
        undo.unexplained -= 1;
        if undo.unexplained > 0 {
            return;
        }
        let Undo { cwnd, ssthresh, .. } = *undo;
        rack.undo = None;
        if !matches!(self.phase, Phase::Open) {
            self.leave_recovery(now);
        }
        if !self.is_governed {
            self.window.cwnd = self.window.cwnd.max(cwnd);
        }
        self.window.ssthresh = self.window.ssthresh.max(ssthresh);
        self.algorithm.on_undone(&mut self.window);
        self.statistics.undone_reductions += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn microseconds(time: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(time)
    }

    /// The least round-trip time is 100 us, and so many segments left 10 us apart.
    fn rack_of(segments: u64) -> Rack {
        let mut rack = Rack::new();
        rack.on_rtt(Duration::from_microseconds(100));
        (0..segments).for_each(|index| rack.on_sent(index, 0, false, microseconds(10 * index)));
        rack
    }

    /// What RACK waits for, with a smoothed round-trip time of 300 us.
    fn window(rack: &Rack) -> u64 {
        rack.reordering_window(false, Duration::from_microseconds(300)).0 / Duration::from_microseconds(1).0
    }

    /// Step 2 of section 6.2: of all that arrived the segment sent last counts; an earlier one that comes after it is
    /// reordering (step 3).
    #[test]
    fn the_segment_sent_last_counts() {
        let mut rack = rack_of(4);
        rack.on_delivered(1, None, microseconds(120));
        rack.on_delivered(2, None, microseconds(121));
        assert!(!rack.reordering_seen);
        assert_eq!(rack.highest, 3);
        rack.on_delivered(0, None, microseconds(122));
        assert!(rack.reordering_seen);
        assert_eq!(rack.latest, Some((microseconds(20), 2)));
    }

    /// Step 3: what was sent again comes below what has arrived, and was not reordered.
    #[test]
    fn what_was_sent_again_was_not_reordered() {
        let mut rack = rack_of(2);
        rack.on_delivered(1, None, microseconds(120));
        rack.on_sent(0, 0, true, microseconds(130));
        rack.on_delivered(0, None, microseconds(240));
        assert!(!rack.reordering_seen);
        assert_eq!(rack.latest, Some((microseconds(130), 0)));
    }

    /// Step 2 without timestamps: what seems to have arrived within less than the least round trip is the first transmission.
    #[test]
    fn a_retransmission_takes_a_round_trip() {
        for (after, counts) in [(99, false), (100, true)] {
            let mut rack = rack_of(1);
            rack.on_sent(0, 0, true, microseconds(500));
            rack.on_delivered(0, None, microseconds(500 + after));
            assert_eq!(rack.latest.is_some(), counts, "after {after} us");
            assert!(!rack.reordering_seen);
        }
    }

    /// Step 4: each round trip in which something came twice adds a quarter of the least round trip, up to the smoothed one.
    #[test]
    fn duplicates_widen_the_reordering_window_once_a_round() {
        let mut rack = rack_of(1);
        assert_eq!(window(&rack), 25);
        rack.on_duplicate(10, 20);
        rack.on_duplicate(19, 30);
        assert_eq!(window(&rack), 50);
        rack.on_duplicate(20, 30);
        assert_eq!(window(&rack), 75);
        (0..20).for_each(|round| rack.on_duplicate(30 + 10 * round, 40 + 10 * round));
        assert_eq!(window(&rack), 300);
    }

    /// Step 4: after 16 recoveries without duplicates the window is a quarter again.
    #[test]
    fn a_widened_reordering_window_lasts_sixteen_recoveries() {
        let mut rack = rack_of(1);
        rack.on_duplicate(10, 20);
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(window(&rack), 50);
        rack.on_duplicate(20, 30);
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(window(&rack), 75);
        rack.on_recovered();
        assert_eq!(window(&rack), 25);
    }

    /// RFC 2883 section 4: what came twice is the first block, if it is acknowledged already or part of the second.
    #[test]
    fn duplicates_are_told_by_the_first_block() {
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

    /// RACK_update() of section 6.2, with a timestamp clock of a millisecond: the echo tells which transmission is
    /// acknowledged, also when the retransmission left in the middle of a tick.
    #[test]
    fn only_the_retransmissions_own_acknowledgement_counts() {
        for (tick_echoed, counts) in [(0, false), (5_000, true)] {
            let mut rack = Rack::new();
            rack.on_rtt(Duration::from_microseconds(100));
            rack.on_sent(0, 0, false, microseconds(0));
            rack.on_sent(0, 0, true, microseconds(5_400));
            rack.on_delivered(0, Some(microseconds(tick_echoed + 1_000)), microseconds(6_000));
            assert_eq!(rack.latest.is_some(), counts, "echo of {tick_echoed} us");
        }
    }
}
