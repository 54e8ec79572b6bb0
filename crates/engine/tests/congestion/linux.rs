//! Linux's rules (`rules = "linux"`): sequences worked out by hand from the formulas of Linux 6.1's modules, which count in
//! whole numbers.

use serde_json::json;
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl, Delivery};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Duration;

use super::flow::{Flow, MSS, acks, assert_close, milliseconds, whole_segments as segments};

fn flow(name: &str, segments: u64, rtt: f64) -> Flow {
    Flow::new(name, json!({"rules": "linux"}), segments as f64, milliseconds(rtt))
}

/// Before the first loss, and after a timeout, CUBIC grows by a segment for each 20 acknowledged (tcp_cubic.c,
/// bictcp_update), where RFC 9438's curve rises by 0.4 t^3.
#[test]
fn cubic_before_loss() {
    let mut linux = flow("cubic", 100, 40.0);
    acks(&mut linux, 100, 1);
    assert_eq!(segments(&linux), 105);
    linux.time_out();
    let after = segments(&linux);
    acks(&mut linux, 100, 1);
    assert_eq!(segments(&linux), after + 5);
}

/// After a loss at 20 segments Reno's estimate, which is above CUBIC's curve on this path, grows from 14 segments by one for
/// each 15/8 windows acknowledged, also beyond 20 segments (beta_scale of tcp_cubic.c), and not by one a window as by
/// RFC 9438 section 4.3. The window follows it within two segments.
#[test]
fn cubic_estimate_of_reno() {
    for (rules, expected) in [("linux", 14.0 + 40.0 * 8.0 / 15.0), ("published", 20.0 + (40.0 - 6.0 / 0.529))] {
        let mut flow = Flow::new("cubic", json!({"rules": rules}), 20.0, milliseconds(40.0));
        flow.lose();
        flow.rounds(40);
        assert_close(rules, flow.segments(), expected, 2.0);
    }
}

/// A loss leaves 717/1024 of the window, rounded down. Below the last one, W_max is 1741/2048 of the window: after a loss at
/// 80 segments the curve is flat at 68, cbrt((68 - 56) / 0.4) = 3.1 s later (tcp_cubic.c, cubictcp_recalc_ssthresh).
#[test]
fn cubic_reduction() {
    let parameters = json!({"rules": "linux", "reno_friendly": false});
    let mut flow = Flow::new("cubic", parameters, 100.0, milliseconds(100.0));
    flow.lose();
    assert_eq!(segments(&flow), 70);
    flow.window.cwnd = 80 * MSS;
    flow.lose();
    assert_eq!(segments(&flow), 56);
    flow.run_until(flow.now + Duration::from_seconds_f64(3.1));
    assert_close("plateau", flow.segments(), 68.0, 1.0);
}

/// BIC at 100 segments without a loss: 100 / 16 = 6 segments acknowledged for one of growth, divided by the two that an
/// acknowledgement covers (tcp_bic.c, bictcp_update). The average of those starts at 32/16, and 32 + 1 - 32/16 = 31 stays
/// 31, so that even acknowledgements of single segments make 6 * 16 / 31 = 3.
#[test]
fn bic_delayed_ack_ratio() {
    for covered in [1, 2] {
        let mut flow = flow("bic", 100, 40.0);
        acks(&mut flow, 60 / covered, covered);
        assert_eq!(segments(&flow), 120, "{covered}");
    }
}

/// What is acknowledged after a timeout, until all that was sent before it is, does not count for BIC's ratio (bictcp_acked: only
/// in the state Open): 98 segments at once would make it 128/16.
#[test]
fn bic_ratio_after_timeout() {
    let mut flow = flow("bic", 100, 40.0);
    acks(&mut flow, 2, 2);
    flow.time_out();
    flow.ack_credited(98 * MSS, 0, false);
    flow.window.cwnd = 100 * MSS;
    acks(&mut flow, 30, 2);
    assert_eq!(segments(&flow), 120);
}

/// BIC at 10 segments grows by one segment a window, without the ratio, and loses half; above 14 it keeps 819/1024.
#[test]
fn bic_low_window() {
    let mut flow = flow("bic", 10, 40.0);
    acks(&mut flow, 10, 1);
    assert_eq!(segments(&flow), 11);
    flow.lose();
    assert_eq!(segments(&flow), 5);
    flow.window.cwnd = 100 * MSS;
    flow.lose();
    assert_eq!(segments(&flow), 79);
}

