//! HighSpeed TCP: RFC 3649.

use serde_json::json;

use super::flow::{Flow, MSS, assert_close, milliseconds, number, rows, vectors};

/// Appendix B gives b(w) to two decimals.
const ROUNDING: f64 = 0.0051;

fn flow(segments: f64) -> Flow {
    Flow::new("hstcp", json!({}), segments, milliseconds(100.0))
}

/// Growth per round trip and the reduction by a loss equal a(w) and b(w) in every row of the table in appendix B. a(w)
/// is compared to 0.06, since each row gives the window at which the formula reaches the next whole segment.
#[test]
fn published_parameters() {
    for row in rows("highspeed", "highspeed_parameters") {
        let w = number(&row["w"]);
        assert_close(&format!("a({w})"), flow(w).leap(), number(&row["a"]), 0.06);
        let mut flow = flow(w);
        flow.lose();
        assert_close(&format!("b({w})"), 1.0 - flow.segments() / w, number(&row["b"]), ROUNDING);
    }
}

/// Acknowledgements per segment of growth, and the window after a loss, from appendix B. The latter is compared within
/// a segment and the rounding of b(w), of which the vectors have two decimals.
#[test]
fn increase_and_decrease() {
    for vector in vectors("highspeed", "highspeed-increase_and_decrease") {
        let w = number(&vector["inputs"]["cwnd_segments"]);
        let tolerance = number(&vector["tolerance"]);
        let expected = &vector["expected"];
        let mut growing = flow(w);
        let mut acks = 0.0;
        while growing.segments() < w + 1.0 {
            growing.ack();
            acks += 1.0;
        }
        assert_close(&vector.to_string(), acks, number(&expected["acks_for_plus_one_segment"]), tolerance);
        let mut losing = flow(w);
        losing.lose();
        let ssthresh = number(&expected["ssthresh_segments_after_loss"]);
        assert_close(&vector.to_string(), losing.segments(), ssthresh, tolerance + ROUNDING * w);
    }
}

/// The average window with a loss every 1/p segments agrees with the response function.
#[test]
fn average_window() {
    for row in rows("highspeed", "highspeed_response") {
        let (p, expected) = (number(&row["p"]), number(&row["window"]));
        if p >= 1e-6 {
            assert_close(&row.to_string(), flow(expected).average_window(p), expected, 0.1 * expected);
        }
    }
}

/// At windows of the response function that are too large to simulate, too, growth and decrease balance at its loss
/// rate: p = a (2 - b) / (2 b w^2) (RFC 3649 section 7).
#[test]
fn response_function_balance() {
    for row in rows("highspeed", "highspeed_response") {
        let (p, w) = (number(&row["p"]), number(&row["window"]));
        let a = flow(w).leap();
        let mut flow = flow(w);
        flow.lose();
        let b = 1.0 - flow.segments() / w;
        assert_close(&row.to_string(), a * (2.0 - b) / (2.0 * b * w * w), p, 0.1 * p);
    }
}

/// Up to Low_Window it behaves like Reno (RFC 3649 section 5): one segment per round trip, half after a loss, at least
/// two segments.
#[test]
fn reno_at_low_windows() {
    for segments in [3.0, 10.0, 38.0] {
        assert_close("growth", flow(segments).leap(), 1.0, 0.001);
        let mut flow = flow(segments);
        flow.lose();
        assert_close("window after a loss", flow.segments(), (segments / 2.0).max(2.0), 0.001);
    }
}

/// Just above Low_Window, where the formula of a(w) gives 0.95, growth is at least Reno's.
#[test]
fn minimum_growth() {
    for segments in [39.0, 40.0, 41.0] {
        assert_close("growth", flow(segments).leap(), 1.0, 0.05);
        assert!(flow(segments).leap() >= 0.999);
    }
}

/// The response function and the decrease are parameters: with High_Decrease 0.5 the window is halved at any size, and
/// the growth at 1000 segments is w^2 p(w) 2/3 with p(w) = 0.078 / w^1.5.
#[test]
fn parameters() {
    let parameters = json!({"high_decrease": 0.5, "p_exponent": 1.5});
    let mut flow = Flow::new("hstcp", parameters, 1000.0, milliseconds(100.0));
    assert_close("growth", flow.leap(), 0.078 * f64::sqrt(1000.0) * 2.0 / 3.0, 0.001);
    flow.window.cwnd = 1000 * MSS;
    flow.lose();
    assert_close("window after a loss", flow.segments(), 500.0, 0.001);
}
