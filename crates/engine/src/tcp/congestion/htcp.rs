//! H-TCP: Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp-06. The growth rate increases with the time since the last congestion event. The reduction
//! depends on the share of queueing delay in the round-trip time.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::htcp::HTcpSteps;
use super::ns3::Rules;
use super::ns3::htcp::HTcpBytes;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Share of the maximum queueing delay that is kept after a congestion event: Linux tcp_htcp.c, htcp_param_update.
const RTT_MEMORY: f64 = 0.95;
/// Weight of a new sample in the average throughput: Linux tcp_htcp.c, measure_achieved_throughput.
const THROUGHPUT_WEIGHT: f64 = 0.25;
/// Reference round-trip time of RTT scaling, in seconds, and the bounds of the factor: Linux tcp_htcp.c,
/// htcp_alpha_update.
const REFERENCE_RTT: f64 = 0.1;
const MIN_RTT_FACTOR: f64 = 0.1;
const MAX_RTT_FACTOR: f64 = 2.0;

parameters! {
    /// Parameters of H-TCP.
    pub struct HTcpParameters {
        delta_l: Duration = Duration::from_seconds(1), "Time since the last congestion during which the window grows as in Reno: Delta_L", "Leith and Shorten 2004";
        beta_min: f64 = 0.5, in 0 .. 1, "Minimum share of the window kept after a loss", "Leith and Shorten 2004; Linux tcp_htcp.c, BETA_MIN";
        beta_max: f64 = 0.8, in 0 .. 1, "Maximum share of the window kept after a loss", "Leith and Shorten 2004; Linux tcp_htcp.c, BETA_MAX";
        throughput_change: f64 = 0.2, in 0 .. 1000000, "Relative change of throughput from one loss to the next above which beta is beta_min", "Leith and Shorten 2004; Linux tcp_htcp.c, htcp_beta_update";
        adaptive_backoff: bool = true, "Set beta to RTTmin / RTTmax instead of always to beta_min", "Leith and Shorten 2004";
        rtt_scaling: bool = true, "Scale growth with RTTmin, so that flows with different RTTs grow alike", "Linux tcp_htcp.c, use_rtt_scaling";
        rules: Rules = Rules::Published, "Whose arithmetic: linux has a whole factor of growth, counts time from the end of recovery, and sets beta to beta_min once more after throughput has changed; ns3 grows as Reno and by alpha bytes for each acknowledgement, and has no bounds of beta", "Leith and Shorten 2004; Linux tcp_htcp.c, htcp_beta_update, htcp_alpha_update and htcp_state; ns-3 tcp-htcp.cc, CongestionAvoidance and UpdateBeta";
    }
}

/// The H-TCP congestion control.
#[derive(Clone, Debug)]
pub struct HTcp {
    parameters: Arc<HTcpParameters>,
    growth: Growth,
    beta: f64,
    /// Time of the last congestion event, or of the first acknowledgement.
    last_congestion: Option<Time>,
    min_rtt: Option<Duration>,
    max_rtt: Duration,
    round: Option<Round>,
    throughput: Throughput,
    /// The maximum throughput before the last congestion event, in bytes per second.
    throughput_before: Option<f64>,
    /// By the rules of Linux, or of ns-3.
    linux: Option<HTcpSteps>,
    ns3: Option<Box<HTcpBytes>>,
}

/// The bytes acknowledged in a round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    start: Time,
    /// The first sequence number after the round.
    end: u64,
    bytes: u64,
}

/// Throughput since the last congestion event, in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    average: Option<f64>,
    greatest: Option<f64>,
}

impl Throughput {
    fn take(&mut self, sample: f64) {
        let average = self.average.map_or(sample, |average| average + THROUGHPUT_WEIGHT * (sample - average));
        self.average = Some(average);
        self.greatest = Some(self.greatest.map_or(average, |greatest| greatest.max(average)));
    }
}

impl Listed for HTcp {
    const ABOUT: About = About {
        name: "htcp",
        aliases: &["h-tcp"],
        title: "H-TCP",
        class: "loss",
        year: 2004,
        source: "Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06; Linux net/ipv4/tcp_htcp.c",
        deviations: "the window never grows faster than in slow start; throughput is not measured during fast recovery; \
                     time counts from the start of a congestion episode; rules = \"linux\" is the arithmetic of Linux \
                     6.1, which counts it from the end of recovery, rounds the factor of growth down, and sets beta to \
                     beta_min on paths below 10 ms and at one more loss after the throughput has changed",
    };
}

