//! Westwood+ as in the papers: bandwidth is measured outside recovery, and a loss reduces the window at once.

use super::{WestwoodParameters, WestwoodState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, Growth};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Published(WestwoodParameters as parameters) {
        growth: Growth,
        min_rtt: Option<Duration>,
        sample: Option<Sample>,
        estimate: Option<Estimate>,
    }
}

/// Bytes acknowledged since the start of a bandwidth sample.
#[derive(Clone, Copy, Debug)]
struct Sample {
    start: Time,
    bytes: u64,
}

/// The bandwidth after the first and the second filter, in bytes per second.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    once: f64,
    twice: f64,
}

impl Published {
    fn filter(&mut self, bandwidth: f64) {
        let past = self.parameters.smoothing;
        let before = self.estimate.unwrap_or(Estimate { once: bandwidth, twice: bandwidth });
        let once = past * before.once + (1.0 - past) * bandwidth;
        self.estimate = Some(Estimate { once, twice: past * before.twice + (1.0 - past) * once });
    }

    /// BWE x RTTmin, in bytes.
    fn bandwidth_delay_product(&self) -> Option<f64> {
        Some(self.estimate?.twice * self.min_rtt?.seconds())
    }
}

impl CongestionControl for Published {
    /// Grows as Reno (Mascolo et al. 2001).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.additive(window, 1.0, ack.credit);
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.sample = None;
        let ssthresh = self.bandwidth_delay_product().map_or(flight_size / 2, |bytes| bytes as u64);
        window.set_ssthresh(ssthresh.min(window.cwnd));
    }

    /// The path may have changed (Linux tcp_westwood.c, reset_rtt_min).
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.min_rtt = None;
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
        if let Some(Sample { start, bytes }) = self.sample {
            // A cumulative acknowledgement after a recovery also covers data delivered long before.
            let bytes = bytes + ack.acked.min(window.cwnd);
            let time = ack.now.since(start);
            if time < ack.rtt.unwrap_or(ack.srtt).max(self.parameters.least_sample) || time == Duration::ZERO {
                self.sample = Some(Sample { start, bytes });
                return;
            }
            self.filter(bytes as f64 / time.seconds());
        }
        self.sample = Some(Sample { start: ack.now, bytes: 0 });
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let bwe = self.estimate.map(|estimate| 8.0 * estimate.twice);
        WestwoodState { bwe, min_rtt: self.min_rtt.map(Duration::seconds) }.tell(tell);
    }
}
