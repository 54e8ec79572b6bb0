//! DCTCP: RFC 8257, and worked examples of ns-3.

use std::sync::Arc;

use serde_json::json;
use sojourn_engine::packet::{OptionsPool, Packet, flags};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::connection::Connection;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Address, Sender};
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartKind};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, after_loss, after_marks, assert_close, milliseconds, vectors};

fn alpha(flow: &Flow) -> f64 {
    let Algorithm::Dctcp(dctcp) = &flow.algorithm else { panic!("not DCTCP") };
    dctcp.alpha()
}

/// A window of data with the given number of marked segments. The window does not change.
fn window_of_data(flow: &mut Flow, segments: u64, marked: u64) {
    for index in 0..segments {
        if index < marked {
            flow.ack_marked();
        } else {
            flow.ack_credited(MSS, MSS, false);
        }
    }
}

/// ns-3's GetSsThresh takes (1 - alpha / 2) of cwnd after a loss too, whatever is in flight, where RFC 8257 section 3.5 halves. With
/// alpha = 1/2 three quarters are left, and without marks for 64 windows, as (15/16)^64 = 0.016, nearly all.
#[test]
fn loss_as_marks() {
    for (loss_as_marks, share) in [(true, 0.75), (false, 0.5)] {
        let parameters = json!({"loss_as_marks": loss_as_marks, "initial_alpha": 0.5});
        let mut flow = Flow::new("dctcp", parameters, 100.0, milliseconds(100.0));
        let left = after_loss(&mut flow.algorithm, &flow.window, 100 * MSS, flow.now);
        assert_eq!(left, (share * 100_000.0) as u64);
    }
    let mut unmarked = Flow::new("dctcp", json!({"loss_as_marks": true}), 100.0, milliseconds(100.0));
    for _ in 0..64 {
        window_of_data(&mut unmarked, 101, 0);
    }
    let left = after_loss(&mut unmarked.algorithm, &unmarked.window, 50 * MSS, unmarked.now);
    assert_close("segments left", left as f64 / 1000.0, 99.2, 0.3);
}

/// Without marks DCTCP's window equals New Reno's, in slow start and in congestion avoidance.
#[test]
fn reno_without_marks() {
    let vector = &vectors("marks", "dctcp-no_ecn_equals_reno")[0];
    let figure = |name: &str| vector["inputs"][name].as_u64().unwrap();
    let mss = figure("mss");
    let [dctcp, reno] = ["dctcp", "newreno"].map(|name| {
        let mut flow = Flow::new(name, json!({}), 1.0, milliseconds(100.0));
        flow.window = Window { cwnd: figure("cwnd_segments") * mss, ssthresh: figure("ssthresh_segments") * mss, mss };
        let mut slow_start = SlowStart::new(SlowStartKind::Standard);
        let acked = figure("segments_acked") * mss;
        let mut windows = Vec::new();
        for _ in 0..100 {
            if flow.window.in_slow_start() {
                let ack = Ack { acked, credit: acked, ..Ack::default() };
                assert_eq!(flow.algorithm.increase_in_slow_start(&mut flow.window, &ack), None);
                slow_start.increase(&mut flow.window, &ack);
            } else {
                flow.ack_credited(acked, acked, true);
            }
            windows.push(flow.window.cwnd);
        }
        windows
    });
    assert_eq!(dctcp, reno);
}

/// All packets of DCTCP are ECN-capable: SYNs, acknowledgements and data. With a classic sender only data are.
#[test]
fn codepoints() {
    let vector = &vectors("marks", "dctcp-codepoints")[0];
    let codepoints = |name: &str, stack: StackProfile| {
        let algorithm = Algorithm::new(name, &json!({})).expect("a known algorithm");
        let profile = Arc::new(stack.adapted_to(&algorithm.needs()));
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, Arc::clone(&profile), algorithm, SlowStartKind::Standard, None);
        let receiver = Arc::new(profile.receiver_for(&sender.needs()));
        let mut connection = Connection::new(sender, profile, receiver, address);
        let (mut options, mut outbox) = (OptionsPool::default(), Vec::new());
        let now = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        connection.sender.open(now(0), &mut outbox);
        let syn = outbox.remove(0);
        let syn_ack = connection.on_data(&syn, now(10), &mut options).expect("an answer");
        connection.on_ack(&syn_ack, now(20), &mut options, &mut outbox);
        let data = outbox.remove(0);
        connection.on_data(&data, now(30), &mut options);
        let ack = connection.acknowledge(now(40), &mut options);
        let codepoint = |packet: Packet| match packet.flags & flags::CONGESTION_EXPERIENCED {
            0 => "notECT",
            flags::ECT_0 => "ECT",
            _ => "another",
        };
        [syn, syn_ack, ack, data].map(codepoint)
    };
    let expected = |of: &str, names: [&str; 4]| names.map(|name| vector["expected"][of][name].clone());
    let rfc = StackProfile { delayed_ack_count: 1, ..StackProfile::default() };
    assert_eq!(
        codepoints("dctcp", rfc.clone()).map(|word| json!(word)),
        expected("dctcp", ["SYN", "SYNACK", "ACK", "DATA"])
    );
    let classic = StackProfile { ecn: EcnKind::Classic, ..rfc };
    let names = ["SYN", "SYNACK", "pureACK", "DATA"];
    assert_eq!(codepoints("newreno", classic).map(|word| json!(word)), expected("classic_ecn", names));
}

