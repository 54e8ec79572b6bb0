//! Veno: Fu and Liew 2003.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::Ack;
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartKind};
use sojourn_engine::tcp::window::Window;

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds, number, vectors};

/// A flow with a minimum RTT of 100 ms and the given backlog in segments.
fn flow(parameters: Value, segments: f64, backlog: f64) -> Flow {
    let mut flow = Flow::new("veno", parameters, segments, milliseconds(100.0));
    flow.ack_credited(MSS, 0, false);
    flow.rtt = milliseconds(100.0 / (1.0 - backlog / segments));
    flow.ack_credited(MSS, 0, false);
    flow
}

/// The window after an acknowledgement, in slow start or congestion avoidance, and ssthresh after a subsequent loss.
#[test]
fn worked_windows() {
    for vector in vectors("highspeed", "veno-loss_and_increase") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let mss = inputs["mss"].as_u64().unwrap();
        let bytes = |key: &str| inputs[key].as_u64().unwrap() * mss;
        let mut flow = Flow::new("veno", json!({"beta": vector["params"]["beta"]}), 1.0, milliseconds(100.0));
        flow.window = Window { cwnd: bytes("cwnd_segments"), ssthresh: bytes("ssthresh_segments"), mss };
        for rtt in ["base_rtt_ms", "min_rtt_ms"] {
            flow.rtt = milliseconds(number(&inputs[rtt]));
            flow.ack_credited(mss, mss, false);
        }
        if flow.window.in_slow_start() {
            let ack = Ack { acked: mss, credit: mss, ..Ack::default() };
            SlowStart::new(SlowStartKind::Standard).increase(&mut flow.window, &ack);
        } else {
            flow.ack_credited(mss, mss, true);
        }
        assert_eq!(flow.window.cwnd, expected["cwnd_bytes_after_one_ack"].as_u64().unwrap(), "{vector}");
        let ssthresh = after_loss(&mut flow.algorithm, &flow.window, flow.window.cwnd, flow.now);
        assert_eq!(ssthresh, expected["ssthresh_bytes_after_loss_with_flight_eq_cwnd"].as_u64().unwrap(), "{vector}");
    }
}

/// A loss with a backlog below beta segments counts as random and leaves 4/5 of the window. Any other loss leaves half.
/// Both leave at least two segments.
#[test]
fn random_losses() {
    for (beta, backlog, left) in
        [(3.0, 0.0, 80.0), (3.0, 2.9, 80.0), (3.0, 3.1, 50.0), (5.0, 4.9, 80.0), (5.0, 5.1, 50.0)]
    {
        let mut flow = flow(json!({"beta": beta}), 100.0, backlog);
        flow.lose();
        assert_close(&format!("beta {beta}, backlog {backlog}"), flow.segments(), left, 0.001);
    }
    let mut milder = flow(json!({"random_loss_factor": 0.9}), 100.0, 0.0);
    milder.lose();
    assert_close("random loss factor 0.9", milder.segments(), 90.0, 0.001);
    let mut least = flow(json!({}), 2.0, 0.0);
    least.lose();
    assert_close("window of two segments", least.segments(), 2.0, 0.001);
}

/// The window grows by one segment per round trip, and every second round trip if the path is congested.
#[test]
fn increase() {
    for (backlog, growth) in [(0.0, 10.0), (2.5, 10.0), (20.0, 5.0)] {
        let mut flow = flow(json!({}), 100.0, backlog);
        flow.rounds(10);
        assert_close(&format!("ten round trips with a backlog of {backlog}"), flow.segments() - 100.0, growth, 0.5);
    }
}
