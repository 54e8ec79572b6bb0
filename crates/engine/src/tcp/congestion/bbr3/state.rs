//! The state of a connection.

use super::bounds::Bounds;
use super::down::Cycle;
use super::loss::Signals;
use super::mode::Mode;
use super::path::MinRtt;
use super::startup::FullBandwidth;
use super::undo::Undo;
use super::up::Slope;
use crate::random::{Purpose, Random};
use crate::tcp::congestion::model::{
    Aggregation, HeldBack, PacingRate, PriorWindow, ProbeRtt, Rounds, WindowedMaximum,
};
use crate::tcp::window::Window;

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
