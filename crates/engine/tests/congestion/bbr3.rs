//! BBR version 3: draft-ietf-ccwg-bbr-06. Most tests follow its appendix "BBR Example Test Cases".

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{CongestionControl, CongestionEvent};
use sojourn_engine::time::Duration;

use super::flow::{MSS, after_loss, assert_close, milliseconds};
use super::path::Path;

/// Gains of the states (section 5.6.1).
const STARTUP: f64 = 2.77;
const DRAIN: f64 = 0.5;
const DOWN: f64 = 0.9;
const CRUISE: f64 = 1.0;
const UP: f64 = 1.25;

/// Parameters with which ProbeRTT does not occur.
fn without_probe_rtt() -> Value {
    json!({"probe_rtt_interval": Duration::from_seconds(100_000)})
}

/// A path of 1000 segments of 1000 bytes per second with an RTT of 100 ms: a BDP of 100 segments and quanta of two.
fn path(parameters: &Value, seed: u64) -> Path {
    Path::new("bbr3", parameters, seed, 1000.0, milliseconds(100.0))
}

/// A path in ProbeBW_DOWN, with the BDP in flight.
fn draining_path(parameters: &Value, seed: u64) -> Path {
    let mut path = path(parameters, seed);
    path.in_flight = 2 * path.bdp();
    path.until_gain(DRAIN);
    path.in_flight = path.bdp();
    path.until_gain(DOWN);
    path
}

/// A path in ProbeBW_UP, with more than the BDP in flight.
fn probing_path(parameters: &Value, seed: u64) -> Path {
    let mut path = draining_path(parameters, seed);
    path.until_gain(UP);
    path.in_flight = path.bdp() * 3 / 2;
    path
}

/// Exiting STARTUP on Bandwidth Plateau: after three rounds in which the bandwidth grows by less than a quarter.
#[test]
fn startup_exit_on_plateau() {
    let mut path = path(&without_probe_rtt(), 1);
    for _ in 0..6 {
        path.rate = (1.26 * path.rate).ceil();
        (0..2).for_each(|_| path.round());
        assert!(path.pacing_gain() > 2.7, "Startup ended at gain {}", path.pacing_gain());
    }
    path.in_flight = 3 * path.bdp();
    path.round();
    assert_close("gain a round later", path.pacing_gain(), STARTUP, 0.01);
    (0..3).for_each(|_| path.round());
    assert_close("gain three rounds later", path.pacing_gain(), DRAIN, 1e-3);
}

/// Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss.
#[test]
fn startup_while_application_limited() {
    let mut path = path(&without_probe_rtt(), 1);
    path.app_limited = true;
    (0..100).for_each(|_| path.round());
    assert_close("gain", path.pacing_gain(), STARTUP, 1e-3);
}

/// Exiting STARTUP on Loss When Application-Limited: after a round of recovery with more than 2 % lost in at least six
/// ranges.
#[test]
fn startup_exit_on_loss() {
    for (lost, ends) in [(10, true), (5, false)] {
        let mut path = path(&without_probe_rtt(), 1);
        path.app_limited = true;
        (0..3).for_each(|_| path.round());
        path.in_flight = 2 * path.bdp();
        path.lose(lost);
        after_loss(&mut path.algorithm, &path.window, path.window.cwnd, path.now);
        path.in_recovery = true;
        // The last acknowledgement of the round is of a segment sent after the losses began.
        for _ in 0..=path.bdp() {
            path.ack_with_losses(lost);
        }
        assert_eq!(path.pacing_gain() < 2.0, ends, "{lost} lost: {}", path.pacing_gain());
    }
}

/// Exiting DRAIN Based on Inflight, and Based on Time: when the BDP is in flight, or after three rounds.
#[test]
fn drain_exit() {
    let mut path = path(&without_probe_rtt(), 1);
    path.in_flight = 2 * path.bdp();
    path.until_gain(DRAIN);
    let rounds = path.until_gain(DOWN).seconds() / 0.1;
    assert!((3.0..=4.1).contains(&rounds), "{rounds} rounds with too much in flight");

    let mut path = Path::new("bbr3", &without_probe_rtt(), 1, 1000.0, milliseconds(100.0));
    path.in_flight = 2 * path.bdp();
    path.until_gain(DRAIN);
    path.in_flight = path.bdp() + 1;
    path.ack();
    assert_close("a segment too much", path.pacing_gain(), DRAIN, 1e-6);
    path.in_flight = path.bdp();
    path.ack();
    // DOWN also has nothing to drain.
    assert_close("the BDP", path.pacing_gain(), CRUISE, 1e-6);
}

