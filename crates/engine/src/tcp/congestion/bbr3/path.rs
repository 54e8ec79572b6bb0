//! The model of the path: its bandwidth (section 5.5.5), its minimum RTT (section 5.3.4.3) and its ACK aggregation
//! (section 5.5.9).

use super::{Bbr3, Bbr3Parameters, Sampled};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Number of previous cycles in the bandwidth filter (section 2.11, BBR.MaxBwFilterLen = 2).
const BANDWIDTH_CYCLES: u64 = 1;

/// The minimum RTT, and the minimum since the last ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt.
    pub(super) value: Option<Duration>,
    /// BBR.min_rtt_stamp.
    stamp: Time,
    /// BBR.probe_rtt_min_delay.
    probe_min_delay: Option<Duration>,
    /// BBR.probe_rtt_min_stamp.
    probe_min_stamp: Time,
    /// BBR.probe_rtt_expired.
    pub(super) probe_expired: bool,
}

impl MinRtt {
    /// Starts both filters at the first acknowledgement.
    pub(super) fn start(&mut self, now: Time) {
        self.stamp = now;
        self.probe_min_stamp = now;
    }

    /// Schedules the next ProbeRTT at the end of one.
    pub(super) fn schedule_next_probe(&mut self, now: Time) {
        self.probe_min_stamp = now;
    }

    /// UpdateMinRTT() of section 5.3.4.3.
    fn update(&mut self, rtt: Option<Duration>, probe_rtt_interval: Duration, filter: Duration, now: Time) {
        self.probe_expired = now > self.probe_min_stamp + probe_rtt_interval;
        if let Some(rtt) = rtt
            && (self.probe_expired || self.probe_min_delay.is_none_or(|min| rtt < min))
        {
            self.probe_min_delay = Some(rtt);
            self.probe_min_stamp = now;
        }
        let has_expired = now > self.stamp + filter;
        if let Some(delay) = self.probe_min_delay
            && (has_expired || self.value.is_none_or(|min| delay < min))
        {
            self.value = Some(delay);
            self.stamp = self.probe_min_stamp;
        }
    }
}

impl Bbr3 {
    /// UpdateMaxBw() of section 5.5.5 and UpdateRound() of section 5.5.1.
    pub(super) fn update_max_bw(&mut self, ack: &Sampled) {
        self.round_start = self.rounds.update(ack.sample.prior_delivered, ack.delivery.total_delivered);
        if self.round_start {
            self.cycle.rounds_since_up += 1;
            self.cwnd_limited = (false, self.cwnd_limited.0);
        }
        if !ack.app_limited || ack.rate >= self.max_bw.get() {
            self.max_bw.update(ack.rate, self.cycle.count, BANDWIDTH_CYCLES);
        }
    }

    /// Updates the minimum RTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, ack: &Sampled) {
        let Bbr3Parameters { probe_rtt_interval, min_rtt_filter, .. } = *self.parameters;
        self.min_rtt.update(ack.sample.rtt, probe_rtt_interval, min_rtt_filter, ack.delivery.now);
    }

    /// Updates the estimate of ACK aggregation (section 5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, window: &Window, ack: &Sampled) {
        let rounds = if self.full_bw.reached { self.parameters.extra_acked_rounds } else { 1 };
        let extra = self.aggregation.excess(ack.delivery, self.bw, window.cwnd);
        self.extra_acked.update(extra as f64, self.rounds.count, rounds - 1);
    }

    /// BDPMultiple() of section 5.6.4.2 for this bandwidth.
    pub(super) fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        match self.min_rtt.value {
            Some(min_rtt) => (gain * bandwidth * min_rtt.seconds()) as u64,
            None => self.initial_cwnd,
        }
    }
}