/// HighSpeed TCP at 100 segments counts a(w) = 2 for each acknowledgement, so that 50 make a segment, however many segments
/// they cover (tcp_highspeed.c, hstcp_cong_avoid).
#[test]
fn hstcp_counts_acknowledgements() {
    for covered in [1, 2] {
        let mut flow = flow("hstcp", 100, 40.0);
        acks(&mut flow, 49, covered);
        assert_eq!(segments(&flow), 100, "{covered}");
        acks(&mut flow, 1, covered);
        assert_eq!(segments(&flow), 101, "{covered}");
    }
}

/// A loss at 1000 segments leaves 1000 - (1000 * 83 >> 8) = 676, and half if no acknowledgement came in congestion avoidance:
/// the row of the table is still the first.
#[test]
fn hstcp_reduction() {
    let mut flow = flow("hstcp", 1000, 40.0);
    let mut in_slow_start = flow.clone();
    in_slow_start.lose();
    assert_eq!(segments(&in_slow_start), 500);
    acks(&mut flow, 1, 1);
    flow.lose();
    assert_eq!(segments(&flow), 676);
}

/// Scalable TCP grows by a segment for each 100 acknowledged and keeps w - w/8 of them, rounded up (tcp_scalable.c).
#[test]
fn scalable_whole_segments() {
    let mut flow = flow("scalable", 150, 40.0);
    acks(&mut flow, 49, 2);
    assert_eq!(segments(&flow), 150);
    acks(&mut flow, 1, 2);
    assert_eq!(segments(&flow), 151);
    flow.lose();
    assert_eq!(segments(&flow), 151 - 18);
}

/// Hybla with an RTT of 50 ms has rho = 2: an initial window of two segments, and at 100 segments 2^2 * 128 / 100 = 5/128
/// segment for each acknowledgement, of which 26 make one (tcp_hybla.c, hybla_init and hybla_cong_avoid).
#[test]
fn hybla_counts_acknowledgements() {
    for covered in [1, 2] {
        let mut flow = flow("hybla", 100, 50.0);
        acks(&mut flow, 25, covered);
        assert_eq!(segments(&flow), 100, "{covered}");
        acks(&mut flow, 1, covered);
        assert_eq!(segments(&flow), 101, "{covered}");
    }
    let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
    let mut algorithm = Algorithm::new("hybla", &json!({"rules": "linux"})).unwrap();
    algorithm.on_established(&mut window, milliseconds(50.0), sojourn_engine::time::Time::ZERO);
    assert_eq!(window.cwnd, 2 * MSS);
}

/// Hybla's slow start at 60 ms: rho is 19/8, and each acknowledgement gives (165 * 2^2 - 128) / 128 segments, where 165 is
/// 128 * 2^(3/8) rounded down. Seven give 7 * 532 / 128 = 29.
#[test]
fn hybla_slow_start() {
    let mut flow = flow("hybla", 10, 60.0);
    flow.window.ssthresh = u64::MAX;
    flow.ack_credited(MSS, MSS, false);
    for _ in 0..7 {
        flow.una += 2 * MSS;
        let ack = Ack { acked: 2 * MSS, credit: 2 * MSS, una: flow.una, ..Ack::default() };
        assert_eq!(flow.algorithm.increase_in_slow_start(&mut flow.window, &ack), Some(0));
    }
    assert_eq!(segments(&flow), 39);
}

/// Illinois takes RTTs in recovery: after one of 300 ms the maximum delay is 200 ms. At a delay of 20 ms alpha is then 321/128
/// and beta 1/8 (tcp_illinois.c, alpha and beta). Without it the delay is the maximum, and a loss takes half.
#[test]
fn illinois_samples_in_recovery() {
    for (in_recovery, left) in [(Some(milliseconds(300.0)), 88), (None, 50)] {
        let mut flow = flow("illinois", 100, 100.0);
        acks(&mut flow, 1, 0);
        let delivery = Delivery { rtt: in_recovery, ..Delivery::default() };
        let seen = Delivery::default();
        flow.algorithm.on_delivery(&mut flow.window, &seen);
        flow.algorithm.on_delivery(&mut flow.window, &delivery);
        flow.rtt = milliseconds(120.0);
        for _ in 0..300 {
            flow.ack_credited(MSS, MSS, false);
            flow.algorithm.on_delivery(&mut flow.window, &seen);
        }
        if in_recovery.is_some() {
            // 100 * 321 >> 7 = 250 segments for 100, whole windows of them.
            assert_eq!(flow.clone().leap(), 2.0);
        }
        flow.lose();
        assert_eq!(segments(&flow), left);
    }
}

