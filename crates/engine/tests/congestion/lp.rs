//! TCP-LP: Kuzmanovic and Knightly 2003.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl, Timestamps};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{MSS, after_loss, assert_close, milliseconds, numbers, vectors};

/// A sender in congestion avoidance that receives one-way delays. Its RTT is 100 ms.
struct Sender {
    algorithm: Algorithm,
    window: Window,
    now: Time,
}

impl Sender {
    fn new(parameters: &Value, segments: u64, mss: u64) -> Sender {
        let algorithm = Algorithm::new("lp", parameters).expect("a known algorithm");
        let window = Window { cwnd: segments * mss, ssthresh: mss, mss };
        Sender { algorithm, window, now: Time::ZERO + Duration::from_seconds(1) }
    }

    /// Processes the acknowledgement of a segment after a pause. Returns the window in segments.
    fn acknowledge(&mut self, pause: f64, one_way_delay: f64) -> f64 {
        self.now += milliseconds(pause);
        let mss = self.window.mss;
        let ack = Ack {
            now: self.now,
            acked: mss,
            credit: mss,
            srtt: milliseconds(100.0),
            one_way_delay: Some(milliseconds(one_way_delay)),
            ..Ack::default()
        };
        self.algorithm.on_ack(&self.window, &ack);
        self.algorithm.increase(&mut self.window, &ack);
        assert!(!self.window.in_slow_start());
        self.window.segments()
    }

    /// A sender with delays between 20 and 120 ms and a smoothed delay of 20 ms.
    fn with_range(parameters: &Value, segments: u64) -> Sender {
        let mut sender = Sender::new(parameters, 2, MSS);
        for delay in [20.0, 120.0, 120.0] {
            sender.acknowledge(0.0, delay);
        }
        (0..500).for_each(|_| _ = sender.acknowledge(1.0, 20.0));
        sender.now += Duration::from_seconds(1);
        sender.window = Window { cwnd: segments * MSS, ssthresh: MSS, mss: MSS };
        sender
    }
}

/// Windows after the delays of the worked vectors, a round trip apart: the first indication halves the window, the
/// second one, within the inference phase, reduces it to one segment.
#[test]
fn worked_windows() {
    for vector in vectors("delay", "lp-inference") {
        let inputs = &vector["inputs"];
        let segments = inputs["cwnd_segments"].as_u64().unwrap();
        let mut sender = Sender::new(&json!({}), segments, inputs["mss"].as_u64().unwrap());
        for delay in numbers(&inputs["owd_samples"]) {
            sender.acknowledge(100.0, delay);
        }
        assert_eq!(json!(sender.window.cwnd / sender.window.mss), vector["expected"]["cwnd_segments"], "{vector}");
    }
}

/// Congestion is indicated by a smoothed delay above d_min + delta (d_max - d_min), 35 ms for 20 to 120 ms. A sample
/// has a weight of 1/8: after one of 139 ms the smoothed delay is 34.9 ms, after one of 141 ms 35.1 ms. d_max is the
/// second greatest delay.
#[test]
fn congestion_indication() {
    for (parameters, delay, gives_way) in [
        (json!({}), 139.0, false),
        (json!({}), 141.0, true),
        (json!({"delta": 0.2}), 141.0, false),
        (json!({"gamma": 0.25}), 79.0, false),
        (json!({"gamma": 0.25}), 81.0, true),
    ] {
        let mut sender = Sender::with_range(&parameters, 100);
        let window = sender.acknowledge(1.0, delay);
        assert_close(&format!("{parameters}, {delay} ms"), window, if gives_way { 50.0 } else { 100.0 }, 0.0);
    }
}

/// In the inference phase of three round trips the window does not grow. A second indication reduces it to one segment,
/// unless it is within a round trip of the first. After the phase an indication halves the window again.
#[test]
fn second_indication() {
    for (parameters, pause, expected) in [
        (json!({}), 50.0, 50.0),
        (json!({}), 101.0, 1.0),
        (json!({}), 299.0, 1.0),
        (json!({}), 301.0, 25.0),
        (json!({"inference": 5}), 499.0, 1.0),
    ] {
        let mut sender = Sender::with_range(&parameters, 100);
        assert_close("window after the first", sender.acknowledge(1.0, 200.0), 50.0, 0.0);
        assert_close(&format!("window {pause} ms later"), sender.acknowledge(pause, 200.0), expected, 0.0);
    }
}

/// Without indications the window grows like Reno's: by one segment per window of acknowledgements.
#[test]
fn reno_without_congestion() {
    let mut sender = Sender::new(&json!({}), 10, MSS);
    let windows: Vec<f64> = (0..10 + 11).map(|_| sender.acknowledge(10.0, 20.0)).collect();
    assert_eq!((windows[8], windows[9], windows[19], windows[20]), (10.0, 11.0, 11.0, 12.0));

    let mut sender = Sender::with_range(&json!({}), 100);
    sender.acknowledge(1.0, 141.0);
    (0..100).for_each(|_| _ = sender.acknowledge(2.9, 20.0));
    assert_close("window at the end of the inference phase", sender.window.segments(), 50.0, 0.0);
    (0..55).for_each(|_| _ = sender.acknowledge(2.9, 20.0));
    assert_close("window 55 acknowledgements later", sender.window.segments(), 51.0, 0.0);
}

/// A loss halves the window as in Reno. Delays within the next round trip indicate the same congestion and change
/// nothing.
#[test]
fn reduction_on_loss() {
    for (later, expected) in [(99.0, 50.0), (100.0, 25.0)] {
        let mut sender = Sender::with_range(&json!({}), 100);
        sender.window.ssthresh = after_loss(&mut sender.algorithm, &sender.window, sender.window.cwnd, sender.now);
        sender.window.cwnd = sender.window.ssthresh;
        assert_close("window after the loss", sender.window.segments(), 50.0, 0.0);
        assert_close(&format!("window {later} ms later"), sender.acknowledge(later, 200.0), expected, 0.0);
    }
}

/// In ns-3 indications reduce the window below ssthresh too, before slow start, which ssthresh leaves as it is (tcp-lp.cc, PktsAcked). The
/// delays are those of the unit test `indications_in_ns3`: the second halves the window, the sixth reduces it to one segment.
#[test]
fn indications_in_slow_start_of_ns3() {
    let mut algorithm = Algorithm::new("lp", &json!({"rules": "ns3"})).expect("a known algorithm");
    let mut window = Window { cwnd: 20 * MSS, ssthresh: 100 * MSS, mss: MSS };
    let mut windows = Vec::new();
    for (number, delay) in [44, 40, 40, 60, 60, 60].into_iter().enumerate() {
        let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        let echo = 100 + 10 * number as u64;
        let timestamps = Some(Timestamps { sent: at(echo + delay), echo: at(echo) });
        let rtt = Some(Duration::from_milliseconds(delay + 20));
        let ack = Ack { now: at(echo + delay + 20), rtt, timestamps, ..Ack::default() };
        algorithm.on_ack(&window, &ack);
        assert_eq!(algorithm.increase_in_slow_start(&mut window, &ack), None);
        windows.push(window.cwnd / MSS);
    }
    assert_eq!((windows, window.ssthresh), (vec![20, 10, 10, 10, 10, 1], 100 * MSS));
}

/// TCP-LP requests one-way delays.
#[test]
fn needs_one_way_delays() {
    assert!(Sender::new(&json!({}), 10, MSS).algorithm.needs().one_way_delay);
}