/// RFC 8257 section 3.3, steps 5 and 6: if a share M of each window is marked, alpha after n windows is M + (1 - M) (1
/// - g)^n, with the fixed point M.
#[test]
fn alpha_convergence() {
    for (marked, share) in [(0, 0.0), (10, 0.1), (50, 0.5), (100, 1.0)] {
        for g in [1.0 / 16.0, 0.25] {
            let mut flow = Flow::new("dctcp", json!({"g": g}), 100.0, milliseconds(10.0));
            // The first acknowledgement ends a window of only itself: WindowEnd is initially SND.UNA.
            flow.ack_marked();
            assert_close("alpha after a window that is marked", alpha(&flow), 1.0, 1e-12);
            for n in 1..=200 {
                window_of_data(&mut flow, 100, marked);
                // A window ends with the acknowledgement after it, which counts towards the next.
                assert_close("alpha", alpha(&flow), share + (1.0 - share) * f64::powi(1.0 - g, n), 0.01);
            }
            assert_close("alpha", alpha(&flow), share, 1e-3);
        }
    }
}

/// Linux tcp_dctcp.c, dctcp_ssthresh: of 79 segments with alpha at 13/1024 a mark takes (79 * 13) >> 11, none, and of 200 one.
#[test]
fn reduction_of_linux_is_of_whole_segments() {
    for (segments, left) in [(79, 79), (200, 199)] {
        let parameters = json!({"rules": "linux", "initial_alpha": 13.0 / 1024.0});
        let mut flow = Flow::new("dctcp", parameters, segments as f64, milliseconds(10.0));
        assert_eq!(after_marks(&mut flow.algorithm, &flow.window, segments * MSS, false, flow.now), left * MSS);
    }
}

/// Linux tcp_dctcp.c, dctcp_update_alpha: one mark in 79 segments adds (1 << 6) / 79 steps of 1/1024 to alpha, none, and one in 40 adds
/// one. Less than 16 steps are forgotten at once; of 512 there remain 480 after a window without marks.
#[test]
fn alpha_of_linux_has_steps() {
    for (initial, segments, marked, steps) in [(0, 79, 1, 0), (0, 40, 1, 1), (15, 40, 0, 0), (512, 40, 0, 480)] {
        let parameters = json!({"rules": "linux", "initial_alpha": f64::from(initial) / 1024.0});
        let mut flow = Flow::new("dctcp", parameters, segments as f64, milliseconds(10.0));
        flow.take(Ack { acked: segments * MSS, marked: marked * MSS, ..Ack::default() }, false);
        assert_eq!(alpha(&flow) * 1024.0, f64::from(steps), "{marked} of {segments} from {initial}");
    }
}

/// RFC 8257 section 3.3, step 9: marks reduce the window to 1 - alpha / 2 of its size, but to at least two segments.
/// Section 3.5: losses halve the flight size, for any alpha.
#[test]
fn reduction_on_marks_and_losses() {
    for share in [0.0, 0.1, 0.5, 1.0] {
        let mut flow = Flow::new("dctcp", json!({"initial_alpha": share}), 100.0, milliseconds(10.0));
        let half = after_loss(&mut flow.algorithm, &flow.window, 80 * MSS, flow.now);
        assert_eq!(half, 40 * MSS);
        flow.mark();
        assert_close("window", flow.segments(), 100.0 * (1.0 - share / 2.0), 0.001);
    }
    let mut flow = Flow::new("dctcp", json!({}), 3.0, milliseconds(10.0));
    flow.mark();
    assert_eq!(flow.window.cwnd, 2 * MSS);
}
