//! ns-3's rules (`rules = "ns3"`): sequences worked out by hand from the formulas of ns-3.48's tcp-cubic.cc and of the
//! modules tcp-compound.cc of NITK Surathkal and of Zhou, and tcp-cubic.cc of Levasseur, Claypool and Kinicki.

use serde_json::{Value, json};
use sojourn_engine::tcp::window::Window;

use super::flow::{Flow, MSS, acks, after_loss, assert_close, milliseconds, whole_segments as segments};

fn flow(segments: u64, rtt: f64) -> Flow {
    Flow::new("cubic", json!({"rules": "ns3"}), segments as f64, milliseconds(rtt))
}

/// Before the first loss the window grows by a segment for each 20 acknowledged (CntClamp). A timeout does not forget the
/// window of the last loss (CubicReset), so that after it that is the plateau.
#[test]
fn cubic_before_loss() {
    let mut ns3 = flow(100, 40.0);
    acks(&mut ns3, 100, 1);
    assert_eq!(segments(&ns3), 105);
    ns3.lose();
    ns3.time_out();
    ns3.window.cwnd = 105 * MSS;
    // Without a target above the window, a segment takes 100 windows.
    acks(&mut ns3, 100, 1);
    assert_eq!(segments(&ns3), 105);
}

/// A loss leaves 0.7 of cwnd, rounded down, whatever is in flight (GetSsThresh).
#[test]
fn cubic_cuts_the_window() {
    let mut ns3 = flow(99, 40.0);
    assert_eq!(after_loss(&mut ns3.algorithm, &ns3.window, 50 * MSS, ns3.now), 69 * MSS);
}

/// An acknowledgement of many segments grows the window by one; the rest counts at the next ones (IncreaseWindow).
#[test]
fn cubic_segment_an_acknowledgement() {
    let mut ns3 = flow(100, 40.0);
    acks(&mut ns3, 1, 60);
    assert_eq!(segments(&ns3), 101);
    acks(&mut ns3, 2, 1);
    assert_eq!(segments(&ns3), 103);
    acks(&mut ns3, 1, 1);
    assert_eq!(segments(&ns3), 103);
}

/// Before the first loss the module of Levasseur et al. needs 20 x 16 / 32 = 10 acknowledgements for a segment and takes
/// one more (CongestionAvoidance), also with one segment an acknowledgement: 16ths of 31 are a segment, rounded down, so that
/// the ratio stays there (PktsAcked).
#[test]
fn cubic_module_counts_acknowledgements() {
    for covered in [1, 2] {
        let mut module = module(100, json!({}));
        acks(&mut module, 54, covered);
        assert_eq!(segments(&module), 104, "{covered}");
        acks(&mut module, 1, covered);
        assert_eq!(segments(&module), 105, "{covered}");
    }
}

/// Its estimate of Reno with beta = 819/1024 grows by a segment in 23/8 windows of acknowledgements, 28 with ten segments,
/// whatever they cover, and is looked at every 32 ms (CubicTcpFriendliness). On the plateau the window does not grow otherwise.
#[test]
fn cubic_module_estimate_of_reno() {
    let mut module = module(10, json!({}));
    module.lose();
    module.window.cwnd = 10 * MSS;
    acks(&mut module, 28, 2);
    assert_eq!(segments(&module), 10);
    acks(&mut module, 6, 2);
    assert_eq!(segments(&module), 11);
}

/// A loss leaves 819/1024 of cwnd, and there is no fast convergence: the plateau is the window of the last loss, also when
/// it was below that of the one before (GetSsThresh).
#[test]
fn cubic_module_reduction() {
    let mut module = module(100, json!({"reno_friendly": false}));
    module.lose();
    assert_eq!(segments(&module), 79);
    module.lose();
    assert_eq!(segments(&module), 63);
    // 79 is reached cbrt((79 - 63) / 0.4) = 3.4 s later. With fast convergence the plateau were 71.
    let end = module.now + milliseconds(3400.0);
    module.run_until(end);
    assert!((77..=80).contains(&segments(&module)), "{}", segments(&module));
}

fn module(segments: u64, mut parameters: Value) -> Flow {
    parameters["rules"] = json!("ns3-2014");
    parameters["beta"] = json!(0.8);
    Flow::new("cubic", parameters, segments as f64, milliseconds(40.0))
}

