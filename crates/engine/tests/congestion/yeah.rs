//! YeAH-TCP: Baiocchi, Castellani and Vacirca 2007.

use serde_json::{Value, json};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds, number, vectors};
use super::rounds::Rounds;

/// A window in congestion avoidance, with a base RTT of 100 ms.
fn yeah(parameters: &Value, segments: u64) -> Rounds {
    let cwnd = segments * MSS;
    Rounds::new("yeah", parameters, Window { cwnd, ssthresh: cwnd, mss: MSS }, milliseconds(100.0))
}

/// The RTT at which `backlog` of the window's segments are queued, plus 0.001 so that rounding down gives that number.
fn rtt_of(backlog: f64, segments: u64) -> Duration {
    milliseconds(100.0 / (1.0 - (backlog + 0.001) / segments as f64))
}

fn lose(rounds: &mut Rounds) {
    let window = rounds.window;
    rounds.window.ssthresh = after_loss(&mut rounds.algorithm, &window, window.cwnd, Time::ZERO);
    rounds.window.cwnd = rounds.window.ssthresh;
}

/// Windows after an acknowledgement in slow start, in fast mode and in slow mode agree with the worked vectors.
#[test]
fn worked_windows() {
    for vector in vectors("delay", "yeah-ack_update") {
        let inputs = &vector["inputs"];
        let mut rounds = Rounds::of_vector("yeah", &vector, &vector["parameters"]);
        let rtt = milliseconds(number(&inputs["rtt_min_ms"]));
        if inputs["round_ended"].as_bool().unwrap() {
            assert_eq!(inputs["segments_acked"], 1, "{vector}");
            rounds.round(4, rtt);
        } else {
            let credit = inputs["segments_acked"].as_u64().unwrap() * rounds.window.mss;
            rounds.measure(4, rtt);
            rounds.acknowledge(1, credit, rtt);
        }
        assert_eq!(json!(rounds.window.cwnd / rounds.window.mss), vector["expected"]["cwnd_segments"], "{vector}");
    }
}

/// Thresholds after a loss agree with the worked vectors.
#[test]
fn ssthresh() {
    for vector in vectors("delay", "yeah-ssthresh") {
        let inputs = &vector["inputs"];
        let mut parameters = vector["parameters"].clone();
        parameters["rho"] = inputs["rho"].clone();
        let mut rounds = Rounds::of_vector("yeah", &vector, &parameters);
        let window = rounds.window;
        rounds.round(3, milliseconds(number(&inputs["rtt_min_ms"])));
        let ssthresh = after_loss(&mut rounds.algorithm, &window, window.cwnd, Time::ZERO);
        assert_eq!(json!(ssthresh), vector["expected"]["ssthresh_bytes"], "{vector}");
    }
}

/// In fast mode the window grows by one segment per 100 acknowledged, 1 % per round trip, and at least by Reno's one
/// segment per round trip (Linux tcp_yeah.c, TCP_SCALABLE_AI_CNT).
#[test]
fn fast_mode() {
    for (segments, growth) in [(10_000.0, 100.0), (1_000.0, 10.0), (200.0, 2.0), (50.0, 1.0), (10.0, 1.0)] {
        let mut flow = Flow::new("yeah", json!({}), segments, milliseconds(100.0));
        flow.round();
        assert_close("growth of a round trip", flow.segments() - segments, growth, 1e-9);
    }
}

/// The mode is slow, with Reno's growth, at a backlog above alpha = 80 packets or a queueing delay above 1/8 of the
/// base RTT. It may be fast again a round trip later.
#[test]
fn slow_mode() {
    let growth = |rtt: f64, parameters: Value| {
        let mut flow = Flow::new("yeah", parameters, 600.0, milliseconds(100.0));
        flow.ack();
        flow.rtt = milliseconds(rtt);
        flow.rounds(2);
        let before = flow.segments();
        flow.round();
        flow.segments() - before
    };
    assert!(growth(112.4, json!({})) >= 6.0, "67 packets and 12.4 % of the base RTT");
    assert!(growth(112.6, json!({})) <= 1.0, "67 packets and 12.6 % of the base RTT");
    assert!(growth(112.6, json!({"phy": 4})) >= 6.0, "12.6 % of the base RTT and phy = 4");

    let mut flow = Flow::new("yeah", json!({"phy": 1}), 600.0, milliseconds(100.0));
    flow.ack();
    flow.rtt = rtt_of(90.0, 600);
    flow.rounds(2);
    flow.rtt = milliseconds(100.0);
    flow.rounds(2);
    let before = flow.segments();
    flow.round();
    assert_close("growth of a fast round trip", flow.segments() - before, (before / 100.0).floor(), 1.0);
}