impl HTcp {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<HTcpParameters>) -> HTcp {
        HTcp {
            beta: parameters.beta_min,
            linux: (parameters.rules == Rules::Linux).then(|| HTcpSteps::new(&parameters)),
            ns3: (parameters.rules == Rules::Ns3).then(Box::default),
            parameters,
            growth: Growth::default(),
            last_congestion: None,
            min_rtt: None,
            max_rtt: Duration::ZERO,
            round: None,
            throughput: Throughput::default(),
            throughput_before: None,
        }
    }

    /// alpha: the growth per round trip, in segments, 2 (1 - beta) (1 + 10 (D - D_L) + ((D - D_L) / 2)^2), where D is
    /// the time since the last congestion event.
    fn alpha(&self, now: Time) -> f64 {
        let since = self.last_congestion.map_or(Duration::ZERO, |time| now.since(time));
        let d = (since.seconds() - self.parameters.delta_l.seconds()).max(0.0);
        let mut alpha = 1.0 + 10.0 * d + 0.25 * d * d;
        if let Some(min_rtt) = self.min_rtt
            && self.parameters.rtt_scaling
        {
            let factor = min_rtt.seconds() / REFERENCE_RTT;
            alpha = (alpha * factor.clamp(MIN_RTT_FACTOR, MAX_RTT_FACTOR)).max(1.0);
        }
        2.0 * (1.0 - self.beta) * alpha
    }

    /// Share of the window kept after a loss. It just drains the queue, unless the throughput has changed.
    fn backoff(&self) -> f64 {
        let HTcpParameters { beta_min, beta_max, throughput_change, adaptive_backoff, .. } = *self.parameters;
        let is_steady = match (self.throughput.greatest, self.throughput_before) {
            (Some(now), Some(before)) => (now - before).abs() <= throughput_change * before,
            _ => false,
        };
        match self.min_rtt {
            Some(min_rtt) if adaptive_backoff && is_steady => {
                (min_rtt.seconds() / self.max_rtt.seconds()).min(beta_max).max(beta_min)
            }
            _ => beta_min,
        }
    }

    fn measure_rtt(&mut self, rtt: Duration) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        self.max_rtt = self.max_rtt.max(rtt);
    }

    fn measure_throughput(&mut self, window: &Window, ack: &Ack) {
        if let Some(round) = &mut self.round {
            // A cumulative acknowledgement after a recovery also covers data delivered long before.
            round.bytes += ack.acked.min(window.cwnd);
            if ack.una <= round.end || ack.now == round.start {
                return;
            }
            self.throughput.take(round.bytes as f64 / ack.now.since(round.start).seconds());
        }
        self.round = Some(Round { start: ack.now, end: ack.nxt, bytes: 0 });
    }
}

impl CongestionControl for HTcp {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack, &self.parameters);
        }
        if let Some(ns3) = &self.ns3 {
            return ns3.increase(window, ack);
        }
        let alpha = self.alpha(ack.now);
        self.growth.additive(window, alpha, ack.credit);
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.on_congestion(window, event, now, &self.parameters);
        } else if let Some(ns3) = &mut self.ns3 {
            if let Some(flight_size) = event.flight_size() {
                ns3.reduce(window, flight_size, now, &self.parameters);
            }
        } else if let Some(flight_size) = event.flight_size() {
            self.beta = self.backoff();
            self.throughput_before = self.throughput.greatest.or(self.throughput_before);
            self.throughput = Throughput::default();
            self.round = None;
            self.last_congestion = Some(now);
            if let Some(min_rtt) = self.min_rtt {
                let queueing = self.max_rtt.seconds() - min_rtt.seconds();
                self.max_rtt = min_rtt + Duration::from_seconds_f64(RTT_MEMORY * queueing);
            }
            window.set_ssthresh((self.beta * flight_size as f64) as u64);
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.on_ack(window, ack);
        }
        if let Some(ns3) = &mut self.ns3 {
            return ns3.on_ack(ack, self.parameters.delta_l);
        }
        self.last_congestion.get_or_insert(ack.now);
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt);
        }
        self.measure_throughput(window, ack);
    }
}
