//! RACK-TLP: RFC 8985. Losses are detected by time (`detector.rs`). The end of a flight is probed before the
//! retransmission timeout. The window is reduced proportionally (RFC 9937), after marks too if the stack does so, and a
//! spurious reduction is undone (`undo.rs`).

mod detector;
mod undo;

use super::reduction::Reduction;
use super::timeout::Timeout;
use super::{Entry, Evidence, Expiry, Next, Repair, Step, lost_then_new};
use crate::packet::Block;
use crate::tcp::flight::{Arrival, Flight, Phase};
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::Progress;
use crate::tcp::timer_wheel;
use crate::tcp::transmissions::Transmission;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

use detector::Detector;
use undo::{Balance, Undo, duplicate_of};

/// Maximum delay of an acknowledgement: RFC 8985 section 7.2, TLP.max_ack_delay.
const LONGEST_ACK_DELAY: Duration = Duration::from_milliseconds(200);
/// The probe timeout before the first RTT sample: RFC 8985 section 7.2.
const FIRST_PROBE_TIMEOUT: Duration = Duration::from_seconds(1);

/// Ticks of the host's timers that a probe or the end of a reordering window is late at least: Linux include/net/tcp.h,
/// TCP_TIMEOUT_MIN.
const LEAST_TICKS: u64 = 2;

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// The reordering window of segments ends, after which they are lost.
    Reordering,
    /// A tail loss probe is due.
    Probe,
}

/// An unacknowledged tail loss probe (section 7.1).
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq, as a segment index.
    end: u64,
    /// Whether the probe was a retransmission.
    again: bool,
}

state! {
    pub Rack(duplicate_sack: bool, tick: Duration) {
        detector: Detector = Detector::new(),
        probe: Option<Probe>,
        deadline: Time = Time::NEVER,
        timer: Timer = Timer::Probe,
        /// For how long it was set.
        wait: Duration,
        /// The tick of the host's timers.
        tick: Duration = tick,
        /// Whether the receiver reports duplicate segments, so that spurious reductions can be undone.
        takes_back: bool = duplicate_sack,
        undo: Option<Undo>,
        balance: Balance = Balance::default(),
        timeout: Timeout = Timeout::new(),
        /// Whether the current acknowledgement shows that a retransmission was lost.
        lost_again: bool,
        /// SND.UNA when the current recovery began.
        began_at: u64,
        reduction: Reduction = Reduction::new(),
    }
}

impl Rack {
    pub(super) fn reduction(&self) -> &Reduction {
        &self.reduction
    }

