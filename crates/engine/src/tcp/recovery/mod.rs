//! Loss recovery: loss detection, the order of transmission during recovery, and the window during and after it. One
//! file per recovery, selected by the stack.
//!
//! A recovery does not send and does not know the congestion control. It updates the sender's [`Flight`] and returns
//! the sender's next action. To add one: write its file with an implementation of `Repair`, name it in [`Recovery`], in
//! `each!` and in [`RecoveryKind`].

/// What [`Repair`] has of a recovery whose field is an [`Inflation`] during an episode, unless the algorithm sets the window.
macro_rules! inflates {
    ($field:ident) => {
        fn in_flight(&self, flight: &Flight) -> u64 {
            flight.outstanding()
        }

        fn window(&self, flight: &Flight) -> u64 {
            self.$field.map_or(flight.window.cwnd, |inflation| inflation.window())
        }

        fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
            inflation::next_segment(self.$field.as_ref(), flight, has_new)
        }

        fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
            self.$field = None;
            flight.scoreboard.mark_all_lost();
        }
    };
}

/// Methods for which recoveries but RACK-TLP do nothing.
macro_rules! of_rack_alone {
    ($($(#[$attribute:meta])* fn $method:ident(&mut self $(, $argument:ident: $type:ty)*);)*) => {
        $($(#[$attribute])* pub fn $method(&mut self $(, $argument: $type)*) {
            if let Recovery::Rack(rack) = self {
                rack.$method($($argument),*);
            }
        })*
    };
}

mod inflation;
mod kind;
mod linux_newreno;
mod newreno;
mod ns2_linux;
mod ns3;
mod prr;
mod rack;
mod reduction;
mod reno;
mod sack;
mod tahoe;
mod timeout;

use crate::packet::Block;
use crate::tcp::flight::{Arrival, Flight, LimitedTransmit, Phase};
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::Progress;
use crate::tcp::transmissions::Transmission;
use crate::time::{Duration, Time};

pub use inflation::Inflation;
pub use kind::RecoveryKind;
pub use linux_newreno::LinuxNewReno;
pub use newreno::NewReno;
pub use ns2_linux::Ns2Linux;
pub use ns3::Ns3;
pub use prr::ProportionalRateReduction;
pub use rack::Rack;
pub use reno::Reno;
pub use sack::Sack;
pub use tahoe::Tahoe;

use reduction::Reduction;

/// The effect of an acknowledgement on recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No fast recovery: the window may grow.
    Grow,
    /// Fast recovery starts, after the window has grown.
    Enter,
    /// Fast recovery continues, or a reduction of the window after marks.
    Repair {
        at_once: Immediate,
        /// Whether an acknowledgement of new data restarts the retransmission timer.
        restarts_timer: bool,
    },
    Leave,
}

impl Step {
    /// It continues without a retransmission.
    const REPAIR: Step = Step::Repair { at_once: Immediate::Nothing, restarts_timer: true };
}

/// What is sent immediately, regardless of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    Nothing,
    /// The retransmission of the segment with this index.
    Segment(u64),
    /// The segment that is next, or the first one again if none is.
    Next,
}

impl From<Option<u64>> for Immediate {
    fn from(index: Option<u64>) -> Immediate {
        index.map_or(Immediate::Nothing, Immediate::Segment)
    }
}

/// How recovery from a loss starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// With fast recovery. The first segment is sent regardless of the window (RFC 5681 section 3.2 step 2, RFC 6675
    /// section 5 (4.3)).
    Repair { first: Immediate },
    /// With slow start from one segment, as after a timeout.
    StartOver,
}

/// The segment to send next, if the window allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next segment of the stream.
    New,
    /// The index of a segment to retransmit.
    Retransmission(u64),
    /// The index of a segment to retransmit in case the end of the window was lost: NextSeg() rule 4 of RFC 6675.
    Rescue(u64),
}

