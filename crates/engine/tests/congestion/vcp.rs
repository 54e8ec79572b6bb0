//! VCP: the equations of Xia et al. 2005, with the constants of its authors' ns-2 code.

use std::sync::Arc;

use serde_json::json;
use sojourn_engine::packet::{LoadFactor, OptionsPool};
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::connection::Connection;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Address, Sender};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

use super::flow::{Flow, MSS, after_loss, assert_close, milliseconds};

fn flow(segments: f64, rtt_ms: f64) -> Flow {
    Flow::new("vcp", json!({}), segments, milliseconds(rtt_ms))
}

/// One round trip with an acknowledgement per segment at this load.
fn round(flow: &mut Flow, load: LoadFactor) {
    let end = flow.una + flow.window.cwnd;
    while flow.una < end {
        let ack = Ack { acked: MSS, credit: MSS, load_factor: Some(load), ..Ack::default() };
        flow.take(ack, true);
    }
}

/// At low load the window grows by xi per t_rho for any round-trip time: by (1 + xi)^(rtt / t_rho) per round trip, with
/// rtt limited to 2.5 t_rho. There is no separate slow start.
#[test]
fn low_load() {
    for (rtt_ms, intervals) in [(20.0, 0.1), (100.0, 0.5), (200.0, 1.0), (500.0, 2.5), (900.0, 2.5)] {
        for in_slow_start in [false, true] {
            let mut flow = flow(1000.0, rtt_ms);
            let factor = libm::pow(1.0625, intervals);
            for n in 1..=5 {
                if in_slow_start {
                    flow.window.ssthresh = u64::MAX;
                    let (credit, load_factor) = (flow.window.cwnd, Some(LoadFactor::Low));
                    let ack = Ack { acked: credit, credit, srtt: flow.rtt, load_factor, ..Ack::default() };
                    assert_eq!(flow.algorithm.increase_in_slow_start(&mut flow.window, &ack), Some(0));
                } else {
                    round(&mut flow, LoadFactor::Low);
                }
                let expected = 1000.0 * libm::pow(factor, f64::from(n));
                assert_close(&format!("{rtt_ms} ms, {n} round trips"), flow.segments(), expected, 2.0);
            }
        }
    }
}

/// At high load the window grows per round trip by the square of the round-trip time in units of 100 ms, so that the
/// growth of the rate is independent of it. Below 20 ms and above 500 ms it is linear.
#[test]
fn high_load() {
    for (rtt_ms, segments) in
        [(10.0, 0.02), (20.0, 0.04), (50.0, 0.25), (100.0, 1.0), (200.0, 4.0), (500.0, 25.0), (600.0, 26.0)]
    {
        let mut flow = flow(200.0, rtt_ms);
        for _ in 0..50 {
            round(&mut flow, LoadFactor::High);
        }
        assert_close(&format!("{rtt_ms} ms"), flow.segments(), 200.0 + 50.0 * segments, 0.05 + 2.5 * segments);
    }
}

/// Overload reduces the window to 0.875 of its size once. The window is then constant for t_rho, grows as at high load
/// for a round trip, and is reduced again. Low and high load have their effect at any time.
#[test]
fn overload() {
    let rtt = Duration::from_milliseconds(100);
    let mut flow = flow(1000.0, 100.0);
    let mut tell = |milliseconds: u64, load| {
        let before = flow.window.cwnd;
        let now = Time::ZERO + Duration::from_milliseconds(milliseconds);
        let ack = Ack { now, acked: MSS, credit: MSS, srtt: rtt, load_factor: Some(load), ..Ack::default() };
        flow.algorithm.increase(&mut flow.window, &ack);
        assert!(!flow.window.in_slow_start());
        flow.window.cwnd as f64 / before as f64
    };
    assert_eq!(tell(0, LoadFactor::Overload), 0.875);
    assert_eq!(tell(199, LoadFactor::Overload), 1.0);
    assert!(tell(199, LoadFactor::Low) > 1.0);
    for milliseconds in [200, 299] {
        let growth = tell(milliseconds, LoadFactor::Overload);
        assert!(growth > 1.0 && growth < 1.000_01, "{growth} at {milliseconds} ms");
    }
    assert_close("the next decrease", tell(300, LoadFactor::Overload), 0.875, 1e-5);
    assert_eq!(tell(301, LoadFactor::Overload), 1.0);
}

/// The window is at least one segment. A loss halves it as in Reno.
#[test]
fn minimum_window_and_loss() {
    let mut flow = flow(1.0, 100.0);
    round(&mut flow, LoadFactor::Overload);
    assert_eq!(flow.window.cwnd, MSS);
    assert_eq!(after_loss(&mut flow.algorithm, &flow.window, 80 * MSS, flow.now), 40 * MSS);
}

/// Data packets, and only these, carry code 01, also when retransmitted. The receiver echoes the code that arrives,
/// only for senders that request it. No code counts as a congestion mark, with any ECN setting of the stack.
#[test]
fn load_factor_echo() {
    for ecn in [EcnKind::Off, EcnKind::Classic, EcnKind::Accurate] {
        let algorithm = Algorithm::new("vcp", &json!({})).expect("a known algorithm");
        let stack = StackProfile { delayed_ack_count: 1, ecn, ..StackProfile::default() };
        let profile = Arc::new(stack.adapted_to(&algorithm.needs()));
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, Arc::clone(&profile), algorithm, SlowStartKind::Standard, None);
        let receiver = Arc::new(profile.receiver_for(&sender.needs()));
        let mut connection = Connection::new(sender, profile, receiver, address);
        let (mut options, mut outbox) = (OptionsPool::default(), Vec::new());
        let now = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        connection.sender.open(now(0), &mut outbox);
        let syn = outbox.remove(0);
        assert_eq!(syn.load_factor(), None);
        let syn_ack = connection.on_data(&syn, now(10), &mut options).expect("an answer");
        assert_eq!(syn_ack.load_factor(), None);
        connection.on_ack(&syn_ack, now(20), &mut options, &mut outbox);
        for load in [LoadFactor::Low, LoadFactor::High, LoadFactor::Overload] {
            let mut data = outbox.remove(0);
            assert_eq!(data.load_factor(), Some(LoadFactor::Low));
            data.set_load_factor(load);
            let ack = connection.on_data(&data, now(30), &mut options).expect("an acknowledgement");
            assert_eq!(ack.load_factor(), None);
            assert_eq!(options.get(ack.options).expect("options").load_factor, Some(load));
            let before = connection.sender.window().cwnd;
            connection.on_ack(&ack, now(40), &mut options, &mut outbox);
            let after = connection.sender.window().cwnd;
            assert_eq!(after < before, load == LoadFactor::Overload, "{before} to {after} at {load:?}");
        }
        assert_eq!(connection.sender.statistics.mark_reductions, 0);
        outbox.clear();
        connection.sender.on_timer(now(5_000), &mut outbox);
        assert_eq!(outbox[0].load_factor(), Some(LoadFactor::Low), "sent again");
    }
}
