//! Westwood+: a variant of Reno that reduces the window to the measured capacity of the path, BWE x RTTmin. From
//! Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: bandwidth estimation for enhanced transport over wireless
//! links", MobiCom 2001, with the per-round-trip samples of Grieco and Mascolo, "Performance evaluation and comparison
//! of Westwood+, New Reno and Vegas TCP congestion control", ACM SIGCOMM CCR 34 (2004).

use std::sync::Arc;

use super::growth::Growth;
use super::linux::Rules;
use super::linux::westwood::WestwoodMeter;
use super::newreno::AdditiveIncrease;
use super::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

parameters! {
    /// Parameters of Westwood+.
    pub struct WestwoodParameters {
        least_sample: Duration = Duration::from_milliseconds(50), "Minimum duration of a bandwidth sample, if the RTT is shorter", "Linux tcp_westwood.c, TCP_WESTWOOD_RTT_MIN";
        smoothing: f64 = 0.875, in 0 .. 1, "Weight of past samples in each of the two filters", "Linux tcp_westwood.c, westwood_do_filter";
        rules: Rules = Rules::Published, "Whose rules: linux measures through recovery, whose end sets the window; it has its own least_sample and smoothing", "Grieco and Mascolo 2004; Linux tcp_westwood.c, tcp_westwood_ack and tcp_westwood_event";
    }
}

/// The TCP Westwood+ congestion control.
#[derive(Clone, Debug)]
pub struct Westwood {
    parameters: Arc<WestwoodParameters>,
    growth: Growth,
    min_rtt: Option<Duration>,
    sample: Option<Sample>,
    estimate: Option<Estimate>,
    /// By the rules of Linux.
    linux: Option<(AdditiveIncrease, Box<WestwoodMeter>)>,
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

impl Listed for Westwood {
    const ABOUT: About = About {
        name: "westwood",
        aliases: &["westwood+", "westwoodplus"],
        title: "TCP Westwood+",
        class: "hybrid",
        year: 2004,
        source: "Grieco and Mascolo, ACM SIGCOMM CCR 34 (2004); Mascolo et al., MobiCom 2001; Linux tcp_westwood.c",
        deviations: "bandwidth is not measured during fast recovery: the data acknowledged in it and its duration are \
                     left out, and duplicate acknowledgements do not count; the estimate is applied at the start of a \
                     congestion episode, in Linux at the end of recovery; ssthresh is at most the window, and half the \
                     flight size while there is no estimate; with rules linux all this is as there",
    };
}

impl Westwood {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<WestwoodParameters>) -> Westwood {
        let linux =
            (parameters.rules == Rules::Linux).then(|| (AdditiveIncrease::default(), Box::new(WestwoodMeter::new())));
        Westwood { parameters, growth: Growth::default(), min_rtt: None, sample: None, estimate: None, linux }
    }

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

impl CongestionControl for Westwood {
    /// Grows as Reno (Mascolo et al. 2001).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        match &mut self.linux {
            Some((additive, _)) => additive.increase(window, ack.credit),
            None => self.growth.additive(window, 1.0, ack.credit),
        }
    }

    /// After a timeout the path may have changed (Linux tcp_westwood.c, reset_rtt_min).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some((additive, meter)) = &mut self.linux {
            additive.restart();
            return meter.on_congestion(window, event);
        }
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                self.sample = None;
                let ssthresh = self.bandwidth_delay_product().map_or(flight_size / 2, |bytes| bytes as u64);
                window.set_ssthresh(ssthresh.min(window.cwnd));
            }
            CongestionEvent::Timeout => self.min_rtt = None,
            CongestionEvent::Spurious => {}
        }
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if let Some((_, meter)) = &mut self.linux {
            meter.on_delivery(window, delivery);
        }
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: self.linux.is_some(), ..Needs::default() }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some((_, meter)) = &mut self.linux {
            return meter.on_ack(ack);
        }
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
}
