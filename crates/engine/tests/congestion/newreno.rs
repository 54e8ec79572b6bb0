//! New Reno: the worked vectors of its window.

use serde_json::json;
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartKind};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, after_loss, after_marks, assert_close, milliseconds, numbers, vectors};

/// New Reno grows by one segment per round trip in congestion avoidance, never by more, and by half as much if two
/// segments are credited as one.
#[test]
fn congestion_avoidance_increment() {
    for vector in vectors("congestion", "newreno-cong_avoid_increment") {
        let inputs = &vector["inputs"];
        let mss = inputs["mss"].as_u64().unwrap();
        let greatest = vector["expected"]["max_increment_per_rtt_bytes"].as_u64().unwrap();
        for write in numbers(&inputs["write_bytes"]) {
            let data = write as u64 * inputs["writes"].as_u64().unwrap();
            let mut flow = Flow::new("newreno", json!({}), 1.0, Duration::from_seconds(1));
            flow.window = Window { cwnd: mss, ssthresh: 0, mss };
            let mut full_rounds = 0;
            while flow.una < data {
                let before = flow.window.cwnd;
                let end = flow.una + before;
                while flow.una < end.min(data) {
                    flow.ack_credited(mss, mss, true);
                }
                full_rounds += u64::from(flow.una == end);
                assert!(flow.window.cwnd - before <= greatest, "{vector}");
            }
            assert_eq!(flow.window.cwnd, mss * (1 + full_rounds), "{vector}");
        }
    }
    let mut flow = Flow::new("newreno", json!({}), 100.0, milliseconds(100.0));
    for _ in 0..10 * 100 / 2 {
        flow.ack_credited(2 * MSS, MSS, true);
    }
    assert_close("ten round trips of delayed acknowledgements", flow.segments(), 105.0, 1.0);

    let mut flow = Flow::new("newreno", json!({}), 10.0, milliseconds(100.0));
    for _ in 0..11 {
        flow.ack_credited(3 * MSS, 3 * MSS, true);
    }
    assert_close("33 segments acknowledged at 10, 11 and 12", flow.segments(), 13.0, 0.0);
}

/// After a timeout ssthresh is max(F/2, 2 MSS).
#[test]
fn ssthresh_after_rto() {
    let vector = &vectors("congestion", "rto-ssthresh_after_rto")[0];
    assert_eq!(vector["expected"]["ssthresh_bytes"], "max(F/2, 2*MSS)");
    for (flight, ssthresh) in
        [(20 * MSS, 10 * MSS), (5 * MSS, 2500), (4 * MSS, 2 * MSS), (3 * MSS, 2 * MSS), (MSS, 2 * MSS)]
    {
        let mut flow = Flow::new("newreno", json!({}), 20.0, milliseconds(100.0));
        assert_eq!(after_loss(&mut flow.algorithm, &flow.window, flight, flow.now), ssthresh, "flight size {flight}");
    }
}

/// Acknowledgements of one or two whole segments grow the window as in Linux: in slow start by the segments
/// acknowledged, in congestion avoidance by one segment per window.
#[test]
fn linux_window_counting() {
    for vector in vectors("congestion", "linux-reno-") {
        let input = |name: &str| vector["inputs"][name].as_u64();
        let mss = input("mss").unwrap();
        let mut window = Window { cwnd: input("initial_cwnd_segments").unwrap() * mss, ssthresh: u64::MAX, mss };
        if let Some(segments) = input("initial_ssthresh_segments") {
            window.ssthresh = segments * mss;
        }
        let mut slow_start = SlowStart::new(SlowStartKind::Standard);
        let mut algorithm = Algorithm::new("newreno", &json!({})).unwrap();
        let (segments, together) = (input("app_writes").unwrap(), input("delack_count").unwrap());
        let mut una = 0;
        while una < segments * mss {
            let acked = (together * mss).min(segments * mss - una);
            una += acked;
            let mut ack = Ack { acked, credit: acked, una, nxt: una, ..Ack::default() };
            if window.in_slow_start() {
                ack.credit = slow_start.increase(&mut window, &ack);
            }
            if ack.credit > 0 && !window.in_slow_start() {
                algorithm.increase(&mut window, &ack);
            }
        }
        let expected = vector["expected"]["final_cwnd_segments"].as_u64().unwrap();
        assert_eq!(window.cwnd / mss, expected, "{vector}");
    }
}

