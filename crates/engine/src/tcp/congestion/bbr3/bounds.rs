//! The bounds that losses set on the model: the long-term bound on the data in flight, which bandwidth probes raise
//! (section 5.3.3.9), and the short-term bounds on the bandwidth and on the data in flight (section 5.5.10.3).

use super::down::AckPhase;
use super::{Bbr3, Mode, Sampled, UNBOUNDED};
use crate::tcp::window::Window;

/// The bounds of the model. Data in flight is in bytes, bandwidth in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// BBR.inflight_longterm.
    pub(super) inflight_longterm: u64,
    /// BBR.inflight_shortterm.
    pub(super) inflight_shortterm: u64,
    /// BBR.bw_shortterm.
    pub(super) bw_shortterm: f64,
}

impl Bounds {
    /// No bounds.
    pub(super) const NONE: Bounds =
        Bounds { inflight_longterm: UNBOUNDED, inflight_shortterm: UNBOUNDED, bw_shortterm: f64::INFINITY };

    /// ResetShortTermModel().
    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = UNBOUNDED;
    }

    /// Raises each bound to that of `other` if the latter is higher.
    pub(super) fn raise_to(&mut self, other: &Bounds) {
        self.bw_shortterm = self.bw_shortterm.max(other.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(other.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(other.inflight_longterm);
    }
}

impl Bbr3 {
    /// AdaptLongTermModel() of section 5.3.3.9. Returns whether it changed the self.
    pub(super) fn adapt_long_term_model(&mut self, window: &Window, ack: &Sampled) -> bool {
        if self.round_start && self.advance_ack_phase(ack) {
            return true;
        }
        let sample = &ack.sample;
        if self.is_inflight_too_high(sample.lost, sample.in_flight_when_sent)
            || self.bounds.inflight_longterm == UNBOUNDED
        {
            return false;
        }
        let longterm = &mut self.bounds.inflight_longterm;
        *longterm = (*longterm).max(sample.in_flight_when_sent);
        if self.mode == Mode::Up {
            self.probe_inflight_longterm_upward(window, ack);
        }
        false
    }

    /// The part of AdaptLongTermModel() for the start of a round. Returns whether it changed the self.
    fn advance_ack_phase(&mut self, ack: &Sampled) -> bool {
        let cycle = &mut self.cycle;
        match cycle.ack_phase {
            AckPhase::ProbeStarting => cycle.ack_phase = AckPhase::ProbeFeedback,
            AckPhase::ProbeStopping => {
                cycle.is_probe_sample = false;
                cycle.ack_phase = AckPhase::Idle;
                if self.mode.is_probe_bw() && !ack.app_limited {
                    cycle.count += 1;
                }
                if self.mode.is_probe_bw() && cycle.prev_probe_precautionary && !cycle.prev_probe_too_high {
                    self.start_refill(ack.delivery.total_delivered);
                    return true;
                }
            }
            AckPhase::Idle | AckPhase::ProbeFeedback => {}
        }
        false
    }

    /// InitLowerBounds() and LossLowerBounds() of section 5.5.10.3.
    pub(super) fn adapt_lower_bounds(&mut self, window: &Window) {
        let beta = self.parameters.beta;
        let bounds = &mut self.bounds;
        let bw = if bounds.bw_shortterm.is_finite() { bounds.bw_shortterm } else { self.max_bw.get() };
        let inflight = if bounds.inflight_shortterm == UNBOUNDED { window.cwnd } else { bounds.inflight_shortterm };
        bounds.bw_shortterm = self.signals.bw_latest.max(beta * bw);
        bounds.inflight_shortterm = self.signals.inflight_latest.max((beta * inflight as f64) as u64);
    }

    /// InflightWithHeadroom() of section 5.3.3.9.
    pub(super) fn inflight_with_headroom(&self, mss: u64) -> u64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = ((self.parameters.headroom * longterm as f64) as u64).max(mss);
        longterm.saturating_sub(headroom).max(self.least_window(mss))
    }
}
