//! ns-3's rules (`rules = "ns3"`): sequences worked out by hand from the formulas of ns-3.48's tcp-cubic.cc.

use serde_json::json;

use super::flow::{Flow, MSS, acks, after_loss, milliseconds, whole_segments as segments};

fn flow(segments: u64, rtt: f64) -> Flow {
    Flow::new("cubic", json!({"rules": "ns3"}), segments as f64, milliseconds(rtt))
}

/// Before the first loss the window grows by a segment for each 20 acknowledged (CntClamp). A timeout does not forget the
/// window of the last loss (CubicReset), so that after it that is the plateau.
#[test]
fn cubic_before_loss() {
    let mut ns3 = flow(100, 40.0);
    acks(&mut ns3, 100, 1);
    assert_eq!(segments(&ns3), 105);
    ns3.lose();
    ns3.time_out();
    ns3.window.cwnd = 105 * MSS;
    // Without a target above the window, a segment takes 100 windows.
    acks(&mut ns3, 100, 1);
    assert_eq!(segments(&ns3), 105);
}

/// A loss leaves 0.7 of cwnd, rounded down, whatever is in flight (GetSsThresh).
#[test]
fn cubic_cuts_the_window() {
    let mut ns3 = flow(99, 40.0);
    assert_eq!(after_loss(&mut ns3.algorithm, &ns3.window, 50 * MSS, ns3.now), 69 * MSS);
}

/// An acknowledgement of many segments grows the window by one; the rest counts at the next ones (IncreaseWindow).
#[test]
fn cubic_segment_an_acknowledgement() {
    let mut ns3 = flow(100, 40.0);
    acks(&mut ns3, 1, 60);
    assert_eq!(segments(&ns3), 101);
    acks(&mut ns3, 2, 1);
    assert_eq!(segments(&ns3), 103);
    acks(&mut ns3, 1, 1);
    assert_eq!(segments(&ns3), 103);
}
