//! LEDBAT: RFC 6817.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{MSS, after_loss, assert_close, milliseconds, number, vectors};

/// A sender that receives one-way delays.
struct Sender {
    algorithm: Algorithm,
    window: Window,
    now: Time,
    rtt: Duration,
}

impl Sender {
    fn new(parameters: &Value, window: Window) -> Sender {
        let algorithm = Algorithm::new("ledbat", parameters).expect("a known algorithm");
        Sender { algorithm, window, now: Time::ZERO, rtt: milliseconds(100.0) }
    }

    fn of_segments(parameters: &Value, segments: u64) -> Sender {
        Sender::new(parameters, Window { cwnd: segments * MSS, ssthresh: 2 * MSS, mss: MSS })
    }

    /// Takes a delay sample without changing the window.
    fn measure(&mut self, one_way_delay: f64) {
        let one_way_delay = Some(milliseconds(one_way_delay));
        let ack = Ack { now: self.now, srtt: self.rtt, one_way_delay, ..Ack::default() };
        self.algorithm.on_ack(&self.window, &ack);
    }

    /// Processes an acknowledgement that leaves this much data in flight.
    fn acknowledge(&mut self, acked: u64, in_flight: u64, one_way_delay: f64) {
        self.measure(one_way_delay);
        let mut ack = Ack { now: self.now, acked, credit: acked, srtt: self.rtt, in_flight, ..Ack::default() };
        if self.window.in_slow_start() {
            ack.credit = self.algorithm.increase_in_slow_start(&mut self.window, &ack).expect("no slow start");
        }
        self.algorithm.increase(&mut self.window, &ack);
    }

    /// Acknowledges a whole window by segments, with the window in flight.
    fn round(&mut self, one_way_delay: f64) {
        for _ in 0..self.window.cwnd / MSS {
            self.acknowledge(MSS, self.window.cwnd - MSS, one_way_delay);
        }
    }

    fn segments(&self) -> f64 {
        self.window.segments()
    }
}

/// Windows after an acknowledgement agree with the worked vectors: below the target, above it, and limited by the data
/// in flight.
#[test]
fn worked_windows() {
    for vector in vectors("delay", "ledbat-cong_avoid") {
        let (inputs, set) = (&vector["inputs"], &vector["parameters"]);
        let integer = |name: &str| inputs[name].as_u64().unwrap_or_else(|| panic!("{name} of {vector}"));
        let parameters = json!({
            "target": milliseconds(number(&set["target_ms"])).0, "gain": set["gain"],
            "allowed_increase": set["allowed_increase"], "minimum_window": set["min_cwnd"],
            "current_filter": set["noise_filter"],
        });
        let mss = integer("mss");
        let window = Window { cwnd: integer("cwnd_segments") * mss, ssthresh: integer("ssthresh_segments") * mss, mss };
        let mut sender = Sender::new(&parameters, window);
        sender.measure(number(&inputs["base_owd"]));
        let (acked, in_flight) = (integer("segments_acked") * mss, integer("flight_segments_after_ack") * mss);
        sender.acknowledge(acked, in_flight, number(&inputs["current_owd"]));
        let (expected, tolerance) = (number(&vector["expected"]["cwnd_bytes"]), number(&vector["tolerance"]));
        assert_close(&vector.to_string(), sender.window.cwnd as f64, expected, tolerance);
        assert!(!sender.window.in_slow_start());
    }
}

/// In a round trip the window changes by GAIN off_target segments, off_target = (TARGET - queueing delay) / TARGET: by
/// at most one segment, and not at all at the target (RFC 6817 section 2.4.2).
#[test]
fn growth_by_delay() {
    for (gain, queueing, expected) in [
        (1.0, 0.0, 1.0),
        (1.0, 50.0, 0.5),
        (0.5, 50.0, 0.25),
        (1.0, 100.0, 0.0),
        (1.0, 150.0, -0.5),
        (1.0, 200.0, -1.0),
    ] {
        let mut sender = Sender::of_segments(&json!({"gain": gain, "current_filter": 1}), 1000);
        sender.measure(20.0);
        sender.round(20.0 + queueing);
        assert_close(&format!("gain {gain}, {queueing} ms"), sender.segments() - 1000.0, expected, 0.002);
        assert!(!sender.window.in_slow_start());
    }
}

/// Growth of less than a byte accumulates: with 10000 segments and a delay of 99 % of the target, 0.001 bytes per
/// acknowledgement add ten bytes per round trip.
#[test]
fn fractional_growth() {
    let mut sender = Sender::of_segments(&json!({"current_filter": 1}), 10_000);
    sender.measure(0.0);
    sender.round(99.0);
    assert_close("growth in bytes", sender.window.cwnd as f64 - 1e7, 10.0, 1.0);
}

