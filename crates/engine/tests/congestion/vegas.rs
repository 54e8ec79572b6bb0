//! Vegas: Brakmo and Peterson 1995.

use serde_json::{Value, json};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Time;

use super::flow::{MSS, after_loss, milliseconds, number, vectors};
use super::rounds::Rounds;

/// A window in congestion avoidance, or in slow start with an ssthresh of 1000 segments, and a base RTT of 100 ms.
fn vegas(parameters: &Value, segments: u64, slow_start: bool) -> Rounds {
    let cwnd = segments * MSS;
    let ssthresh = if slow_start { 1000 * MSS } else { 2 * MSS };
    Rounds::new("vegas", parameters, Window { cwnd, ssthresh, mss: MSS }, milliseconds(100.0))
}

/// Windows and thresholds at the end of a round agree with the worked vectors.
#[test]
fn end_of_round() {
    for vector in vectors("delay", "vegas-end_of_rtt_update") {
        let mut rounds = Rounds::of_vector("vegas", &vector, &vector["parameters"]);
        let samples = vector["inputs"]["rtt_samples_in_round"].as_u64().unwrap();
        rounds.round(samples, milliseconds(number(&vector["inputs"]["min_rtt_in_round_ms"])));
        assert_eq!(json!(rounds.window.cwnd / rounds.window.mss), vector["expected"]["cwnd_segments"], "{vector}");
        assert_eq!(rounds.window.cwnd % rounds.window.mss, 0, "{vector}");
        assert_eq!(json!(rounds.window.ssthresh), vector["expected"]["ssthresh_bytes"], "{vector}");
    }
}

/// The window grows by one segment with a backlog below alpha, shrinks by one above beta, and is constant between: Diff
/// = (expected - actual) base RTT (Brakmo and Peterson 1995 section III.B). For a backlog of b of 20 segments the RTT
/// is 100 ms / (1 - b / 20).
#[test]
fn backlog_limits() {
    for (alpha, beta) in [(2, 4), (1, 3)] {
        for backlog in 0..10 {
            let mut rounds = vegas(&json!({"alpha": alpha, "beta": beta}), 20, false);
            // A thousandth less, so that rounding up gives exactly the backlog.
            rounds.round(3, milliseconds(100.0 / (1.0 - (f64::from(backlog) - 0.001).max(0.0) / 20.0)));
            let expected = if backlog < alpha {
                21
            } else if backlog > beta {
                19
            } else {
                20
            };
            assert_eq!(rounds.window.cwnd, expected * MSS, "backlog {backlog}, alpha {alpha}, beta {beta}");
            assert!(!rounds.window.in_slow_start());
        }
    }
}

/// The window does not shrink below two segments (Linux tcp_vegas.c).
#[test]
fn minimum_window() {
    let mut rounds = vegas(&json!({"alpha": 0, "beta": 0}), 8, false);
    for _ in 0..20 {
        rounds.round(3, milliseconds(10_000.0));
    }
    assert_eq!(rounds.window.cwnd, 2 * MSS);
    assert!(!rounds.window.in_slow_start());
}

/// Vegas uses the minimum RTT sample of a round, since delayed acknowledgements raise the others.
#[test]
fn minimum_sample() {
    let mut rounds = vegas(&json!({}), 20, false);
    rounds.measure(4, milliseconds(300.0));
    rounds.round(3, milliseconds(101.0));
    assert_eq!(rounds.window.cwnd, 21 * MSS);
}

/// With fewer than three samples a round is Reno's: the acknowledgement that ends it is credited, one segment per
/// window (Linux tcp_vegas.c). A window of two segments thus grows in every second round, for any RTT.
#[test]
fn reno_without_samples() {
    let mut rounds = vegas(&json!({}), 2, false);
    rounds.round(2, milliseconds(500.0));
    assert_eq!(rounds.window.cwnd, 2 * MSS);
    rounds.round(2, milliseconds(500.0));
    assert_eq!(rounds.window.cwnd, 3 * MSS);
}

/// With the original slow start the window doubles every other round trip, and rates are compared after a round with a
/// constant window. Otherwise it does both in every round (Brakmo and Peterson 1995 section III.C, Linux tcp_vegas.c).
#[test]
fn slow_start() {
    let growing = |rounds: &mut Rounds| {
        let before = rounds.window.cwnd;
        rounds.acknowledge(1, MSS, milliseconds(100.0));
        rounds.window.cwnd > before
    };
    for (every_other_round, expected) in [(false, [true; 5]), (true, [true, false, true, false, true])] {
        let mut rounds = vegas(&json!({"every_other_round": every_other_round}), 20, true);
        for grows in expected {
            assert_eq!(growing(&mut rounds), grows, "every other round: {every_other_round}");
            rounds.round(3, milliseconds(100.0));
        }
    }
    for (every_other_round, ends_after) in [(false, 1), (true, 2)] {
        let mut rounds = vegas(&json!({"every_other_round": every_other_round}), 20, true);
        let mut count = 0;
        while rounds.window.in_slow_start() {
            rounds.round(3, milliseconds(200.0));
            count += 1;
        }
        assert_eq!(count, ends_after, "every other round: {every_other_round}");
    }
}

/// A loss reduces the flight size by half, or by the share set, to at least two segments (Linux tcp_vegas.c; a quarter
/// in ns-2).
#[test]
fn reduction_on_loss() {
    for (parameters, flight, ssthresh) in [
        (json!({}), 20 * MSS, 10 * MSS),
        (json!({}), 3 * MSS, 2 * MSS),
        (json!({"decrease": 0.25}), 20 * MSS, 15 * MSS),
    ] {
        let mut rounds = vegas(&parameters, 20, false);
        assert_eq!(
            after_loss(&mut rounds.algorithm, &rounds.window, flight, Time::ZERO),
            ssthresh,
            "{parameters} of {flight}"
        );
    }
}

/// A round with a loss is not measured, the next one is (Linux tcp_vegas.c, vegas_enable).
#[test]
fn round_after_loss() {
    let mut rounds = vegas(&json!({}), 40, false);
    rounds.measure(10, milliseconds(300.0));
    let window = rounds.window;
    rounds.window.ssthresh = after_loss(&mut rounds.algorithm, &window, window.cwnd, Time::ZERO);
    rounds.window.cwnd = rounds.window.ssthresh;
    rounds.round(3, milliseconds(300.0));
    assert_eq!(rounds.window.cwnd, 20 * MSS);
    rounds.round(3, milliseconds(300.0));
    assert_eq!(rounds.window.cwnd, 19 * MSS);
}
