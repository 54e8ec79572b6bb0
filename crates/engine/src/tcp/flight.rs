//! What a sender has in flight: its window, its scoreboard, and whether losses are being repaired. Recoveries work on it.

use crate::choice;
use crate::tcp::scoreboard::{Progress, Scoreboard};
use crate::tcp::window::Window;

choice! {
    /// What counts as the flight size that is reduced on congestion.
    pub enum FlightSize {
        /// Sent and not cumulatively acknowledged (RFC 5681 section 2).
        Outstanding = "outstanding",
        /// Neither SACKed nor lost: RFC 6675's pipe, as ns-3 has it.
        Pipe = "pipe",
        /// The congestion window, however much of it is used.
        Window = "window",
    }
}

/// Where a sender stands with regard to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery, until everything below [`Flight::recover`] is acknowledged.
    Recovery,
    /// After a timeout, until everything below [`Flight::recover`] is acknowledged.
    Loss,
}

/// How the first duplicate acknowledgements make room for new segments (RFC 3042).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// They do not.
    Off,
    /// By pipe, which falls with each segment that is SACKed.
    Pipe,
    /// By two segments beyond the window (section 2); without SACK.
    Beyond,
}

/// What a recovery has to know of the stack and the algorithm.
#[derive(Clone, Copy, Debug)]
pub struct FlightSettings {
    /// Whether segments are selectively acknowledged.
    pub has_sack: bool,
    /// Limited transmit.
    pub limited_transmit: LimitedTransmit,
    /// The quantity that is reduced on congestion.
    pub flight_size: FlightSize,
    /// Whether the algorithm alone sets the window, so that a recovery leaves it as it is.
    pub is_governed: bool,
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// What became of segments.
    pub progress: Progress,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Flight {
    /// SND.UNA.
    pub una: u64,
    /// Congestion window and threshold.
    pub window: Window,
    /// Whether losses are being repaired.
    pub phase: Phase,
    /// Segments between SND.UNA and SND.NXT.
    pub scoreboard: Scoreboard,
    /// Duplicate acknowledgements since the last acknowledgement of new data, or since the last loss was repaired.
    pub duplicate_acks: u64,
    /// New segments sent on duplicate acknowledgements, which the flight size leaves out (RFC 5681 section 3.2).
    pub limited_transmitted: u64,
    /// SND.NXT when the latest repair began, which ends it: "recover" of RFC 6582, plus one.
    pub recover: u64,
    /// What does not change.
    pub settings: FlightSettings,
}

impl Flight {
    /// Nothing in flight; the first byte will be `una`.
    pub fn new(una: u64, window: Window, scoreboard: Scoreboard, settings: FlightSettings) -> Flight {
        Flight {
            una,
            window,
            phase: Phase::Open,
            scoreboard,
            duplicate_acks: 0,
            limited_transmitted: 0,
            recover: 0,
            settings,
        }
    }

    /// Whether no loss is being repaired.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Bytes outstanding: sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.scoreboard.outstanding() * self.window.mss
    }

    /// Bytes in the network as far as is known: RFC 6675's pipe.
    pub fn pipe(&self) -> u64 {
        self.scoreboard.pipe() * self.window.mss
    }

    /// The quantity that is reduced on congestion. Late in a long episode the data not cumulatively acknowledged is mostly SACKed
    /// and may be many windows, hence the bound.
    pub fn flight_size(&self) -> u64 {
        let segments = match self.settings.flight_size {
            FlightSize::Outstanding => self.scoreboard.outstanding() - self.limited_transmitted,
            FlightSize::Pipe => self.scoreboard.pipe(),
            FlightSize::Window => return self.window.cwnd,
        };
        (segments * self.window.mss).min(self.window.cwnd)
    }

    /// Whether an acknowledgement is a duplicate: with SACK one that SACKs something, else one that acknowledges nothing.
    pub(super) fn is_duplicate(&self, arrival: &Arrival) -> bool {
        if self.settings.has_sack {
            arrival.progress.newly_sacked > 0
        } else {
            arrival.acked == 0 && self.scoreboard.outstanding() > 0
        }
    }

    /// Counts a duplicate acknowledgement. Returns whether the first segment is lost by now.
    pub(super) fn count_duplicate(&mut self) -> bool {
        self.duplicate_acks += 1;
        self.duplicate_acks >= self.scoreboard.duplicate_threshold() || self.scoreboard.first_is_lost()
    }

    /// Without SACK, duplicates that answer needless retransmissions look like any other: whether all that was sent
    /// before the last loss is acknowledged, so that these are of a new one (RFC 6582 section 3.2 step 2).
    pub(super) fn is_past_last_loss(&self) -> bool {
        self.settings.has_sack || self.una > self.recover
    }

    /// Fast recovery begins; `nxt` is SND.NXT.
    pub(super) fn begin_recovery(&mut self, nxt: u64) {
        self.limited_transmitted = 0;
        self.recover = nxt;
        self.phase = Phase::Recovery;
    }

    /// Fast recovery is over.
    pub(super) fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
    }

    /// Everything in flight is sent again, from a window of one segment; `nxt` is SND.NXT.
    pub(super) fn start_over(&mut self, nxt: u64) {
        self.window.cwnd = self.window.mss;
        self.recover = nxt;
        self.phase = Phase::Loss;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
    }
}