/// The reduction on marks, with and without ABE. ns-3 uses 0.7 with New Reno, where RFC 8511 section 3.1, and our
/// default, use 0.8.
#[test]
fn reduction_on_marks() {
    for vector in vectors("congestion", "abe-ssthresh_on_ece") {
        let (name, parameters) = match vector["inputs"]["cc"].as_str().unwrap() {
            "cubic" => ("cubic", json!({})),
            _ => ("newreno", json!({"beta_ecn": 0.7})),
        };
        let cwnd = vector["inputs"]["cwnd_bytes"].as_u64().unwrap();
        let window = Window { cwnd, ssthresh: u64::MAX, mss: vector["inputs"]["mss"].as_u64().unwrap() };
        let abe = vector["inputs"]["abe"].as_bool().unwrap();
        let mut algorithm = Algorithm::new(name, &parameters).unwrap();
        let left = after_marks(&mut algorithm, &window, cwnd, abe, Time::ZERO);
        assert_eq!(left, vector["expected"]["cwnd_bytes"].as_u64().unwrap(), "{vector}");
    }
    let window = Window { cwnd: 1000, ssthresh: u64::MAX, mss: 1 };
    let mut algorithm = Algorithm::new("newreno", &json!({})).unwrap();
    assert_eq!(after_marks(&mut algorithm, &window, 1000, true, Time::ZERO), 800);
}

/// Law jain-convergence (Chiu and Jain 1989): if two flows grow equally and lose at the same time, each loss halves the
/// difference of their windows, so the shares become equal.
#[test]
fn synchronised_losses() {
    let mut flows = [140.0, 60.0].map(|segments| Flow::new("newreno", json!({}), segments, milliseconds(100.0)));
    let segments = |flows: &[Flow; 2]| (flows[0].segments(), flows[1].segments());
    let mut expected = 80.0;
    for epoch in 0..5 {
        let (first, second) = segments(&flows);
        assert_close(&format!("difference in epoch {epoch}"), first - second, expected, 0.2 * expected);
        while {
            let (first, second) = segments(&flows);
            first + second < 210.0
        } {
            flows.iter_mut().for_each(Flow::round);
        }
        flows.iter_mut().for_each(Flow::lose);
        expected /= 2.0;
    }
    let (first, second) = segments(&flows);
    let jain = (first + second).powi(2) / (2.0 * (first * first + second * second));
    assert!(jain > 0.95, "Jain's index {jain}");
}

/// AIMD(a, b) of Floyd, Handley and Padhye 2000: the window grows by a segments per round trip, but by at most one per
/// acknowledgement, and keeps 1 - b of itself after a loss.
#[test]
fn general_additive_increase() {
    for name in ["newreno", "reno", "sack"] {
        for (alpha, beta) in [(1.0, 0.5), (0.2, 0.875), (0.31, 0.875), (4.0, 0.3), (0.0, 1.0)] {
            let mut flow = Flow::new(name, json!({"alpha": alpha, "beta": beta}), 100.0, milliseconds(100.0));
            for _ in 0..20 {
                flow.round();
            }
            let grown = 100.0 + 20.0 * alpha;
            assert_close(
                &format!("{name} with {alpha} after 20 round trips"),
                flow.segments(),
                grown,
                1.0 + 0.01 * grown,
            );
            let kept = after_loss(&mut flow.algorithm, &flow.window, 100 * MSS, flow.now) as f64;
            assert_close(&format!("{name} with {beta} after a loss"), kept, beta * 100.0 * MSS as f64, 1.0);
        }
        let mut flow = Flow::new(name, json!({"alpha": 1000.0}), 10.0, milliseconds(100.0));
        flow.round();
        assert_close("one per acknowledgement", flow.segments(), 20.0, 1.0);
    }
}