/// H-TCP's first two losses leave half, since the throughput first has nothing to compare with, and the switch is off until the
/// next loss. The third leaves RTTmin / RTTmax, at most 102/128 (tcp_htcp.c, htcp_beta_update).
#[test]
fn htcp_switch() {
    let mut flow = flow("htcp", 100, 100.0);
    for left in [50, 50, 79] {
        for _ in 0..2000 {
            flow.ack_credited(MSS, MSS, false);
        }
        flow.lose();
        assert_eq!(segments(&flow), left);
        flow.window.cwnd = 100 * MSS;
    }
}

/// H-TCP's factor is whole: 1.54 s after a loss it is 1 + 5 = 6, and scaled for an RTT of 40 ms it is 6 * 8 / 20 = 2. With
/// beta = 1/2 that is two segments a round trip: at 101 segments 51 acknowledged ones, and one more that is not counted.
#[test]
fn htcp_whole_factor() {
    let mut flow = flow("htcp", 100, 40.0);
    while flow.now.since(sojourn_engine::time::Time::ZERO) < Duration::from_seconds_f64(1.5) {
        flow.ack_credited(MSS, MSS, false);
    }
    while segments(&flow) < 101 {
        flow.ack();
    }
    acks(&mut flow, 51, 1);
    assert_eq!(segments(&flow), 101);
    acks(&mut flow, 1, 1);
    assert_eq!(segments(&flow), 102);
}

/// Veno on a congested path, with acknowledgements of two segments (tcp_veno.c, tcp_veno_cong_avoid). Two are Reno's and make 5
/// segments of 4. From the fourth on the RTT is four times the least: 10 - 2 half segments are a backlog of more than 6. The
/// window grows at every other acknowledgement that finds a window counted, and does not count itself: at the sixth, not
/// at the tenth, at the fourteenth.
#[test]
fn veno_congested() {
    let mut flow = flow("veno", 4, 40.0);
    let mut windows = Vec::new();
    for number in 1..=14 {
        if number == 4 {
            flow.rtt = milliseconds(160.0);
        }
        acks(&mut flow, 1, 2);
        windows.push(segments(&flow));
    }
    assert_eq!(windows, [4, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7]);
}

/// Veno leaves half of the window on a congested path and four fifths on another, in whole segments (tcp_veno_ssthresh).
#[test]
fn veno_reduction() {
    for (rtt, expected) in [(40.0, 8), (160.0, 5)] {
        let mut flow = flow("veno", 11, 40.0);
        acks(&mut flow, 3, 1);
        flow.rtt = milliseconds(rtt);
        acks(&mut flow, 1, 1);
        flow.lose();
        assert_eq!(segments(&flow), expected, "{rtt} ms");
    }
}

/// BIC leaves an acknowledgement of 50 segments that follows a gap out of its ratio (tcp_bic.c, bictcp_acked): 100 segments are
/// acknowledged for one of growth by 100 / 16 * 16 / 32, that is 3. In the ratio it makes for faster growth.
#[test]
fn bic_ratio_without_gaps() {
    let growth = |follows_gap| {
        let mut flow = flow("bic", 100, 40.0);
        flow.take(Ack { acked: 50 * MSS, follows_gap, ..Ack::default() }, false);
        acks(&mut flow, 30, 1);
        segments(&flow) - 100
    };
    assert_eq!(growth(true), 10);
    assert!(growth(false) > 10);
}

/// Vegas's base RTT: after a round of 40 ms one of 60 ms has a third of 30 segments in the queue, and the window shrinks. If an
/// acknowledgement left nothing in flight before it, Linux knows only the 60 ms, and the window grows (tcp_vegas.c,
/// tcp_vegas_cwnd_event; tcp_output.c, tcp_event_data_sent).
#[test]
fn vegas_base_rtt() {
    for (rules, left, expected) in [("linux", 0, 31), ("linux", MSS, 29), ("published", 0, 29)] {
        let mut vegas = Algorithm::new("vegas", &json!({"rules": rules})).expect("vegas");
        let mut window = Window { cwnd: 30 * MSS, ssthresh: 2 * MSS, mss: MSS };
        let mut acknowledge = |una: u64, nxt: u64, rtt: f64, in_flight: u64| {
            let rtt = milliseconds(rtt);
            let ack = Ack { una, nxt, acked: MSS, rtt: Some(rtt), srtt: rtt, in_flight, ..Ack::default() };
            vegas.on_ack(&window, &ack);
            vegas.increase(&mut window, &ack);
        };
        acknowledge(10 * MSS, 10 * MSS, 40.0, left);
        for segment in 11..=16 {
            acknowledge(segment * MSS, 14 * MSS, 60.0, MSS);
        }
        assert_eq!(segments_of(&window), expected, "{rules}, {left} left");
    }
}