/// Exiting PROBE_DOWN on Inflight: to CRUISE once the BDP is in flight. After Max Time: to REFILL in any case, which
/// lasts one round at 1.0 before the next UP.
#[test]
fn down_exit() {
    let mut path = draining_path(&without_probe_rtt(), 1);
    path.ack();
    assert_close("drained", path.pacing_gain(), CRUISE, 1e-6);

    let mut path = draining_path(&without_probe_rtt(), 1);
    path.in_flight = path.bdp() + 20;
    let waited = path.until_gain(CRUISE).seconds();
    assert!((2.0..=3.01).contains(&waited), "bw_probe_wait is 2 to 3 s: {waited}");
    assert_close("a round of REFILL", path.until_gain(UP).seconds(), 0.1, 0.01);
}

/// Exiting PROBE_UP on Bandwidth Plateau: after three rounds.
#[test]
fn up_exit_on_plateau() {
    let mut path = probing_path(&without_probe_rtt(), 1);
    let rounds = path.until_gain(DOWN).seconds() / 0.1;
    assert_close("rounds of UP", rounds, 3.0, 0.1);
}

/// Handling Loss During PROBE_UP: a loss of more than 2 % of the data in flight ends it immediately. The data in flight
/// at that time limits the window, with 15 % of headroom in CRUISE.
#[test]
fn up_exit_on_loss() {
    let mut path = probing_path(&without_probe_rtt(), 1);
    path.in_flight = 150;
    path.lose(3);
    path.ack();
    assert_close("2 % lost", path.pacing_gain(), UP, 1e-6);
    path.lose(4);
    path.in_flight = 120;
    path.ack();
    assert_close("more lost", path.pacing_gain(), DOWN, 1e-6);
    // (inflight - 1 + (0.02 (inflight - 1) - 3) / 0.98) = 148.98 at the fourth loss.
    assert_close("bound", path.window.cwnd as f64 / MSS as f64, 148.98, 0.01);
    path.in_flight = 90;
    path.until_gain(CRUISE);
    assert_close("bound with headroom", path.window.cwnd as f64 / MSS as f64, 0.85 * 148.98, 0.01);
}

/// Marks signal congestion like losses (section 3.7): marks on more than 2 % of the data in flight end PROBE_UP.
#[test]
fn up_exit_on_marks() {
    for (marked, gain) in [(3, UP), (4, DOWN)] {
        let mut path = probing_path(&without_probe_rtt(), 1);
        path.in_flight = 150;
        path.marked = marked;
        path.ack();
        assert_close(&format!("{marked} marked"), path.pacing_gain(), gain, 1e-6);
    }
}

/// The long-term bound is at least 0.7 of the BDP (section 5.5.10.2). CRUISE keeps 15 % of it as headroom.
#[test]
fn inflight_bound_minimum() {
    let mut path = probing_path(&without_probe_rtt(), 1);
    path.in_flight = 20;
    path.lose(1);
    path.ack();
    assert_close("bound", path.window.cwnd as f64 / MSS as f64, 0.85 * 70.0, 0.1);
}

/// After a probe with too much loss the next one is precautionary: it ends as soon as the bound is in flight. If it
/// causes no loss, the next probe follows without a pause (section 5.3.3.6).
#[test]
fn precautionary_probe() {
    let mut path = probing_path(&without_probe_rtt(), 1);
    path.in_flight = 150;
    path.lose(4);
    path.in_flight = 90;
    path.ack();
    path.until_gain(UP);
    path.in_flight = 149;
    path.ack();
    assert_close("the bound is in flight", path.pacing_gain(), DOWN, 1e-6);
    // One round of feedback and one of REFILL.
    assert_close("until the next", path.until_gain(UP).seconds(), 0.2, 0.02);
    path.ack();
    assert_close("which persists", path.pacing_gain(), UP, 1e-6);
}

/// The bound grows by 1, 2, 4... segments per round of ProbeBW_UP while the window is fully used (section 5.3.3.5).
#[test]
fn inflight_bound_growth() {
    let mut path = probing_path(
        &json!({"probe_rtt_interval": Duration::from_seconds(100_000), "cwnd_gain": 4.0, "up_cwnd_gain": 4.0}),
        1,
    );
    path.in_flight = 150;
    path.lose(4);
    path.in_flight = 90;
    path.ack();
    path.until_gain(UP);
    path.in_flight = 149;
    path.until_gain(CRUISE);
    path.until_gain(UP);
    let mut growth = Vec::new();
    for _ in 0..6 {
        let before = path.segments();
        for _ in 0..path.bdp() {
            path.in_flight = path.segments();
            path.ack();
        }
        growth.push(path.segments() - before);
    }
    for pair in growth[3..].windows(2) {
        let ratio = pair[1] as f64 / pair[0] as f64;
        assert!((1.5..=2.7).contains(&ratio), "{growth:?}");
    }
}