/// A backlog Q above 80 packets reduces the window by Q / gamma, by at most half, and the sender stays in congestion
/// avoidance.
#[test]
fn decongestion() {
    for (parameters, segments, backlog, expected) in [
        (json!({}), 1000, 80.0, 1000),
        (json!({}), 1000, 81.0, 919),
        (json!({}), 1000, 400.0, 600),
        (json!({}), 1000, 600.0, 500),
        (json!({"gamma": 4}), 1000, 400.0, 900),
        (json!({"epsilon": 2}), 1000, 400.0, 750),
        (json!({"alpha": 40}), 1000, 50.0, 950),
    ] {
        let mut rounds = yeah(&parameters, segments);
        rounds.round(3, rtt_of(backlog, segments));
        assert_eq!(rounds.window.cwnd, expected * MSS, "{parameters}: backlog {backlog} of {segments}");
        assert!(!rounds.window.in_slow_start());
    }
}

/// Decongestion ends slow start.
#[test]
fn decongestion_ends_slow_start() {
    for (backlog, ends) in [(79.0, false), (100.0, true)] {
        let window = Window { cwnd: 400 * MSS, ssthresh: u64::MAX, mss: MSS };
        let mut rounds = Rounds::new("yeah", &json!({}), window, milliseconds(100.0));
        rounds.round(3, rtt_of(backlog, 400));
        assert_eq!(rounds.window.in_slow_start(), !ends, "backlog {backlog}");
        assert_eq!(rounds.window.cwnd, if ends { 300 * MSS } else { 401 * MSS });
    }
}

/// Decongestion does not reduce the window below that of a competing Reno flow: half the window of the first slow
/// round, plus one segment for each slow round since, until more than zeta = 50 rounds were fast.
#[test]
fn decongestion_minimum() {
    for (slow_rounds, fast_rounds, expected) in [(1, 0, 250), (4, 0, 253), (1, 50, 250), (1, 51, 2)] {
        let mut rounds = yeah(&json!({"epsilon": 0}), 500);
        // Slow because of the delay, with a backlog below alpha.
        let (slow, fast) = (rtt_of(79.0, 500), milliseconds(100.0));
        for rtt in std::iter::repeat_n(slow, slow_rounds).chain(std::iter::repeat_n(fast, fast_rounds)) {
            rounds.window.cwnd = 500 * MSS;
            rounds.round(3, rtt);
        }
        rounds.window.cwnd = 500 * MSS;
        rounds.round(3, rtt_of(498.9, 500));
        assert_eq!(rounds.window.cwnd, expected * MSS, "{slow_rounds} slow rounds and {fast_rounds} fast rounds");
    }
}

/// A loss reduces the window by the backlog, by at least 1/8 and at most half. From the sixteenth slow round in a row
/// on it is halved, since other flows seem to fill the queue.
#[test]
fn reduction_on_loss() {
    for (backlog, slow_rounds, expected) in
        [(0.0, 1, 350), (30.0, 1, 350), (60.0, 1, 340), (79.0, 15, 321), (79.0, 16, 200)]
    {
        let mut rounds = yeah(&json!({}), 400);
        for _ in 0..slow_rounds {
            rounds.window.cwnd = 400 * MSS;
            rounds.round(3, rtt_of(backlog, 400));
        }
        rounds.window.cwnd = 400 * MSS;
        lose(&mut rounds);
        assert_eq!(rounds.window.cwnd, expected * MSS, "backlog {backlog} for {slow_rounds} rounds");
    }
}
