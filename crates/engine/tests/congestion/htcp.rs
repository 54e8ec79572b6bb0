//! H-TCP: Leith and Shorten 2004.

use serde_json::{Value, json};
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, assert_close, milliseconds, number, rows};

/// Growth in the round trip that ends so many seconds after the start, in segments.
fn growth_at(parameters: Value, rtt: f64, seconds: f64) -> f64 {
    let mut flow = Flow::new("htcp", parameters, 10_000.0, milliseconds(rtt));
    flow.ack_credited(1, 0, true);
    let start = flow.now;
    flow.now = start + Duration::from_seconds_f64(seconds - rtt / 1000.0);
    flow.leap()
}

/// alpha is a segment for the first second and then 1 + 10 (D - 1) + ((D - 1) / 2)^2, as worked.
#[test]
fn htcp_increase() {
    for row in rows("highspeed", "htcp_increase") {
        let alpha = number(&row["alpha"]);
        assert_close(&row.to_string(), growth_at(json!({}), 100.0, number(&row["D"])), alpha, 0.02 * alpha);
    }
}

/// After T seconds without loss the window has grown by the integral of alpha: (T + 5 (T - 1)^2 + (T - 1)^3 / 12) /
/// RTT.
#[test]
fn htcp_window_without_loss() {
    let mut flow = Flow::new("htcp", json!({}), 1000.0, milliseconds(100.0));
    for (seconds, growth) in [(1, 10.0), (2, 70.83), (5, 903.3), (10, 4757.5)] {
        flow.run_until(Time::ZERO + Duration::from_seconds(seconds));
        assert_close("growth", flow.segments() - 1000.0, growth, 0.02 * growth);
    }
}

/// Growth is in proportion to RTTmin / 100 ms, from a tenth to twice, and no less than Reno's; alpha(5 s) is 45.
#[test]
fn htcp_rtt_scaling() {
    for (rtt, growth) in [(1.0, 4.5), (10.0, 4.5), (50.0, 22.5), (100.0, 45.0), (200.0, 90.0), (400.0, 90.0)] {
        assert_close(&format!("{rtt} ms"), growth_at(json!({}), rtt, 5.0), growth, 0.001);
        assert_close("unscaled", growth_at(json!({"rtt_scaling": false}), rtt, 5.0), 45.0, 0.001);
    }
    assert_close("10 ms in the first second", growth_at(json!({}), 10.0, 0.5), 1.0, 0.001);
}

/// The window does not grow by more than what is credited, however long there was no loss.
#[test]
fn htcp_grows_no_faster_than_slow_start() {
    let mut flow = Flow::new("htcp", json!({}), 10.0, milliseconds(100.0));
    flow.ack();
    flow.now += Duration::from_seconds(1000);
    let before = flow.window.cwnd;
    flow.ack();
    assert_eq!(flow.window.cwnd, before + MSS);
}

/// A loss at `segments` after three round trips of 100 ms and three of `rtt`; gives the share of the window that is
/// left.
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

/// A loss leaves RTTmin / RTTmax of the window, from 0.5 to 0.8, the second time that the throughput before it is the
/// same within 20 %; half otherwise, and where the backoff is not adaptive.
#[test]
fn htcp_backoff() {
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

/// A smaller backoff comes with smaller growth: alpha is multiplied by 2 (1 - beta), 2/3 for beta = 2/3.
#[test]
fn htcp_growth_makes_up_for_the_backoff() {
    let mut flow = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut flow, 100, 150.0);
    lose_at(&mut flow, 100, 150.0);
    assert_close("growth", flow.leap(), 2.0 / 3.0, 0.001);
}

/// A queue that is gone is forgotten by 5 % at each congestion: RTTmax 147.5 ms one loss after 150.
#[test]
fn htcp_forgets_a_queue() {
    let mut flow = Flow::new("htcp", json!({}), 100.0, milliseconds(100.0));
    lose_at(&mut flow, 100, 150.0);
    lose_at(&mut flow, 100, 150.0);
    assert_close("one loss later", lose_at(&mut flow, 100, 100.0), 100.0 / 147.5, 0.001);
    assert_close("two losses later", lose_at(&mut flow, 100, 100.0), 100.0 / 145.125, 0.001);
}

/// Neither a loss that comes before a round trip has passed since the last, nor an acknowledgement that leaps over what
/// was delivered long before, as after a timeout, is taken for a change of the throughput.
#[test]
fn htcp_takes_neither_haste_nor_leaps_for_a_change_of_the_throughput() {
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
