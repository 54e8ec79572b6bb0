//! Compound in Linux's module of Castellani and Hemminger (tcp_compound.c), which ns-2.35 has in tcp/linux/src, and with
//! the tuning of gamma that Andrew added. Windows are whole segments, backlogs half segments.
//!
//! A halving leaves no delay window: what it takes comes out of the loss window, or, if either window alone is more than what is
//! left, all that is left is loss window. The backlog is of the segments sent in a round trip and of its least RTT, and
//! the delay window grows in slow start too.

use super::{CompoundParameters, CompoundState, GammaRule};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{LossState, microseconds, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::Time;

/// Samples from which on a round trip counts as measured: tcp_compound_cong_avoid.
const LEAST_SAMPLES: u64 = 3;

control! {
    Linux(CompoundParameters as parameters) {
        /// In segments; their sum is the window. None before the first acknowledgement (tcp_compound_init).
        loss_window: Option<u64>,
        delay_window: u64,
        /// Acknowledgements that have not yet grown the loss window (`snd_cwnd_cnt`).
        count: u64,
        /// In microseconds, as all RTTs here.
        base_rtt: Option<u64>,
        round: Round,
        /// The backlog of the loss window in the latest round trip, in half segments.
        diff_reno: Option<u64>,
        /// In segments.
        gamma: u64 = parameters.gamma as u64,
        /// Until the first acknowledgement after a fast recovery.
        recovering: bool,
        loss_state: LossState,
    }
}

/// One window of data.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Where it began and where it ends in the stream (`beg_snd_una`, `beg_snd_nxt`).
    begin: u64,
    end: u64,
    /// The loss window at its beginning, in segments.
    loss_window: u64,
    samples: u64,
    min_rtt: Option<u64>,
}

impl Linux {
    fn end_round(&mut self, mss: u64, ack: &Ack) {
        let next = Round {
            begin: self.round.end,
            end: ack.nxt,
            loss_window: self.loss_window.unwrap_or(0),
            ..Round::default()
        };
        let round = std::mem::replace(&mut self.round, next);
        let (Some(base_rtt), Some(rtt)) = (self.base_rtt, round.min_rtt) else { return };
        if round.samples < LEAST_SAMPLES {
            return;
        }
        let sent = (round.end - round.begin) / mss;
        let backlog = |segments: u64| 2 * segments - 2 * segments * base_rtt / rtt;
        self.diff_reno = Some(backlog(round.loss_window));
        if backlog(sent) < 2 * self.gamma {
            // The root is an integer before it is divided (qroot).
            let root = libm::floor(libm::pow(sent as f64, self.parameters.k));
            self.delay_window += ((self.parameters.alpha * root) as u64).saturating_sub(1);
        } else {
            let falls = (self.parameters.zeta * backlog(sent) as f64) as u64;
            self.delay_window = (2 * self.delay_window).saturating_sub(falls) / 2;
        }
    }
}

impl CongestionControl for Linux {
    /// tcp_compound_cong_avoid, which is for slow start too.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = segments(window);
        let mut loss_window = self.loss_window.unwrap_or(cwnd);
        if loss_window + self.delay_window > cwnd {
            if loss_window > cwnd || self.delay_window > cwnd {
                self.delay_window = 0;
            }
            loss_window = cwnd - self.delay_window;
        }
        if loss_window <= window.ssthresh / window.mss {
            loss_window += 1;
        } else {
            self.count += 1;
            if self.count >= cwnd {
                self.count = 0;
                loss_window += 1;
            }
        }
        self.loss_window = Some(loss_window);
        if ack.una > self.round.end {
            self.end_round(window.mss, ack);
        }
        window.cwnd = (loss_window + self.delay_window) * window.mss;
    }

    /// tcp_reno_ssthresh, in Andrew's version tcp_compound_ssthresh.
    fn reduce(&mut self, window: &mut Window, _flight_size: u64, _now: Time) {
        let CompoundParameters { beta, gamma_rule, gamma_low, gamma_high, lambda, .. } = *self.parameters;
        if let Some(diff_reno) = self.diff_reno.take()
            && gamma_rule == GammaRule::Tuned
        {
            let sample = (3 * diff_reno / 8) as f64;
            let gamma = self.gamma as f64 + lambda * (sample - self.gamma as f64);
            self.gamma = gamma.max(gamma_low).min(gamma_high) as u64;
        }
        self.count = 0;
        self.recovering = true;
        set_ssthresh(window, (segments(window) as f64 * (1.0 - beta)) as u64);
    }

    /// The state Loss begins.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.count = 0;
        self.recovering = false;
        self.loss_state.begin();
    }

    /// Takes an RTT, and begins a round trip anew at the end of a recovery: tcp_compound_rtt_calc, cvegas_enable. The round
    /// trip that was interrupted keeps its beginning.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        let was_lost = self.loss_state.on_ack(ack);
        if self.loss_window.is_none() {
            self.loss_window = Some(segments(window));
            self.round = Round { begin: ack.una - ack.acked, end: ack.nxt, ..Round::default() };
        } else if std::mem::take(&mut self.recovering) || was_lost && !self.loss_state.lasts(ack) {
            self.round = Round { end: ack.nxt, samples: 0, min_rtt: None, ..self.round };
            self.diff_reno = None;
        }
        if let Some(rtt) = ack.rtt {
            let rtt = microseconds(rtt) + 1;
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round.min_rtt = Some(self.round.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.round.samples += 1;
        }
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.increase(window, ack);
        Some(0)
    }

    fn tell_state(&self, window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = CompoundState {
            dwnd: Some((self.delay_window * window.mss) as f64),
            gamma: Some(self.gamma as f64),
            diff_reno: self.diff_reno.map(|halves| halves as f64 / 2.0),
            base_rtt: self.base_rtt.map(|microseconds| microseconds as f64 / 1e6),
        };
        state.tell(tell);
    }
}
