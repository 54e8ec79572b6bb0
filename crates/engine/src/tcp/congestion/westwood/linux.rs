//! Westwood+ as in Linux: tcp_westwood.c. Bandwidth is measured on every acknowledgement, also in recovery, and becomes the
//! window when recovery ends. Times are in milliseconds (jiffies), data in bytes.

use super::{WestwoodParameters, WestwoodState};
use crate::inner::Tell;
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

const MILLISECOND: u64 = Duration::from_milliseconds(1).0;
/// The minimum duration of a sample: TCP_WESTWOOD_RTT_MIN.
const LEAST_SAMPLE: u64 = 50;
/// The round-trip time before the first sample: TCP_WESTWOOD_INIT_RTT.
const FIRST_RTT: u64 = 20_000;

control! {
    /// struct westwood.
    Linux(WestwoodParameters) {
        additive: AdditiveIncrease,
        /// The bandwidth after the first and the second filter, in bytes per millisecond.
        once: u64,
        twice: u64,
        /// The start of the current sample, `None` before the first acknowledgement, and its bytes.
        sample_start: Option<u64>,
        sample: u64,
        /// Bytes counted for duplicate acknowledgements and not yet acknowledged.
        accounted: u64,
        rtt: u64 = FIRST_RTT,
        rtt_min: u64 = FIRST_RTT,
        restarts_rtt_min: bool = true,
        /// What has to be acknowledged until the end of the reduction that is under way, at which the window is set.
        reduces_until: Option<u64>,
        /// SND.UNA and SND.NXT at the latest acknowledgement outside of recoveries.
        una: u64,
        nxt: u64,
    }
}

impl Linux {
    /// BWE x RTTmin, in bytes: tcp_westwood_bw_rttmin.
    fn bandwidth_delay_product(&self, window: &Window) -> u64 {
        (self.twice * self.rtt_min / window.mss).max(2) * window.mss
    }

    /// westwood_update_window and westwood_filter.
    fn end_sample(&mut self, now: u64) {
        let time = now - self.sample_start.unwrap_or(now);
        if time <= self.rtt.max(LEAST_SAMPLE) {
            return;
        }
        let bandwidth = self.sample / time;
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (bandwidth, bandwidth);
        } else {
            self.once = (7 * self.once + bandwidth) / 8;
            self.twice = (7 * self.twice + self.once) / 8;
        }
        self.sample = 0;
        self.sample_start = Some(now);
    }

    /// The bytes that an acknowledgement counts for. A duplicate counts for a segment, until the segments are acknowledged:
    /// westwood_acked_count. The acknowledgement that ends a recovery has no SACK blocks, but takes this way too: what it
    /// covers has not been read, so that it offers another window than the one before (tcp_input.c, tcp_rcv_established).
    fn count(&mut self, acked: u64, mss: u64) -> u64 {
        if acked == 0 {
            self.accounted += mss;
            return mss;
        }
        if acked <= mss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return mss;
        }
        acked - std::mem::take(&mut self.accounted)
    }

    fn complete(&mut self, window: &mut Window) {
        self.reduces_until = None;
        window.ssthresh = self.bandwidth_delay_product(window);
        window.cwnd = window.ssthresh;
    }
}

