//! Fast recovery of Linux without SACK (tcp_input.c, tcp_is_reno). Each duplicate acknowledgement stands for a segment that has
//! arrived above a gap, as if it had been SACKed, so that pipe and proportional rate reduction are those of a recovery with SACK.
//! Only the first segment is ever found lost, by as many duplicates as the degree of reordering, which grows. A recovery ends above
//! the data that were outstanding when it began (RFC 6582 section 3.2 step 2). Timestamps undo fast recoveries
//! and timeouts, and F-RTO (RFC 5682 section 2) timeouts.

use super::reduction::Reduction;
use super::timeout::Timeout;
use super::{Entry, Evidence, Next, Repair, Step, lost_then_new};
use crate::tcp::flight::{Arrival, Flight, Phase};
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::Progress;
use crate::tcp::window::Window;
use crate::time::Time;

/// The greatest degree of reordering (Linux ip-sysctl.rst, tcp_max_reordering).
const GREATEST_DEGREE: u64 = 300;

state! {
    pub LinuxNewReno() {
        /// The degree of reordering, in segments, once there was any. Until then it is the duplicate threshold.
        degree: Option<u64>,
        reduction: Reduction = Reduction::new(),
        /// Whether the latest reduction of a recovery or timeout has neither been undone nor been followed by marks: undo_marker.
        may_undo: bool,
        /// The window before it, unless marks have confirmed it.
        before: Option<Window>,
        timeout: Timeout = Timeout::new(),
        /// One past the highest segment that was ever sent again. The segments sent again that are outstanding are those below.
        again_end: u64,
        /// The end of the tick of the timestamp that the current acknowledgement of new data echoes.
        echo_ended: Option<Time>,
    }
}

impl Default for LinuxNewReno {
    fn default() -> LinuxNewReno {
        LinuxNewReno::new()
    }
}

impl LinuxNewReno {
    pub(super) fn reduction(&self) -> &Reduction {
        &self.reduction
    }

