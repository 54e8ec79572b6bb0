//! ProbeBW_DOWN (section 5.3.3.1): sends below the estimated bandwidth until the queue is drained and there is headroom
//! for other flows. It starts the probing cycle.

use super::{Bbr3, Mode, Sampled};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// BBR.ack_phase. Its values REFILLING and INIT have no effect and are represented by `Idle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Idle,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state of the bandwidth probing cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// BBR.cycle_count: the number of cycles, by which the maximum bandwidth ages.
    pub(super) count: u64,
    /// BBR.cycle_stamp: when the current cycle began.
    stamp: Time,
    /// BBR.bw_probe_wait: the maximum duration of the cycle.
    wait: Duration,
    /// BBR.rounds_since_bw_probe.
    pub(super) rounds_since_up: u64,
    pub(super) ack_phase: AckPhase,
    /// BBR.bw_probe_samples: whether the acknowledged data was sent while probing.
    pub(super) is_probe_sample: bool,
    /// BBR.prev_probe_too_high.
    pub(super) prev_probe_too_high: bool,
    /// BBR.prev_probe_precautionary.
    pub(super) prev_probe_precautionary: bool,
}

impl Bbr3 {
    /// StartProbeBW_DOWN() of section 5.3.3.9, PickProbeWait() of section 5.3.3.8.3.
    pub(super) fn start_down(&mut self, now: Time, total_delivered: u64) {
        self.signals.reset();
        self.slope.stop();
        self.cycle.rounds_since_up = u64::from(self.random.unit() >= 0.5);
        self.cycle.wait = self.parameters.probe_wait + self.random.below(self.parameters.probe_wait_spread);
        self.cycle.stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(total_delivered);
        self.transition_to(Mode::Down);
    }

    /// The part of UpdateProbeBWCyclePhase() for ProbeBW_DOWN.
    pub(super) fn update_down(&mut self, window: &Window, ack: &Sampled) {
        if self.is_time_to_probe(window, ack.delivery.now) {
            self.start_refill(ack.delivery.total_delivered);
        } else if self.is_time_to_cruise(window, ack) {
            self.start_cruise();
        }
    }

    /// IsTimeToProbeBW() of section 5.3.3.8.3: after the wait, or after as many rounds as a Reno flow would need.
    pub(super) fn is_time_to_probe(&self, window: &Window, now: Time) -> bool {
        let segments = self.target_inflight(window).div_ceil(window.mss);
        let cycle = &self.cycle;
        now > cycle.stamp + cycle.wait || cycle.rounds_since_up >= segments.min(self.parameters.reno_rounds)
    }

    /// IsTimeToCruise() of section 5.3.3.9.
    fn is_time_to_cruise(&self, window: &Window, ack: &Sampled) -> bool {
        let in_flight = ack.delivery.in_flight;
        in_flight <= self.inflight_with_headroom(window.mss)
            && in_flight <= self.inflight(self.max_bw.get(), window.mss)
    }
}