impl CongestionControl for Linux {
    /// As Reno.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.additive.increase(window, ack.credit);
    }

    /// Answers congestion: with Reno's half (tcp_reno_ssthresh) until recovery ends, or until what was outstanding as marks were
    /// reported has been acknowledged (tcp_input.c, tcp_fastretrans_alert, in the state CWR), on a timeout with BWE x RTTmin, after
    /// which the minimum RTT is measured again (tcp_westwood_event, CA_EVENT_LOSS).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        self.additive.restart();
        match event {
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {
                if self.reduces_until.is_some() {
                    self.complete(window);
                }
                self.reduces_until = Some(if matches!(event, CongestionEvent::Ecn { .. }) { self.nxt } else { 0 });
                window.set_ssthresh(window.cwnd / window.mss / 2 * window.mss);
            }
            CongestionEvent::Timeout => {
                self.reduces_until = None;
                window.ssthresh = self.bandwidth_delay_product(window);
                self.restarts_rtt_min = true;
            }
            CongestionEvent::Spurious => self.reduces_until = None,
        }
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        (self.una, self.nxt) = (ack.una, ack.nxt);
    }

    /// tcp_westwood_ack. At the end of a reduction the window is BWE x RTTmin:
    /// tcp_westwood_event, CA_EVENT_COMPLETE_CWR.
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if let Some(rtt) = delivery.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.rtt = rtt.0.div_ceil(MILLISECOND);
        }
        let is_first = self.sample_start.is_none();
        if is_first {
            // The connection began with the segments that it acknowledges, which do not count: tcp_westwood_init.
            let began = delivery.now.since(Time::ZERO + delivery.rtt.unwrap_or_default());
            self.sample_start = Some(began.0 / MILLISECOND);
        }
        self.end_sample(delivery.now.0 / MILLISECOND);
        if !is_first {
            self.sample += self.count(delivery.acked, window.mss);
        }
        self.rtt_min = if std::mem::take(&mut self.restarts_rtt_min) { self.rtt } else { self.rtt_min.min(self.rtt) };
        if !delivery.in_recovery && self.reduces_until.is_some_and(|end| self.una >= end) {
            self.complete(window);
        }
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let bwe = (self.twice > 0).then_some(8_000.0 * self.twice as f64);
        let min_rtt = (!self.restarts_rtt_min).then_some(self.rtt_min as f64 / 1_000.0);
        WestwoodState { bwe, min_rtt }.tell(tell);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const MSS: u64 = 1000;

    /// An acknowledgement of so many bytes at this millisecond, with an RTT of 60 ms.
    fn delivery(milliseconds: u64, acked: u64) -> Delivery {
        Delivery {
            now: Time::ZERO + Duration::from_milliseconds(milliseconds),
            acked,
            rtt: Some(Duration::from_milliseconds(60)),
            ..Delivery::default()
        }
    }

    /// What 2000 bytes acknowledged each 10 ms make. The connection began 60 ms before the first, which does not count. The
    /// sample of the first 70 ms is 0, so that the next begins the estimate: 14,000 bytes in 70 ms.
    fn measured(window: &mut Window) -> Linux {
        let mut meter = Linux::new(Arc::default());
        (6..=14).for_each(|step| meter.on_delivery(window, &delivery(10 * step, 2 * MSS)));
        assert_eq!((meter.once, meter.twice, meter.rtt_min), (200, 200, 60));
        meter
    }

    /// tcp_westwood.c by hand: 200 bytes a millisecond and 60 ms are 12 segments. A recovery halves the window and ends with
    /// those 12. Its duplicates count for a segment each, which the acknowledgement that ends it does not count once more.
    #[test]
    fn samples_and_recovery() {
        let mut window = Window { cwnd: 30 * MSS, ssthresh: u64::MAX, mss: MSS };
        let mut meter = measured(&mut window);
        assert_eq!(window.cwnd, 30 * MSS, "the window is Reno's");
        meter.on_congestion(&mut window, CongestionEvent::Loss { flight_size: 30 * MSS }, Time::ZERO);
        assert_eq!(window.ssthresh, 15 * MSS);
        let sampled = meter.sample;
        for time in [150, 160] {
            let duplicate = Delivery { in_recovery: true, ..delivery(time, 0) };
            meter.on_delivery(&mut window, &duplicate);
        }
        assert_eq!(meter.sample, sampled + 2 * MSS);
        meter.on_delivery(&mut window, &delivery(170, 5 * MSS));
        assert_eq!(meter.sample, sampled + 5 * MSS);
        assert_eq!((window.cwnd, window.ssthresh), (12 * MSS, 12 * MSS));
    }

    /// tcp_enter_cwr by hand: marks halve the window for as long as it takes until what was outstanding is acknowledged, also where
    /// the stack reduces it at once, and the window is then those 12 segments of bandwidth and minimum RTT.
    #[test]
    fn marks() {
        let mut window = Window { cwnd: 30 * MSS, ssthresh: u64::MAX, mss: MSS };
        let mut meter = measured(&mut window);
        let acknowledge = |meter: &mut Linux, window: &mut Window, time, una| {
            meter.on_ack(window, &Ack { una, nxt: una + 30 * MSS, ..Ack::default() });
            meter.on_delivery(window, &delivery(time, 2 * MSS));
        };
        acknowledge(&mut meter, &mut window, 150, 20 * MSS);
        meter.on_congestion(&mut window, CongestionEvent::Ecn { flight_size: 30 * MSS, abe: false }, Time::ZERO);
        window.cwnd = window.ssthresh;
        for una in [20 * MSS, 30 * MSS, 49 * MSS] {
            acknowledge(&mut meter, &mut window, 160, una);
            assert_eq!(window.cwnd, 15 * MSS, "{una} acknowledged");
        }
        acknowledge(&mut meter, &mut window, 160, 50 * MSS);
        assert_eq!((window.cwnd, window.ssthresh), (12 * MSS, 12 * MSS));
    }

    /// westwood_acked_count by hand: what duplicates have counted for is taken off later acknowledgements of several segments.
    #[test]
    fn partial_acknowledgements() {
        let mut meter = Linux::new(Arc::default());
        for (acked, expected) in
            [(0, 1000), (0, 1000), (0, 1000), (2000, 1000), (4000, 3000), (4000, 4000), (1000, 1000)]
        {
            assert_eq!(meter.count(acked, MSS), expected, "{acked} bytes acknowledged");
        }
    }

    /// CA_EVENT_LOSS by hand: a timeout sets ssthresh to BWE x RTTmin, and the next sample is the minimum RTT.
    #[test]
    fn timeout() {
        let mut window = Window { cwnd: 30 * MSS, ssthresh: u64::MAX, mss: MSS };
        let mut meter = measured(&mut window);
        meter.on_congestion(&mut window, CongestionEvent::Loss { flight_size: 30 * MSS }, Time::ZERO);
        meter.on_congestion(&mut window, CongestionEvent::Timeout, Time::ZERO);
        assert_eq!(window.ssthresh, 12 * MSS);
        let later = Delivery { rtt: Some(Duration::from_microseconds(90_100)), ..delivery(300, MSS) };
        meter.on_delivery(&mut window, &later);
        assert_eq!(meter.rtt_min, 91);
    }
}
