//! The pacing rate, the quantum and the window (section 5.6).

use super::{Bbr3, Mode, UNBOUNDED};
use crate::tcp::congestion::{Delivery, model};
use crate::tcp::window::Window;
use crate::time::Duration;

/// The duration of a quantum at the pacing rate, in seconds, its maximum in bytes and its minimum in segments (section
/// 5.6.3).
const QUANTUM_TIME: f64 = 0.001;
const QUANTUM_BYTES: u64 = 64 * 1024;
const QUANTUM_SEGMENTS: u64 = 2;

/// Number of quanta between the ends of a TCP connection with segmentation offload (section 5.5.8.1).
const QUANTA: u64 = 3;

impl Bbr3 {
    /// The pacing gain of the state, from the table of section 5.6.1.
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.parameters.startup_pacing_gain,
            Mode::Drain => self.parameters.drain_pacing_gain,
            Mode::Down => self.parameters.down_pacing_gain,
            Mode::Up => self.parameters.up_pacing_gain,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => 1.0,
        }
    }

    /// The cwnd gain of the state, from the table of section 5.6.1.
    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Up => self.parameters.up_cwnd_gain,
            Mode::ProbeRtt => self.parameters.probe_rtt_cwnd_gain,
            Mode::Startup | Mode::Drain | Mode::Down | Mode::Cruise | Mode::Refill => self.parameters.cwnd_gain,
        }
    }

    /// InitPacingRate() of section 5.6.2.
    pub(super) fn first_pacing_rate(&self, window: &Window, srtt: Duration) -> f64 {
        self.parameters.startup_pacing_gain * window.cwnd as f64 / model::assumed_rtt(srtt)
    }

    /// SetPacingRateWithGain() of section 5.6.2.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.parameters.pacing_margin);
        self.pacing_rate.follow(rate, self.full_bw.reached);
    }

    /// SetSendQuantum() of section 5.6.3.
    pub(super) fn quantum(&self, mss: u64) -> u64 {
        ((self.pacing_rate.get() * QUANTUM_TIME) as u64).min(QUANTUM_BYTES).max(QUANTUM_SEGMENTS * mss)
    }

    pub(super) fn least_window(&self, mss: u64) -> u64 {
        self.parameters.least_window * mss
    }

    /// QuantizationBudget() of section 5.6.4.2.
    fn with_quanta(&self, bytes: u64, mss: u64) -> u64 {
        let bytes = bytes.max(QUANTA * self.quantum(mss)).max(self.least_window(mss));
        if self.mode == Mode::Up { bytes + 2 * mss } else { bytes }
    }

    /// Inflight() of section 5.6.4.2.
    pub(super) fn inflight(&self, bandwidth: f64, mss: u64) -> u64 {
        self.with_quanta(self.bdp(bandwidth, 1.0), mss)
    }

    /// TargetInflight() of section 5.3.3.8.3.
    pub(super) fn target_inflight(&self, window: &Window) -> u64 {
        self.bdp(self.bw, 1.0).min(window.cwnd)
    }

    /// Restores the window at the end of a recovery (section 5.6.4.4).
    pub(super) fn follow_recovery(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.prior.was_in_recovery && !delivery.in_recovery {
            window.cwnd = window.cwnd.max(self.prior.cwnd);
        }
        self.prior.was_in_recovery = delivery.in_recovery;
    }

    /// SetCwnd() of section 5.6.4.6.
    pub(super) fn set_cwnd(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = window.mss;
        let max_inflight = self.bdp(self.bw, self.cwnd_gain()) + self.extra_acked.get() as u64;
        let max_inflight = self.with_quanta(max_inflight, mss);
        if self.full_bw.reached {
            window.cwnd = (window.cwnd + delivery.delivered).min(max_inflight);
        } else if window.cwnd < max_inflight || delivery.total_delivered < self.initial_cwnd {
            window.cwnd += delivery.delivered;
        }
        window.cwnd = window.cwnd.max(self.least_window(mss));
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd(mss));
        }
        window.cwnd = window.cwnd.min(self.cap(mss));
    }

    /// BoundCwndForModel() of section 5.6.4.7.
    fn cap(&self, mss: u64) -> u64 {
        let longterm = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_longterm,
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(mss),
            Mode::Startup | Mode::Drain => UNBOUNDED,
        };
        longterm.min(self.bounds.inflight_shortterm).max(self.least_window(mss))
    }
}