    pub(super) fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }

    /// Marks begin a reduction: what was reduced before stays so (tcp_enter_cwr).
    pub(super) fn start_reduction(&mut self, flight: &Flight, nxt: u64) {
        self.may_undo = false;
        self.reduction.start_of_marks(flight, nxt);
    }

    /// Whether the current window of data has reduced the window before a timeout: tcp_enter_loss.
    pub(super) fn has_reduced(&self, flight: &Flight) -> bool {
        flight.una < flight.recover && flight.phase == Phase::Recovery || self.reduction.marks_reduce_window(flight)
    }

    /// Marks have shown congestion: tcp_fastretrans_alert.
    pub(super) fn confirm_reduction(&mut self) {
        self.before = None;
    }

    /// Saves the window before a reduction.
    pub(super) fn before_reduction(&mut self, flight: &Flight) {
        self.before = Some(flight.window);
        self.may_undo = true;
    }

    pub(super) fn on_delivered(&mut self, echo_ended: Option<Time>) {
        self.echo_ended = echo_ended;
    }

    /// Follows a timeout; see [`Timeout::begin`].
    pub(super) fn follow_timeout(&mut self, flight: &Flight, begins: bool, repeats: bool) {
        self.timeout.begin(flight.scoreboard.nxt(), begins || repeats);
    }

    /// The segment to send next after a timeout.
    pub(super) fn next_after_timeout(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        if self.timeout.prefers_new(has_new) { Some(Next::New) } else { lost_then_new(flight, has_new) }
    }

    /// Whether everything sent before the latest recovery or timeout is acknowledged, and something above it: until then its state
    /// holds (tcp_is_non_sack_preventing_reopen).
    pub(super) fn is_past(flight: &Flight) -> bool {
        flight.una > flight.recover
    }

    /// Takes an acknowledgement: what it delivers, as duplicates tell, whether the first segment is lost, and whether the latest
    /// reduction was spurious.
    pub(super) fn find_losses(&mut self, flight: &mut Flight, acked: u64, progress: &mut Progress) -> Evidence {
        let covered = progress.delivered;
        if covered > 0 {
            self.take_covered(flight, covered, progress);
        } else if acked > 0 || flight.scoreboard.outstanding() == 0 {
            return Evidence::None;
        }
        let advances = covered > 0;
        let evidence = match flight.phase {
            Phase::Open => {
                self.timeout.skip();
                if advances {
                    flight.scoreboard.presume_arrived(0);
                } else {
                    self.count_duplicate(flight, progress);
                }
                self.mark_after_duplicates(flight, progress);
                Evidence::None
            }
            Phase::Recovery => self.during_recovery(flight, covered, progress),
            Phase::Loss => self.after_timeout(flight, advances, progress),
        };
        if (flight.is_open() || flight.una == flight.recover) && !self.has_sent_again(flight) {
            self.timeout.forget_retransmissions();
        }
        evidence
    }

    /// An acknowledgement of new data fills the gap with one segment; the others have been told of by duplicates, as far as there
    /// were so many (tcp_remove_reno_sacks).
    fn take_covered(&mut self, flight: &mut Flight, covered: u64, progress: &mut Progress) {
        let first = flight.scoreboard.una() - covered;
        self.timeout.on_delivered(first, first < self.again_end, self.echo_ended.take());
        let presumed = flight.scoreboard.sacked();
        progress.delivered = covered.saturating_sub(presumed).max(1);
        flight.scoreboard.presume_arrived(presumed.saturating_sub(covered - 1));
        self.check_reordering(flight, covered);
    }

    /// A duplicate acknowledgement stands for a segment that has arrived (tcp_add_reno_sack).
    fn count_duplicate(&mut self, flight: &mut Flight, progress: &mut Progress) {
        let presumed = flight.scoreboard.sacked();
        flight.scoreboard.presume_arrived(presumed + 1);
        self.check_reordering(flight, 0);
        progress.delivered = flight.scoreboard.sacked().saturating_sub(presumed);
    }

    /// More duplicates than there can be segments above a gap show reordering (tcp_limit_reno_sacked, tcp_check_reno_reordering).
    fn check_reordering(&mut self, flight: &mut Flight, covered: u64) {
        let (outstanding, presumed) = (flight.scoreboard.outstanding(), flight.scoreboard.sacked());
        let most = outstanding - flight.scoreboard.lost().max(1).min(outstanding);
        if presumed > most {
            flight.scoreboard.presume_arrived(most);
            self.degree = Some((outstanding + covered).min(GREATEST_DEGREE));
        }
    }

    /// The first segment is lost after as many duplicates as the degree of reordering (tcp_newreno_mark_lost).
    fn mark_after_duplicates(&mut self, flight: &mut Flight, progress: &mut Progress) {
        let threshold = self.degree.unwrap_or(flight.scoreboard.duplicate_threshold());
        if flight.scoreboard.sacked() >= threshold {
            progress.newly_lost += flight.scoreboard.mark_first_lost();
        }
    }

    fn during_recovery(&mut self, flight: &mut Flight, covered: u64, progress: &mut Progress) -> Evidence {
        let is_delayed = covered > 0 && self.echoes_original(flight);
        self.timeout.skip();
        if flight.una >= flight.recover {
            flight.scoreboard.presume_arrived(0);
            return if is_delayed { self.undo() } else { Evidence::None };
        }
        if covered == 0 {
            self.count_duplicate(flight, progress);
            return Evidence::None;
        }
        if is_delayed {
            return self.after_delayed(flight, covered, progress);
        }
        progress.newly_lost += flight.scoreboard.mark_first_lost();
        Evidence::None
    }

    /// A gap was filled by a segment that was delayed, not by its retransmission (tcp_try_undo_partial).
    fn after_delayed(&mut self, flight: &mut Flight, covered: u64, progress: &mut Progress) -> Evidence {
        // tcp_check_sack_reordering, tcp_highest_sack_seq.
        let above = if flight.scoreboard.sacked() > 0 { flight.scoreboard.outstanding() } else { 0 };
        let degree = self.degree.unwrap_or(flight.scoreboard.duplicate_threshold());
        if covered + above > degree {
            self.degree = Some((covered + above).min(GREATEST_DEGREE));
        }
        if flight.scoreboard.retransmitted() > 0 {
            return Evidence::None;
        }
        flight.scoreboard.unmark_losses();
        self.reduction.forget();
        flight.end_recovery();
        let evidence = self.undo();
        self.mark_after_duplicates(flight, progress);
        evidence
    }

    /// tcp_process_loss.
    fn after_timeout(&mut self, flight: &mut Flight, advances: bool, progress: &mut Progress) -> Evidence {
        let is_delayed = advances && self.echoes_original(flight);
        let completes = flight.una >= flight.recover;
        let nxt = flight.scoreboard.nxt();
        if is_delayed {
            // What timestamps show ends no repair without SACK (tcp_try_undo_loss).
            self.timeout.skip();
            flight.scoreboard.unmark_losses();
            return self.undo();
        }
        self.timeout.ignore_echo();
        if self.timeout.was_spurious(advances, completes, false, nxt) {
            flight.scoreboard.unmark_losses();
            if flight.una != flight.recover {
                flight.end_recovery();
            }
            return self.undo();
        }
        if LinuxNewReno::is_past(flight) || !completes && advances {
            flight.scoreboard.presume_arrived(0);
        } else if !completes && self.timeout.is_followed_by(nxt) {
            // What was sent after the timeout has arrived.
            self.count_duplicate(flight, progress);
        }
        Evidence::None
    }

    /// Whether the current acknowledgement, of new data, answers a transmission before the first retransmission
    /// (tcp_packet_delayed).
    fn echoes_original(&self, flight: &Flight) -> bool {
        self.may_undo && self.timeout.is_overtaken(flight.una < flight.recover)
    }

    /// Takes the latest reduction back, if marks have not confirmed it (tcp_undo_cwnd_reduction).
    fn undo(&mut self) -> Evidence {
        self.may_undo = false;
        match self.before.take() {
            Some(Window { cwnd, ssthresh, .. }) => Evidence::Spurious { cwnd, ssthresh },
            None => Evidence::None,
        }
    }

    /// tcp_any_retrans_done.
    fn has_sent_again(&self, flight: &Flight) -> bool {
        flight.scoreboard.retransmitted() > 0
            || flight.scoreboard.outstanding() > 0 && flight.scoreboard.una() < self.again_end
    }
}

