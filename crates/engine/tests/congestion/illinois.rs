//! TCP Illinois: Liu, Basar and Srikant 2006.

use serde_json::{Value, json};
use sojourn_engine::tcp::congestion::Ack;
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartKind};
use sojourn_engine::tcp::window::Window;

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds, number, vectors};

/// A window of acknowledgements without growth, the last of which ends a round of this round-trip time.
fn round(flow: &mut Flow, rtt: f64) {
    flow.rtt = milliseconds(rtt);
    let end = flow.una + flow.window.cwnd;
    while flow.una < end {
        flow.ack_credited(flow.window.mss, flow.window.mss, false);
    }
}

/// Growth per round trip, in segments, measured without ending a round.
fn growth(mut flow: Flow) -> f64 {
    let before = flow.window.cwnd;
    flow.ack_credited(1, before, true);
    (flow.window.cwnd - before) as f64 / flow.window.mss as f64
}

/// A flow that has seen RTTs of 100 ms and 100 ms + `greatest`, and then one round with an average delay of `delay`.
fn flow(parameters: Value, window: Window, delay: f64, greatest: f64) -> Flow {
    let mut flow = Flow::new("illinois", parameters, 1.0, milliseconds(100.0));
    flow.window = window;
    flow.ack_credited(1, 0, false);
    round(&mut flow, 100.0 + greatest);
    round(&mut flow, 100.0 + delay);
    flow
}

fn window(segments: u64) -> Window {
    Window { cwnd: segments * MSS, ssthresh: segments * MSS, mss: MSS }
}

/// ns-3's test: alpha and beta for given delays, and in whole segments the window after two segments are acknowledged
/// and after a subsequent loss.
#[test]
fn ns3_vectors() {
    for vector in vectors("highspeed", "illinois-ack_update_and_loss") {
        let (inputs, params, expected) = (&vector["inputs"], &vector["params"], &vector["expected"]);
        let parameters = json!({
            "alpha_min": params["alpha_min"], "alpha_max": params["alpha_max"], "beta_min": params["beta_min"],
            "beta_max": params["beta_max"], "window_threshold": params["win_thresh"], "theta": params["theta"],
        });
        let mss = inputs["mss"].as_u64().unwrap();
        let bytes = |key: &str| inputs[key].as_u64().unwrap() * mss;
        let window = Window { cwnd: bytes("cwnd_segments"), ssthresh: bytes("ssthresh_segments"), mss };
        let start = || flow(parameters.clone(), window, number(&expected["da_ms"]), number(&expected["dm_ms"]));
        assert_close(&vector.to_string(), growth(start()), number(&expected["alpha"]), 0.001);

        let mut flow = start();
        if flow.window.in_slow_start() {
            // ns-3 grows the window by one segment per call in slow start.
            let ack = Ack { acked: 2 * mss, credit: mss, ..Ack::default() };
            SlowStart::new(SlowStartKind::Standard).increase(&mut flow.window, &ack);
        } else {
            flow.ack_credited(2 * mss, 2 * mss, true);
        }
        assert_eq!(flow.window.cwnd / mss, expected["cwnd_segments"].as_u64().unwrap(), "{vector}");
        let ssthresh = after_loss(&mut flow.algorithm, &flow.window, flow.window.cwnd, flow.now);
        assert_eq!(ssthresh / mss, expected["ssthresh_segments"].as_u64().unwrap(), "{vector}");
        let left = ssthresh as f64 / flow.window.cwnd as f64;
        assert_close(&vector.to_string(), 1.0 - left, number(&expected["beta"]), 0.001);
    }
}

/// Growth is 10 segments per round trip up to 1 % of the maximum delay, and falls as a hyperbola to 0.3 at the maximum.
/// The reduction is 1/8 up to 10 % of the maximum delay, and rises linearly to 1/2 at 80 %. In between, with d the
/// share of the maximum delay: alpha = 9.9 / (0.99 + 97 (d - 0.01) / 3).
#[test]
fn alpha_and_beta_curves() {
    let hyperbola = |d: f64| 10.0 * 0.99 / (0.99 + (d - 0.01) * 9.7 / 0.3);
    let rows = [
        (0.0, 10.0, 0.125),
        (0.009, 10.0, 0.125),
        (0.1, hyperbola(0.1), 0.125),
        (0.275, hyperbola(0.275), 0.21875),
        (0.45, hyperbola(0.45), 0.3125),
        (0.8, hyperbola(0.8), 0.5),
        (1.0, 0.3, 0.5),
    ];
    for (share, alpha, beta) in rows {
        // Theta 1: one fast round suffices.
        let mut flow = flow(json!({"theta": 1}), window(1000), 50.0 * share, 50.0);
        assert_close(&format!("alpha at {share}"), growth(flow.clone()), alpha, 0.01);
        flow.lose();
        assert_close(&format!("beta at {share}"), 1.0 - flow.segments() / 1000.0, beta, 0.001);
    }
}

/// After a round with delay, growth returns to its maximum after theta rounds without delay.
#[test]
fn theta_fast_rounds() {
    for theta in [1, 5, 8] {
        let mut flow = flow(json!({"theta": theta}), window(100), 50.0, 50.0);
        for _ in 1..theta {
            round(&mut flow, 100.0);
            assert_close("growth too early", growth(flow.clone()), 0.3, 0.002);
        }
        round(&mut flow, 100.0);
        assert_close("growth", growth(flow.clone()), 10.0, 0.001);

        // The same number again: past rounds do not count.
        round(&mut flow, 150.0);
        for _ in 1..theta {
            round(&mut flow, 100.0);
            assert_close("growth too early again", growth(flow.clone()), 0.3, 0.002);
        }
        round(&mut flow, 100.0);
        assert_close("growth again", growth(flow), 10.0, 0.001);
    }
}

/// Below 15 segments, and for the first round after a timeout, it behaves like Reno.
#[test]
fn reno_at_small_windows() {
    let mut small = flow(json!({}), window(14), 0.0, 50.0);
    let mut timed_out = flow(json!({}), window(28), 0.0, 50.0);
    timed_out.time_out();
    timed_out.window = window(14);
    for flow in [&mut small, &mut timed_out] {
        assert_close("growth", growth(flow.clone()), 1.0, 0.001);
        flow.lose();
        assert_close("window after a loss", flow.segments(), 7.0, 0.001);
    }
}

/// The window grows by at most what is credited: by 5 segments after a reduction to 5, though alpha is still 10.
#[test]
fn maximum_growth() {
    let mut flow = flow(json!({"theta": 1}), window(20), 0.0, 50.0);
    flow.window.cwnd = 5 * MSS;
    assert_close("growth", growth(flow), 5.0, 0.001);
}
