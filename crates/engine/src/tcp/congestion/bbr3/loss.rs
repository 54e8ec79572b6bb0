//! The response of the model to losses and marks (section 5.5.10). A marked byte counts as a lost one.

use super::{Bbr3, Mode, RateSample, Sampled};
use crate::tcp::congestion::{Delivery, LostSegment};
use crate::tcp::window::Window;
use crate::time::Time;

/// Delivery and loss signals of the current loss round, which begins with a loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// BBR.bw_latest.
    pub(super) bw_latest: f64,
    /// BBR.inflight_latest.
    pub(super) inflight_latest: u64,
    /// BBR.loss_in_round.
    pub(super) is_loss_in_round: bool,
    /// BBR.loss_round_start.
    pub(super) loss_round_start: bool,
    /// BBR.loss_round_delivered.
    loss_round_delivered: u64,
    /// Bytes marked in the current loss round.
    marked_in_round: u64,
    /// The number of ranges lost in the current loss round, and the latest segment lost.
    pub(super) lost_ranges: u64,
    last_lost: Option<u64>,
}

impl Signals {
    /// ResetCongestionSignals().
    pub(super) fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }
}

impl Bbr3 {
    /// UpdateLatestDeliverySignals() of section 5.5.10.3.
    pub(super) fn update_latest_delivery_signals(&mut self, ack: &Sampled) {
        let signals = &mut self.signals;
        signals.bw_latest = signals.bw_latest.max(ack.rate);
        signals.inflight_latest = signals.inflight_latest.max(ack.sample.delivered);
        signals.loss_round_start = ack.sample.prior_delivered >= signals.loss_round_delivered;
        if signals.loss_round_start {
            signals.loss_round_delivered = ack.delivery.total_delivered;
        }
    }

    /// AdvanceLatestDeliverySignals() of section 5.5.10.3.
    pub(super) fn advance_latest_delivery_signals(&mut self, ack: &Sampled) {
        let signals = &mut self.signals;
        if signals.loss_round_start {
            signals.bw_latest = ack.rate;
            signals.inflight_latest = ack.sample.delivered;
            signals.marked_in_round = 0;
            signals.lost_ranges = 0;
        }
    }

    /// UpdateCongestionSignals() of section 5.5.10.3.
    pub(super) fn update_congestion_signals(&mut self, window: &Window, ack: &Sampled) {
        self.update_max_bw(ack);
        if !self.signals.loss_round_start {
            return;
        }
        if self.signals.is_loss_in_round && !self.mode.accelerates() {
            self.adapt_lower_bounds(window);
        }
        self.signals.is_loss_in_round = false;
    }

    /// NoteLoss() of section 5.5.10.2, for a loss detected at this time.
    fn note_loss(&mut self, window: &Window, total_delivered: u64, now: Time) {
        if !self.signals.is_loss_in_round {
            self.signals.loss_round_delivered = total_delivered;
            self.save_state(window, now);
        }
        self.signals.is_loss_in_round = true;
    }

    /// HandleLostPacket() of section 5.5.10.2.
    pub(super) fn handle_lost_segment(&mut self, window: &Window, lost: &LostSegment) {
        self.note_loss(window, lost.total_delivered, lost.now);
        let signals = &mut self.signals;
        if signals.last_lost.is_none_or(|last| lost.segment != last + 1) {
            signals.lost_ranges += 1;
        }
        signals.last_lost = Some(lost.segment);
        if self.cycle.is_probe_sample && self.is_inflight_too_high(lost.lost, lost.in_flight_when_sent) {
            let in_flight = self.inflight_at_loss(lost, window.mss);
            self.handle_inflight_too_high(window, lost, in_flight);
        }
    }

    /// Handles marks in the same way as losses of a probe, relative to the data in flight when the acknowledged segment
    /// was sent.
    pub(super) fn handle_marks(&mut self, window: &Window, delivery: &Delivery) {
        let Delivery { now, total_delivered, marked, .. } = *delivery;
        self.note_loss(window, total_delivered, now);
        self.signals.marked_in_round += marked;
        if let Some(RateSample { lost, in_flight_when_sent, app_limited, .. }) = delivery.rate
            && self.cycle.is_probe_sample
            && self.is_inflight_too_high(lost, in_flight_when_sent)
        {
            let lost = LostSegment { now, segment: 0, in_flight_when_sent, lost, app_limited, total_delivered };
            self.handle_inflight_too_high(window, &lost, in_flight_when_sent);
        }
    }

    /// IsInflightTooHigh() of section 5.5.10.2.
    pub(super) fn is_inflight_too_high(&self, lost: u64, in_flight_when_sent: u64) -> bool {
        let lost = lost + self.signals.marked_in_round;
        lost as f64 > self.parameters.loss_threshold * in_flight_when_sent as f64
    }

    /// HandleInflightTooHigh() of section 5.5.10.2.
    fn handle_inflight_too_high(&mut self, window: &Window, lost: &LostSegment, in_flight: u64) {
        let least = (self.parameters.beta * self.target_inflight(window) as f64) as u64;
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_probe_sample = false;
        if !lost.app_limited {
            self.bounds.inflight_longterm = in_flight.max(least);
        }
        if self.mode == Mode::Up {
            self.undo.ends(Mode::Up);
            self.start_down(lost.now, lost.total_delivered);
        }
    }

    /// InflightAtLoss() of section 5.5.10.2: the data in flight when the losses crossed the threshold, in bytes.
    fn inflight_at_loss(&self, lost: &LostSegment, mss: u64) -> u64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_before = lost.in_flight_when_sent.saturating_sub(mss) as f64;
        let lost_before = lost.lost.saturating_sub(mss) as f64;
        let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
        (inflight_before + lost_prefix) as u64
    }
}
