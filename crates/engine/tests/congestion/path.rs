//! A path of known bandwidth and round-trip time for model-based algorithms: one acknowledgement per segment, evenly
//! spaced, whatever the algorithm does.

use serde_json::Value;
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl, Delivery, LostSegment, RateSample};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::MSS;

pub struct Path {
    pub algorithm: Algorithm,
    pub window: Window,
    pub now: Time,
    /// Bandwidth in segments per second.
    pub rate: f64,
    pub rtt: Duration,
    /// Segments in flight, set by the test.
    pub in_flight: u64,
    pub in_recovery: bool,
    /// Whether the sender is application-limited.
    pub app_limited: bool,
    pub delivered: u64,
    /// The number of marked segments that the next acknowledgement reports.
    pub marked: u64,
}

impl Path {
    /// Creates an unused path.
    pub fn new(name: &str, parameters: &Value, seed: u64, rate: f64, rtt: Duration) -> Path {
        let mut algorithm = Algorithm::new(name, parameters).expect("a known algorithm");
        algorithm.take_random(Random::stream(seed, Purpose::CongestionControl, 0));
        let window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        let now = Time::ZERO + Duration::from_seconds(1);
        let mut path = Path {
            algorithm,
            window,
            now,
            rate,
            rtt,
            in_flight: 0,
            in_recovery: false,
            app_limited: false,
            delivered: 0,
            marked: 0,
        };
        path.in_flight = path.bdp();
        path
    }

    /// The bandwidth-delay product in segments.
    pub fn bdp(&self) -> u64 {
        (self.rate * self.rtt.seconds()).round() as u64
    }

    /// Acknowledges the segment sent one round-trip time ago.
    pub fn ack(&mut self) {
        self.ack_with_losses(0);
    }

    pub fn ack_with_losses(&mut self, lost: u64) {
        self.now += Duration::from_seconds_f64(1.0 / self.rate);
        self.delivered += MSS;
        let of_round = self.bdp() * MSS;
        let sample = RateSample {
            delivered: of_round,
            interval: Some(self.rtt),
            prior_delivered: self.delivered.saturating_sub(of_round),
            app_limited: self.app_limited,
            in_flight_when_sent: self.in_flight * MSS,
            lost: lost * MSS,
            rtt: Some(self.rtt),
        };
        let delivery = Delivery {
            now: self.now,
            delivered: MSS,
            total_delivered: self.delivered,
            lost: lost * MSS,
            marked: std::mem::take(&mut self.marked) * MSS,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            prior_in_flight: (self.in_flight + 1) * MSS,
            in_flight: self.in_flight * MSS,
            rate: Some(sample),
            in_recovery: self.in_recovery,
            ..Delivery::default()
        };
        self.algorithm.on_delivery(&mut self.window, &delivery);
    }

    /// Reports this number of non-adjacent segments as lost, sent with the current data in flight.
    pub fn lose(&mut self, segments: u64) {
        for number in 0..segments {
            let lost = LostSegment {
                now: self.now,
                segment: self.delivered / MSS + 2 * number,
                in_flight_when_sent: self.in_flight * MSS,
                lost: (number + 1) * MSS,
                app_limited: self.app_limited,
                total_delivered: self.delivered,
            };
            self.algorithm.on_segment_lost(&mut self.window, &lost);
        }
    }

    /// Acknowledges one BDP of segments.
    pub fn round(&mut self) {
        (0..self.bdp()).for_each(|_| self.ack());
    }

    /// Acknowledges segments until the pacing gain has this value. Returns the time this takes.
    pub fn until_gain(&mut self, gain: f64) -> Duration {
        let start = self.now;
        for _ in 0..1_000_000 {
            if (self.pacing_gain() - gain).abs() < 1e-6 {
                return self.now.since(start);
            }
            self.ack();
        }
        panic!("no pacing gain of {gain}, it stays at {}", self.pacing_gain());
    }

    /// The pacing rate as a multiple of 99 % of the bandwidth.
    pub fn pacing_gain(&self) -> f64 {
        self.pacing_rate() / (0.99 * self.rate)
    }

    /// The pacing rate in segments per second.
    pub fn pacing_rate(&self) -> f64 {
        let rate = self.algorithm.pacing_rate(&self.window, self.rtt).expect("it paces");
        rate.0 as f64 / (8 * MSS) as f64
    }

    pub fn segments(&self) -> u64 {
        self.window.cwnd / MSS
    }
}