    pub(super) fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }

    /// No reduction is taken back once marks have shown congestion: Linux tcp_input.c, tcp_enter_cwr.
    pub(super) fn confirm_reduction(&mut self) {
        self.undo = None;
    }

    fn set_timer(&mut self, timer: Timer, wait: Duration, now: Time) {
        self.timer = timer;
        self.wait = wait;
        self.deadline = now + wait;
    }

    pub(super) fn round_deadline(&mut self, tick: Duration) {
        self.deadline = timer_wheel::expiry(self.deadline, self.wait, tick);
    }

    pub(super) fn restarts_timer_on_first(&self) -> bool {
        self.tick > Duration::ZERO && !self.awaits_reordering()
    }

    /// Whether the timer runs for a reordering window.
    fn awaits_reordering(&self) -> bool {
        self.timer == Timer::Reordering && self.deadline != Time::NEVER
    }

    /// When the timer expires, `NEVER` while it is stopped.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    pub(super) fn stop_timer(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// By how many segments one was overtaken at most, as far as it was not sent again.
    pub(super) fn degree_of_reordering(&self) -> u64 {
        self.detector.degree_of_reordering()
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.detector.on_rtt(rtt);
    }

    #[inline(always)]
    pub(super) fn on_delivered(&mut self, index: u64, echo_ended: Option<Time>, now: Time) -> Transmission {
        let transmission = self.detector.on_delivered(index, echo_ended, now);
        self.timeout.on_delivered(index, transmission.again, echo_ended);
        transmission
    }

    /// Detects losses after an acknowledgement, and adds them to its progress.
    pub(super) fn find_losses(
        &mut self,
        flight: &mut Flight,
        acked: u64,
        sacks: &[Block],
        progress: &mut Progress,
        rto: &Rto,
        now: Time,
    ) -> Evidence {
        let una = flight.scoreboard.una();
        let duplicate = duplicate_of(flight.una, sacks);
        let spurious = duplicate.map_or(0, |block| {
            let (delivered, spurious) = self.take_duplicate(flight, flight.una - acked, block);
            progress.needless = delivered;
            spurious
        });
        let probe_repaired = self.ends_probe(una) && duplicate.is_none();
        let restored = self.after_spurious_timeout(flight, acked, progress.newly_sacked > 0);
        let retransmitted = flight.scoreboard.retransmitted();
        if self.awaits_reordering() || !self.detector.is_in_order(&flight.scoreboard) {
            progress.newly_lost += self.mark_losses(flight, rto, now);
        }
        self.lost_again = flight.scoreboard.retransmitted() < retransmitted;
        if let Some(evidence) = restored {
            evidence
        } else if spurious > 0 {
            self.on_needless(spurious)
        } else if probe_repaired && flight.is_open() {
            self.reduction.forget();
            Evidence::ProbeRepaired
        } else {
            Evidence::None
        }
    }

    /// Ends the repair after a timeout that the current acknowledgement shows to be spurious: what it marked lost is not.
    #[inline]
    fn after_spurious_timeout(&mut self, flight: &mut Flight, acked: u64, sacks: bool) -> Option<Evidence> {
        if flight.phase != Phase::Loss {
            self.timeout.skip();
            return None;
        }
        let completes = flight.una >= flight.recover;
        if !self.timeout.was_spurious(acked > 0, completes, sacks, flight.scoreboard.nxt()) {
            return None;
        }
        let Window { cwnd, ssthresh, .. } = self.undo.take()?.before();
        flight.scoreboard.unmark_losses();
        flight.end_recovery();
        Some(Evidence::Spurious { cwnd, ssthresh })
    }

    /// Follows a timeout. `begins` tells whether no loss was being repaired, `repeats` whether the same segment has already
    /// timed out.
    pub(super) fn follow_timeout(&mut self, flight: &Flight, begins: bool, repeats: bool) {
        if begins {
            self.timeout.forget_retransmissions();
        }
        self.timeout.begin(flight.scoreboard.nxt(), begins || repeats);
    }

    /// The segment to send next after a timeout.
    pub(super) fn next_after_timeout(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        if self.timeout.prefers_new(has_new) { Some(Next::New) } else { lost_then_new(flight, has_new) }
    }

    pub(super) fn lost_again(&self) -> bool {
        self.lost_again
    }

    /// Processes an acknowledgement that was overtaken by a later one.
    pub(super) fn on_old_ack(&mut self, flight: &Flight, number: u64, sacks: &[Block]) -> Evidence {
        let Some(block) = duplicate_of(number, sacks) else { return Evidence::None };
        // Linux tcp_input.c, tcp_ack, `old_ack`: what it reports does not count as delivered.
        let (_, spurious) = self.take_duplicate(flight, flight.una, block);
        self.on_needless(spurious)
    }

    /// Takes the report of a duplicate: widens the reordering window. `una` is SND.UNA before the acknowledgement. Returns how many
    /// segments count as delivered once more, and how many of the retransmissions that followed the latest reduction it shows to be
    /// spurious.
    #[cold]
    #[inline(never)]
    fn take_duplicate(&mut self, flight: &Flight, una: u64, block: Block) -> (u64, u64) {
        if flight.settings.counts_segments {
            return self.take_believed(flight, una, block);
        }
        self.detector.on_duplicate(flight.scoreboard.una(), flight.scoreboard.nxt());
        (0, 1)
    }

    /// The same as Linux does: of more duplicates than segments were sent again, none is believed; the window is widened only if
    /// reordering was seen, and not for the answer to a probe (tcp_input.c, tcp_dsack_seen). Spurious are segments that were outstanding
    /// at the reduction, and, of those not acknowledged before, that have been sent again (tcp_check_dsack, tcp_sacktag_one). All that
    /// is believed counts as delivered (tcp_dsack_seen, `sack_delivered`).
    fn take_believed(&mut self, flight: &Flight, una: u64, block: Block) -> (u64, u64) {
        let scoreboard = &flight.scoreboard;
        let segments = (block.end - block.start).div_ceil(flight.window.mss);
        if !self.balance.on_report(segments) {
            return (0, 0);
        }
        let answers_probe = self.probe.is_some_and(|probe| {
            segments == 1
                && block.end > scoreboard.sequence(probe.end - 1)
                && block.end <= scoreboard.sequence(probe.end)
        });
        if self.detector.has_seen_reordering() && !answers_probe {
            self.detector.on_duplicate(scoreboard.una(), scoreboard.nxt());
        }
        if !self.undo.is_some_and(|undo| undo.concerns(block)) {
            return (segments, 0);
        }
        if block.end <= una {
            return (segments, segments);
        }
        let first = scoreboard.index_of(block.start);
        let again = (first..first + segments).filter(|index| self.detector.was_sent_again(*index)).count() as u64;
        (segments, again)
    }

    /// Marks lost segments, and arms the timer for those that may be lost. Returns the number of the former.
    fn mark_losses(&mut self, flight: &mut Flight, rto: &Rto, now: Time) -> u64 {
        let losses_are_plain =
            !flight.is_open() || flight.scoreboard.sacked() >= flight.scoreboard.duplicate_threshold();
        let (lost, wait) = self.detector.find_losses(&mut flight.scoreboard, losses_are_plain, rto, now);
        match wait {
            Some(wait) => self.set_timer(Timer::Reordering, wait + self.tick * LEAST_TICKS, now),
            None if self.timer == Timer::Reordering => self.deadline = Time::NEVER,
            None => {}
        }
        lost
    }

    /// TLP_process_ack() of section 7.4. Returns whether the acknowledgement ends a probe that was a retransmission.
    fn ends_probe(&mut self, una: u64) -> bool {
        match self.probe {
            Some(probe) if una >= probe.end => {
                self.probe = None;
                probe.again
            }
            _ => false,
        }
    }

    /// Arms the probe after new data was sent or acknowledged (section 7.2).
    pub(super) fn arm_probe(&mut self, flight: &Flight, rto: &Rto, retransmission: Time, now: Time) {
        if self.awaits_reordering() {
            return;
        }
        let outstanding = flight.scoreboard.outstanding();
        let may_probe = flight.is_open() && flight.scoreboard.sacked() == 0 && outstanding > 0;
        if !may_probe || self.probe.is_some() {
            self.timer = Timer::Probe;
            self.deadline = Time::NEVER;
            return;
        }
        let srtt = rto.srtt();
        let timeout = match srtt {
            Duration::ZERO => FIRST_PROBE_TIMEOUT,
            _ if outstanding == 1 => srtt * 2 + LONGEST_ACK_DELAY,
            _ => srtt * 2 + self.tick * LEAST_TICKS,
        };
        self.set_timer(Timer::Probe, timeout.min(retransmission.since(now)), now);
    }

    /// Records that a probe was sent, and whether it was a retransmission.
    pub(super) fn on_probe_sent(&mut self, flight: &Flight, again: bool) {
        self.probe = Some(Probe { end: flight.scoreboard.nxt(), again });
        // Sending new data has armed the next probe, which is too early.
        self.deadline = Time::NEVER;
    }

    pub(super) fn on_timer(&mut self, flight: &mut Flight, rto: &Rto, now: Time) -> Expiry {
        self.deadline = Time::NEVER;
        match self.timer {
            Timer::Reordering => {
                let newly_lost = self.mark_losses(flight, rto, now);
                if newly_lost > 0 && flight.is_open() { Expiry::Enter } else { Expiry::Send }
            }
            Timer::Probe if flight.is_open() => Expiry::Probe,
            Timer::Probe => Expiry::Nothing,
        }
    }

    /// Saves the window before a reduction, with this number of retransmissions in flight.
    fn save(&mut self, before: Window, flight: &Flight, in_flight: u64) {
        // Linux tcp_input.c, tcp_init_undo.
        let again = in_flight + u64::from(self.probe.is_some_and(|probe| probe.again));
        let counted = if flight.settings.counts_segments { again } else { 0 };
        self.undo = Some(Undo::new(before, flight.una, counted));
    }

    /// Saves the window before the reduction of a timeout, which takes all retransmissions for lost.
    pub(super) fn before_reduction(&mut self, flight: &Flight) {
        self.save(flight.window, flight, 0);
    }

    /// Retransmissions prove to be spurious.
    fn on_needless(&mut self, segments: u64) -> Evidence {
        let undo = self.undo.as_mut().filter(|_| self.takes_back && segments > 0);
        match undo.and_then(|undo| undo.on_needless(segments)) {
            Some(before) => {
                self.undo = None;
                Evidence::Spurious { cwnd: before.cwnd, ssthresh: before.ssthresh }
            }
            None => Evidence::None,
        }
    }
}