/// What an acknowledgement shows about earlier losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    None,
    /// A tail loss probe has repaired a loss. The window has to be reduced.
    ProbeRepaired,
    /// The latest reduction was spurious.
    Spurious {
        /// The congestion window before the reduction.
        cwnd: u64,
        /// The slow start threshold before the reduction.
        ssthresh: u64,
    },
}

/// The action when a recovery's timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    Nothing,
    /// Losses were detected: the sender enters fast recovery and sends what the window allows.
    Enter,
    /// The sender sends what the window allows.
    Send,
    /// The sender sends a tail loss probe.
    Probe,
}

/// The interface of recoveries. Four methods have no default.
trait Repair {
    /// Counts an acknowledgement that is a duplicate or indicates a loss. Returns whether it starts fast recovery.
    fn finds_loss(&mut self, flight: &mut Flight, arrival: &Arrival) -> bool;

    /// Enters fast recovery: marks lost segments, calls `reduce` to lower the threshold, and sets the window.
    /// `arrival` is the current acknowledgement, `nxt` is SND.NXT.
    fn enter(&mut self, flight: &mut Flight, arrival: &Arrival, nxt: u64, reduce: impl FnOnce(&mut Flight)) -> Entry;

    /// Processes an acknowledgement during fast recovery that does not end it.
    fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step;

    /// Leaves fast recovery and sets the window.
    fn leave(&mut self, flight: &mut Flight);

    /// Whether an acknowledgement ends fast recovery: all data sent before it started is acknowledged.
    fn is_over(&self, flight: &Flight, _arrival: &Arrival) -> bool {
        flight.una >= flight.recover
    }

    /// Whether a loss is known at the end of fast recovery, so that the next one starts immediately.
    fn knows_of_loss(&self, flight: &mut Flight) -> bool {
        flight.scoreboard.first_is_lost()
    }

    /// Bytes in flight during fast recovery, for comparison with the window.
    fn in_flight(&self, flight: &Flight) -> u64 {
        flight.pipe()
    }

    /// The window during fast recovery, in bytes.
    fn window(&self, flight: &Flight) -> u64 {
        flight.window.cwnd
    }

    /// The segment to send next during fast recovery.
    fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        lost_then_new(flight, has_new)
    }

    /// Handles a retransmission timeout: the data in flight is considered lost.
    fn on_timeout(&mut self, flight: &mut Flight, _rto: &Rto, _now: Time) {
        flight.scoreboard.mark_all_lost();
    }

    /// Records that a segment with this payload, in bytes, was sent.
    fn on_sent(&mut self, _flight: &Flight, _index: u64, _payload: u64, _now: Time) {}
}

/// Lost segments first, then new ones: NextSeg() rules 1 and 2 of RFC 6675.
fn lost_then_new(flight: &mut Flight, has_new: bool) -> Option<Next> {
    match flight.scoreboard.next_lost() {
        Some(index) => Some(Next::Retransmission(index)),
        None => has_new.then_some(Next::New),
    }
}

#[derive(Debug)]
pub enum Recovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    /// See [`Sack`]. Also used for the kinds `fack` and `prr`.
    Sack(Sack),
    Rack(Box<Rack>),
    Ns2Linux(Box<Ns2Linux>),
    Ns3(Box<Ns3>),
    LinuxNewReno(Box<LinuxNewReno>),
}

macro_rules! each {
    ($recovery:expr, $each:ident => $value:expr) => {
        dispatch!($recovery, Recovery [Tahoe Reno NewReno Sack Rack Ns2Linux Ns3 LinuxNewReno], $each => $value)
    };
}

/// Settings that only some recoveries use.
#[derive(Clone, Copy, Debug)]
pub struct RecoverySettings {
    /// Whether Reno repeats fast retransmit before the data sent before the last loss is acknowledged.
    pub repeats: bool,
    /// Whether the receiver reports duplicate segments, so that RACK-TLP can undo spurious reductions.
    pub duplicate_sack: bool,
    /// The tick of the host's timers.
    pub timer_tick: Duration,
}