/// HighSpeed TCP grows by 2 segments a round trip from 39 on and by 3 from 119 on (TableLookupA), in whole segments; an
/// acknowledgement of four segments at 40 is worth 8 of the 40 that one of growth takes (CongestionAvoidance).
#[test]
fn highspeed_growth_of_the_table() {
    for (segments_before, grown) in [(38, 1), (39, 2), (118, 2), (119, 3)] {
        let mut ns3 = highspeed(segments_before);
        acks(&mut ns3, segments_before, 1);
        assert!((grown - 1..=grown).contains(&(segments(&ns3) - segments_before)), "{segments_before}");
    }
    let mut ns3 = highspeed(40);
    acks(&mut ns3, 4, 4);
    assert_eq!(ns3.window.cwnd, 40 * MSS);
    acks(&mut ns3, 1, 4);
    assert_eq!(ns3.window.cwnd, 41 * MSS);
}

/// A loss takes b(w) of what is in flight, by the two decimals of the table, and leaves whole segments: 56 of 100 (0.44), 118
/// of 200 (0.41), 19 of 38 (TableLookupB, GetSsThresh).
#[test]
fn highspeed_decrease_of_the_table() {
    for (flight, left) in [(38, 19), (100, 56), (101, 56), (119, 70), (200, 118), (1000, 670), (100_000, 91_000)] {
        let mut ns3 = highspeed(500);
        assert_eq!(after_loss(&mut ns3.algorithm, &ns3.window, flight * MSS, ns3.now), left * MSS, "{flight}");
    }
}

fn highspeed(segments: u64) -> Flow {
    Flow::new("hstcp", json!({"rules": "ns3"}), segments as f64, milliseconds(40.0))
}

/// Compound grows by W^(3/4) / 8 bytes a round trip, W in bytes: 702 at 100000, 706 at 100702 (IncreaseWindow).
#[test]
fn compound_grows_in_bytes() {
    let mut ns3 = compound(100);
    ns3.round();
    assert_eq!(ns3.window.cwnd, 100_702);
    ns3.round();
    assert_eq!(ns3.window.cwnd, 101_408);
}

/// With 40 of 100 segments queued Compound's window falls by 40, although it has never grown by a delay window: its loss
/// window began at 2^31 - 1 (IncreaseWindow, GetSsThresh).
#[test]
fn compound_falls_by_backlog() {
    let mut ns3 = compound(200);
    ns3.lose();
    assert_eq!(segments(&ns3), 100);
    ns3.ack();
    ns3.rtt = milliseconds(40.0 / 0.6);
    // In bytes, since the delay window is rounded down to a segment first.
    assert!((59_000..=60_720).contains(&fallen(&mut ns3)), "{}", ns3.window.cwnd);
    let mut below_gamma = compound(200);
    below_gamma.lose();
    below_gamma.ack();
    below_gamma.rtt = milliseconds(40.0 / 0.75);
    below_gamma.rounds(2);
    assert_eq!(below_gamma.window.cwnd, 101_408);
}

/// After a timeout Compound's loss window is a segment, and what a backlog takes is what was gained in slow start
/// (CongestionStateSet).
#[test]
fn compound_after_timeout() {
    let mut ns3 = compound(200);
    ns3.round();
    ns3.time_out();
    ns3.rounds(4);
    assert!(segments(&ns3) > 100);
    ns3.rtt = milliseconds(4000.0);
    assert_eq!(fallen(&mut ns3) / MSS, 1);
}

/// The window in bytes once it has fallen.
fn fallen(flow: &mut Flow) -> u64 {
    for _ in 0..1000 {
        let before = flow.window.cwnd;
        flow.ack();
        if flow.window.cwnd < before {
            break;
        }
    }
    flow.window.cwnd
}

/// A flow of Compound whose base RTT is 40 ms.
fn compound(segments: u64) -> Flow {
    let mut flow = Flow::new("compound", json!({"rules": "ns3"}), segments as f64, milliseconds(40.0));
    flow.ack_credited(MSS, 0, false);
    flow.ack();
    flow
}

/// Zhou's Compound grows by MSS^2 / W bytes an acknowledgement, rounded down to 9 at 100 segments, and by W^(3/4) / 8 - 1
/// segments a round trip that ends with the first segment sent in it. Where acknowledgements cover two segments and pass over its
/// end, it has no delay window (NewAck).
#[test]
fn compound_of_2014_misses_ends_of_round_trips() {
    let mut single = compound_of_2014(100.0);
    acks(&mut single, 101, 1);
    assert_close("with its delay window", single.segments(), 100.91 + 31.62 / 8.0 - 1.0, 0.01);
    let mut double = compound_of_2014(100.0);
    acks(&mut double, 200, 2);
    assert_close("four round trips of acknowledgements of two segments", double.segments(), 101.80, 0.01);
}

