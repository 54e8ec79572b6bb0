//! Laws of requests and answers. The expected values were set before the code was written.

use serde_json::json;

use crate::support::{MS, Path, S, droptail, rate_based, tcp};

/// Requests over 12 Mbit/s with a base round-trip time of 50 ms.
fn requests() -> Path {
    let mut path = Path::new(12_000_000, 50 * MS);
    path.queue = droptail(100);
    path.flows = vec![rate_based("ping", json!({}))];
    path.duration = 110 * S;
    path.warm_up = 10 * S;
    path
}

/// The propagation delay, and 60 bytes over three links each way.
const UNLOADED: f64 = 0.050 + 2.0 * 60.0 * 8.0 / 12e6 * 1.02;

/// On an idle path every answer takes as long as the path does: ten a second.
#[test]
fn answers_over_idle_path() {
    let result = requests().run();
    let times = result.flows[0].round_trips.as_deref().expect("answers");
    for time in [times.mean, times.min, times.p50, times.p99, times.max, times.trimmed_mean] {
        assert!((time - UNLOADED).abs() < 1e-9, "{times:?}");
    }
    assert!(times.packets.abs_diff(1_000) <= 1, "{times:?}");
}

/// One request in 26 is lost and sent again after a second. It counts with that second, but not in the trimmed mean, which
/// leaves out 5 %.
#[test]
fn lost_requests() {
    let mut path = requests();
    path.drop = json!({"every": 26});
    let result = path.run();
    let times = result.flows[0].round_trips.as_deref().expect("answers");
    // Of 26 packets 25 arrive, one of which was lost before.
    assert!((times.mean - UNLOADED - 1.0 / 25.0).abs() < 0.002, "{times:?}");
    assert!((times.max - UNLOADED - 1.0).abs() < 1e-9, "{times:?}");
    assert!((times.trimmed_mean / UNLOADED - 1.0).abs() < 0.01, "{times:?}");
    let sent = result.flows[0].statistics();
    assert!(sent.retransmissions.abs_diff(40) <= 1 && sent.timeouts == sent.retransmissions, "{sent:?}");
}

/// A download keeps a queue of 100 packets between half full and full: answers take 50 to 100 ms longer.
#[test]
fn answers_beside_download() {
    let mut path = requests();
    path.flows.push(tcp("newreno"));
    let result = path.run();
    let times = result.flows[0].round_trips.as_deref().expect("answers");
    assert!((0.050..=0.101).contains(&(times.trimmed_mean - UNLOADED)), "{times:?}");
}
