//! A sender with losses and acknowledgements determined by the test, and access to the published values.

use serde_json::Value;
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl, CongestionEvent};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

/// Segment size of the tests, in bytes.
pub const MSS: u64 = 1000;

/// The published values of `tests/data/<file>.json`.
pub fn figures(file: &str) -> Value {
    let path = format!("{}/tests/data/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("the figures are JSON")
}

pub fn rows(file: &str, table: &str) -> Vec<Value> {
    figures(file)[table]["rows"].as_array().expect("a table has rows").clone()
}

/// The worked vectors whose id has this prefix.
pub fn vectors(file: &str, prefix: &str) -> Vec<Value> {
    let all = figures(file)["vectors"].as_array().expect("vectors").clone();
    let chosen: Vec<Value> =
        all.into_iter().filter(|vector| vector["id"].as_str().is_some_and(|id| id.starts_with(prefix))).collect();
    assert!(!chosen.is_empty(), "no vector {prefix}");
    chosen
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

#[track_caller]
pub fn assert_close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() <= tolerance, "{what}: {measured}, expected {expected} within {tolerance}");
}

pub fn milliseconds(milliseconds: f64) -> Duration {
    Duration::from_seconds_f64(milliseconds / 1000.0)
}

/// Processes acknowledgements of so many segments each, all of which may grow the window.
pub fn acks(flow: &mut Flow, count: u64, segments: u64) {
    for _ in 0..count {
        flow.ack_credited(segments * MSS, segments * MSS, true);
    }
}

/// The window in segments, rounded down.
pub fn whole_segments(flow: &Flow) -> u64 {
    flow.window.cwnd / MSS
}

/// ssthresh after a loss with this flight size.
pub fn after_loss(algorithm: &mut Algorithm, window: &Window, flight_size: u64, now: Time) -> u64 {
    after(algorithm, window, CongestionEvent::Loss { flight_size }, now)
}

/// ssthresh after marks with this flight size.
pub fn after_marks(algorithm: &mut Algorithm, window: &Window, flight_size: u64, abe: bool, now: Time) -> u64 {
    after(algorithm, window, CongestionEvent::Ecn { flight_size, abe }, now)
}

fn after(algorithm: &mut Algorithm, window: &Window, event: CongestionEvent, now: Time) -> u64 {
    let mut window = *window;
    algorithm.on_congestion(&mut window, event, now);
    window.ssthresh
}

/// A sender in congestion avoidance on a path without losses unless requested: one window of acknowledgements, evenly
/// spaced, per round-trip time.
#[derive(Clone)]
pub struct Flow {
    pub algorithm: Algorithm,
    pub window: Window,
    pub rtt: Duration,
    pub now: Time,
    pub una: u64,
}

impl Flow {
    pub fn new(name: &str, parameters: Value, segments: f64, rtt: Duration) -> Flow {
        let algorithm = Algorithm::new(name, &parameters).expect("a known algorithm");
        let cwnd = (segments * MSS as f64) as u64;
        Flow { algorithm, window: Window { cwnd, ssthresh: cwnd, mss: MSS }, rtt, now: Time::ZERO, una: 0 }
    }

    pub fn segments(&self) -> f64 {
        self.window.segments()
    }

    /// Processes an acknowledgement with the given credit. `may_grow` tells whether the window is fully used.
    pub fn ack_credited(&mut self, acked: u64, credit: u64, may_grow: bool) {
        self.take(Ack { acked, credit, ..Ack::default() }, may_grow);
    }

    /// Processes the acknowledgement of a marked segment, on which the window does not grow (RFC 3168 section 6.1.2).
    pub fn ack_marked(&mut self) {
        self.take(Ack { acked: MSS, credit: MSS, marked: MSS, ..Ack::default() }, false);
    }

    /// Processes an acknowledgement at the time at which its bytes are acknowledged.
    pub fn take(&mut self, ack: Ack, may_grow: bool) {
        let nxt = self.una + self.window.cwnd;
        self.now += Duration((u128::from(self.rtt.0) * u128::from(ack.acked) / u128::from(self.window.cwnd)) as u64);
        self.una += ack.acked;
        let ack = Ack { now: self.now, rtt: Some(self.rtt), srtt: self.rtt, una: self.una, nxt, ..ack };
        self.algorithm.on_ack(&self.window, &ack);
        if may_grow {
            self.algorithm.increase(&mut self.window, &ack);
        }
    }

    pub fn ack(&mut self) {
        self.ack_credited(MSS, MSS, true);
    }

    /// Processes, one round-trip time later, an acknowledgement that fills a hole: most of the acknowledged data had
    /// arrived before. It gives no RTT sample and no growth.
    pub fn fill_hole(&mut self, acked: u64) {
        self.now += self.rtt;
        self.una += acked;
        let nxt = self.una + self.window.cwnd;
        let ack = Ack { now: self.now, acked, srtt: self.rtt, una: self.una, nxt, ..Ack::default() };
        self.algorithm.on_ack(&self.window, &ack);
    }

    /// Acknowledges the whole window in flight at once. Returns the growth in segments.
    pub fn leap(&mut self) -> f64 {
        let before = self.window.cwnd;
        self.ack_credited(before, before, true);
        (self.window.cwnd - before) as f64 / self.window.mss as f64
    }

    /// Acknowledges the window in flight, segment by segment.
    pub fn round(&mut self) {
        let end = self.una + self.window.cwnd;
        while self.una < end {
            self.ack();
        }
    }

    pub fn rounds(&mut self, count: u64) {
        for _ in 0..count {
            self.round();
        }
    }

    pub fn run_until(&mut self, time: Time) {
        while self.now < time {
            self.ack();
        }
    }

    /// A loss that is repaired immediately. The window becomes ssthresh.
    pub fn lose(&mut self) {
        self.window.ssthresh = after_loss(&mut self.algorithm, &self.window, self.window.cwnd, self.now);
        self.window.cwnd = self.window.ssthresh;
    }

    /// Reports marks. The window becomes ssthresh.
    pub fn mark(&mut self) {
        self.window.ssthresh = after_marks(&mut self.algorithm, &self.window, self.window.cwnd, false, self.now);
        self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
    }

    /// A timeout and the subsequent slow start, completed immediately.
    pub fn time_out(&mut self) {
        self.window.ssthresh = after_loss(&mut self.algorithm, &self.window, self.window.cwnd, self.now);
        self.algorithm.on_congestion(&mut self.window, CongestionEvent::Timeout, self.now);
        self.window.cwnd = self.window.ssthresh;
    }

    /// The average window with a loss every 1/p segments, once the cycle is periodic.
    pub fn average_window(mut self, p: f64) -> f64 {
        let period = (1.0 / p).round() as u64;
        let cycle = |flow: &mut Flow| {
            for _ in 0..period {
                flow.ack();
            }
            flow.lose();
        };
        (0..6).for_each(|_| cycle(&mut self));
        let start = self.now;
        (0..2).for_each(|_| cycle(&mut self));
        (2 * period) as f64 * self.rtt.seconds() / self.now.since(start).seconds()
    }
}
