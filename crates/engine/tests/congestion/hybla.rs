//! Hybla: Caini and Firrincieli 2004.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, CongestionControl};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, assert_close, milliseconds, number, vectors};

fn flow(segments: f64, rtt: f64) -> Flow {
    let mut flow = Flow::new("hybla", json!({}), segments, milliseconds(rtt));
    flow.ack_credited(1, 0, false);
    flow
}

/// A flow with the window and the round-trip time of a worked vector.
fn flow_of(vector: &Value) -> Flow {
    let inputs = &vector["inputs"];
    let rtt0 = milliseconds(number(&vector["params"]["rtt0_ms"]));
    let mut flow = Flow::new("hybla", json!({"rtt0": rtt0}), 1.0, milliseconds(number(&inputs["rtt_ms"])));
    let bytes = |key: &str| inputs[key].as_u64().unwrap();
    flow.window = Window { cwnd: bytes("cwnd_bytes"), ssthresh: bytes("ssthresh_bytes"), mss: bytes("mss") };
    flow.ack_credited(1, 0, false);
    flow
}

/// Credits bytes in slow start, and returns the remaining credit.
fn slow_start(flow: &mut Flow, credit: u64) -> u64 {
    let ack = Ack { now: flow.now, acked: credit, credit, ..Ack::default() };
    flow.algorithm.increase_in_slow_start(&mut flow.window, &ack).expect("Hybla has a slow start of its own")
}

/// The window after one acknowledgement in slow start.
#[test]
fn slow_start_growth() {
    for vector in vectors("highspeed", "hybla-slow_start_one_ack") {
        let mut flow = flow_of(&vector);
        let mss = flow.window.mss;
        assert_eq!(slow_start(&mut flow, mss), 0);
        let expected = number(&vector["expected"]["cwnd_bytes"]);
        assert_close(&vector.to_string(), flow.window.cwnd as f64, expected, number(&vector["tolerance"]));
    }
}

/// The growth per acknowledgement in congestion avoidance, and ns-3's upper bound of the window after it.
#[test]
fn congestion_avoidance() {
    for vector in vectors("highspeed", "hybla-cong_avoid_one_ack") {
        let mut flow = flow_of(&vector);
        let (before, mss) = (flow.window.cwnd, flow.window.mss);
        flow.ack_credited(mss, mss, true);
        let expected = &vector["expected"];
        let growth = (flow.window.cwnd - before) as f64 / mss as f64;
        assert_close(&vector.to_string(), growth, number(&expected["increment_segments"]), 0.0);
        assert!(flow.window.cwnd <= expected["cwnd_bytes_upper_bound"].as_u64().unwrap(), "{vector}");
    }
}

/// In slow start the window is multiplied by 2^rho per round trip: it doubles in RTT0, for any round-trip time above
/// that.
#[test]
fn slow_start_doubling_time() {
    for (rtt, factor) in [(10.0, 2.0), (25.0, 2.0), (50.0, 4.0), (75.0, 8.0), (150.0, 64.0)] {
        let mut flow = flow(10.0, rtt);
        flow.window.ssthresh = u64::MAX;
        for _ in 0..10 {
            slow_start(&mut flow, MSS);
        }
        assert_close(&format!("window after {rtt} ms"), flow.segments(), 10.0 * factor, 0.01);
    }
}

/// In congestion avoidance the throughput W / RTT grows by 1 / RTT0^2 = 1600 segments/s per second, for any round-trip
/// time.
#[test]
fn throughput_growth() {
    for rtt in [25.0, 50.0, 100.0, 600.0] {
        let mut flow = flow(2000.0, rtt);
        let before = flow.segments();
        flow.run_until(Time::ZERO + Duration::from_seconds(6));
        let growth = (flow.segments() - before) / flow.rtt.seconds();
        assert_close(&format!("growth of the throughput at {rtt} ms"), growth, 9600.0, 100.0);
    }
}

/// Slow start ends at ssthresh and returns the remaining credit: two of four segments at rho = 1, and 4 - 2/3 of them
/// at rho = 2, where each grows the window by three.
#[test]
fn slow_start_end() {
    for (rtt, left) in [(25.0, 2000), (50.0, 3333)] {
        let mut flow = flow(8.0, rtt);
        flow.window.ssthresh = 10 * MSS;
        assert_eq!(slow_start(&mut flow, 4 * MSS), left);
        assert_eq!(flow.window.cwnd, 10 * MSS);
    }
}

/// For any round-trip time slow start ends at 65535 segments, or at the ceiling that is set.
#[test]
fn slow_start_ceiling() {
    for (parameters, ceiling) in [(json!({}), 65_535), (json!({"slow_start_ceiling": 1000}), 1000)] {
        let mut flow = Flow::new("hybla", parameters, 10.0, milliseconds(5000.0));
        flow.window.ssthresh = u64::MAX;
        flow.ack_credited(1, 0, false);
        slow_start(&mut flow, MSS);
        slow_start(&mut flow, MSS);
        assert_eq!(flow.window.cwnd, ceiling * MSS);
    }
}

/// Without credited bytes the window does not grow, for any rho.
#[test]
fn growth_needs_credit() {
    let mut flow = Flow::new("hybla", json!({"rtt0": milliseconds(1.0)}), 10.0, milliseconds(5000.0));
    flow.window.ssthresh = u64::MAX;
    flow.ack_credited(1, 0, false);
    slow_start(&mut flow, 0);
    assert_eq!(flow.window.cwnd, 10 * MSS);
}

/// rho uses the minimum RTT, so a queue does not raise it: at 50 ms growth is four segments per round trip.
#[test]
fn queues_do_not_raise_rho() {
    let mut flow = flow(1000.0, 50.0);
    assert_close("growth", flow.leap(), 4.0, 0.001);
    flow.rtt = milliseconds(500.0);
    assert_close("growth with a queue", flow.leap(), 4.0, 0.001);
}

/// Up to the reference round-trip time growth is Reno's. A loss halves the window at any round-trip time, to at least
/// two segments.
#[test]
fn reno_on_short_paths() {
    for rtt in [1.0, 25.0] {
        assert_close(&format!("growth at {rtt} ms"), flow(100.0, rtt).leap(), 1.0, 0.001);
    }
    for (segments, left) in [(100.0, 50.0), (3.0, 2.0)] {
        let mut flow = flow(segments, 200.0);
        flow.lose();
        assert_close("window after a loss", flow.segments(), left, 0.001);
    }
}
