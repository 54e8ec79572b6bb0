//! CUBIC: RFC 9438.

use serde_json::json;
use sojourn_engine::tcp::congestion::{CongestionControl, CongestionEvent};
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds, number, rows};

/// After a loss at W_max the window passes through the published points of the curve: 0.7 W_max after the loss, W_max
/// after K and 1.3 W_max after 2 K.
#[test]
fn published_curve() {
    for row in rows("congestion", "cubic_curve") {
        let w_max = number(&row["W_max"]);
        let k = number(&row["K_s"]);
        let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), w_max, milliseconds(20.0));
        flow.lose();
        assert_close("window after the loss", flow.segments(), number(&row["W_at_0"]), 0.001);
        flow.run_until(Time::ZERO + Duration::from_seconds_f64(k));
        assert_close("window at K", flow.segments(), number(&row["W_at_K"]), 0.002 * w_max);
        flow.run_until(Time::ZERO + Duration::from_seconds_f64(2.0 * k));
        assert_close("window at 2 K", flow.segments(), number(&row["W_at_2K"]), 0.005 * w_max);
    }
}

/// After a timeout, and after a slow start that ended without loss, K is zero and W_max the window at which congestion
/// avoidance begins (RFC 9438 sections 4.8 and 4.10): 70 + 0.4 t^3 segments.
#[test]
fn convex_without_w_max() {
    let parameters = json!({"reno_friendly": false});
    let mut after_timeout = Flow::new("cubic", parameters.clone(), 100.0, milliseconds(20.0));
    after_timeout.time_out();
    let after_slow_start = Flow::new("cubic", parameters, 70.0, milliseconds(20.0));
    for mut flow in [after_timeout, after_slow_start] {
        flow.run_until(Time::ZERO + Duration::from_seconds(2));
        assert_close("window after 2 s", flow.segments(), 73.2, 0.2);
        flow.run_until(Time::ZERO + Duration::from_seconds(5));
        assert_close("window after 5 s", flow.segments(), 120.0, 0.6);
    }
}

/// A stage that starts above W_max is convex too: 2 + 0.4 t^3. Here it is above W_max because a loss at one segment
/// sets ssthresh to its minimum, two segments.
#[test]
fn convex_above_w_max() {
    let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), 1.0, milliseconds(20.0));
    flow.lose();
    flow.run_until(Time::ZERO + Duration::from_seconds(5));
    assert_close("window after 5 s", flow.segments(), 52.0, 1.0);
}

/// If a flow loses below its last W_max, the plateau is at 0.85 of the window, with fast convergence only (RFC 9438
/// section 4.7). Loss at 80 after one at 100: K = cbrt((68 - 56) / 0.4) = 3.107 s. Without it, W_cubic(3.107) = 79.79.
#[test]
fn fast_convergence() {
    for (fast_convergence, expected) in [(true, 68.0), (false, 79.79)] {
        let parameters = json!({"reno_friendly": false, "fast_convergence": fast_convergence});
        let mut flow = Flow::new("cubic", parameters, 100.0, milliseconds(20.0));
        flow.lose();
        flow.window.cwnd = 80 * MSS;
        flow.lose();
        assert_close("window after the second loss", flow.segments(), 56.0, 0.001);
        flow.run_until(flow.now + Duration::from_seconds_f64(3.107));
        assert_close("window after 3.107 s", flow.segments(), expected, 0.2);
    }
}

/// In the Reno-friendly region the window grows by alpha = 0.529 segments per round trip up to the window before the
/// loss, and by one above it (RFC 9438 section 4.3). With the region disabled it follows the slower curve, 74.08
/// segments after 0.2 s.
#[test]
fn reno_friendly_region() {
    let mut flow = Flow::new("cubic", json!({}), 100.0, milliseconds(10.0));
    flow.lose();
    flow.rounds(40);
    assert_close("growth in 40 round trips", flow.segments() - 70.0, 40.0 * 0.529412, 0.3);
    while flow.segments() < 101.0 {
        flow.ack();
    }
    let before = flow.segments();
    flow.rounds(30);
    assert_close("growth in 30 round trips", flow.segments() - before, 30.0, 0.5);

    let mut unfriendly = Flow::new("cubic", json!({"reno_friendly": false}), 100.0, milliseconds(10.0));
    unfriendly.lose();
    unfriendly.run_until(Time::ZERO + milliseconds(200.0));
    assert_close("window after 0.2 s", unfriendly.segments(), 74.08, 0.1);
}

/// The average window with a loss every 1/p segments agrees with RFC 9438's tables 1 and 2, in the cubic and in the
/// Reno-friendly region.
#[test]
fn average_window() {
    for row in rows("congestion", "cubic_average_window") {
        let (p, expected) = (number(&row["p"]), number(&row["window"]));
        let rtt = Duration::from_seconds_f64(number(&row["rtt_s"]));
        let average = Flow::new("cubic", json!({}), expected, rtt).average_window(p);
        assert_close(&row.to_string(), average, expected, 0.1 * expected);
    }
}

