//! Laws of the one-way delays of sources that nothing answers. The expected values were set before the code was written.

use crate::support::{MS, Path, S, constant_rate, droptail};
use serde_json::json;

/// Packets of 1,500 bytes at a rate, over a bottleneck of 12 Mbit/s (1 ms a packet) between edges of 1.2 Gbit/s (10 us each).
fn path(rate: u64, poisson: bool) -> Path {
    let mut path = Path::new(12_000_000, 50 * MS);
    path.queue = droptail(1_000);
    path.flows = vec![constant_rate(rate, 1500, poisson)];
    path.duration = 60 * S;
    path.warm_up = 10 * S;
    path
}

/// Transmission on three links, and the propagation delay of one way.
const UNLOADED: f64 = 0.001 + 2.0 * 0.000_01 + 0.025;

/// On an idle path every packet takes as long as the path does, and there is no jitter.
#[test]
fn delay_of_idle_path() {
    let result = path(1_200_000, false).run();
    let delays = result.flows[0].delays.as_deref().expect("packets arrived");
    for delay in [delays.mean, delays.min, delays.p50, delays.p95, delays.p99, delays.max] {
        assert!((delay - UNLOADED).abs() < 1e-9, "{delays:?}");
    }
    assert_eq!((delays.packets, delays.jitter), (5_000, Some(0.0)), "{delays:?}");
}

/// At half the rate of the bottleneck a packet takes 1 ms longer: of 5,000 packets one differs from the one before it, so the
/// jitter is 1 ms / 5,000, and a fifth of them have the longer delay.
#[test]
fn jitter_of_one_step() {
    let mut path = path(1_200_000, false);
    path.changes = vec![json!({"at": 50 * S, "rate": 6_000_000, "delay": null, "loss": null})];
    let result = path.run();
    let delays = result.flows[0].delays.as_deref().expect("packets arrived");
    let jitter = delays.jitter.expect("several packets arrived");
    assert!((jitter - 0.001 / 5_000.0).abs() < 1e-12, "{delays:?}");
    assert!((delays.min - UNLOADED).abs() < 1e-9 && (delays.p99 - UNLOADED - 0.001).abs() < 1e-9, "{delays:?}");
    assert!((delays.mean - UNLOADED - 0.001 / 5.0).abs() < 1e-6, "{delays:?}");
    assert!((delays.p50 / UNLOADED - 1.0).abs() < 0.01, "{delays:?}");
}

/// Delays are the path's and the waiting time of M/D/1, rho S / (2 (1 - rho)) by Pollaczek and Khinchine: 2 ms at a load of 0.8.
/// The probe of the queue, which knows nothing of flows, finds the same mean. The tolerance is three standard errors.
#[test]
fn delay_of_random_arrivals() {
    let mut path = path(9_600_000, true);
    path.duration = 260 * S;
    let result = path.run();
    let delays = result.flows[0].delays.as_deref().expect("packets arrived");
    let waited = delays.mean - UNLOADED;
    assert!((waited / 0.002 - 1.0).abs() < 0.1, "{delays:?}");
    let sojourn = result.queues[0].statistics.sojourn.expect("packets left the queue");
    assert!((waited / sojourn.mean - 1.0).abs() < 0.01, "{delays:?}, {sojourn:?}");
    assert!(((delays.p99 - UNLOADED) / sojourn.p99 - 1.0).abs() < 0.05, "{delays:?}, {sojourn:?}");
}
