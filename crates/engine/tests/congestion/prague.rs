//! Prague: the constants of the reference implementation, and the laws that it states.

use serde_json::json;
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::ecn::Codepoint;
use sojourn_engine::time::Duration;

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds};

/// A flow in congestion avoidance that emulates the virtual round-trip time.
fn flow(segments: f64, rtt_ms: f64) -> Flow {
    Flow::new("prague", json!({"transition": 0}), segments, milliseconds(rtt_ms))
}

fn alpha(flow: &Flow) -> f64 {
    let Algorithm::Prague(prague) = &flow.algorithm else { panic!("not Prague") };
    prague.alpha()
}

/// The draft's requirements for L4S (RFC 9331 section 4): ECT(1), Accurate ECN, pacing.
#[test]
fn l4s_requirements() {
    let needs = flow(10.0, 10.0).algorithm.needs();
    assert_eq!((needs.ecn, needs.pacing), (Some(Codepoint::Ect1), true));
}

/// Without marks the window grows by (rtt / 25 ms)^2 segments per round trip below 25 ms, so that the growth of the
/// rate does not depend on the round-trip time. It grows by one segment above 25 ms, and until the transition after 500
/// round trips.
#[test]
fn virtual_round_trip_growth() {
    for (rtt_ms, segments) in [(5.0, 0.04), (12.5, 0.25), (25.0, 1.0), (100.0, 1.0)] {
        let mut independent = flow(100.0, rtt_ms);
        independent.rounds(25);
        assert_close(&format!("{rtt_ms} ms"), independent.segments(), 100.0 + 25.0 * segments, 0.1 + segments);
        let mut young = Flow::new("prague", json!({}), 100.0, milliseconds(rtt_ms));
        young.rounds(25);
        assert_close(&format!("{rtt_ms} ms, young"), young.segments(), 125.0, 1.0);
    }
    let mut aging = Flow::new("prague", json!({}), 100.0, milliseconds(5.0));
    aging.rounds(2000);
    assert_close("500 round trips by one, 1500 by 0.04", aging.segments(), 100.0 + 500.0 + 1500.0 * 0.04, 4.0);
}

/// The first mark halves the window, however late it is. From then on alpha follows the share of marks with a gain of
/// 1/16 per virtual round trip.
#[test]
fn first_mark() {
    let mut flow = flow(100.0, 25.0);
    flow.rounds(100);
    assert_eq!(alpha(&flow), 1.0);
    let before = flow.segments();
    flow.mark();
    assert_close("half", flow.segments(), before / 2.0, 0.001);
    flow.ack_marked();
    for n in 1..=50 {
        flow.round();
        assert_close("alpha", alpha(&flow), libm::pow(15.0 / 16.0, f64::from(n)), 0.06);
    }
}

/// Marks reduce the window by alpha / 2, at most once per virtual round trip. Losses halve it.
#[test]
fn reduction_per_virtual_round_trip() {
    let mut flow = flow(100.0, 5.0);
    flow.mark();
    assert_close("window", flow.segments(), 50.0, 0.001);
    flow.ack_marked();
    flow.now += Duration::from_milliseconds(24);
    flow.mark();
    assert_close("window within 25 ms", flow.segments(), 50.0, 0.001);
    let since = flow.now;
    flow.now = since + Duration::from_milliseconds(1);
    flow.mark();
    assert!(flow.segments() < 50.0, "{} segments after 25 ms", flow.segments());
    assert_eq!(after_loss(&mut flow.algorithm, &flow.window, 80 * MSS, flow.now), 40 * MSS);
}

/// The mean rate, in segments per 25 ms, of a flow with one marked segment per `interval`. Like the sender, it reduces
/// the window once per window of data.
fn rate(rtt_ms: f64, interval: u64) -> f64 {
    let mut flow = flow(20.0, rtt_ms);
    let mut answered = 0;
    let mut segments = |flow: &mut Flow, count: u64| {
        for index in 0..count {
            if index % interval == 0 {
                if flow.una >= answered {
                    answered = flow.una + flow.window.cwnd;
                    flow.mark();
                }
                flow.ack_marked();
            } else {
                flow.ack();
            }
        }
    };
    segments(&mut flow, 200_000);
    let start = flow.now;
    segments(&mut flow, 200_000);
    200_000.0 * 0.025 / flow.now.since(start).seconds()
}

/// tcp_prague.c: the rate is 1 / p - 1 Mbit/s for round-trip times up to 25 ms, and 25 ms / RTT of that above. This is
/// the balance of growth by one segment per virtual round trip for unmarked segments, and of reduction by p / 2: 2 (1 /
/// p - 1) segments per virtual round trip. The windows are well above two segments.
#[test]
fn rate_by_marks() {
    for interval in [20, 50, 100] {
        let expected = 2.0 * (interval as f64 - 1.0);
        for rtt_ms in [5.0, 10.0, 20.0, 25.0] {
            let rate = rate(rtt_ms, interval);
            assert!(
                (rate / expected - 1.0).abs() < 0.15,
                "1 in {interval} at {rtt_ms} ms: {rate}, expected {expected}"
            );
        }
        let (rate, expected) = (rate(75.0, interval), expected / 3.0);
        assert!((rate / expected - 1.0).abs() < 0.15, "1 in {interval} at 75 ms: {rate}, expected {expected}");
    }
}

/// The pacing rate is one window per round-trip time, and twice that in slow start.
#[test]
fn pacing_rate() {
    let mut flow = flow(100.0, 10.0);
    let rate = |flow: &Flow| flow.algorithm.pacing_rate(&flow.window, flow.rtt).expect("a rate").0 as f64;
    assert_close("rate", rate(&flow), 100.0 * MSS as f64 * 8.0 / 0.010, 1.0);
    flow.window.ssthresh = u64::MAX;
    assert_close("rate in slow start", rate(&flow), 200.0 * MSS as f64 * 8.0 / 0.010, 1.0);
    assert_eq!(flow.algorithm.pacing_rate(&flow.window, Duration::ZERO), None);
}
