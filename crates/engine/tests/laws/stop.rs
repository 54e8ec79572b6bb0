//! Flows that are stopped: whatever sends, nothing leaves it any more, and the others have the link.

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

/// A flow over 10 Mbit/s and 20 ms that is stopped at 5 s; the window opens when all that was under way has arrived.
fn path(flow: Value) -> Path {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(30);
    path.flows = vec![stopped(flow, 5 * S)];
    path.duration = 20 * S;
    path.warm_up = 5 * S + 100 * MS;
    path
}

/// Windows and rates, with and without pacing, whose every fiftieth packet is lost so that all of them have something to
/// send again when they are stopped: nothing leaves them, not even by a timer.
#[test]
fn nothing_leaves_a_flow_that_is_stopped() {
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
        // The link carries 5 s of 833 packets; TFRC and Reno at 2 % loss a few hundred kilobytes.
        assert!(flow.total_bytes_delivered > 100_000, "{name}: it must have sent before");
        let counts = flow.statistics();
        assert_eq!((counts.segments_sent, counts.retransmissions, counts.timeouts), (0, 0, 0), "{name}");
        assert_eq!((flow.bytes_delivered, result.queues[0].statistics.window.arrivals), (0, 0), "{name}");
    }
}

#[test]
fn every_packet_of_a_stopped_flow_is_accounted_for() {
    let mut path = path(tcp("cubic"));
    path.sender_overhead = MS;
    path.flows.push(tcp("bbr"));
    assert!(path.run_with_census("stopped") > 0, "the run must have losses to prove anything");
}

/// One of two is stopped: the other, which had about half of the link, has all of it, less headers of 52 in 1500 bytes.
#[test]
fn those_that_stay_have_the_link() {
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

#[test]
fn what_has_ended_is_not_stopped() {
    let result = path(finite("newreno", 100_000)).run();
    let flow = &result.flows[0];
    let tcp = flow.tcp.as_ref().expect("a TCP flow");
    assert_eq!((flow.stopped, tcp.state), (None, State::Completed));
    assert!(tcp.completed.is_some_and(|time| time < Time(5 * S)));
}

/// The SYN's answer comes after 8 s, to nobody.
#[test]
fn a_connection_that_is_stopped_while_it_opens_sends_nothing() {
    let mut path = path(tcp("newreno"));
    path.rtt = 8 * S;
    path.warm_up = 1;
    let result = path.run();
    let flow = &result.flows[0];
    let tcp = flow.tcp.as_ref().expect("a TCP flow");
    assert_eq!((tcp.state, tcp.established, flow.total_bytes_delivered), (State::Stopped, None, 0));
    // The SYN, and those of 1 and 3 s later.
    assert_eq!(result.queues[0].statistics.window.arrivals, 3);
}

#[test]
fn a_stop_before_the_last_start_is_an_error() {
    let mut path = path(tcp("newreno"));
    path.flows[0]["start"] = json!(3 * S);
    path.flows[0]["start_within"] = json!(2 * S);
    let error = Simulation::new(&path.specification()).expect_err("it may stop before it starts");
    assert_eq!(error, "flows[0] (newreno): stop must be after the last start");
}