/// The low window is of the loss window: at 37 segments Zhou's Compound is Reno, at 38 it is not (NewAck).
#[test]
fn compound_of_2014_low_window() {
    for (start, growth) in [(37.0, 0.95), (38.0, 0.95 + 15.3 / 8.0 - 1.0)] {
        let mut module = compound_of_2014(start);
        acks(&mut module, start as u64 + 1, 1);
        assert_close("growth", module.segments() - start, growth, 0.1);
    }
}

/// From 1000 segments Zhou's Compound has a delay window of 21.23 and grows by a byte an acknowledgement. Of 1023 segments 5 % in
/// the queue take 0.03 x 51.4. A loss takes it all and halves what is in flight, so that a queue then takes nothing (NewAck,
/// ResetCompound).
#[test]
fn compound_of_2014_falls() {
    let mut module = compound_of_2014(1000.0);
    acks(&mut module, 1001, 1);
    assert_close("window", module.segments(), 1001.0 + 21.23, 0.01);
    module.rtt = milliseconds(40.0 / 0.95);
    acks(&mut module, 1001, 1);
    assert_close("window with a queue", module.segments(), 1002.0 + 21.23 - 1.54, 0.05);
    assert_eq!(after_loss(&mut module.algorithm, &module.window, 800 * MSS, module.now), 400 * MSS);
    module.window = Window { cwnd: 500 * MSS, ssthresh: 500 * MSS, mss: MSS };
    module.rtt = milliseconds(400.0);
    acks(&mut module, 510, 1);
    assert_close("window without a delay window", module.segments(), 500.51, 0.01);
}

/// A flow of Zhou's Compound.
fn compound_of_2014(segments: f64) -> Flow {
    let parameters = json!({"rules": "ns3-2014", "zeta": 0.03});
    Flow::new("compound", parameters, segments, milliseconds(40.0))
}

/// H-TCP grows by MSS^2 / W and alpha bytes, not segments, for each acknowledgement: alpha is 2 within the first second, with
/// beta not yet set, and 2 (1 + 10 d + d^2 / 4) d seconds later (CongestionAvoidance, UpdateAlpha).
#[test]
fn htcp_alpha_in_bytes() {
    let mut ns3 = Flow::new("htcp", json!({"rules": "ns3"}), 100.0, milliseconds(40.0));
    ns3.ack();
    assert_eq!(ns3.window.cwnd, 100_000 + 12);
    ns3.now += milliseconds(3000.0);
    ns3.ack();
    assert_close("growth 2 s after the first second", ns3.window.cwnd as f64 - 100_012.0, 9.0 + 2.0 * 22.0, 1.0);
}

/// A loss leaves RTTmin / RTTmax of what is in flight, even below a half and above 0.8, if throughput has risen by less than
/// double since the loss before (UpdateBeta).
#[test]
fn htcp_decrease_without_bounds() {
    let mut ns3 = Flow::new("htcp", json!({"rules": "ns3"}), 100.0, milliseconds(40.0));
    ns3.rounds(40);
    ns3.lose();
    ns3.window.cwnd = 150 * MSS;
    ns3.rounds(10);
    ns3.rtt = milliseconds(44.0);
    ns3.ack();
    assert_eq!(after_loss(&mut ns3.algorithm, &ns3.window, 100 * MSS, ns3.now) / MSS, 90);
}

/// Veno grows as Reno with any backlog, since its count of RTTs begins anew with each acknowledgement; a loss with a backlog
/// of less than three leaves four fifths (IncreaseWindow, GetSsThresh).
#[test]
fn veno_grows_as_reno() {
    let mut ns3 = Flow::new("veno", json!({"rules": "ns3"}), 100.0, milliseconds(40.0));
    ns3.ack();
    assert_eq!(after_loss(&mut ns3.algorithm.clone(), &ns3.window, 100 * MSS, ns3.now), 80 * MSS);
    ns3.rtt = milliseconds(80.0);
    ns3.rounds(3);
    assert_close("growth of three rounds with half of the window queued", ns3.segments() - 100.0, 3.0, 0.1);
    assert_eq!(after_loss(&mut ns3.algorithm, &ns3.window, 100 * MSS, ns3.now), 50 * MSS);
}
