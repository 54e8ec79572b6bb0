//! The delays of Linux tcp_lp.c: one-way, from timestamps in milliseconds, in 32 bits as there, where they overflow.
//!
//! A delay is TSval less TSecr times the ticks of the other clock, 1000 / rate in whole numbers. So once the receiver's clock
//! is estimated at more than 1000 ticks a second, TSval counts nothing, and the delay is 2^32 less TSecr. In ns-3's tcp-lp.cc, which
//! follows it, there is no rate: a delay is the difference of the timestamps, and one at the threshold indicates nothing.

use super::LpState;
use crate::inner::flag;
use crate::tcp::congestion::kernel::segments;
use crate::tcp::congestion::{Ack, Delivery, Timestamps};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Ticks of a timestamp clock in a second: TCP_TS_HZ, and LP_RESOL.
const TICKS: u32 = 1000;
/// What both clocks show when a run begins, as in the guest of the backend `linux`. It matters: once TSval counts nothing, a delay
/// is 2^32 less TSecr, and the longer the host has been up, the sooner that overflows as it is smoothed.
const UPTIME: Duration = Duration::from_seconds(2);
/// Weight of a new sample in the smoothed delay, and of one in the estimated rate, as shifts.
const DELAY_SHIFT: u32 = 3;
const RATE_SHIFT: u32 = 6;
/// The share of the range of delays, in percent, above which the smoothed delay indicates congestion.
const THRESHOLD: u32 = 15;
/// Round trips of an inference phase.
const INFERENCE: u32 = 3;

/// struct lp. Times are in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The smoothed delay, in eighths.
    smoothed: u32,
    /// The least delay, none before the first.
    least: Option<u32>,
    /// The second largest delay, and the largest.
    great: u32,
    greatest: u32,
    /// The estimated rate of the receiver's clock; 0 before the first estimate.
    rate: u32,
    /// The latest timestamps.
    sent: u32,
    echo: u32,
    /// When the window was last reduced, 0 for never.
    reduced: u32,
    inference: u32,
    is_within_inference: bool,
    /// The window that the current acknowledgement reduces to.
    reduction: Option<u64>,
    /// Whether `on_ack` has taken it.
    is_taken: bool,
    is_recovering: bool,
    /// Whether delays and threshold are ns-3's.
    is_ns3: bool,
}

fn milliseconds(time: Time) -> u32 {
    ((time + UPTIME).since(Time::ZERO).0 / Duration::from_milliseconds(1).0) as u32
}

impl Clock {
    /// One of ns-3.
    pub fn of_ns3() -> Clock {
        Clock { is_ns3: true, ..Clock::default() }
    }

    /// Whether an inference phase goes on.
    pub fn is_within_inference(&self) -> bool {
        self.is_within_inference
    }

    /// What it tells of the inner state.
    pub fn state(&self) -> LpState {
        let seconds = |milliseconds: u32| self.least.map(|_| f64::from(milliseconds) / 1_000.0);
        LpState {
            phase: Some(flag(self.is_within_inference)),
            smoothed_delay: seconds(self.smoothed >> DELAY_SHIFT),
            min_delay: self.least.and_then(seconds),
            max_delay: seconds(self.great),
        }
    }

    /// tcp_lp_remote_hz_estimator.
    fn estimate_rate(&mut self, sent: u32, echo: u32) {
        let is_first = self.sent == 0 || self.echo == 0;
        if !is_first && sent != self.sent && echo != self.echo {
            let rate = TICKS.wrapping_mul(sent.wrapping_sub(self.sent)) / echo.wrapping_sub(self.echo);
            let scaled = i64::from(self.rate << RATE_SHIFT);
            self.rate = if scaled > 0 {
                ((scaled + i64::from(rate) - i64::from(self.rate)) >> RATE_SHIFT) as u32
            } else {
                rate
            };
        }
        (self.sent, self.echo) = (sent, echo);
    }

    /// tcp_lp_owd_calculator, and ns-3's OwdCalculator.
    fn delay(&mut self, sent: u32, echo: u32) -> Option<u32> {
        if self.is_ns3 {
            return Some(sent.abs_diff(echo)).filter(|delay| *delay > 0);
        }
        self.estimate_rate(sent, echo);
        let scale = TICKS.checked_div(self.rate)?;
        Some(sent.wrapping_mul(scale).wrapping_sub(echo)).filter(|delay| *delay > 0)
    }

    /// tcp_lp_rtt_sample.
    fn sample(&mut self, sent: u32, echo: u32) {
        let Some(delay) = self.delay(sent, echo) else { return };
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        if delay > self.great {
            self.great = match self.greatest {
                greatest if delay <= greatest => delay,
                0 => delay,
                greatest => greatest,
            };
            self.greatest = self.greatest.max(delay);
        }
        self.smoothed = match self.smoothed {
            0 => delay << DELAY_SHIFT,
            smoothed => smoothed.wrapping_add(delay).wrapping_sub(smoothed >> DELAY_SHIFT),
        };
    }

