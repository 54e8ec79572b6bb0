//! TCP Real: Zhang and Tsaoussidis 2001, Tsaoussidis and Zhang 2002, as far as known.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{MSS, after_loss, after_marks, assert_close, milliseconds};

/// A sender in congestion avoidance whose waves arrive at a rate set by the test.
struct Sender {
    algorithm: Algorithm,
    window: Window,
    arrived: Time,
    una: u64,
    /// Bytes sent so far.
    sent: u64,
    /// Delay from the receiver to the sender.
    way_back: Duration,
}

impl Sender {
    fn new(parameters: &Value, segments: u64) -> Sender {
        let cwnd = segments * MSS;
        Sender {
            algorithm: Algorithm::new("real", parameters).expect("a known algorithm"),
            window: Window { cwnd, ssthresh: cwnd, mss: MSS },
            arrived: Time::ZERO + Duration::from_seconds(1),
            una: 0,
            sent: cwnd,
            way_back: milliseconds(50.0),
        }
    }

    fn acknowledge(&mut self, pause: f64) {
        self.una += MSS;
        self.arrived += milliseconds(pause);
        let ack = Ack {
            now: self.arrived + self.way_back,
            acked: MSS,
            credit: MSS,
            una: self.una,
            nxt: self.sent,
            arrived: Some(self.arrived),
            ..Ack::default()
        };
        self.algorithm.on_ack(&self.window, &ack);
        self.algorithm.increase(&mut self.window, &ack);
        self.sent = self.sent.max(self.una + self.window.cwnd);
    }

    /// Sends a wave whose segments arrive at this spacing, in milliseconds, after a pause.
    fn wave(&mut self, spacing: f64) {
        let end = self.sent;
        self.acknowledge(20.0);
        while self.una < end {
            self.acknowledge(spacing);
        }
    }

    fn lose(&mut self) {
        self.window.ssthresh = after_loss(&mut self.algorithm, &self.window, self.window.cwnd, self.arrived);
        self.window.cwnd = self.window.ssthresh;
    }

    fn segments(&self) -> f64 {
        self.window.segments()
    }
}

/// A loss after waves received at the same rate is a transmission error and does not change the window. A loss after a
/// wave received more slowly, by more than the share `contention`, halves it.
#[test]
fn transmission_errors() {
    for (parameters, spacing, contends) in [
        (json!({}), 1.0, false),
        (json!({}), 0.5, false),
        (json!({}), 1.13, false),
        (json!({}), 1.16, true),
        (json!({"contention": 0.3}), 1.4, false),
        (json!({"contention": 0.3}), 1.5, true),
    ] {
        let mut sender = Sender::new(&parameters, 100);
        sender.wave(1.0);
        sender.wave(spacing);
        let before = sender.segments();
        sender.lose();
        let expected = if contends { before / 2.0 } else { before };
        assert_close(&format!("{parameters}, {spacing} ms apart: after a loss"), sender.segments(), expected, 0.01);
    }
}

/// An overflowing queue loses repeatedly: the next loss halves the window if fewer than two waves have arrived since a
/// loss that was taken for an error.
#[test]
fn repeated_losses() {
    for (waves, is_error) in [(0, false), (1, false), (2, true), (5, true)] {
        let mut sender = Sender::new(&json!({}), 100);
        (0..3).for_each(|_| sender.wave(1.0));
        sender.lose();
        (0..waves).for_each(|_| sender.wave(1.0));
        let before = sender.segments();
        sender.lose();
        let expected = if is_error { before } else { before / 2.0 };
        assert_close(&format!("a loss {waves} waves after another"), sender.segments(), expected, 0.01);
    }
}

/// Only arrival times at the receiver count: changing delays of acknowledgements have no effect.
#[test]
fn reverse_path_delay() {
    let mut undisturbed = Sender::new(&json!({}), 20);
    let mut disturbed = Sender::new(&json!({}), 20);
    for round in 0..40 {
        undisturbed.wave(1.0);
        disturbed.way_back = milliseconds(f64::from(50 + 40 * (round % 7) + 10 * round));
        disturbed.wave(1.0);
        assert_eq!(undisturbed.window, disturbed.window, "after {round} rounds");
    }
    disturbed.lose();
    assert_eq!(undisturbed.window.cwnd, disturbed.window.cwnd, "after a loss");
}

/// A smaller window is received more slowly. The wave after a reduction does not indicate contention.
#[test]
fn own_reduction() {
    let mut sender = Sender::new(&json!({}), 100);
    sender.wave(1.0);
    sender.wave(1.5);
    sender.lose();
    let reduced = sender.segments();
    assert!(reduced < 52.0, "{reduced}");
    sender.wave(3.0);
    let before = sender.segments();
    sender.lose();
    assert_eq!(sender.segments(), before);
}

/// Before two waves are measured, in slow start, and for marks the reduction is Reno's.
#[test]
fn reno_without_measurement() {
    let mut fresh = Sender::new(&json!({}), 100);
    fresh.wave(1.0);
    let before = fresh.segments();
    fresh.lose();
    assert_close("one wave", fresh.segments(), before / 2.0, 0.01);

    let mut slow = Sender::new(&json!({}), 100);
    (0..3).for_each(|_| slow.wave(1.0));
    slow.window.ssthresh = u64::MAX;
    let before = slow.segments();
    slow.lose();
    assert_close("slow start", slow.segments(), before / 2.0, 0.01);

    let mut marked = Sender::new(&json!({}), 100);
    (0..3).for_each(|_| marked.wave(1.0));
    let Sender { algorithm, window, arrived, .. } = &mut marked;
    let ssthresh = after_marks(algorithm, window, window.cwnd, false, *arrived);
    assert_eq!(ssthresh, window.cwnd / 2, "marks");
}

/// Growth is Reno's. TCP Real requests arrival times.
#[test]
fn reno_growth() {
    let mut sender = Sender::new(&json!({}), 100);
    (0..10).for_each(|_| sender.wave(1.0));
    assert_close("growth of ten waves", sender.segments(), 110.0, 1.0);
    assert!(sender.algorithm.needs().one_way_delay);
}
