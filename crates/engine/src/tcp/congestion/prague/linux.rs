//! TCP Prague as in L4STeam/linux, version 0.7 of net/ipv4/tcp_prague.c. A window of fractions of a segment is what growth and
//! reductions move; cwnd follows it by a segment with each acknowledgement. Of up to four segments, the rate is what they move, and
//! the window follows the rate.

use super::kernel::{self, LEAST, ONE, Share, UNIT, eighths};
use super::{PragueParameters, PragueState};
use crate::inner::Tell;
use crate::tcp::congestion::kernel::segments;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Bits of alpha (PRAGUE_ALPHA_BITS).
const ALPHA_BITS: u32 = 24;

/// The least rate, in bytes a second: 100 kbit/s (MINIMUM_RATE).
const LEAST_RATE: u64 = 12_500;

/// The size of a packet on which growth is one per round (MTU_SYS), and how many of them make a window that is governed by its rate
/// (prague_cwnd_transit).
const PACKET: u64 = 1500;
const MOST_BY_RATE: u64 = 4;

/// Eighths of a microsecond are taken for 2^-23 s (RTT2SEC_SHIFT).
const SECOND_SHIFT: u32 = 23;

/// The gain of the mean round-trip time, one of rounds: 2^-7 (HSRTT_SHIFT).
const MEAN_SHIFT: u32 = 7;

/// The pacing rate varies by 4/128 around a governing rate (RATE_OFFSET, OFFSET_UNIT): above it in the first half of a virtual round
/// trip.
const OFFSET: u64 = 4;
const OFFSET_SHIFT: u32 = 7;

control! {
    Linux(PragueParameters as parameters) {
        share: Share = Share::new(ALPHA_BITS, 0.0),
        /// The window in 2^-20 segments (frac_cwnd).
        fraction: u64,
        /// The rate, in bytes a second (rate_bytes).
        rate: u64 = LEAST_RATE,
        /// Whether the rate governs the window (cwnd_mode).
        by_rate: bool,
        /// The mean round-trip time times 2^7, in eighths of a microsecond (hsrtt_us).
        mean_rtt: u64 = 8 << MEAN_SHIFT,
        /// The window and the rate before the latest loss.
        before_loss: (u64, u64),
        /// The pacing rate, in bytes a second.
        pacing: u64,
    }
}

/// The high part of a product.
fn product_shifted(left: u64, right: u64, shift: u32) -> u64 {
    ((u128::from(left) * u128::from(right)) >> shift) as u64
}

impl Linux {
    pub fn alpha(&self) -> f64 {
        self.share.alpha()
    }

    fn is_independent(&self, window: &Window) -> bool {
        self.share.is_independent(window, &self.parameters)
    }

    /// Whether the rate is what grows and is reduced.
    fn moves_rate(&self, window: &Window) -> bool {
        self.by_rate && self.is_independent(window)
    }

    /// prague_virtual_rtt.
    fn virtual_rtt(&self) -> u64 {
        eighths(self.parameters.virtual_rtt).max(self.share.srtt)
    }

    /// The window of this rate (prague_pacing_rate_to_frac_cwnd).
    fn fraction_of_rate(&self, window: &Window) -> u64 {
        let mean = self.mean_rtt >> MEAN_SHIFT;
        let rtt = if mean > 0 { mean } else { self.share.srtt };
        product_shifted(self.rate, rtt, SECOND_SHIFT - UNIT).div_ceil(kernel::packet_size(window))
    }

    /// The rate of this window (prague_frac_cwnd_to_pacing_rate).
    fn rate_of_fraction(&self, window: &Window) -> u64 {
        product_shifted(kernel::rate_of_one(window, self.share.srtt), self.fraction, UNIT).max(LEAST_RATE)
    }

    /// prague_update_cwnd.
    fn update_window(&mut self, window: &mut Window, delivery: &Delivery) {
        let (delivered, marked) = self.share.count(window, delivery);
        if marked > 0 {
            if !self.share.path_marks {
                self.fraction = (self.fraction + 1) >> 1;
            }
            self.share.path_marks = true;
        }
        let mut acked = delivered.saturating_sub(marked);
        if acked > 0 && !self.share.in_loss && delivery.uses_window {
            if window.in_slow_start() {
                acked = kernel::slow_start(window, acked);
                self.fraction = segments(window) << UNIT;
                if acked == 0 {
                    return self.share.update_increase(&self.parameters);
                }
            }
            self.grow(window, acked);
        }
        self.step(window);
    }