/// The window grows by at most half a segment per segment acknowledged (the target is at most 1.5 cwnd), not at all
/// while the curve is below it, and twice as fast if a stack credits twice the segments.
#[test]
fn growth_per_acknowledgement() {
    let start = || {
        let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), 100.0, milliseconds(100.0));
        flow.lose();
        flow.ack();
        flow
    };
    let mut late = start();
    late.now += Duration::from_seconds(100);
    let before = late.window.cwnd;
    late.ack();
    assert_eq!(late.window.cwnd - before, MSS / 2);

    let mut above = start();
    above.window.cwnd = 90 * MSS;
    above.ack();
    assert_eq!(above.window.cwnd, 90 * MSS);

    let growth = |credit| {
        let mut flow = start();
        flow.now += milliseconds(50.0);
        let before = flow.window.cwnd;
        flow.ack_credited(2 * MSS, credit, true);
        flow.window.cwnd - before
    };
    assert!(growth(MSS) > 10);
    assert_close("growth by twice the credit", growth(2 * MSS) as f64, 2.0 * growth(MSS) as f64, 1.0);
}

/// Growth of less than a byte accumulates: at 1 ms and 1000 segments an acknowledgement adds 0.03 bytes, and the window
/// still reaches W_max within a tenth of a segment.
#[test]
fn fractional_growth() {
    let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), 1000.0, milliseconds(1.0));
    flow.lose();
    flow.run_until(Time::ZERO + Duration::from_seconds_f64(9.0856));
    assert_close("window at K", flow.segments(), 1000.0, 0.1);
}

/// ssthresh is 0.7 of the flight size and at least two segments (RFC 9438 section 4.6).
#[test]
fn multiplicative_decrease() {
    for (flight, ssthresh) in [(100 * MSS, 70 * MSS), (10 * MSS, 7 * MSS), (2 * MSS, 2 * MSS), (0, 2 * MSS)] {
        let mut flow = Flow::new("cubic", json!({}), 100.0, milliseconds(100.0));
        assert_eq!(after_loss(&mut flow.algorithm, &flow.window, flight, flow.now), ssthresh, "flight size {flight}");
    }
}

/// Application-limited time does not count in t (RFC 9438 sections 4.2 and 5.8): 100 s of it do not move the curve.
#[test]
fn application_limited_time() {
    let curve = |idle: u64| {
        let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), 100.0, milliseconds(20.0));
        flow.lose();
        flow.run_until(Time::ZERO + Duration::from_seconds(1));
        for _ in 0..idle {
            flow.ack_credited(MSS, MSS, false);
            flow.now += Duration::from_seconds(1);
        }
        flow.ack_credited(MSS, MSS, false);
        flow.run_until(flow.now + Duration::from_seconds(1));
        flow.segments()
    };
    assert_close("window after 2 s in use", curve(100), curve(0), 0.1);
}

/// What the sender and CUBIC do once the latest reduction has proved spurious: the window and ssthresh come back.
fn take_back(flow: &mut Flow, cwnd: u64) {
    flow.window.cwnd = flow.window.cwnd.max(cwnd);
    flow.window.ssthresh = flow.window.ssthresh.max(cwnd);
    flow.algorithm.on_congestion(&mut flow.window, CongestionEvent::Spurious, flow.now);
}

/// A spurious loss, or a spurious timeout, gives W_max, K, the epoch and cwnd_prior back (RFC 9438 section 4.9.2): the window
/// follows the curve of the loss before, 0.4 (t - K)^3 + 100 with K = cbrt(30 / 0.4) = 4.217 s, which is 143.8 segments at 9 s. A
/// new epoch at 6 s, with K = 0, would have 113. If the window is beyond the one before when the loss proves spurious, CUBIC
/// keeps its latest variables.
#[test]
fn spurious_losses() {
    let before = || {
        let mut flow = Flow::new("cubic", json!({"reno_friendly": false}), 100.0, milliseconds(20.0));
        flow.lose();
        flow.run_until(Time::ZERO + Duration::from_seconds(6));
        assert_close("window after 6 s", flow.segments(), 102.27, 0.2);
        flow
    };
    for is_timeout in [false, true] {
        let mut flow = before();
        let cwnd = flow.window.cwnd;
        if is_timeout {
            flow.time_out()
        } else {
            flow.lose()
        }
        flow.now += milliseconds(40.0);
        take_back(&mut flow, cwnd);
        flow.run_until(Time::ZERO + Duration::from_seconds(9));
        assert_close("window after 9 s", flow.segments(), 143.7, 1.0);
    }

    let mut late = before();
    let cwnd = late.window.cwnd;
    late.lose();
    let lost_at = late.now;
    late.run_until(lost_at + Duration::from_seconds(9));
    let mut untold = late.clone();
    take_back(&mut late, cwnd);
    late.run_until(lost_at + Duration::from_seconds(12));
    untold.run_until(lost_at + Duration::from_seconds(12));
    assert_eq!(late.window.cwnd, untold.window.cwnd);
}

/// Marks show congestion whatever became of a loss before them, so that nothing of before that loss comes back.
#[test]
fn marks_after_a_loss() {
    let mut told = Flow::new("cubic", json!({}), 100.0, milliseconds(20.0));
    told.lose();
    told.mark();
    let mut untold = told.clone();
    take_back(&mut told, 0);
    for flow in [&mut told, &mut untold] {
        flow.run_until(Time::ZERO + Duration::from_seconds(3));
    }
    assert_eq!(told.window.cwnd, untold.window.cwnd);
}