impl Repair for LinuxNewReno {
    fn finds_loss(&mut self, flight: &mut Flight, _arrival: &Arrival) -> bool {
        flight.scoreboard.lost() > 0
    }

    /// tcp_enter_recovery.
    fn enter(&mut self, flight: &mut Flight, arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry {
        if !self.has_sent_again(flight) {
            self.timeout.forget_retransmissions();
        }
        flight.scoreboard.start_episode();
        self.may_undo = true;
        self.before = self.reduction.enter(flight, arrival, nxt, reduce);
        Entry::Repair { first: flight.scoreboard.next_lost().into() }
    }

    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        self.reduction.reduce(flight, arrival);
        Step::REPAIR
    }

    fn is_over(&self, flight: &Flight, _arrival: &Arrival) -> bool {
        LinuxNewReno::is_past(flight)
    }

    /// tcp_end_cwnd_reduction.
    fn leave(&mut self, flight: &mut Flight) {
        self.reduction.end();
        if self.may_undo && !flight.settings.is_governed {
            flight.window.cwnd = flight.window.ssthresh;
        }
    }

    /// All is lost, since no round-trip time of RACK's spares a segment (tcp_timeout_mark_lost).
    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        flight.scoreboard.presume_arrived(0);
        flight.scoreboard.mark_all_lost();
        self.reduction.forget();
    }

    fn on_sent(&mut self, flight: &Flight, index: u64, payload: u64, now: Time) {
        if index < flight.scoreboard.nxt() {
            self.timeout.on_retransmitted(now);
            self.again_end = self.again_end.max(index + 1);
        }
        self.reduction.on_sent(payload);
    }
}