    fn grow(&mut self, window: &Window, acked: u64) {
        let size = kernel::packet_size(window);
        if self.moves_rate(window) {
            let virtual_rtt = self.virtual_rtt();
            let increase = ((acked * PACKET) << SECOND_SHIFT) / virtual_rtt.max(1);
            let bytes = u128::from(self.rate) * u128::from(virtual_rtt);
            let cwnd = (bytes.div_ceil(u128::from(size << SECOND_SHIFT)) as u64).max(1);
            self.rate += (increase + cwnd / 2) / cwnd;
            self.fraction = (self.fraction + acked).max(self.fraction_of_rate(window));
        } else {
            let fraction = u128::from(self.fraction.max(1));
            let grown = (u128::from(acked * self.share.increase) << UNIT) + fraction / 2;
            let increase = grown / fraction * u128::from(PACKET) / u128::from(size);
            self.fraction += (increase as u64).max(acked);
            self.rate = (self.rate + acked).max(self.rate_of_fraction(window));
        }
    }

    /// Moves cwnd by a segment towards the window.
    fn step(&mut self, window: &mut Window) {
        let (cwnd, wanted) = (segments(window), self.fraction.div_ceil(ONE).max(LEAST));
        if cwnd > wanted {
            window.cwnd = (cwnd - 1) * window.mss;
            window.ssthresh = window.cwnd;
        } else if cwnd < wanted {
            window.cwnd = (cwnd + 1) * window.mss;
        } else {
            return;
        }
        self.share.update_increase(&self.parameters);
    }

    /// prague_update_pacing_rate.
    fn update_rate(&mut self, window: &Window, in_flight: u64, now: Time) {
        if self.moves_rate(window) {
            let offset = product_shifted(OFFSET, self.rate, OFFSET_SHIFT);
            let is_second_half = eighths(self.share.elapsed(now)) >= self.virtual_rtt() / 2;
            self.pacing = if is_second_half { self.rate - offset } else { self.rate + offset };
        } else {
            let most = (self.fraction >> UNIT).max(in_flight / window.mss);
            self.rate = kernel::rate_of(most, window, self.share.srtt).max(LEAST_RATE);
            self.pacing = self.rate;
        }
        if kernel::is_far_below_threshold(window) {
            self.pacing = self.pacing.saturating_mul(2);
        }
    }

    /// Whether the rate is to govern the window from now on (prague_cong_control).
    fn choose_mode(&mut self, window: &Window) {
        let bytes = segments(window) * kernel::packet_size(window);
        self.by_rate = self.share.path_marks && bytes <= MOST_BY_RATE * PACKET;
        if self.by_rate {
            self.fraction = self.fraction_of_rate(window);
        } else {
            self.rate = self.rate_of_fraction(window);
        }
    }
}

impl CongestionControl for Linux {
    fn increase(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// The threshold stays: it follows cwnd (prague_ssthresh).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { .. } => {
                self.before_loss = (window.cwnd, self.rate);
                self.share.in_loss = true;
                if self.moves_rate(window) {
                    self.rate -= self.rate >> 1;
                    self.fraction = self.fraction_of_rate(window);
                } else {
                    self.fraction -= self.fraction >> 1;
                    self.rate = self.rate_of_fraction(window);
                }
            }
            CongestionEvent::Ecn { .. } => {
                if !self.share.may_reduce(window, &self.parameters, now) {
                    return;
                }
                if self.moves_rate(window) {
                    let alpha = self.share.fixed();
                    self.rate = (self.rate - product_shifted(self.rate, alpha, ALPHA_BITS + 1)).max(LEAST_RATE);
                    self.fraction = self.fraction_of_rate(window);
                } else {
                    self.fraction -= self.share.reduction(self.fraction);
                    self.rate = self.rate_of_fraction(window);
                }
            }
            CongestionEvent::Spurious => {
                self.share.in_loss = false;
                self.rate = self.rate.max(self.before_loss.1);
                self.fraction = self.fraction_of_rate(window);
                window.cwnd = window.cwnd.max(self.before_loss.0);
            }
            CongestionEvent::Timeout => {}
        }
    }

    fn on_established(&mut self, window: &mut Window, srtt: Duration, now: Time) {
        self.share.srtt = eighths(srtt);
        self.fraction = segments(window) << UNIT;
        if self.share.srtt > 0 {
            self.mean_rtt = self.share.srtt << MEAN_SHIFT;
        }
        self.update_rate(window, 0, now);
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.update_window(window, delivery);
        if self.share.end_round(window, &self.parameters, delivery) {
            self.mean_rtt = self.mean_rtt + self.share.srtt - (self.mean_rtt >> MEAN_SHIFT);
            self.share.begin_round(window, &self.parameters, delivery.nxt);
        }
        self.update_rate(window, delivery.in_flight, delivery.now);
        self.choose_mode(window);
    }

    fn pacing_rate(&self, _window: &Window, srtt: Duration) -> Option<Rate> {
        (srtt > Duration::ZERO).then_some(Rate(self.pacing.max(1).saturating_mul(8)))
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        kernel::quantum(self.pacing, mss)
    }

    fn needs(&self) -> Needs {
        kernel::needs()
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        PragueState { alpha: Some(self.alpha()), rounds: Some(self.share.rounds as f64) }.tell(tell);
    }
}
