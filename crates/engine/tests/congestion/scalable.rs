//! Scalable TCP: Kelly 2003.

use serde_json::json;
use sojourn_engine::tcp::window::Window;

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds, number, vectors};

/// The window after the given number of segments is acknowledged at once. 1/a is the greatest number of acknowledged
/// segments per segment of growth.
#[test]
fn increase() {
    for vector in vectors("highspeed", "scalable-increase") {
        let inputs = &vector["inputs"];
        let bytes = |key: &str| inputs[key].as_u64().unwrap();
        let a = 1.0 / number(&vector["params"]["ai_factor"]);
        let mut flow = Flow::new("scalable", json!({"a": a}), 1.0, milliseconds(100.0));
        flow.window = Window { cwnd: bytes("cwnd_bytes"), ssthresh: 0, mss: bytes("mss") };
        let acked = bytes("segments_acked") * bytes("mss");
        flow.ack_credited(acked, acked, true);
        assert_eq!(flow.window.cwnd, vector["expected"]["cwnd_bytes"].as_u64().unwrap(), "{vector}");
    }
}

/// ssthresh after a loss, in whole segments.
#[test]
fn ssthresh() {
    for vector in vectors("highspeed", "scalable-ssthresh") {
        let (cwnd, mss) = (vector["inputs"]["cwnd_bytes"].as_u64().unwrap(), vector["inputs"]["mss"].as_u64().unwrap());
        let mut flow = Flow::new("scalable", json!({"b": vector["params"]["md_factor"]}), 1.0, milliseconds(100.0));
        flow.window = Window { cwnd, ssthresh: 0, mss };
        let ssthresh = after_loss(&mut flow.algorithm, &flow.window, cwnd, flow.now);
        assert_eq!(ssthresh / mss, vector["expected"]["ssthresh_segments"].as_u64().unwrap(), "{vector}");
    }
}

/// After a loss the window is restored after -log(1 - b) / log(1 + a) = 13.4 round trips, for any window (Kelly 2003):
/// after 14, not after 13.
#[test]
fn recovery_time() {
    for segments in [200.0, 1_000.0, 10_000.0] {
        let mut flow = Flow::new("scalable", json!({}), segments, milliseconds(100.0));
        flow.lose();
        flow.rounds(13);
        assert!(flow.segments() < segments, "{} of {segments} after 13 round trips", flow.segments());
        flow.round();
        assert!(flow.segments() >= segments, "{} of {segments} after 14 round trips", flow.segments());
    }
}

/// With a loss every 1/p segments the window oscillates between (1 - b) a / (b p) and a / (b p), since the growth of a
/// cycle, a / p, equals the reduction by a loss. A cycle lasts -ln(1 - b) / a round trips, so the average window is a /
/// (-p ln(1 - b)).
#[test]
fn average_window() {
    let (a, b) = (0.01, 0.125);
    for p in [1e-4, 1e-5] {
        let expected = a / (-p * f64::ln(1.0 - b));
        let flow = Flow::new("scalable", json!({}), (1.0 - b) * a / (b * p), milliseconds(100.0));
        assert_close(&format!("p = {p}"), flow.average_window(p), expected, 0.01 * expected);
    }
}

/// Up to 1/a segments growth is Reno's. A loss leaves at least two segments.
#[test]
fn reno_at_small_windows() {
    for (segments, growth) in [(10.0, 1.0), (100.0, 1.0), (150.0, 1.5), (1000.0, 10.0)] {
        let mut flow = Flow::new("scalable", json!({}), segments, milliseconds(100.0));
        assert_close(&format!("growth at {segments}"), flow.leap(), growth, 0.001);
    }
    let mut flow = Flow::new("scalable", json!({}), 2.0, milliseconds(100.0));
    flow.lose();
    assert_eq!(flow.window.cwnd, 2 * MSS);
}
