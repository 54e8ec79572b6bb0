//! New Reno: the worked vectors of its window.

use serde_json::json;
use sojourn_engine::tcp::congestion::CongestionControl;
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Duration;

use crate::flow::{Flow, MSS, assert_close, milliseconds, numbers, vectors};

/// New Reno grows by one segment in each round trip of congestion avoidance, never by more, and by half as much where
/// two segments are credited as one.
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
        assert_eq!(flow.algorithm.reduce(&flow.window, flight, flow.now), ssthresh, "flight size {flight}");
    }
}
