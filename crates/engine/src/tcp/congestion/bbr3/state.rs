//! The states of section 5.1, the allowed transitions and the state of a connection.

use super::bounds::Bounds;
use super::down::Cycle;
use super::loss::Signals;
use super::path::MinRtt;
use super::startup::FullBandwidth;
use super::undo::Undo;
use super::up::Slope;
use crate::random::{Purpose, Random};
use crate::tcp::congestion::model::{
    Aggregation, HeldBack, PacingRate, PriorWindow, ProbeRtt, Rounds, WindowedMaximum,
};
use crate::tcp::window::Window;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    /// ProbeBW_DOWN.
    Down,
    /// ProbeBW_CRUISE.
    Cruise,
    /// ProbeBW_REFILL.
    Refill,
    /// ProbeBW_UP.
    Up,
    ProbeRtt,
}

impl Mode {
    /// Whether this is one of the ProbeBW states.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// IsProbingBW().
    pub(super) fn accelerates(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }

    /// Whether the state machine of section 5.1.1 allows the transition to `next`.
    fn may_become(self, next: Mode) -> bool {
        match (self, next) {
            // The regular sequence of states and the probing cycle.
            (Mode::Startup, Mode::Drain)
            | (Mode::Drain, Mode::Down)
            | (Mode::Down, Mode::Cruise)
            | (Mode::Down | Mode::Cruise, Mode::Refill)
            | (Mode::Refill, Mode::Up)
            | (Mode::Up, Mode::Down) => true,
            // ProbeRTT is entered from any state and left to where the flow was (section 5.3.4.4).
            (from, Mode::ProbeRtt) => from != Mode::ProbeRtt,
            (Mode::ProbeRtt, to) => matches!(to, Mode::Startup | Mode::Down),
            // A spurious loss that ended Startup or a probe is undone (section 5.5.11.2).
            (from, Mode::Startup) => from != Mode::Startup,
            (Mode::Refill, Mode::Refill) => true,
            _ => false,
        }
    }
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) random: Random,
    pub(super) started: bool,
    pub(super) initial_cwnd: u64,
    /// C.delivered at the latest acknowledgement.
    pub(super) delivered: u64,
    /// BBR.state, changed only by [`State::transition_to`].
    pub(super) mode: Mode,
    pub(super) rounds: Rounds,
    /// Whether this acknowledgement starts a round.
    pub(super) round_start: bool,
    /// Whether the window was full in the current round and in the previous one.
    pub(super) cwnd_limited: (bool, bool),
    pub(super) full_bw: FullBandwidth,
    /// BBR.drain_start_round.
    pub(super) drain_start_round: u64,
    pub(super) cycle: Cycle,
    pub(super) slope: Slope,
    pub(super) max_bw: WindowedMaximum,
    /// BBR.bw: the bandwidth within its short-term bound, in bytes per second.
    pub(super) bw: f64,
    pub(super) bounds: Bounds,
    pub(super) signals: Signals,
    pub(super) min_rtt: MinRtt,
    pub(super) probe_rtt: ProbeRtt,
    pub(super) held_back: HeldBack,
    pub(super) idle_restart: bool,
    pub(super) aggregation: Aggregation,
    pub(super) extra_acked: WindowedMaximum,
    pub(super) pacing_rate: PacingRate,
    pub(super) prior: PriorWindow,
    pub(super) undo: Undo,
}

impl State {
    /// OnInit() of section 5.2.1, except for the values that the first acknowledgement provides.
    pub(super) fn new() -> State {
        State {
            random: Random::stream(0, Purpose::CongestionControl, 0),
            started: false,
            initial_cwnd: 0,
            delivered: 0,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            round_start: false,
            cwnd_limited: (false, false),
            full_bw: FullBandwidth::default(),
            drain_start_round: 0,
            cycle: Cycle::default(),
            slope: Slope::default(),
            max_bw: WindowedMaximum::default(),
            bw: 0.0,
            bounds: Bounds::NONE,
            signals: Signals::default(),
            min_rtt: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            held_back: HeldBack::default(),
            idle_restart: false,
            aggregation: Aggregation::default(),
            extra_acked: WindowedMaximum::default(),
            pacing_rate: PacingRate::default(),
            prior: PriorWindow::default(),
            undo: Undo::default(),
        }
    }

    /// Changes the state.
    pub(super) fn transition_to(&mut self, next: Mode) {
        debug_assert!(self.mode.may_become(next), "{:?} does not lead to {next:?}", self.mode);
        self.mode = next;
    }

    /// SaveCwnd() of section 5.6.4.4.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        self.prior.save(window, self.mode == Mode::ProbeRtt);
    }

    /// C.is_cwnd_limited: whether the window was full at any time in the last round.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.0 || self.cwnd_limited.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 7] =
        [Mode::Startup, Mode::Drain, Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up, Mode::ProbeRtt];

    /// The allowed transitions are those of the diagram in section 5.1.1, and those of section 5.5.11.2 back to Startup
    /// and Refill.
    #[test]
    fn draft_transitions() {
        let successors = |from: Mode| MODES.into_iter().filter(|to| from.may_become(*to)).collect::<Vec<_>>();
        assert_eq!(successors(Mode::Startup), [Mode::Drain, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Drain), [Mode::Startup, Mode::Down, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Down), [Mode::Startup, Mode::Cruise, Mode::Refill, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Cruise), [Mode::Startup, Mode::Refill, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Refill), [Mode::Startup, Mode::Refill, Mode::Up, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Up), [Mode::Startup, Mode::Down, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::ProbeRtt), [Mode::Startup, Mode::Down]);
    }
}