impl Recovery {
    pub fn new(kind: RecoveryKind, settings: RecoverySettings) -> Recovery {
        match kind {
            RecoveryKind::Tahoe => Recovery::Tahoe(Tahoe),
            RecoveryKind::Reno => Recovery::Reno(Reno::new(settings.repeats)),
            RecoveryKind::NewReno => Recovery::NewReno(NewReno::default()),
            RecoveryKind::Sack | RecoveryKind::Fack => Recovery::Sack(Sack::at_once()),
            RecoveryKind::Prr => Recovery::Sack(Sack::proportional()),
            RecoveryKind::Rack => Recovery::Rack(Box::new(Rack::new(settings.duplicate_sack, settings.timer_tick))),
            RecoveryKind::LinuxNewReno => Recovery::LinuxNewReno(Box::default()),
            RecoveryKind::Ns2Linux => Recovery::Ns2Linux(Box::default()),
            RecoveryKind::Ns3Classic => Recovery::Ns3(Box::new(Ns3::classic())),
            RecoveryKind::Ns3Prr => Recovery::Ns3(Box::new(Ns3::proportional())),
        }
    }

    /// Whether it tracks individual segments and therefore needs [`on_delivered`](Recovery::on_delivered) for each one
    /// delivered.
    pub fn follows_segments(&self) -> bool {
        matches!(self, Recovery::Rack(_) | Recovery::Ns2Linux(_) | Recovery::LinuxNewReno(_))
    }

    /// Whether an acknowledgement of nothing new restarts the retransmission timer too: ns-2.35 tcp/tcp-linux.cc, time_processing.
    pub fn restarts_timer_on_duplicates(&self) -> bool {
        matches!(self, Recovery::Ns2Linux(_))
    }

    /// Processes an acknowledgement, which may end the recovery after a timeout.
    #[inline]
    pub fn on_ack(&mut self, flight: &mut Flight, arrival: &Arrival) -> Step {
        match flight.phase {
            Phase::Open => {
                // In ns-3 a duplicate that acknowledges new data adds to the count: tcp-socket-base.cc, ProcessAck.
                let (is_duplicate, adds) = match self {
                    Recovery::Ns3(recovery) => (recovery.is_duplicate(flight, arrival), true),
                    _ => (flight.is_duplicate(arrival), false),
                };
                if arrival.acked > 0 && !(is_duplicate && adds) {
                    flight.duplicate_acks = 0;
                }
                let is_suspicious = is_duplicate || arrival.progress.newly_lost > 0;
                if is_suspicious && each!(self, recovery => recovery.finds_loss(flight, arrival)) {
                    Step::Enter
                } else if let Some(reduction) = self.reduction_mut()
                    && reduction.is_of_marks()
                {
                    reduction.reduce(flight, arrival);
                    Step::REPAIR
                } else {
                    Step::Grow
                }
            }
            Phase::Recovery => each!(self, recovery => {
                if recovery.is_over(flight, arrival) { Step::Leave } else { recovery.on_ack(flight, arrival) }
            }),
            Phase::Loss => {
                if flight.una >= flight.recover && !self.holds(flight) {
                    flight.phase = Phase::Open;
                    flight.duplicate_acks = 0;
                }
                if self.repairs_anew(flight) { Step::Enter } else { Step::Grow }
            }
        }
    }

    /// Whether a repair goes on though all that was sent before it is acknowledged: Linux tcp_input.c, tcp_is_non_sack_preventing_reopen.
    #[inline]
    fn holds(&self, flight: &Flight) -> bool {
        matches!(self, Recovery::LinuxNewReno(_)) && !LinuxNewReno::is_past(flight)
    }

