//! What the releases of tcp_prague.c have in common: the estimate of the share of marked segments, its rounds, and when they count
//! in the virtual round-trip time.

use super::PragueParameters;
use crate::tcp::congestion::kernel::{microseconds, segments};
use crate::tcp::congestion::{Delivery, Needs};
use crate::tcp::ecn::Codepoint;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Bits of the fraction of a segment (CWND_UNIT).
pub const UNIT: u32 = 20;

/// A segment.
pub const ONE: u64 = 1 << UNIT;

/// The least window, in segments (MIN_CWND).
pub const LEAST: u64 = 2;

/// IP and TCP headers of a segment with timestamps (tcp_mss_to_mtu).
const HEADERS: u64 = 52;

/// The size of a packet of this payload.
pub fn packet_size(window: &Window) -> u64 {
    window.mss + HEADERS
}

/// A duration in eighths of a microsecond, as tcp_sock.srtt_us has the round-trip time.
pub fn eighths(duration: Duration) -> u64 {
    8 * microseconds(duration)
}

/// What both need of the sender.
pub fn needs() -> Needs {
    Needs { ecn: Some(Codepoint::Ect1), pacing: true, deliveries: true, governs: true, ..Needs::default() }
}

/// A rate of so many packets per round-trip time.
pub fn rate_of(packets: u64, window: &Window, srtt: u64) -> u64 {
    rate_of_one(window, srtt).saturating_mul(packets)
}

/// One packet of all payload per smoothed round-trip time, in bytes a second (prague_update_pacing_rate).
pub fn rate_of_one(window: &Window, srtt: u64) -> u64 {
    8_000_000 * packet_size(window) / srtt.max(1)
}

/// Bytes of payload that leave together: what takes 2^-12 s at this rate (prague_burst_shift), a segment at least.
pub fn quantum(rate: u64, mss: u64) -> u64 {
    ((rate / (mss + HEADERS)) >> 12).max(1) * mss
}

/// Whether the window is one of slow start, for which the rate is doubled.
pub fn is_far_below_threshold(window: &Window) -> bool {
    window.cwnd < window.ssthresh / 2
}

/// Slow start (tcp_slow_start): the window grows by these segments up to the threshold. Returns those that are left.
pub fn slow_start(window: &mut Window, acked: u64) -> u64 {
    let most = window.ssthresh / window.mss;
    let before = segments(window);
    let after = (before + acked).min(most);
    window.cwnd = after * window.mss;
    acked - (after - before)
}

/// The share of marked segments and the rounds in which it is estimated.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// The estimate in 2^-bits, and its remainder (upscaled_alpha times the gain).
    scaled: f64,
    bits: u32,
    /// Segments delivered, and those of them that were marked, since the round began.
    delivered: u64,
    marked: u64,
    /// The sequence number whose acknowledgement ends the round.
    round_end: u64,
    /// Rounds since slow start.
    pub rounds: u64,
    /// Whether the path has marked a packet.
    pub path_marks: bool,
    updated: Time,
    /// When marks last reduced the window.
    reduced: Option<Time>,
    /// The smoothed round-trip time, in eighths of a microsecond.
    pub srtt: u64,
    /// Whether the window falls after a loss.
    pub in_loss: bool,
    /// Growth of the window per segment, times the window.
    pub increase: u64,
}

impl Share {
    /// The estimate of a new connection.
    pub fn new(bits: u32, alpha: f64) -> Share {
        Share { scaled: alpha * f64::from(1_u32 << bits), bits, increase: ONE, ..Share::default() }
    }

    /// The estimate, in 2^-bits.
    pub fn fixed(&self) -> u64 {
        self.scaled as u64
    }

    /// The estimate.
    pub fn alpha(&self) -> f64 {
        self.scaled / f64::from(1_u32 << self.bits)
    }

    /// Counts what an acknowledgement delivers. Returns the segments delivered and those marked.
    pub fn count(&mut self, window: &Window, delivery: &Delivery) -> (u64, u64) {
        let (delivered, marked) = (delivery.delivered / window.mss, delivery.marked / window.mss);
        self.delivered += delivered;
        self.marked += marked;
        self.srtt = eighths(delivery.srtt);
        self.in_loss &= delivery.in_recovery;
        (delivered, marked)
    }

    /// Whether the flow emulates the virtual round-trip time (prague_is_rtt_indep).
    pub fn is_independent(&self, window: &Window, parameters: &PragueParameters) -> bool {
        parameters.virtual_rtt > Duration::ZERO && !window.in_slow_start() && self.rounds >= parameters.transition
    }

    /// Whether marks may reduce the window, which they do once per virtual round trip (prague_enter_cwr).
    pub fn may_reduce(&mut self, window: &Window, parameters: &PragueParameters, now: Time) -> bool {
        let waits = self.is_independent(window, parameters)
            && self.reduced.is_some_and(|reduced| now.since(reduced) < parameters.virtual_rtt);
        if !waits {
            self.reduced = Some(now);
        }
        !waits
    }

    /// The reduction of this window, in 2^-20 segments (prague_enter_cwr).
    pub fn reduction(&self, fraction: u64) -> u64 {
        let product = u128::from(self.fixed()) * u128::from(fraction) + (1 << self.bits);
        (product >> (self.bits + 1)) as u64
    }

    /// The window has changed (prague_ai_ack_increase): growth per round is one segment, below the virtual round-trip time one per
    /// virtual round trip, of a window that is smaller by the same ratio.
    pub fn update_increase(&mut self, parameters: &PragueParameters) {
        let target = eighths(parameters.virtual_rtt);
        self.increase = if self.rounds < parameters.transition || self.srtt == 0 || self.srtt >= target {
            ONE
        } else {
            let (square, of_target) = (u128::from(self.srtt).pow(2), u128::from(target).pow(2));
            ((square * u128::from(ONE) + of_target / 2) / of_target) as u64
        };
    }

    /// The time since the latest update of the estimate.
    pub fn elapsed(&self, now: Time) -> Duration {
        now.since(self.updated)
    }

    /// At the end of a round (prague_should_update_ewma), updates the estimate and begins the next (prague_update_alpha). Returns
    /// whether it did.
    pub fn end_round(&mut self, window: &Window, parameters: &PragueParameters, delivery: &Delivery) -> bool {
        let elapsed = self.elapsed(delivery.now);
        if delivery.una < self.round_end
            || (self.is_independent(window, parameters) && elapsed < parameters.virtual_rtt)
        {
            return false;
        }
        if self.path_marks {
            let found = (self.marked << self.bits) / self.delivered.max(1);
            self.scaled += parameters.g * (found as f64 - self.scaled.floor());
            self.scaled = self.scaled.min(f64::from(1_u32 << self.bits));
            self.updated = delivery.now;
        }
        true
    }

    /// Begins a round (prague_new_round).
    pub fn begin_round(&mut self, window: &Window, parameters: &PragueParameters, nxt: u64) {
        (self.delivered, self.marked) = (0, 0);
        self.round_end = nxt;
        if !window.in_slow_start() {
            self.rounds += 1;
        }
        self.update_increase(parameters);
    }
}
