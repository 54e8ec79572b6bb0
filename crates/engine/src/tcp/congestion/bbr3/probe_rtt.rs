//! ProbeRTT (section 5.3.4): limits the data in flight for a short time, so that the minimum RTT can be measured.

use super::down::AckPhase;
use super::{Bbr3, Mode, Sampled};
use crate::tcp::congestion::Delivery;
use crate::tcp::congestion::model::ProbeRtt;
use crate::tcp::window::Window;
use crate::time::Time;

impl Bbr3 {
    /// CheckProbeRTT() of section 5.3.4.3.
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Sampled) {
        if self.mode != Mode::ProbeRtt && self.min_rtt.probe_expired && !self.idle_restart {
            self.transition_to(Mode::ProbeRtt);
            self.save_cwnd(window);
            self.probe_rtt = ProbeRtt::default();
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(ack.delivery.total_delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(window, ack);
        }
        self.idle_restart = false;
    }

    /// HandleProbeRTT() of section 5.3.4.3.
    fn handle_probe_rtt(&mut self, window: &mut Window, ack: &Sampled) {
        let Delivery { now, in_flight, total_delivered, .. } = *ack.delivery;
        let is_reached = in_flight <= self.probe_rtt_cwnd(window.mss);
        self.held_back.extend(ack.delivery);
        let time = self.parameters.probe_rtt_time;
        if self.probe_rtt.advance(ack.delivery, is_reached, time, self.round_start, &mut self.rounds) {
            self.check_probe_rtt_done(window, now, total_delivered);
        }
    }

    /// CheckProbeRTTDone() of section 5.3.4.3, ExitProbeRTT() of section 5.3.4.4.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time, total_delivered: u64) {
        if !self.probe_rtt.is_over(now) {
            return;
        }
        self.min_rtt.schedule_next_probe(now);
        window.cwnd = window.cwnd.max(self.prior.cwnd);
        self.bounds.reset_short_term();
        if self.full_bw.reached {
            self.start_down(now, total_delivered);
            self.start_cruise();
        } else {
            self.transition_to(Mode::Startup);
        }
    }

    /// ProbeRTTCwnd() of section 5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self, mss: u64) -> u64 {
        self.bdp(self.bw, self.parameters.probe_rtt_cwnd_gain).max(self.least_window(mss))
    }
}