fn segments_of(window: &Window) -> u64 {
    window.cwnd / window.mss
}

/// Compound's delay window grows in whole segments by the root of W^3, rounded down, shifted by three, less one: 7 at 256
/// segments, 2 at 100, none at 10 (tcp_compound.c, qroot and tcp_compound_cong_avoid). At ssthresh the loss window is in slow start
/// for one acknowledgement more.
#[test]
fn compound_grows_in_whole_segments() {
    for (start, growth) in [(10_000, 124), (256, 7), (100, 2), (81, 2), (10, 0)] {
        let mut linux = flow("compound", start, 100.0);
        acks(&mut linux, start, 1);
        assert_eq!(segments(&linux), start + 1);
        acks(&mut linux, 1, 1);
        assert_eq!(segments(&linux), start + 1 + growth, "{start}");
    }
}

/// A backlog is compared in half segments of the least RTT: of 20002 half segments 19922 fit a base RTT of 100.001 in 100.401 ms,
/// so that 80 are queued, and a delay window of 124 falls to (248 - 80) / 2 = 84. The loss window has grown to 10002.
#[test]
fn compound_falls_by_half_segments() {
    let mut linux = flow("compound", 10_000, 100.0);
    acks(&mut linux, 10_001, 1);
    assert_eq!(segments(&linux), 10_125);
    linux.rtt = milliseconds(100.4);
    acks(&mut linux, 10_001, 1);
    assert_eq!(segments(&linux), 10_002 + 84);
}

/// A loss at 10125 segments, 124 of which are delay window, leaves 5062 of loss window alone, since that was more before
/// (tcp_compound_cong_avoid): a queue of 1 %, above gamma, then takes nothing.
#[test]
fn compound_has_no_delay_window_after_a_loss() {
    let mut linux = flow("compound", 10_000, 100.0);
    acks(&mut linux, 10_001, 1);
    linux.lose();
    assert_eq!(segments(&linux), 5062);
    linux.rtt = milliseconds(101.0);
    acks(&mut linux, 5_064, 1);
    assert_eq!(segments(&linux), 5064);
}

/// After a timeout the delay window is part of the slow start: a window of one segment has none (tcp_compound_cong_avoid).
#[test]
fn compound_after_timeout() {
    let mut linux = flow("compound", 10_000, 100.0);
    acks(&mut linux, 10_001, 1);
    linux.time_out();
    linux.window.cwnd = MSS;
    acks(&mut linux, 1, 1);
    assert_eq!(segments(&linux), 2);
}

/// Andrew's version: a loss with no backlog moves gamma half way from 30 to 0, so that a backlog of 20 segments, which is below
/// a fixed gamma, takes the delay window (tcp_compound_ssthresh).
#[test]
fn compound_tunes_gamma() {
    for (rule, growth) in [("fixed", 5), ("tuned", 0)] {
        let parameters = json!({"rules": "linux", "gamma_rule": rule, "lambda": 0.5});
        let mut linux = Flow::new("compound", parameters, 400.0, milliseconds(100.0));
        acks(&mut linux, 401, 1);
        // Of 411 segments 205 are left. The round trip that the loss interrupted had begun a window before, 206 segments are sent
        // in it, and the delay window of a fixed gamma grows by floor(206^(3/4)) / 8 - 1 = 5.
        linux.lose();
        linux.rtt = milliseconds(100.0 / (1.0 - 20.0 / 206.0));
        acks(&mut linux, 206, 1);
        assert_eq!(segments(&linux), 206 + growth, "{rule}");
    }
}

/// A run of ns-2.35 itself: three flows with a round trip of 100 ms and no queue have 340 segments after two seconds, 440 after
/// three, and so on. Its round trips are up to 1.6 % longer, as the bursts of the flows wait for each other, hence 3 %. Without the
/// rounding of windows and roots to whole numbers, W^(1/4) grows linearly, to 2131 and not to 1973.
#[test]
fn compound_as_in_ns_2_itself() {
    let mut linux = flow("compound", 340, 100.0);
    for (seconds, window) in [(1.0, 440.0), (2.0, 563.0), (4.0, 891.0), (6.0, 1350.0), (8.0, 1973.0)] {
        linux.run_until(sojourn_engine::time::Time::ZERO + Duration::from_seconds_f64(seconds));
        assert_close("window", linux.segments(), window, 0.03 * window);
    }
}