impl Repair for Rack {
    /// With time-based detection, any acknowledgement may reveal losses.
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.duplicate_acks += 1;
        self.knows_of_loss(flight)
    }

    fn enter(&mut self, flight: &mut Flight, arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        if flight.scoreboard.retransmitted() == 0 {
            self.timeout.forget_retransmissions();
        }
        flight.scoreboard.start_episode();
        self.began_at = flight.una;
        let in_flight = flight.scoreboard.retransmitted();
        if let Some(before) = self.reduction.enter(flight, arrival, nxt, reduce) {
            self.save(before, flight, in_flight);
        }
        Entry::Repair { first: flight.scoreboard.next_lost().into() }
    }

    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        self.reduction.reduce(flight, arrival);
        Step::REPAIR
    }

    fn leave(&mut self, flight: &mut Flight) {
        self.reduction.end();
        // One that goes on with a reduction after marks is over at once if all that was sent before these is acknowledged. The window
        // stays as it is then: the echo is older than the retransmission, as after a reduction in vain (Linux tcp_input.c,
        // tcp_try_undo_recovery, tcp_packet_delayed and tcp_end_cwnd_reduction).
        if !flight.settings.is_governed && flight.una > self.began_at {
            flight.window.cwnd = flight.window.ssthresh;
        }
        self.detector.on_recovered();
    }

    /// With time-based detection, any segment may be lost, not only the first. One that was sent during a recovery is a
    /// loss of the next, even if it has been retransmitted already: Linux tcp_input.c, tcp_time_to_recover.
    fn knows_of_loss(&self, flight: &mut Flight) -> bool {
        flight.scoreboard.lost() > 0
    }

    /// The window admits one segment besides those that remain in flight: Linux tcp_input.c, tcp_enter_loss.
    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, now: Time) {
        self.detector.mark_losses_on_timeout(&mut flight.scoreboard, now);
        flight.window.cwnd = flight.pipe() + flight.window.mss;
        self.reduction.forget();
        self.probe = None;
        self.deadline = Time::NEVER;
    }

    fn on_sent(&mut self, flight: &Flight, index: u64, payload: u64, now: Time) {
        let nxt = flight.scoreboard.nxt();
        self.detector.on_sent(index, flight.scoreboard.una(), nxt, now);
        if index < nxt {
            self.timeout.on_retransmitted(now);
            self.balance.on_retransmitted();
            // Linux tcp_output.c, tcp_send_loss_probe, counts no probe among the retransmissions of an episode.
            let is_counted = !(flight.settings.counts_segments && flight.is_open());
            if let Some(undo) = self.undo.as_mut().filter(|_| is_counted) {
                undo.on_retransmitted();
            }
        }
        self.reduction.on_sent(payload);
    }
}