    /// Whether a reduction that was spurious ends a repair which is under way.
    pub fn ends_with_undo(&self, flight: &Flight) -> bool {
        flight.phase != Phase::Open && !self.holds(flight)
    }

    /// The reduction in proportion of a recovery that continues one after marks.
    #[inline]
    fn reduction(&self) -> Option<&Reduction> {
        match self {
            Recovery::Rack(rack) => Some(rack.reduction()),
            Recovery::LinuxNewReno(recovery) => Some(recovery.reduction()),
            _ => None,
        }
    }

    #[inline]
    fn reduction_mut(&mut self) -> Option<&mut Reduction> {
        match self {
            Recovery::Rack(rack) => Some(rack.reduction_mut()),
            Recovery::LinuxNewReno(recovery) => Some(recovery.reduction_mut()),
            _ => None,
        }
    }

    /// Whether an acknowledgement after a timeout starts fast recovery: one that ends the repair while later losses are known,
    /// or that shows the loss of a retransmission (Linux tcp_input.c, tcp_fastretrans_alert).
    fn repairs_anew(&self, flight: &mut Flight) -> bool {
        match self {
            Recovery::Rack(rack) => rack.lost_again() || flight.is_open() && rack.knows_of_loss(flight),
            _ => false,
        }
    }

    /// Starts recovery from a loss. `reduce` makes the congestion control lower the threshold. `arrival` is the current
    /// acknowledgement, `nxt` is SND.NXT.
    pub fn enter(
        &mut self,
        flight: &mut Flight,
        arrival: &Arrival,
        nxt: u64,
        reduce: impl FnOnce(&mut Flight),
    ) -> Entry {
        each!(self, recovery => recovery.enter(flight, arrival, nxt, reduce))
    }

    /// The segment to send next, if the window allows it. `has_new` tells whether a new segment is available.
    #[inline]
    pub fn next_segment(&mut self, flight: &mut Flight, has_new: bool) -> Option<Next> {
        match (flight.phase, self) {
            (Phase::Recovery, recovery) => each!(recovery, recovery => recovery.next_segment(flight, has_new)),
            (_, Recovery::Ns3(recovery)) => recovery.lost_then_new(flight, has_new),
            (Phase::Open, _) => has_new.then_some(Next::New),
            (Phase::Loss, Recovery::Rack(rack)) => rack.next_after_timeout(flight, has_new),
            (Phase::Loss, Recovery::LinuxNewReno(recovery)) => recovery.next_after_timeout(flight, has_new),
            (Phase::Loss, _) => lost_then_new(flight, has_new),
        }
    }

    /// The segment that [`Immediate::Next`] stands for: ns-3 tcp-socket-base.cc, DoRetransmit.
    pub fn next_immediate(&self, flight: &mut Flight, has_new: bool) -> Next {
        let next = match self {
            Recovery::Ns3(recovery) => recovery.lost_then_new(flight, has_new),
            _ => None,
        };
        next.unwrap_or(Next::Retransmission(flight.scoreboard.una()))
    }

    /// Whether what is sent immediately does not put off the next paced segment: ns-3 tcp-socket-base.cc, SendDataPacket, starts the
    /// timer of pacing only if it is not running.
    pub fn passes_pacing(&self) -> bool {
        matches!(self, Recovery::Ns3(_))
    }

    #[inline(always)]
    pub fn in_flight(&self, flight: &Flight) -> u64 {
        match flight.phase {
            Phase::Open if flight.settings.limited_transmit == LimitedTransmit::Pipe => flight.pipe(),
            Phase::Open => flight.outstanding(),
            Phase::Recovery => each!(self, recovery => recovery.in_flight(flight)),
            Phase::Loss => flight.pipe(),
        }
    }

    #[inline]
    pub fn window(&self, flight: &Flight) -> u64 {
        match flight.phase {
            Phase::Open if flight.settings.limited_transmit == LimitedTransmit::Beyond => {
                flight.window.cwnd + flight.duplicate_acks.min(2) * flight.window.mss
            }
            Phase::Recovery => each!(self, recovery => recovery.window(flight)),
            Phase::Open | Phase::Loss => flight.window.cwnd,
        }
    }

