//! Laws of whole runs that single congestion controls obey.

mod support;

use serde_json::{Value, json};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::profile::{RecoveryKind, StackProfile};
use support::{MS, Path, S, acknowledge_every_segment, droptail, tcp};

/// Which of so many packets are lost, each with probability p.
fn random_losses(p: f64, packets: u64, seed: u64) -> Value {
    let mut random = Random::stream(seed, Purpose::Source, 0);
    // The handshake is spared.
    let lost: Vec<u64> = (10..packets).filter(|_| random.unit() < p).collect();
    json!({"listed": lost})
}

/// westwood-ssthresh: at a loss Westwood+ falls to about the bandwidth-delay product, so at random losses of p = 0.001, 100 ms
/// and 10 Mbit/s it has more than 1.3 times Reno's throughput (mean of ten seeds).
#[test]
fn westwood_bears_random_losses() {
    let goodput = |algorithm: &str| {
        let of_seed = |seed| {
            let mut path = Path::new(10_000_000, 100 * MS);
            path.queue = droptail(83); // One BDP.
            path.flows = vec![tcp(algorithm)];
            path.drop = random_losses(0.001, 100_000, seed);
            path.duration = 100 * S;
            path.goodput(&path.run())
        };
        (1..=10).map(of_seed).sum::<f64>() / 10.0
    };
    let (westwood, reno) = (goodput("westwood"), goodput("newreno"));
    assert!(westwood > 1.3 * reno, "Westwood+ {westwood} bit/s, Reno {reno} bit/s");
}

/// westwood-ssthresh: what a loss leaves still fills the link, so one flow uses it whole with any buffer, where halving uses 0.82
/// with a tenth and 0.96 with half of a bandwidth-delay product (geometry of the sawtooth).
#[test]
fn westwood_fills_the_link_with_a_small_buffer() {
    for (buffer, halving) in [(20, 0.8176), (50, 0.8929), (100, 0.9643)] {
        let mut path = Path::new(24_000_000, 100 * MS); // 1500 B in 0.5 ms: BDP 200 packets.
        path.queue = droptail(buffer);
        path.flows = vec![tcp("westwood")];
        path.stack = StackProfile { recovery: RecoveryKind::Sack, ..acknowledge_every_segment() };
        path.duration = 300 * S;
        path.warm_up = 50 * S;
        let share = path.run().queues[0].statistics.busy_share;
        assert!(share > halving && share >= 0.97, "buffer of {buffer}: utilisation {share}");
    }
}
