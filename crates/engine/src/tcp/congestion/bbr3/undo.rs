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
    /// Records that losses end this self.
    pub(super) fn ends(&mut self, mode: Mode) {
        self.mode = Some(mode);
    }
}

impl Bbr3 {
    /// SaveStateUponLoss() of section 5.5.11.1. Of several losses detected at the same time, only the first saves the
    /// state, before any of them changes it.
    pub(super) fn save_state(&mut self, window: &Window, now: Time) {
        if self.undo.saved == Some(now) {
            return;
        }
        self.save_cwnd(window);
        self.undo = Undo { saved: Some(now), mode: None, bounds: self.bounds };
    }

    /// HandleSpuriousLossDetection() of section 5.5.11.2.
    pub(super) fn handle_spurious_loss(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior.cwnd);
        self.signals.is_loss_in_round = false;
        self.full_bw.reset(0.0);
        self.bounds.raise_to(&self.undo.bounds);
        let may_return = self.mode != Mode::ProbeRtt;
        match self.undo.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full_bw.reached = false;
                if may_return {
                    self.transition_to(Mode::Startup);
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && may_return => {
                let delivered = self.delivered;
                self.start_refill(delivered);
            }
            _ => {}
        }
    }
}
