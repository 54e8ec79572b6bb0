//! Flows that a buffer limits: they have a buffer of data a round trip, and the receiver's is to blame for it or not.

use crate::support::{MS, Path, S, finite, profiled, tcp};
use serde_json::json;
use sojourn_engine::time::Duration;
use sojourn_engine::units::Bytes;

/// A flow over 100 Mbit/s and 20 ms, whose product is 171 segments of 1460 bytes, with buffers of these numbers of segments.
fn path(send: u64, receive: u64) -> Path {
    let mut path = Path::new(100_000_000, 20 * MS);
    path.stack.send_buffer = Bytes(send * path.stack.segment_size.0);
    path.stack.receive_buffer = Bytes(receive * path.stack.segment_size.0);
    path.duration = 5 * S;
    path.warm_up = S;
    path
}

fn limited(path: &Path) -> Duration {
    path.run().flows[0].statistics().receiver_limited
}

/// A window of 40 segments lets 40 be sent a round trip, and the sender waits for the receiver's window all the time.
#[test]
fn receiver_limits_throughput() {
    let path = path(1000, 40);
    let result = path.run();
    // Headers are of 52 bytes, and acknowledgements too; edges are a hundred times as fast.
    let segment = path.stack.segment_size.0;
    let rtt = 0.02 + 8.0 * (segment + 2 * 52) as f64 * 1.02 / 100e6;
    let expected = (40 * segment * 8) as f64 / rtt;
    assert!((path.goodput(&result) / expected - 1.0).abs() < 0.01, "{} and {expected}", path.goodput(&result));
    assert_eq!(result.flows[0].statistics().receiver_limited, Duration(4 * S));
}

/// With the buffers exchanged the same time is the sender's, as `tcpi_sndbuf_limited` is. Linux's buffer that grows limits too, once it
/// is as large as it may be: here with a third of the path's product.
#[test]
fn sender_limits_throughput() {
    let mut grows = path(1000, 1000);
    grows.stack = profiled("linux-6", "cubic").stack;
    grows.stack.send_buffer = Bytes(131_072);
    for (what, path, least) in [("constant", path(40, 1000), 4 * S), ("grows", grows, 4 * S - 40 * MS)] {
        let statistics = path.run().flows[0].statistics();
        assert_eq!(statistics.receiver_limited, Duration::ZERO, "{what}");
        let limited = statistics.send_buffer_limited.0;
        assert!((least..=4 * S).contains(&limited), "{what}: {limited} ps");
    }
    assert_eq!(path(1000, 40).run().flows[0].statistics().send_buffer_limited, Duration::ZERO);
}

/// The congestion window, the send buffer and the end of the stream are not the receiver's doing.
#[test]
fn others_limit_too() {
    let mut ended = path(1000, 40);
    ended.flows = vec![finite("newreno", 1460)];
    let mut lossy = path(1000, 1000);
    lossy.drop = json!({"every": 100});
    for (what, path) in [("send buffer", path(40, 1000)), ("end of the stream", ended), ("congestion window", lossy)] {
        assert_eq!(limited(&path), Duration::ZERO, "{what}");
    }
}

/// A flow that is stopped is limited no more.
#[test]
fn stop_ends_limitation() {
    let mut path = path(1000, 40);
    path.flows = vec![tcp("newreno")];
    path.flows[0]["stop"] = json!(3 * S);
    assert_eq!(limited(&path), Duration(2 * S));
}
