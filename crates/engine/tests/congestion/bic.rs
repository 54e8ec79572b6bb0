//! BIC: Xu, Harfoush and Rhee 2004, with the constants of Linux.

use serde_json::{Value, json};

use super::flow::{Flow, MSS, assert_close, milliseconds, number, vectors};

/// The parameters of a worked vector, with the names used here.
fn parameters(vector: &Value) -> Value {
    let params = &vector["params"];
    json!({
        "low_window": params["low_wnd"], "search_factor": params["b"], "max_increment": params["s_max"],
        "smooth_part": params["smooth_part"], "beta": params["beta"],
    })
}

/// A flow at `segments` whose last loss was at `last_max`, or without a loss if `last_max` is zero.
fn flow(mut parameters: Value, segments: f64, last_max: f64) -> Flow {
    parameters["fast_convergence"] = parameters.get("fast_convergence").cloned().unwrap_or(json!(true));
    let mut flow = Flow::new("bic", parameters, last_max.max(1.0), milliseconds(100.0));
    if last_max > 0.0 {
        flow.lose();
    }
    flow.window.cwnd = (segments * MSS as f64) as u64;
    flow
}

/// Segments acknowledged per segment of growth (whole ones, as ns-3 counts), and whether the given acknowledgement
/// grows the window by a segment. ns-3 grows it by at most one segment per call.
#[test]
fn increase() {
    for vector in vectors("highspeed", "bic-increase") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let segments = number(&inputs["cwnd_segments"]);
        let start = || flow(parameters(&vector), segments, number(&inputs["last_max_segments"]));

        let mut one = start();
        one.ack();
        let growth = one.segments() - segments;
        assert_eq!((1.0 / growth).floor(), number(&expected["ack_cnt"]), "{vector}");

        let mut all = start();
        let acked = inputs["segments_acked"].as_u64().unwrap() * MSS;
        all.ack_credited(acked, acked, true);
        let grown = all.segments() >= segments + 1.0;
        assert_eq!(grown, number(&expected["cwnd_segments"]) > segments, "{vector}");
    }
}

/// ssthresh and W_max after a loss, in whole segments. W_max follows from the growth at 30 segments, which is a third
/// of the distance beyond W_max.
#[test]
fn ssthresh() {
    for vector in vectors("highspeed", "bic-ssthresh") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let mut parameters = parameters(&vector);
        parameters["fast_convergence"] = inputs["fast_convergence"].clone();
        let segments = number(&inputs["cwnd_segments"]);
        let mut flow = flow(parameters, segments, number(&inputs["last_max_segments"]));
        flow.lose();
        let ssthresh = number(&expected["ssthresh_bytes"]) / number(&inputs["mss"]);
        assert_close(&vector.to_string(), flow.segments(), ssthresh, 0.001);
        flow.window.cwnd = 30 * MSS;
        let w_max = 30.0 - 3.0 * flow.leap();
        assert_eq!((w_max + 0.001).floor(), number(&expected["last_max_segments"]), "{vector}");
    }
}

/// After a loss at 1000 segments the window grows by 16 segments per round trip until a quarter of the distance is
/// less, then by that quarter, by a fifth of a segment over the last four segments and the first four beyond, and then
/// by a third of the distance covered, up to 16 again.
#[test]
fn binary_search_growth() {
    let rows = [
        (800.0, 16.0),
        (936.0, 16.0),
        (960.0, 10.0),
        (990.0, 2.5),
        (995.0, 1.25),
        (997.0, 0.2),
        (1003.0, 0.2),
        (1004.0, 4.0 / 3.0),
        (1030.0, 10.0),
        (1048.0, 16.0),
        (2000.0, 16.0),
    ];
    for (segments, growth) in rows {
        assert_close(&format!("at {segments}"), flow(json!({}), segments, 1000.0).leap(), growth, 0.001);
    }
}

/// Growth over the last four segments below the window of the last loss takes smooth_part round trips.
#[test]
fn smooth_part() {
    for smooth_part in [5, 20] {
        let mut flow = flow(json!({"smooth_part": smooth_part}), 996.0, 1000.0);
        flow.rounds(smooth_part);
        assert_close("window after so many round trips", flow.segments(), 1000.0, 0.05);
    }
}

/// A loss reduces the window to 0.8 of its size, to half for windows of up to 14 segments, and to at least two
/// segments.
#[test]
fn decrease() {
    let rows = [(1000.0, 799.8), (15.0, 11.997), (14.0, 7.0), (4.0, 2.0), (2.0, 2.0)];
    for (segments, left) in rows {
        let mut flow = flow(json!({}), segments, 0.0);
        flow.lose();
        assert_close(&format!("loss at {segments}"), flow.segments(), left, 0.01);
    }
}

/// After losses at 100 and then at 80 segments, W_max is 0.9 * 80 (beta 0.8) with fast convergence, and 80 without.
#[test]
fn fast_convergence() {
    for (fast_convergence, w_max) in [(true, 72.0), (false, 80.0)] {
        let parameters = json!({"beta": 0.8, "fast_convergence": fast_convergence});
        let mut flow = flow(parameters, 80.0, 100.0);
        flow.lose();
        assert_close("window", flow.segments(), 64.0, 0.001);
        assert_close("growth", flow.leap(), (w_max - 64.0) / 4.0, 0.001);
    }
}

/// Before the first loss, and after a timeout, there is no W_max: the window grows by a third, up to 16 segments per
/// round trip, or by a twentieth if that is more.
#[test]
fn growth_without_loss() {
    for (segments, growth) in [(14.0, 1.0), (15.0, 5.0), (30.0, 10.0), (100.0, 16.0), (320.0, 16.0), (1000.0, 50.0)] {
        assert_close(&format!("at {segments}"), flow(json!({}), segments, 0.0).leap(), growth, 0.001);
        let mut timed_out = flow(json!({}), 500.0, 800.0);
        timed_out.time_out();
        timed_out.window.cwnd = (segments * MSS as f64) as u64;
        assert_close(&format!("at {segments} after a timeout"), timed_out.leap(), growth, 0.001);
    }
}
