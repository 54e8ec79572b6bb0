//! BBR version 1: Linux 5.x net/ipv4/tcp_bbr.c, and the gains expected by ns-3's tests.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{CongestionControl, CongestionEvent};
use sojourn_engine::time::Duration;

use super::flow::{MSS, after_loss, assert_close, milliseconds, number};
use super::path::Path;

/// A path of 1000 segments of 1000 bytes per second with an RTT of one second. A quantum is two segments, or slightly
/// more in STARTUP.
fn path(parameters: &Value, seed: u64) -> Path {
    Path::new("bbr", parameters, seed, 1000.0, Duration::from_seconds(1))
}

/// A path after STARTUP, with the queue that STARTUP leaves.
fn full_path(parameters: &Value, seed: u64) -> Path {
    let mut path = path(parameters, seed);
    path.in_flight = 2 * path.bdp();
    (0..6).for_each(|_| path.round());
    path
}

/// A path in PROBE_BW.
fn probing_path(parameters: &Value, seed: u64) -> Path {
    let mut path = full_path(parameters, seed);
    path.in_flight = path.bdp();
    path.ack();
    path
}

/// Pacing and window gains of each mode, from ns-3's test. Quanta add less than 2 % of the BDP to the window.
#[test]
fn gains_by_mode() {
    let figures: Value = serde_json::from_str(include_str!("../data/model.json")).expect("the figures are JSON");
    for vector in figures["vectors"].as_array().expect("vectors") {
        let parameters = &vector["params"];
        let path = match vector["inputs"]["mode"].as_str().expect("a mode") {
            "STARTUP" => {
                let mut path = path(parameters, 1);
                path.app_limited = true; // Otherwise it would end before the window is reached.
                (0..10).for_each(|_| path.round());
                path
            }
            "DRAIN" => full_path(parameters, 1),
            "PROBE_BW(first)" => {
                let mut path = probing_path(parameters, 1);
                path.in_flight = 2 * path.bdp();
                path.until_gain(1.25);
                path
            }
            mode => panic!("no mode {mode}"),
        };
        let expected = &vector["expected"];
        let cwnd_gain = path.segments() as f64 / path.bdp() as f64;
        assert_close(&vector.to_string(), path.pacing_gain(), number(&expected["pacing_gain"]), 1e-6);
        assert_close(&vector.to_string(), cwnd_gain - 0.01, number(&expected["cwnd_gain"]), 0.01);
    }
}

/// The initial pacing rate is high_gain times the window per RTT, less one percent. Before the first RTT sample the RTT
/// is taken as one millisecond (bbr_init_pacing_rate_from_rtt).
#[test]
fn initial_pacing_rate() {
    let path = path(&json!({}), 1);
    let rate = |srtt| path.algorithm.pacing_rate(&path.window, srtt).expect("it paces").0 as f64;
    assert_close("known", rate(milliseconds(50.0)), 2.885 * 0.99 * (10 * MSS * 8) as f64 / 0.05, 1.0);
    assert_close("unknown", rate(Duration::ZERO), 2.885 * 0.99 * (10 * MSS * 8) as f64 / 0.001, 1.0);
}

/// STARTUP lasts while the bandwidth grows by a quarter per round, and three rounds more (bbr_check_full_bw_reached).
#[test]
fn startup_exit() {
    let mut path = path(&json!({}), 1);
    path.rate = 100.0;
    for _ in 0..8 {
        path.rate = (1.26 * path.rate).ceil();
        // The round of the rate change has segments of both rates. Two rounds ensure a sample of only the new rate.
        (0..2).for_each(|_| path.round());
        assert!(path.pacing_gain() > 2.8, "STARTUP ended at gain {}", path.pacing_gain());
    }
    path.in_flight = 3 * path.bdp();
    path.round();
    assert_close("gain a round later", path.pacing_gain(), 2.885, 0.001);
    (0..3).for_each(|_| path.round());
    assert_close("gain three rounds later", path.pacing_gain(), 1.0 / 2.885, 0.001);
    let inflight = path.window.ssthresh as f64 / MSS as f64;
    assert!(
        inflight >= path.bdp() as f64 && inflight <= path.bdp() as f64 + 30.0,
        "the threshold is the BDP: {inflight}"
    );
}

/// PROBE_BW begins in any phase except the draining one, with equal probability (bbr_cycle_rand): with a gain of 1.25
/// in a seventh of the cases.
#[test]
fn random_first_phase() {
    let gains: Vec<f64> = (0..700).map(|seed| probing_path(&json!({}), seed).pacing_gain()).collect();
    let probing = gains.iter().filter(|gain| (**gain - 1.25).abs() < 0.001).count();
    let cruising = gains.iter().filter(|gain| (**gain - 1.0).abs() < 0.001).count();
    assert_eq!(probing + cruising, gains.len(), "none begins by draining");
    // Three standard deviations of a binomial share.
    assert_close("begin by probing", probing as f64, 100.0, 28.0);
}

