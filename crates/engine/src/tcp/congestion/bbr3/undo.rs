//! The undo of the response to a spurious loss (section 5.5.11).

use super::bounds::Bounds;
use super::{Bbr3, Mode};
use crate::tcp::window::Window;
use crate::time::Time;

/// The state before the latest loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    saved: Option<Time>,
    /// BBR.undo_state: the state that the loss ended.
    mode: Option<Mode>,
    bounds: Bounds,
}

impl Default for Undo {
    fn default() -> Undo {
        let bounds = Bounds { inflight_longterm: 0, inflight_shortterm: 0, bw_shortterm: 0.0 };
        Undo { saved: None, mode: None, bounds }
    }
}

impl Undo {
    /// Records that losses end this state.
    pub(super) fn ends(&mut self, mode: Mode) {
        self.mode = Some(mode);
    }
}

impl Bbr3 {
    /// SaveStateUponLoss() of section 5.5.11.1. Of several losses detected at the same time, only the first saves the
    /// state, before any of them changes it.
    pub(super) fn save_state(&mut self, window: &Window, now: Time) {
        let state = &mut *self.state;
        if state.undo.saved == Some(now) {
            return;
        }
        state.save_cwnd(window);
        state.undo = Undo { saved: Some(now), mode: None, bounds: state.bounds };
    }

    /// HandleSpuriousLossDetection() of section 5.5.11.2.
    pub(super) fn handle_spurious_loss(&mut self, window: &mut Window) {
        let state = &mut *self.state;
        window.cwnd = window.cwnd.max(state.prior.cwnd);
        state.signals.is_loss_in_round = false;
        state.full_bw.reset(0.0);
        state.bounds.raise_to(&state.undo.bounds);
        let may_return = state.mode != Mode::ProbeRtt;
        match state.undo.mode.take() {
            Some(Mode::Startup) if state.mode != Mode::Startup => {
                state.full_bw.reached = false;
                if may_return {
                    state.transition_to(Mode::Startup);
                }
            }
            Some(Mode::Up) if state.mode != Mode::Up && may_return => {
                let delivered = state.delivered;
                self.start_refill(delivered);
            }
            _ => {}
        }
    }
}
