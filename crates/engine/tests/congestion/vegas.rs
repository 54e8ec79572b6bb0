//! Vegas: Brakmo and Peterson 1995.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl, CongestionEvent};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

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

/// ns-2's Vegas on a path that a window of segments fills: each acknowledgement is of one segment, in flight are as many as the
/// window began with.
struct OfNs2 {
    algorithm: Algorithm,
    window: Window,
    una: u64,
    nxt: u64,
}

impl OfNs2 {
    /// Segments acknowledged one by one with a base RTT of 100 ms, up to the end of a round trip.
    fn new(segments: u64, ssthresh: u64) -> OfNs2 {
        let parameters = json!({"rules": "ns2", "alpha": 1, "beta": 3, "gamma": 1, "decrease": 0.25});
        let algorithm = Algorithm::new("vegas", &parameters).expect("a known algorithm");
        let window = Window { cwnd: segments * MSS, ssthresh: ssthresh * MSS, mss: MSS };
        let mut flow = OfNs2 { algorithm, window, una: 0, nxt: segments * MSS };
        flow.acknowledge(milliseconds(100.0));
        flow
    }

    fn acknowledge(&mut self, rtt: Duration) {
        self.una += MSS;
        let ack = Ack { acked: MSS, credit: MSS, rtt: Some(rtt), una: self.una, nxt: self.nxt, ..Ack::default() };
        self.algorithm.on_ack(&self.window, &ack);
        if self.window.in_slow_start() {
            assert_eq!(self.algorithm.increase_in_slow_start(&mut self.window, &ack), Some(0));
        } else {
            self.algorithm.increase(&mut self.window, &ack);
        }
        self.nxt += MSS;
    }

    /// A round trip with samples of one RTT in its first half and of another in its second; how much the acknowledgement that
    /// ends it changes the window, in segments.
    fn round(&mut self, rtts: [f64; 2]) -> f64 {
        let segments = (self.nxt - self.una) / MSS;
        for place in 0..segments - 1 {
            self.acknowledge(milliseconds(rtts[usize::from(2 * place >= segments - 1)]));
        }
        let before = self.window.segments();
        self.acknowledge(milliseconds(rtts[1]));
        self.window.segments() - before
    }
}

/// ns-2.35 tcp-vegas.cc, recv: delta = int(20 - 20 base RTT / mean RTT + 0.5) of a window of 20 segments. The sample of the
/// acknowledgement that begins a round trip, 100 ms, belongs to it. With means of 101.9, 104.75, 117.1 and 122.8 ms delta is 0, 1, 3 and 4.
/// Below alpha = 1 each acknowledgement adds a segment over the window, above beta = 3 one is taken off. Of ten samples of 102 and
/// nine of 152 ms it is the mean that counts, 124.4 ms.
#[test]
fn ns2_round_trips() {
    for (rtts, grows, falls) in [
        ([102.0; 2], true, 0.0),
        ([105.0; 2], false, 0.0),
        ([118.0; 2], false, 0.0),
        ([124.0; 2], false, 1.0),
        ([102.0, 152.0], false, 1.0),
    ] {
        let mut flow = OfNs2::new(20, 2);
        let changed = flow.round(rtts);
        let growth = if grows { 1.0 / (flow.window.segments() - changed) } else { 0.0 };
        // The window is in whole bytes of segments of a thousand.
        assert!((changed - (growth - falls)).abs() < 1e-3, "{rtts:?}: {changed}, expected {growth} less {falls}");
    }
}

/// ns-2.35 tcp-vegas.cc, recv: slow start adds a segment for each acknowledgement in every other round trip. With delta above
/// gamma = 1 at the end of one that did not, it ends with an eighth less, and with an ssthresh of two segments.
#[test]
fn ns2_slow_start() {
    let mut flow = OfNs2::new(16, 1000);
    assert_eq!(flow.window.cwnd, 17 * MSS, "the first round trip grows");
    assert_eq!(flow.round([100.0; 2]), 0.0);
    let before = flow.window.segments();
    let changed = flow.round([125.0; 2]);
    assert_eq!(changed, -before / 8.0);
    assert_eq!(flow.window.ssthresh, 2 * MSS);
}

/// ns-2.35 tcp-vegas.cc, recv and timeout: a fast retransmission keeps win - win / 4 in whole segments, two of three or fewer, and is no slow
/// start from then on; after a timeout ssthresh is half the window.
#[test]
fn ns2_losses() {
    for (segments, kept) in [(20, 15), (7, 6), (3, 2)] {
        let mut flow = OfNs2::new(segments, 2);
        let flight_size = flow.window.cwnd;
        flow.algorithm.on_congestion(&mut flow.window, CongestionEvent::Loss { flight_size }, Time::ZERO);
        assert_eq!(flow.window.ssthresh, kept * MSS, "{segments} segments");
        let mut timed_out = flow.algorithm.clone();
        let mut window = flow.window;
        timed_out.on_congestion(&mut window, CongestionEvent::Timeout, Time::ZERO);
        assert_eq!(window.ssthresh, (flight_size / 2).max(2 * MSS), "{segments} segments");
        flow.window.cwnd = flow.window.ssthresh;
        flow.acknowledge(milliseconds(100.0));
        assert_eq!(flow.window.ssthresh, 2 * MSS);
    }
}