    /// tcp_lp_pkts_acked.
    fn take(&mut self, window: &Window, now: Time, rtt: Option<Duration>, timestamps: Option<Timestamps>) {
        let Some(Timestamps { sent, echo }) = timestamps else { return };
        let [now, sent, echo] = [now, sent, echo].map(milliseconds);
        if rtt.is_some_and(|rtt| rtt > Duration::ZERO) {
            self.sample(sent, echo);
        }
        if now > echo {
            self.inference = INFERENCE.wrapping_mul(now - echo);
        }
        self.is_within_inference = self.reduced > 0 && now - self.reduced < self.inference;
        let smoothed = self.smoothed >> DELAY_SHIFT;
        let least = self.least.unwrap_or(u32::MAX);
        let range = THRESHOLD.wrapping_mul(self.great.wrapping_sub(least)) / 100;
        let threshold = least.wrapping_add(range);
        if smoothed < threshold || self.is_ns3 && smoothed == threshold {
            return;
        }
        (self.least, self.great, self.greatest) = (Some(smoothed), self.smoothed >> 2, self.smoothed >> 2);
        let share = if self.is_within_inference { 0 } else { segments(window) / 2 };
        self.reduction = Some(share.max(1) * window.mss);
        self.reduced = now;
    }

    /// Takes an acknowledgement of new data outside recovery.
    pub fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.take(window, ack.now, ack.rtt, ack.timestamps);
        self.is_taken = true;
    }

    /// Takes any acknowledgement that `on_ack` has not taken. In recovery and at its end the window is the recovery's:
    /// Linux tcp_input.c, tcp_cwnd_reduction and tcp_end_cwnd_reduction.
    pub fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if !std::mem::take(&mut self.is_taken) {
            self.take(window, delivery.now, delivery.rtt, delivery.timestamps);
        }
        if delivery.in_recovery || self.is_recovering {
            self.reduction = None;
        }
        self.is_recovering = delivery.in_recovery;
        self.reduce(window);
    }

    /// Reduces the window if the latest acknowledgement indicates congestion.
    pub fn reduce(&mut self, window: &mut Window) {
        if let Some(reduction) = self.reduction.take() {
            window.cwnd = reduction;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// ns-3's tcp-lp.cc by hand, with the same delays. The first is at the threshold of a range of zero and indicates nothing. The
    /// second is below, but the smoothed delay, 43, is above 40 + 0.15 x 4. The range becomes 43 to 87, and 40 again at the
    /// next, so that 47 is at the threshold, and 48 reduces to one segment within the inference phase.
    #[test]
    fn indications_in_ns3() {
        let mut clock = Clock::of_ns3();
        let mut window = Window { cwnd: 20 * MSS, ssthresh: 20 * MSS, mss: MSS };
        let mut windows = Vec::new();
        for (number, delay) in [44, 40, 40, 60, 60, 60].into_iter().enumerate() {
            let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
            let echo = 100 + 10 * number as u64;
            let timestamps = Some(Timestamps { sent: at(echo + delay), echo: at(echo) });
            let rtt = Some(Duration::from_milliseconds(delay + 20));
            clock.on_ack(&window, &Ack { now: at(echo + delay + 20), rtt, timestamps, ..Ack::default() });
            clock.reduce(&mut window);
            windows.push(window.cwnd / MSS);
        }
        assert_eq!(windows, [20, 10, 10, 10, 10, 1]);
    }

    /// tcp_lp_remote_hz_estimator and tcp_lp_owd_calculator by hand: 3 ticks in 2 are a rate of 1500, 1 in 1 then makes
    /// (64 x 1500 + 1000 - 1500) / 64 = 1492. A rate above 1000 leaves out TSval, and one up to 500 counts it twice.
    #[test]
    fn rate_of_clock() {
        let mut clock = Clock::default();
        for (sent, echo, rate, delay) in [
            (5040, 5000, 0, None),
            (5043, 5002, 1500, Some(0u32.wrapping_sub(5002))),
            (5044, 5003, 1492, Some(0u32.wrapping_sub(5003))),
        ] {
            assert_eq!((clock.delay(sent, echo), clock.rate), (delay, rate), "{sent}, {echo}");
        }
        for (rate, delay) in [(1000, 41), (501, 41), (500, 5044 + 41)] {
            clock.rate = rate;
            assert_eq!(clock.delay(5044, 5003), Some(delay), "{rate} ticks a second");
        }
    }
}
