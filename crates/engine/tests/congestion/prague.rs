//! Prague: the constants of the reference implementation, and the laws that it states.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl, CongestionEvent, Delivery};
use sojourn_engine::tcp::ecn::Codepoint;
use sojourn_engine::tcp::governor::Governor;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

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

/// A sender of which the algorithm governs the window: acknowledgements come one by one, and marks are answered once per window.
struct Governed {
    algorithm: Algorithm,
    window: Window,
    now: Time,
    una: u64,
    answered: u64,
    in_recovery: bool,
}

/// The payload of a packet of 1500 bytes, of which growth is one a round.
const SEGMENT: u64 = 1448;

const RTT: Duration = Duration::from_milliseconds(50);

impl Governed {
    /// In congestion avoidance with this window.
    fn new(parameters: Value, segments: u64) -> Governed {
        let cwnd = segments * SEGMENT;
        let mut algorithm = Algorithm::new("prague", &parameters).expect("a known algorithm");
        let mut window = Window { cwnd, ssthresh: cwnd, mss: SEGMENT };
        algorithm.on_established(&mut window, RTT, Time::ZERO);
        Governed { algorithm, window, now: Time::ZERO, una: 0, answered: 0, in_recovery: false }
    }

    fn segments(&self) -> u64 {
        assert_eq!(self.window.cwnd % SEGMENT, 0, "whole segments");
        self.window.cwnd / SEGMENT
    }

    fn ack(&mut self, segments: u64, marked: u64) {
        if marked > 0 && self.una >= self.answered && !self.in_recovery {
            self.answered = self.una + self.window.cwnd;
            let event = CongestionEvent::Ecn { flight_size: self.window.cwnd, abe: false };
            self.algorithm.on_congestion(&mut self.window, event, self.now);
        }
        let acked = segments * SEGMENT;
        self.now += Duration((u128::from(RTT.0) * u128::from(acked) / u128::from(self.window.cwnd)) as u64);
        self.una += acked;
        let delivery = Delivery {
            now: self.now,
            delivered: acked,
            acked,
            una: self.una,
            nxt: self.una + self.window.cwnd,
            marked: marked * SEGMENT,
            srtt: RTT,
            in_flight: self.window.cwnd,
            uses_window: true,
            in_recovery: self.in_recovery,
            ..Delivery::default()
        };
        self.algorithm.on_delivery(&mut self.window, &delivery);
    }
}

/// tcp_prague.c, prague_update_cwnd, by hand: the first mark halves the window, which falls by a segment with each acknowledgement,
/// and the threshold with it; alpha is 1 in version 0.5, and in 0.7, where the mark halves the window without it, 0. Then it grows by
/// one segment a window.
#[test]
fn window_falls_step_by_step() {
    for (rules, alpha) in [("linux-2020", 1.0), ("linux", 0.0)] {
        let mut flow = Governed::new(json!({"rules": rules}), 100);
        let Algorithm::Prague(prague) = &flow.algorithm else { panic!("not Prague") };
        assert_eq!(prague.alpha(), alpha, "{rules}");
        flow.ack(1, 1);
        for fallen in 1..=45 {
            assert_eq!((flow.segments(), flow.window.ssthresh), (100 - fallen, flow.window.cwnd), "{rules}");
            flow.ack(1, 0);
        }
        (0..10).for_each(|_| flow.ack(1, 0));
        let least = flow.segments();
        assert!((50..=52).contains(&least), "{rules}: {least}");
        (0..10 * least + 45).for_each(|_| flow.ack(1, 0));
        assert!(flow.segments().abs_diff(least + 10) <= 1, "{rules}: {} after ten windows", flow.segments());
    }
}

/// The window grows by what an acknowledgement delivered unmarked (tcp_prague.c, prague_update_cwnd: acked less ece_delta), in the
/// draft's form too, in which others do not grow at all: of a window of 50 segments, 100 acknowledgements with one of two marked make
/// two. A gain of zero keeps alpha, so that marks after the first reduce nothing more.
#[test]
fn grows_by_what_was_not_marked() {
    let mut flow = Governed::new(json!({"rules": "linux", "g": 0.0}), 100);
    flow.ack(1, 1);
    (0..50).for_each(|_| flow.ack(1, 0));
    let before = flow.segments();
    (0..100).for_each(|_| flow.ack(2, 1));
    assert_eq!(flow.segments() - before, 2);
    for (name, grown) in [("prague", 2.0), ("newreno", 0.0)] {
        let algorithm = Algorithm::new(name, &json!({})).expect("a known algorithm");
        let mut governor = Governor::new(algorithm, SlowStartKind::Standard, &StackProfile::default());
        let mut window = Window { cwnd: 50 * MSS, ssthresh: 50 * MSS, mss: MSS };
        for _ in 0..100 {
            let mut ack = Ack { acked: 2 * MSS, credit: 2 * MSS, marked: MSS, srtt: RTT, ..Ack::default() };
            governor.on_ack(&mut window, &mut ack, true);
        }
        assert_close(name, window.segments(), 50.0 + grown, 0.1);
    }
}

/// While losses are repaired, the window that was halved does not grow (in_loss).
#[test]
fn no_growth_in_recovery() {
    for rules in ["linux", "linux-2020"] {
        let mut flow = Governed::new(json!({"rules": rules}), 40);
        flow.algorithm.on_congestion(&mut flow.window, CongestionEvent::Loss { flight_size: 40 * SEGMENT }, flow.now);
        flow.in_recovery = true;
        (0..100).for_each(|_| flow.ack(1, 0));
        assert_eq!(flow.segments(), 20, "{rules}");
        flow.in_recovery = false;
        (0..25).for_each(|_| flow.ack(1, 0));
        assert!([21, 22].contains(&flow.segments()), "{rules}: {} segments", flow.segments());
    }
}

/// Of at most four segments on a path that marks, version 0.7 moves the rate: it is paced 4/128 above it in the first half of a
/// virtual round trip and as much below in the second (prague_update_pacing_rate), and not below 100 kbit/s nor two segments.
#[test]
fn small_windows_by_rate() {
    let mut flow = Governed::new(json!({"rules": "linux", "transition": 0}), 4);
    let mut rates = Vec::new();
    for _ in 0..400 {
        flow.ack(1, 1);
        let rate = flow.algorithm.pacing_rate(&flow.window, RTT).expect("a rate").0;
        rates.push(rate);
    }
    assert_eq!(flow.segments(), 2);
    assert!(rates.iter().all(|rate| *rate as f64 >= 100_000.0 * 124.0 / 128.0), "{:?}", rates.iter().min());
    let last = &rates[rates.len() - 8..];
    let (least, most) = (*last.iter().min().expect("rates"), *last.iter().max().expect("rates"));
    assert_close("second to first half", least as f64 / most as f64, 124.0 / 132.0, 0.01);
}