/// The window is at most ALLOWED_INCREASE segments above the data in flight, and at least MIN_CWND segments.
#[test]
fn window_bounds() {
    for (parameters, expected) in [(json!({}), 6.0), (json!({"allowed_increase": 3.0}), 8.0)] {
        let mut sender = Sender::of_segments(&parameters, 100);
        sender.acknowledge(2 * MSS, 3 * MSS, 20.0);
        assert_close("window", sender.segments(), expected, 0.0);
    }
    for (parameters, expected) in [(json!({}), 2.0), (json!({"minimum_window": 4}), 4.0)] {
        let mut sender = Sender::of_segments(&parameters, 100);
        sender.measure(20.0);
        (0..10).for_each(|_| sender.round(10_000.0));
        assert_close("window", sender.segments(), expected, 0.0);
    }
}

/// The current delay is the minimum of the last CURRENT_FILTER = 4 delays that are at most a round trip old.
#[test]
fn current_delay() {
    // 40 ms of queueing delay, then 100 ms. An acknowledgement of one segment at 100 segments adds 6 bytes or none.
    let growth = |later_delays: usize, pause: Duration| {
        let mut sender = Sender::of_segments(&json!({}), 100);
        sender.measure(20.0);
        sender.now += Duration::from_seconds(1);
        sender.measure(60.0);
        sender.now += pause;
        (1..later_delays).for_each(|_| sender.measure(120.0));
        sender.acknowledge(MSS, 99 * MSS, 120.0);
        sender.window.cwnd - 100 * MSS
    };
    assert_eq!(growth(3, milliseconds(50.0)), 6, "the fourth latest delay counts");
    assert_eq!(growth(4, milliseconds(50.0)), 0, "the fifth latest does not");
    assert_eq!(growth(1, milliseconds(100.0)), 6, "a delay of a round trip ago counts");
    assert_eq!(growth(1, milliseconds(100.1)), 0, "an older one does not");
}

/// The base delay is the minimum of the last BASE_HISTORY = 10 minutes. So a longer path counts as a queue for that
/// time (RFC 6817 section 2.5), and a shorter path is recognised immediately.
#[test]
fn base_delay() {
    for (base_history, minutes) in [(10, 10), (2, 2)] {
        let mut sender = Sender::of_segments(&json!({"base_history": base_history}), 100);
        sender.now += Duration::from_seconds(30);
        sender.measure(20.0);
        let mut waited = 0;
        loop {
            sender.now += Duration::from_seconds(60);
            waited += 1;
            sender.measure(120.0);
            let before = sender.window.cwnd;
            sender.acknowledge(MSS, 99 * MSS, 120.0);
            if sender.window.cwnd > before {
                break;
            }
        }
        assert_eq!(waited, minutes, "minutes with a history of {base_history}");
        let before = sender.window.cwnd;
        sender.now += Duration::from_seconds(1);
        sender.measure(10.0);
        sender.now += Duration::from_seconds(1);
        sender.acknowledge(MSS, 99 * MSS, 160.0);
        assert!(sender.window.cwnd < before, "150 ms above the new base delay");
    }
}

/// The window follows the target from the start, without slow start, unless slow start is enabled.
#[test]
fn slow_start_option() {
    let window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
    let mut sender = Sender::new(&json!({}), window);
    sender.round(20.0);
    assert_close("window after a round trip", sender.segments(), 11.0, 0.1);
    assert!(!sender.window.in_slow_start());

    let mut sender = Sender::new(&json!({"begins_with_slow_start": true}), window);
    let ack = Ack { acked: MSS, credit: MSS, ..Ack::default() };
    assert_eq!(sender.algorithm.increase_in_slow_start(&mut sender.window, &ack), None);
}

/// A loss halves the window, to at least MIN_CWND segments (RFC 6817 section 2.4.2).
#[test]
fn reduction_on_loss() {
    for (parameters, segments, expected) in
        [(json!({}), 100, 50), (json!({}), 3, 2), (json!({"minimum_window": 10}), 12, 10)]
    {
        let mut sender = Sender::of_segments(&parameters, segments);
        let ssthresh = after_loss(&mut sender.algorithm, &sender.window, segments * MSS, sender.now);
        assert_eq!(ssthresh, expected * MSS, "{parameters}: {segments}");
    }
}

/// LEDBAT requests one-way delays.
#[test]
fn needs_one_way_delays() {
    assert!(Sender::of_segments(&json!({}), 10).algorithm.needs().one_way_delay);
}