/// The cycle of PROBE_BW: one round trip at 1.25, one at 0.75, six at 1 (bbr_pacing_gain).
#[test]
fn gain_cycle() {
    let mut path = probing_path(&json!({}), 1);
    path.in_flight = 2 * path.bdp(); // Enough for the probe, too much for draining to end early.
    path.until_gain(0.75);
    path.until_gain(1.0);
    for _ in 0..3 {
        assert_close("six phases at 1", path.until_gain(1.25).seconds(), 6.0, 0.02);
        assert_close("one at 1.25", path.until_gain(0.75).seconds(), 1.0, 0.02);
        assert_close("one at 0.75", path.until_gain(1.0).seconds(), 1.0, 0.02);
    }
}

/// The probing phase lasts until the gain's multiple of the BDP is in flight or a packet is lost. The draining phase
/// ends when the BDP is in flight (bbr_is_next_cycle_phase).
#[test]
fn phase_end() {
    let mut path = probing_path(&json!({}), 1);
    path.until_gain(1.25);
    (0..5).for_each(|_| path.round());
    assert_close("still probing", path.pacing_gain(), 1.25, 1e-6);
    path.ack_with_losses(1);
    assert_close("after a loss", path.pacing_gain(), 0.75, 1e-6);
    path.ack();
    assert_close("the BDP is in flight", path.pacing_gain(), 1.0, 1e-6);
}

/// Application-limited samples count only if their bandwidth is greater than the estimate (bbr_update_bw).
#[test]
fn application_limited_samples() {
    let mut path = probing_path(&json!({"probing_gain": 1.0, "draining_gain": 1.0}), 1);
    let before = path.pacing_rate();
    (path.rate, path.app_limited) = (500.0, true);
    (0..20).for_each(|_| path.round());
    assert_close("half the rate", path.pacing_rate(), before, 1e-3);
    path.rate = 2000.0;
    (0..2).for_each(|_| path.round());
    assert_close("twice the rate", path.pacing_rate(), 2.0 * before, 1e-3);
    // Samples that count replace it after ten rounds.
    (path.rate, path.app_limited) = (500.0, false);
    (0..9).for_each(|_| path.round());
    assert_close("nine rounds later", path.pacing_rate(), 2.0 * before, 1e-3);
    (0..4).for_each(|_| path.round());
    assert_close("thirteen rounds later", path.pacing_rate(), before / 2.0, 1e-3);
}

/// PROBE_RTT begins ten seconds after the last sample of the minimum RTT, and keeps four segments in flight for 200 ms
/// and a round. The window is then restored (bbr_update_min_rtt).
#[test]
fn probe_rtt() {
    let mut path = Path::new("bbr", &json!({}), 1, 1000.0, milliseconds(100.0));
    (0..10).for_each(|_| path.round());
    let least_until = path.now;
    path.rtt = milliseconds(101.0);
    while path.segments() > 4 {
        path.ack();
    }
    assert_close("it begins", path.now.since(least_until).seconds(), 10.0, 0.02);
    path.in_flight = 4;
    let begin = path.now;
    while path.segments() == 4 {
        path.ack();
    }
    let lasted = path.now.since(begin).seconds();
    assert!((0.2..0.32).contains(&lasted), "it lasts {lasted} s");
    assert!(path.segments() > 2 * path.bdp(), "the window is given back: {}", path.segments());
}

/// Packet conservation in the first round of a recovery: the window is what is in flight and what was delivered. The
/// end of the recovery restores the window (bbr_set_cwnd_to_recover_or_restore). The threshold does not change.
#[test]
fn recovery() {
    let mut path = probing_path(&json!({}), 1);
    path.round();
    let (window, ssthresh) = (path.window.cwnd, path.window.ssthresh);
    assert_eq!(after_loss(&mut path.algorithm, &path.window, window, path.now), ssthresh);
    path.in_recovery = true;
    path.in_flight = 700;
    path.ack_with_losses(1);
    assert_eq!(path.segments(), 701, "what is in flight and what arrived");
    path.round();
    path.ack();
    path.round();
    assert!(path.segments() > 1000, "a round later it grows: {}", path.segments());
    path.in_recovery = false;
    path.ack();
    // Quanta differ by two in the probing phase.
    assert!(path.window.cwnd >= window - 2 * MSS, "{} of {window}", path.window.cwnd);
}

/// After a timeout the window grows from one segment, to four with the first acknowledgement. The end of the recovery
/// restores it.
#[test]
fn timeout() {
    let mut path = probing_path(&json!({}), 1);
    path.round();
    let window = path.window.cwnd;
    after_loss(&mut path.algorithm, &path.window, window, path.now);
    path.algorithm.on_congestion(&mut path.window, CongestionEvent::Timeout, path.now);
    path.window.cwnd = MSS;
    path.in_recovery = true;
    path.in_flight = 0;
    path.ack();
    assert_eq!(path.segments(), 4);
    (0..10).for_each(|_| path.ack());
    assert_eq!(path.segments(), 14);
    path.in_recovery = false;
    path.ack();
    assert!(path.window.cwnd >= window - 2 * MSS, "{} of {window}", path.window.cwnd);
}