/// Outside of probing, a round with losses lowers the bandwidth bound to the delivery rate, by at most 30 % (section
/// 5.5.10.3). The next probe resets the bound (section 5.3.3.3).
#[test]
fn short_term_bounds() {
    let mut path = draining_path(&without_probe_rtt(), 1);
    path.until_gain(CRUISE);
    path.round();
    let full = path.pacing_rate();
    path.rate = 500.0;
    path.in_flight = 50;
    (0..2).for_each(|_| path.round()); // No sample of the previous rate remains.
    assert_close("without losses", path.pacing_rate(), full, 1e-3);
    path.lose(1);
    (0..=path.bdp()).for_each(|_| path.ack());
    assert_close("a round with losses", path.pacing_rate() / full, 0.7, 1e-3);
    path.lose(1);
    (0..=path.bdp()).for_each(|_| path.ack());
    assert_close("another", path.pacing_rate() / full, 0.5, 1e-3);
    let forgotten = (0..5000).any(|_| {
        path.ack();
        (path.pacing_rate() / full - 1.0).abs() < 1e-3
    });
    assert!(forgotten, "REFILL paces at the full bandwidth");
}

/// The time between probes is 2 to 3 s, or as many rounds as the BDP has segments, or 62 to 63 rounds (section
/// 5.3.3.8.2).
#[test]
fn time_between_probes() {
    for (rate, rtt, least, most) in [
        (1000.0, 100.0, 2.0, 3.0),              // 100 rounds are 10 s
        (200.0, 100.0, 19.0 * 0.1, 20.0 * 0.1), // 20 rounds
        (10_000.0, 20.0, 62.0 * 0.02, 63.0 * 0.02),
    ] {
        for seed in 0..20 {
            let mut path = Path::new("bbr3", &without_probe_rtt(), seed, rate, milliseconds(rtt));
            path.in_flight = 2 * path.bdp();
            path.until_gain(DRAIN);
            path.in_flight = path.bdp();
            path.until_gain(DOWN);
            let waited = path.until_gain(UP).seconds();
            // REFILL takes an additional round, and rounds end with an acknowledgement.
            let round = rtt / 1000.0;
            let range = least - 0.1 * round..=most + 1.5 * round + 2.0 / rate;
            assert!(range.contains(&waited), "seed {seed}, BDP {}: {waited} s not in {range:?}", path.bdp());
        }
    }
}

/// Entering and Exiting PROBE_RTT: five seconds after the last sample of the minimum RTT, for 200 ms and a round, with
/// half the BDP in flight.
#[test]
fn probe_rtt() {
    let mut path = draining_path(&json!({}), 1);
    let half = path.bdp() / 2;
    while path.segments() > half {
        path.ack();
    }
    assert_close("5 s after the first", path.now.seconds() - 1.0, 5.0, 0.11);
    assert_close("window", path.segments() as f64, 50.0, 1.0);
    path.in_flight = half;
    let begin = path.now;
    while path.segments() <= half {
        path.ack();
    }
    let lasted = path.now.since(begin).seconds();
    assert!((0.2..=0.32).contains(&lasted), "it lasts {lasted} s");
    assert_close("it goes on with CRUISE", path.pacing_gain(), CRUISE, 1e-6);
    assert!(path.segments() >= 2 * path.bdp(), "the window is given back: {}", path.segments());
}

/// Entering and Exiting PROBE_RTT During STARTUP: STARTUP continues afterwards.
#[test]
fn probe_rtt_in_startup() {
    let mut path = path(&json!({}), 1);
    path.app_limited = true;
    path.in_flight = 10;
    (0..49).for_each(|_| path.round());
    while path.segments() > path.bdp() / 2 {
        path.ack();
    }
    (0..5).for_each(|_| path.round());
    assert!(path.segments() > path.bdp() / 2);
    path.rate *= 2.0;
    (0..2).for_each(|_| path.round());
    assert_close("gain", path.pacing_gain(), STARTUP, 1e-3);
}

/// Correctly Managing Sub-Packet BDPs: the window is at least four segments, here for quanta at both ends.
#[test]
fn sub_packet_bdp() {
    let mut path = Path::new("bbr3", &json!({}), 1, 10.0, milliseconds(100.0));
    path.in_flight = 1;
    for _ in 0..500 {
        path.ack();
        assert!(path.segments() >= 4, "{}", path.segments());
    }
    assert!(path.segments() <= 12 && path.pacing_rate() < 15.0, "{} at {}", path.segments(), path.pacing_rate());
}

/// Handling Spurious Fast Recovery: a spurious loss restores the window and the bound, and probing continues.
#[test]
fn spurious_recovery_undo() {
    let mut path = probing_path(&without_probe_rtt(), 1);
    path.round();
    let window = path.window.cwnd;
    path.in_flight = 150;
    path.lose(4);
    after_loss(&mut path.algorithm, &path.window, path.window.cwnd, path.now);
    path.in_recovery = true;
    path.ack();
    assert!(path.window.cwnd < window, "the loss bounds the window");
    path.in_recovery = false;
    path.algorithm.on_congestion(&mut path.window, CongestionEvent::Spurious, path.now);
    path.ack();
    // ProbeBW_UP adds two segments and a quarter of the BDP.
    assert!(path.window.cwnd >= window - 28 * MSS, "{} of {window}", path.window.cwnd);
}
