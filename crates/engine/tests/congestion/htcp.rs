//! H-TCP: Leith and Shorten 2004.

use serde_json::{Value, json};
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, assert_close, milliseconds, number, rows};

/// Growth in segments during the round trip that ends at this time after the start, in seconds.
fn growth_at(parameters: Value, rtt: f64, seconds: f64) -> f64 {
    let mut flow = Flow::new("htcp", parameters, 10_000.0, milliseconds(rtt));
    flow.ack_credited(1, 0, true);
    let start = flow.now;
    flow.now = start + Duration::from_seconds_f64(seconds - rtt / 1000.0);
    flow.leap()
}

/// alpha is one segment for the first second and then 1 + 10 (D - 1) + ((D - 1) / 2)^2, compared with calculated
/// values.
#[test]
fn increase() {
    for row in rows("highspeed", "htcp_increase") {
        let alpha = number(&row["alpha"]);
        assert_close(&row.to_string(), growth_at(json!({}), 100.0, number(&row["D"])), alpha, 0.02 * alpha);
    }
}

/// After T seconds without loss the window has grown by the integral of alpha: (T + 5 (T - 1)^2 + (T - 1)^3 / 12) /
/// RTT.
#[test]
fn window_without_loss() {
    let mut flow = Flow::new("htcp", json!({}), 1000.0, milliseconds(100.0));
    for (seconds, growth) in [(1, 10.0), (2, 70.83), (5, 903.3), (10, 4757.5)] {
        flow.run_until(Time::ZERO + Duration::from_seconds(seconds));
        assert_close("growth", flow.segments() - 1000.0, growth, 0.02 * growth);
    }
}

/// Growth is proportional to RTTmin / 100 ms, with a factor from 0.1 to 2, and at least Reno's. alpha(5 s) is 45.
#[test]
fn rtt_scaling() {
    for (rtt, growth) in [(1.0, 4.5), (10.0, 4.5), (50.0, 22.5), (100.0, 45.0), (200.0, 90.0), (400.0, 90.0)] {
        assert_close(&format!("{rtt} ms"), growth_at(json!({}), rtt, 5.0), growth, 0.001);
        assert_close("unscaled", growth_at(json!({"rtt_scaling": false}), rtt, 5.0), 45.0, 0.001);
    }
    assert_close("10 ms in the first second", growth_at(json!({}), 10.0, 0.5), 1.0, 0.001);
}

/// The window grows by at most what is credited, however long ago the last loss was.
#[test]
fn maximum_growth() {
    let mut flow = Flow::new("htcp", json!({}), 10.0, milliseconds(100.0));
    flow.ack();
    flow.now += Duration::from_seconds(1000);
    let before = flow.window.cwnd;
    flow.ack();
    assert_eq!(flow.window.cwnd, before + MSS);
}

/// A loss at `segments` after three round trips of 100 ms and three of `rtt`. Returns the share of the window that
/// remains.
fn lose_at(flow: &mut Flow, segments: u64, rtt: f64) -> f64 {
    flow.window.cwnd = segments * MSS;
    for rtt in [100.0, rtt] {
        flow.rtt = milliseconds(rtt);
        flow.rounds(3);
    }
    let before = flow.segments();
    flow.lose();
    flow.segments() / before
}

/// A loss reduces the window to RTTmin / RTTmax of its size, from 0.5 to 0.8, if the throughput differs from that
/// before the previous loss by at most 20 %, and to half otherwise or if the backoff is not adaptive.
#[test]
fn adaptive_backoff() {
    for (rtt, beta) in [(110.0, 0.8), (150.0, 1.0 / 1.5), (180.0, 1.0 / 1.8), (300.0, 0.5)] {
        let mut flow = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
        assert_close("first loss", lose_at(&mut flow, 100, rtt), 0.5, 0.001);
        assert_close("second loss", lose_at(&mut flow, 100, rtt), beta, 0.001);
        assert_close("loss at a throughput 30 % higher", lose_at(&mut flow, 130, rtt), 0.5, 0.001);
        assert_close("loss at that throughput again", lose_at(&mut flow, 130, rtt), beta, 0.001);
        assert_close("loss at a throughput 25 % lower", lose_at(&mut flow, 98, rtt), 0.5, 0.001);

        let mut flow = Flow::new("htcp", json!({"adaptive_backoff": false}), 100.0, milliseconds(100.0));
        lose_at(&mut flow, 100, rtt);
        assert_close("not adaptive", lose_at(&mut flow, 100, rtt), 0.5, 0.001);
    }
}

/// With a smaller reduction growth is smaller too: alpha is multiplied by 2 (1 - beta), 2/3 for beta = 2/3.
#[test]
fn growth_after_adaptive_backoff() {
    let mut flow = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut flow, 100, 150.0);
    lose_at(&mut flow, 100, 150.0);
    assert_close("growth", flow.leap(), 2.0 / 3.0, 0.001);
}

/// RTTmax decays towards the current maximum by 5 % with each congestion: from 150 ms to 147.5 ms.
#[test]
fn maximum_rtt_decay() {
    let mut flow = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut flow, 100, 150.0);
    lose_at(&mut flow, 100, 150.0);
    assert_close("one loss later", lose_at(&mut flow, 100, 100.0), 100.0 / 147.5, 0.001);
    assert_close("two losses later", lose_at(&mut flow, 100, 100.0), 100.0 / 145.125, 0.001);
}

/// A loss within a round trip of the previous one does not change the throughput estimate. Nor does an acknowledgement
/// that covers data delivered long before, as after a timeout.
#[test]
fn throughput_estimate() {
    let mut hasty = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut hasty, 100, 150.0);
    hasty.lose();
    assert_close("after a hasty loss", lose_at(&mut hasty, 100, 150.0), 1.0 / 1.5, 0.001);

    let mut leaping = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut leaping, 100, 150.0);
    (leaping.window.cwnd, leaping.rtt) = (100 * MSS, milliseconds(100.0));
    leaping.ack();
    leaping.fill_hole(100 * leaping.window.cwnd);
    assert_close("after a leap", lose_at(&mut leaping, 100, 150.0), 1.0 / 1.5, 0.001);
}
