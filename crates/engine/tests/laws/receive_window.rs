//! Windows that acknowledgements carry, of receivers whose applications read slowly and of Linux's, whose window grows.

use crate::support::{MS, Path, S, droptail, finite, profiled, tcp};
use serde_json::json;
use sojourn_engine::packet::{Options, flags};
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::{Bytes, Rate};

/// A flow over 100 Mbit/s and 20 ms whose application reads at this rate from a buffer of `segments`.
fn path(stack: StackProfile, rate: u64, segments: u64) -> Path {
    let mut path = Path::new(100_000_000, 20 * MS);
    path.queue = droptail(1000);
    path.stack =
        StackProfile { reading_rate: Rate(rate), receive_buffer: Bytes(segments * stack.segment_size.0), ..stack };
    (path.duration, path.warm_up) = (10 * S, 5 * S);
    path
}

fn linux() -> StackProfile {
    profiled("linux-6", "newreno").stack
}

/// What passes the sender's link to and from the network, in order.
fn at_sender(path: &Path) -> Vec<Passage> {
    let mut simulation = Simulation::new(&path.specification()).expect("valid");
    simulation.record(0, End::Near).expect("the link exists");
    simulation.record(5, End::Far).expect("the link exists");
    while simulation.step() {}
    simulation.take_passages_before(Time::NEVER)
}

fn window(passage: &Passage) -> Option<u64> {
    match passage.options {
        Some(Options::Ack(options)) => options.window,
        _ => None,
    }
}

/// The application reads all that arrives in the long run, at its own rate, with the standard stack and with Linux's.
#[test]
fn goodput_is_reading_rate() {
    for (what, stack, segments) in
        [("rfc", StackProfile::default(), 40), ("rfc, small", StackProfile::default(), 3), ("linux-6", linux(), 400)]
    {
        let path = path(stack, 1_000_000, segments);
        let result = path.run();
        assert!((path.goodput(&result) / 1e6 - 1.0).abs() < 0.01, "{what}: {}", path.goodput(&result));
        assert_eq!(result.flows[0].statistics().timeouts, 0, "{what}");
    }
}

/// A window of W bytes lets W bytes pass in a round trip where the application reads as fast as they arrive. The segment that is
/// acknowledged is yet to be read, so that W is the buffer less a segment.
#[test]
fn goodput_is_window_over_rtt() {
    let path = path(StackProfile { delayed_ack_count: 1, ..StackProfile::default() }, 1_000_000_000_000, 40);
    let result = path.run();
    let segment = path.stack.segment_size.0;
    let rtt = 0.02 + 8.0 * (segment + 2 * 52) as f64 * 1.02 / 100e6;
    let expected = (39 * segment * 8) as f64 / rtt;
    assert!((path.goodput(&result) / expected - 1.0).abs() < 0.01, "{} and {expected}", path.goodput(&result));
}

/// RFC 9293 section 3.8.6: no byte is sent beyond the right edge of the window, which never moves back, also where packets are lost.
#[test]
fn never_beyond_window() {
    for (what, stack) in [("rfc", StackProfile::default()), ("linux-6", linux())] {
        for rate in [0, 2_000_000] {
            let mut path = path(stack.clone(), rate, 100);
            path.drop = json!({"every": 150});
            let (mut edge, mut windows) = (0, 0);
            for passage in at_sender(&path) {
                let packet = passage.packet;
                let number = if packet.has(flags::SYN) { 1 } else { packet.number };
                if let Some(window) = window(&passage) {
                    edge = edge.max(number + window);
                    windows += 1;
                } else if packet.has(flags::DATA) && windows > 0 {
                    let end = packet.number + u64::from(packet.size) - path.stack.segment_overhead();
                    assert!(end <= edge, "{what}, {rate} bit/s: up to {end} of {edge}");
                }
            }
            assert_eq!(windows > 0, what == "linux-6" || rate > 0);
        }
    }
}

/// Linux tcp_output.c, tcp_select_initial_window, and tcp_input.c, tcp_init_buffer_space, by hand: the answer to the SYN offers 45 segments
/// of 1448 bytes, and the first acknowledgements 64,088 bytes, rounded up to a multiple of 128.
#[test]
fn first_window_of_linux() {
    let mut path = path(linux(), 0, 1);
    path.stack.receive_buffer = Bytes(3 << 20);
    path.duration = S;
    path.warm_up = 0;
    let windows: Vec<u64> = at_sender(&path).iter().filter_map(window).take(2).collect();
    assert_eq!(windows, [45 * 1448, 64_088_u64.next_multiple_of(128)]);
}

/// RFC 9293 section 3.8.6.1: a closed window is probed after a retransmission timeout, then after twice as long each time. The
/// connection stays open while probes are answered.
#[test]
fn probes_back_off() {
    let mut path = path(StackProfile::default(), 100, 20);
    (path.duration, path.warm_up) = (40 * S, 0);
    let probes: Vec<Time> = at_sender(&path)
        .into_iter()
        .filter(|passage| passage.link == 0 && u64::from(passage.packet.size) == path.stack.segment_overhead())
        .map(|passage| passage.time)
        .collect();
    let waits: Vec<f64> = probes.windows(2).map(|pair| pair[1].since(pair[0]).0 as f64 / S as f64).collect();
    assert!(waits.len() >= 3, "{waits:?}");
    for (wait, expected) in waits.iter().zip([2.0, 4.0, 8.0, 16.0]) {
        // The wait begins anew with the answer, a round trip later.
        assert!((wait - expected).abs() < 0.05, "{waits:?}");
    }
}

/// Every byte reaches a slow application, whatever is lost of data, and the sender counts the time in which it waits for a window.
#[test]
fn every_byte_is_read() {
    for (what, stack) in [("rfc", StackProfile::default()), ("linux-6", linux())] {
        let mut path = path(stack, 4_000_000, 60);
        path.drop = json!({"every": 97});
        path.flows = vec![finite("newreno", 3_000_000)];
        (path.duration, path.warm_up) = (30 * S, 0);
        let result = path.run();
        assert_eq!(result.flows[0].total_bytes_delivered, 3_000_000, "{what}");
        assert!(result.flows[0].statistics().receiver_limited > Duration(S), "{what}");
    }
    let mut path = path(StackProfile::default(), 0, 60);
    path.flows = vec![tcp("newreno")];
    assert!(at_sender(&path).iter().all(|passage| window(passage).is_none()), "nobody asked for windows");
}
