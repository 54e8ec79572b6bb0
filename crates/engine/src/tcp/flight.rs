//! The data in flight of a sender: its window, its scoreboard and the phase of loss recovery. Recoveries operate on it.

use crate::tcp::scoreboard::{Progress, Scoreboard};
use crate::tcp::window::Window;

choice! {
    /// The flight size that is reduced on congestion.
    pub enum FlightSize {
        /// Data sent and not cumulatively acknowledged (RFC 5681 section 2).
        Outstanding = "outstanding",
        /// Data neither SACKed nor lost: RFC 6675's pipe, as in ns-3.
        Pipe = "pipe",
        /// The congestion window, whether or not it is fully used.
        Window = "window",
    }
}

/// The phase of a sender's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    /// Fast recovery, until all data below [`Flight::recover`] is acknowledged.
    Recovery,
    /// Recovery after a timeout, until all data below [`Flight::recover`] is acknowledged.
    Loss,
}

/// How the first duplicate acknowledgements allow new segments (RFC 3042).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    Off,
    /// By pipe, which decreases with each SACKed segment.
    Pipe,
    /// By two segments beyond the window (section 2), without SACK.
    Beyond,
}

/// The settings of the stack and the algorithm that recoveries use.
#[derive(Clone, Copy, Debug)]
pub struct FlightSettings {
    pub has_sack: bool,
    pub limited_transmit: LimitedTransmit,
    pub flight_size: FlightSize,
    /// Whether only the algorithm sets the window, so that recoveries leave it unchanged.
    pub is_governed: bool,
    /// Whether growth counts the segments delivered, and ssthresh is whole segments.
    pub counts_segments: bool,
}

/// The effect of an acknowledgement on the flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    pub acked: u64,
    pub progress: Progress,
    /// Whether it has SACK blocks, of new or of known segments.
    pub has_blocks: bool,
}

/// In the order in which an acknowledgement accesses its fields, as in [`Sender`](crate::tcp::sender::Sender).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Flight {
    /// SND.UNA.
    pub una: u64,
    pub window: Window,
    pub phase: Phase,
    pub settings: FlightSettings,
    /// Duplicate acknowledgements since the last acknowledgement of new data, or since the end of the last recovery.
    pub duplicate_acks: u64,
    /// New segments sent on duplicate acknowledgements. The flight size excludes them (RFC 5681 section 3.2).
    pub limited_transmitted: u64,
    /// The state of the segments between SND.UNA and SND.NXT.
    pub scoreboard: Scoreboard,
    /// SND.NXT at the start of the latest recovery, whose acknowledgement ends it: "recover" of RFC 6582, plus one.
    pub recover: u64,
}

impl Flight {
    /// Creates an empty flight. The first byte has sequence number `una`.
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

    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Bytes outstanding: sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.scoreboard.outstanding() * self.window.mss
    }

    /// Bytes in the network according to RFC 6675's pipe.
    pub fn pipe(&self) -> u64 {
        self.scoreboard.pipe() * self.window.mss
    }

    /// The quantity that is reduced on congestion, in bytes. What is outstanding is bounded by the window, since late in a
    /// long recovery it is mostly SACKed and may be many windows.
    pub fn flight_size(&self) -> u64 {
        match self.settings.flight_size {
            FlightSize::Outstanding => {
                let segments = self.scoreboard.outstanding() - self.limited_transmitted;
                (segments * self.window.mss).min(self.window.cwnd)
            }
            FlightSize::Pipe => self.pipe(),
            FlightSize::Window => self.window.cwnd,
        }
    }

    /// Whether an acknowledgement is a duplicate: with SACK, one that SACKs new data; without, one that acknowledges no
    /// new data.
    pub(super) fn is_duplicate(&self, arrival: &Arrival) -> bool {
        if self.settings.has_sack {
            arrival.progress.newly_sacked > 0
        } else {
            arrival.acked == 0 && self.scoreboard.outstanding() > 0
        }
    }

    /// Counts a duplicate acknowledgement. Returns whether the first segment is now considered lost.
    pub(super) fn count_duplicate(&mut self) -> bool {
        self.duplicate_acks += 1;
        self.duplicate_acks >= self.scoreboard.duplicate_threshold() || self.scoreboard.first_is_lost()
    }

    /// Whether all data sent before the last loss is acknowledged (RFC 6582 section 3.2 step 2). Without SACK,
    /// duplicates caused by unnecessary retransmissions cannot otherwise be distinguished from those of a new loss.
    pub(super) fn is_past_last_loss(&self) -> bool {
        self.settings.has_sack || self.una > self.recover
    }

    /// Enters fast recovery. `nxt` is SND.NXT.
    pub(super) fn begin_recovery(&mut self, nxt: u64) {
        self.limited_transmitted = 0;
        self.recover = nxt;
        self.phase = Phase::Recovery;
    }

    pub(super) fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
    }

    /// Restarts from a window of one segment after a timeout. `nxt` is SND.NXT.
    pub(super) fn start_over(&mut self, nxt: u64) {
        self.window.cwnd = self.window.mss;
        self.recover = nxt;
        self.phase = Phase::Loss;
        self.duplicate_acks = 0;
        self.limited_transmitted = 0;
    }
}