    pub fn leave(&mut self, flight: &mut Flight) {
        each!(self, recovery => recovery.leave(flight));
        flight.end_recovery();
    }

    /// Whether a loss is known at the end of fast recovery: new data sent during it may also be lost.
    pub fn knows_of_loss(&self, flight: &mut Flight) -> bool {
        each!(self, recovery => recovery.knows_of_loss(flight))
    }

    /// Restarts slow start after a retransmission timeout, or after a loss with Tahoe. Every segment not known to be
    /// delivered or in flight is considered lost. `nxt` is SND.NXT; `repeats` tells whether the same segment has already
    /// timed out.
    pub fn on_timeout(&mut self, flight: &mut Flight, nxt: u64, repeats: bool, rto: &Rto, now: Time) {
        let begins = flight.is_open();
        flight.start_over(nxt);
        each!(self, recovery => recovery.on_timeout(flight, rto, now));
        match self {
            Recovery::Rack(rack) => rack.follow_timeout(flight, begins, repeats),
            Recovery::LinuxNewReno(recovery) => recovery.follow_timeout(flight, begins, repeats),
            _ => {}
        }
    }

    /// Whether a timeout lowers ssthresh; `repeats` tells whether the same segment has already timed out (RFC 5681 section 3.1).
    /// RACK-TLP spares a window that a fast recovery, or a reduction after marks, is already reducing: Linux tcp_input.c,
    /// tcp_enter_loss. ns-3 lowers it each time, since it asks whether the segment was sent again only after forgetting it:
    /// tcp-socket-base.cc, ReTxTimeout.
    pub fn reduces_on_timeout(&self, flight: &Flight, repeats: bool) -> bool {
        match self {
            Recovery::Ns3(_) => true,
            Recovery::Rack(rack) => !repeats && !rack.reduction().has_reduced(flight),
            Recovery::LinuxNewReno(recovery) => !repeats && !recovery.has_reduced(flight),
            _ => !repeats,
        }
    }

    /// Starts to reduce the window in proportion to what is delivered, after marks. `nxt` is SND.NXT. Returns whether this recovery
    /// does so.
    pub fn start_reduction(&mut self, flight: &Flight, nxt: u64) -> bool {
        match self {
            Recovery::Rack(rack) => rack.reduction_mut().start_of_marks(flight, nxt),
            Recovery::LinuxNewReno(recovery) => recovery.start_reduction(flight, nxt),
            _ => return false,
        }
        true
    }

    /// Whether such a reduction is under way, outside fast recovery.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        self.reduction().is_some_and(Reduction::is_of_marks)
    }

    /// Records that a segment with this payload, in bytes, was sent. It is a first transmission if the index is that of
    /// SND.NXT.
    #[inline]
    pub fn on_sent(&mut self, flight: &Flight, index: u64, payload: u64, now: Time) {
        each!(self, recovery => recovery.on_sent(flight, index, payload, now));
    }
}

/// The interface of recoveries that track the transmission times of segments.
impl Recovery {
    of_rack_alone! {
        /// Moves the recovery's timer to a tick of the host's timers.
        fn round_deadline(&mut self, tick: Duration);

        /// Stops the timer at the end of the connection.
        fn stop_timer(&mut self);

        /// Arms the tail loss probe after new data was sent or acknowledged. `retransmission` is when the retransmission
        /// timer expires.
        #[inline]
        fn arm_probe(&mut self, flight: &Flight, rto: &Rto, retransmission: Time, now: Time);

        /// Records that a probe was sent, and whether it retransmitted data (`again`).
        fn on_probe_sent(&mut self, flight: &Flight, again: bool);

        #[inline]
        fn on_rtt(&mut self, rtt: Duration);
    }

