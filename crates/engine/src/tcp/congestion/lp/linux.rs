//! TCP-LP in Linux tcp_lp.c: an indication halves the window, and loses the range of delays.

use super::LpParameters;
use super::clock::Clock;
use crate::inner::Tell;
use crate::tcp::congestion::kernel::{Steps, acked_segments, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Linux(LpParameters) {
        /// Acknowledged segments that have not yet increased the window: `snd_cwnd_cnt`.
        steps: Steps,
        clock: Clock,
    }
}

impl CongestionControl for Linux {
    /// Reduces the window, or grows it as Reno outside of inference phases: tcp_lp_cong_avoid.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.clock.reduce(window);
        if self.clock.is_within_inference() {
            return;
        }
        let mut acked = acked_segments(window, ack);
        if window.in_slow_start() {
            let growth = acked.min((window.ssthresh - window.cwnd) / window.mss);
            window.cwnd += growth * window.mss;
            acked -= growth;
        }
        if acked > 0 {
            self.steps.additive(window, segments(window), acked);
        }
    }

    /// Sets ssthresh to half the window: tcp_reno_ssthresh.
    fn reduce(&mut self, window: &mut Window, _flight_size: u64, _now: Time) {
        self.clock.reduce(window);
        set_ssthresh(window, segments(window) / 2);
        self.steps.restart();
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.steps.restart();
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.clock.on_ack(window, ack);
    }

    /// The slow start heeds the inference phase.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.increase(window, ack);
        Some(0)
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.clock.on_delivery(window, delivery);
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, deliveries: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        self.clock.state().tell(tell);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tcp::congestion::Timestamps;
    use crate::time::Duration;

    const MSS: u64 = 1000;

    /// An acknowledgement that is sent and echoes a time so many milliseconds after the start, and arrives 20 ms later.
    fn acknowledge(control: &mut Linux, window: &mut Window, sent: u64, echo: u64) {
        let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        let timestamps = Some(Timestamps { sent: at(sent), echo: at(echo) });
        let rtt = Some(Duration::from_milliseconds(sent + 20 - echo));
        let ack = Ack { now: at(sent + 20), acked: MSS, credit: MSS, rtt, timestamps, ..Ack::default() };
        control.on_ack(window, &ack);
        control.increase(window, &ack);
    }

    /// tcp_lp.c by hand, with segments 10 ms apart. The first acknowledgement gives no rate of the clock, the second 600 and a
    /// delay of 40. That is also the least, so that it is not below the threshold: the window is halved, then grows by this
    /// acknowledgement in slow start, and the range becomes 40 to 80. In the inference phase that follows the window stays
    /// until the smoothed delay (40, 42, 44, 46) reaches 40 + 0.15 x 40 = 46, and is then one segment.
    #[test]
    fn indications() {
        let mut control = Linux::new(Arc::default());
        let mut window = Window { cwnd: 20 * MSS, ssthresh: 20 * MSS, mss: MSS };
        let mut windows = Vec::new();
        for (number, delay) in [44, 40, 40, 60, 60, 60].into_iter().enumerate() {
            let sent = 100 + 10 * number as u64 + delay;
            acknowledge(&mut control, &mut window, sent, sent - delay);
            windows.push(window.cwnd / MSS);
        }
        assert_eq!(windows, [20, 11, 11, 11, 11, 1]);
    }
}
