//! Westwood+: Mascolo et al. 2001, Grieco and Mascolo 2004, with the filter constants of Linux.

use serde_json::json;
use sojourn_engine::time::Duration;

use super::flow::{Flow, MSS, assert_close, milliseconds};

/// Acknowledges `count` windows without growth.
fn steady_rounds(flow: &mut Flow, count: u64) {
    let end = flow.una + count * flow.window.cwnd;
    while flow.una < end {
        flow.ack_credited(MSS, MSS, false);
    }
}

fn flow(segments: f64, rtt: f64) -> Flow {
    Flow::new("westwood", json!({}), segments, milliseconds(rtt))
}

/// A loss reduces the window to the bandwidth-delay product BWE x RTTmin, for any queue: 1000 segments/s and 100 ms are
/// 100 segments.
#[test]
fn reduction_to_bdp() {
    for (segments, rtt) in [(100.0, 100.0), (110.0, 110.0), (150.0, 150.0), (300.0, 300.0)] {
        let mut flow = flow(100.0, 100.0);
        steady_rounds(&mut flow, 20);
        flow.window.cwnd = (segments * MSS as f64) as u64;
        flow.rtt = milliseconds(rtt);
        steady_rounds(&mut flow, 20);
        flow.lose();
        assert_close(&format!("window after a loss at {segments}"), flow.segments(), 100.0, 0.5);
    }
}

/// The estimate passes two filters with a weight of 7/8: n samples after the bandwidth doubles it lacks q^n (1 + n (1 -
/// q)) of the difference. A sample takes a round-trip time, and at least 50 ms.
#[test]
fn bandwidth_filter() {
    for (rtt, rounds_a_sample) in [(100.0, 1), (50.0, 1), (25.0, 2), (10.0, 5)] {
        for samples in [1, 4, 8, 16] {
            let mut flow = flow(100.0, rtt);
            // The first acknowledgement starts a sample, so that the change falls between two samples.
            flow.ack_credited(MSS, MSS, false);
            steady_rounds(&mut flow, 20);
            flow.window.cwnd = 200 * MSS;
            steady_rounds(&mut flow, samples * rounds_a_sample);
            flow.lose();
            let n = samples as f64;
            let expected = 200.0 - 100.0 * f64::powf(0.875, n) * (1.0 + n / 8.0);
            assert_close(&format!("{samples} samples at {rtt} ms"), flow.segments(), expected, 0.5);
        }
    }
}

/// Growth is Reno's.
#[test]
fn reno_growth() {
    let mut flow = flow(100.0, 100.0);
    flow.rounds(10);
    assert_close("growth of ten round trips", flow.segments(), 110.0, 0.5);
}

/// Without an estimate a loss halves the window. An estimate above the window does not raise it.
#[test]
fn reduction_limits() {
    let mut fresh = flow(100.0, 100.0);
    fresh.lose();
    assert_close("without an estimate", fresh.segments(), 50.0, 0.001);

    let mut small = flow(100.0, 100.0);
    steady_rounds(&mut small, 20);
    small.window.cwnd = 20 * MSS;
    small.lose();
    assert_close("estimate above the window", small.segments(), 20.0, 0.001);

    let mut idle = flow(1.0, 100.0);
    steady_rounds(&mut idle, 20);
    idle.lose();
    assert_close("estimate of one segment", idle.segments(), 2.0, 0.001);
}

/// Time in fast recovery, whose acknowledgements are not observed, does not count as time without deliveries.
#[test]
fn time_in_recovery() {
    let mut flow = flow(100.0, 100.0);
    steady_rounds(&mut flow, 20);
    flow.lose();
    flow.now += Duration::from_seconds(10);
    steady_rounds(&mut flow, 2);
    flow.lose();
    assert_close("window after the second loss", flow.segments(), 100.0, 0.5);
}

/// A timeout resets RTTmin: then 1000 segments/s on a path of 200 ms are 200 segments.
#[test]
fn minimum_rtt_after_timeout() {
    let mut flow = flow(100.0, 100.0);
    steady_rounds(&mut flow, 20);
    flow.time_out();
    flow.rtt = milliseconds(200.0);
    flow.window.cwnd = 200 * MSS;
    steady_rounds(&mut flow, 2);
    flow.lose();
    assert_close("window after a loss", flow.segments(), 200.0, 1.0);
}

/// An acknowledgement that covers data delivered long before, as after a timeout, counts as at most one window.
#[test]
fn large_acknowledgement() {
    let mut flow = flow(100.0, 100.0);
    flow.ack_credited(MSS, MSS, false);
    steady_rounds(&mut flow, 20);
    flow.fill_hole(10 * flow.window.cwnd);
    flow.window.cwnd = 200 * MSS;
    flow.lose();
    assert_close("window after a loss", flow.segments(), 100.0, 0.5);
}