    /// Ends a reduction after marks if the current acknowledgement does.
    #[inline]
    pub fn end_reduction(&mut self, flight: &mut Flight) {
        if let Some(reduction) = self.reduction_mut() {
            reduction.end_of_marks(flight);
        }
    }

    /// Marks have shown that the latest reduction was called for.
    pub fn confirm_reduction(&mut self) {
        match self {
            Recovery::Rack(rack) => rack.confirm_reduction(),
            Recovery::LinuxNewReno(recovery) => recovery.confirm_reduction(),
            _ => {}
        }
    }

    /// Saves the window before a reduction that may prove spurious.
    pub fn before_reduction(&mut self, flight: &Flight) {
        match self {
            Recovery::Rack(rack) => rack.before_reduction(flight),
            Recovery::LinuxNewReno(recovery) => recovery.before_reduction(flight),
            _ => {}
        }
    }

    /// When the recovery's own timer expires, `NEVER` while it is stopped.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Recovery::Rack(rack) => rack.deadline(),
            _ => Time::NEVER,
        }
    }

    /// Whether the retransmission timer restarts with a retransmission of the first segment, as on a host with Linux's timers:
    /// tcp_output.c, tcp_xmit_retransmit_queue.
    pub fn restarts_timer_on_first(&self) -> bool {
        match self {
            Recovery::Rack(rack) => rack.restarts_timer_on_first(),
            Recovery::LinuxNewReno(_) => true,
            _ => false,
        }
    }

    pub fn on_timer(&mut self, flight: &mut Flight, rto: &Rto, now: Time) -> Expiry {
        match self {
            Recovery::Rack(rack) => rack.on_timer(flight, rto, now),
            _ => Expiry::Nothing,
        }
    }

    /// Whether it knows when each segment was last sent.
    pub fn knows_transmissions(&self) -> bool {
        matches!(self, Recovery::Rack(_))
    }

    /// Records the delivery of a segment. `echo_ended` is the end of the clock tick of the echoed timestamp, if any. Returns the
    /// segment's latest transmission if it [knows them](Recovery::knows_transmissions).
    #[inline(always)]
    pub fn on_delivered(&mut self, index: u64, echo_ended: Option<Time>, now: Time) -> Option<Transmission> {
        match self {
            Recovery::Rack(rack) => return Some(rack.on_delivered(index, echo_ended, now)),
            Recovery::Ns2Linux(recovery) => recovery.on_delivered(index),
            Recovery::LinuxNewReno(recovery) => recovery.on_delivered(echo_ended),
            _ => {}
        }
        None
    }

    /// Detects losses after an acknowledgement, and adds them to its progress.
    #[inline]
    pub fn find_losses(
        &mut self,
        flight: &mut Flight,
        acked: u64,
        sacks: &[Block],
        progress: &mut Progress,
        rto: &Rto,
        now: Time,
    ) -> Evidence {
        match self {
            Recovery::Rack(rack) => rack.find_losses(flight, acked, sacks, progress, rto, now),
            Recovery::LinuxNewReno(recovery) => recovery.find_losses(flight, acked, progress),
            Recovery::Ns2Linux(recovery) => {
                recovery.find_losses(flight, progress);
                Evidence::None
            }
            _ => Evidence::None,
        }
    }

    /// By how many segments one was overtaken at most, if that is known.
    pub fn degree_of_reordering(&self) -> u64 {
        match self {
            Recovery::Rack(rack) => rack.degree_of_reordering(),
            _ => 0,
        }
    }

    /// Processes an acknowledgement that was overtaken by a later one. It may still report a duplicate segment.
    pub fn on_old_ack(&mut self, flight: &Flight, number: u64, sacks: &[Block]) -> Evidence {
        match self {
            Recovery::Rack(rack) => rack.on_old_ack(flight, number, sacks),
            _ => Evidence::None,
        }
    }
}
