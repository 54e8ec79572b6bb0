//! Flows that are stopped: they send nothing more, and the others get the link.

use crate::support::{MS, Path, S, constant_rate, droptail, finite, tcp};
use serde_json::{Value, json};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;
use sojourn_engine::tcp::sender::State;
use sojourn_engine::time::Time;

fn stopped(mut flow: Value, at: u64) -> Value {
    flow["stop"] = json!(at);
    flow
}

/// A flow over 10 Mbit/s and 20 ms that is stopped at 5 s. The window starts when all packets in the network have
/// arrived.
fn path(flow: Value) -> Path {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(30);
    path.flows = vec![stopped(flow, 5 * S)];
    path.duration = 20 * S;
    path.warm_up = 5 * S + 100 * MS;
    path
}

/// Window-based and rate-based flows, with and without pacing, send nothing after they are stopped, not even by a
/// timer. Every fiftieth packet is lost, so that all have something to retransmit when they are stopped.
#[test]
fn stopped_flow_is_silent() {
    let senders = [tcp("newreno"), tcp("bbr"), tcp("tfrc"), constant_rate(2_000_000, 1500, false)];
    for (flow, recovery) in senders.into_iter().flat_map(|flow| {
        [RecoveryKind::Sack, RecoveryKind::Rack, RecoveryKind::Tahoe].map(|recovery| (flow.clone(), recovery))
    }) {
        let name = format!("{} {recovery:?}", flow["source"]["name"]);
        let mut path = path(flow);
        path.drop = json!({"every": 50});
        path.stack = StackProfile { recovery, ..StackProfile::default() };
        let result = path.run();
        let flow = &result.flows[0];
        assert_eq!(flow.stopped, Some(Time(5 * S)), "{name}");
        assert!(flow.tcp.as_ref().is_none_or(|tcp| tcp.state == State::Stopped), "{name}: {:?}", flow.tcp);
        // The link carries 833 packets in each of 5 s. TFRC and Reno at 2 % loss send a few hundred kilobytes.
        assert!(flow.total_bytes_delivered > 100_000, "{name}: it must have sent before");
        let counts = flow.statistics();
        assert_eq!((counts.segments_sent, counts.retransmissions, counts.timeouts), (0, 0, 0), "{name}");
        assert_eq!((flow.bytes_delivered, result.queues[0].statistics.window.arrivals), (0, 0), "{name}");
    }
}

/// Packets of a stopped flow are conserved after every event.
#[test]
fn packet_conservation() {
    let mut path = path(tcp("cubic"));
    path.sender_overhead = MS;
    path.flows.push(tcp("bbr"));
    assert!(path.run_with_census("stopped") > 0, "the run must have losses to prove anything");
}

/// One of two flows is stopped: the other, which had about half of the link, then gets all of it, less headers of 52 in
/// 1500 bytes.
#[test]
fn remaining_flow_rate() {
    let mut path = path(tcp("newreno"));
    path.flows.push(tcp("newreno"));
    path.warm_up = 8 * S;
    let result = path.run();
    assert_eq!(result.flows[0].bytes_delivered, 0);
    assert_eq!(result.flows[1].stopped, None);
    let expected = 10e6 * 1448.0 / 1500.0;
    let goodput = path.goodput(&result);
    assert!((0.97 * expected..=1.001 * expected).contains(&goodput), "{goodput} of {expected}");
}

/// A flow that completed before its stop time is reported as completed, not as stopped.
#[test]
fn completed_flow() {
    let result = path(finite("newreno", 100_000)).run();
    let flow = &result.flows[0];
    let tcp = flow.tcp.as_ref().expect("a TCP flow");
    assert_eq!((flow.stopped, tcp.state), (None, State::Completed));
    assert!(tcp.completed.is_some_and(|time| time < Time(5 * S)));
}

/// The SYN-ACK arrives after 8 s, when the flow has been stopped, and is not answered.
#[test]
fn stop_during_handshake() {
    let mut path = path(tcp("newreno"));
    path.rtt = 8 * S;
    path.warm_up = 1;
    let result = path.run();
    let flow = &result.flows[0];
    let tcp = flow.tcp.as_ref().expect("a TCP flow");
    assert_eq!((tcp.state, tcp.established, flow.total_bytes_delivered), (State::Stopped, None, 0));
    // The SYN and its retransmissions after 1 and 3 s.
    assert_eq!(result.queues[0].statistics.window.arrivals, 3);
}

/// A stop time before the latest possible start is an error.
#[test]
fn stop_before_start() {
    let mut path = path(tcp("newreno"));
    path.flows[0]["start"] = json!(3 * S);
    path.flows[0]["start_within"] = json!(2 * S);
    let error = Simulation::new(&path.specification()).expect_err("it may stop before it starts");
    assert_eq!(error, "flows[0] (newreno): stop must be after the last start");
}
