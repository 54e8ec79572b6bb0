//! Receive offload: segments in sequence that arrive within a short time have one acknowledgement, and leave the sender together.
//! Segmentation offload: they leave together though each second one is acknowledged.

use crate::support::{MS, Path, S, droptail};
use sojourn_engine::packet::flags;
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Bytes;

const US: u64 = MS / 1000;

/// A path of 1 Gbit/s, on which a segment takes 12 us, and 2 ms with a receiver whose segments wait this long, for two seconds.
fn path(wait: u64, flow: &str) -> Path {
    let mut path = Path::new(1_000_000_000, 2 * MS);
    path.queue = droptail(1000);
    path.stack = StackProfile {
        receive_offload: Duration(wait),
        // Four times what the path holds, so that the queue is never empty and never full.
        receive_buffer: Bytes(1_000_000),
        ..StackProfile::default()
    };
    path.flows = vec![crate::support::tcp(flow)];
    (path.duration, path.warm_up) = (2 * S, S);
    path
}

/// What passes the beginning of a link in the second half.
fn passages(path: &Path, link: usize) -> Vec<Passage> {
    let mut simulation = Simulation::new(&path.specification()).expect("valid");
    simulation.record(link, End::Near).expect("the link exists");
    while simulation.step() {
        assert!(simulation.census().is_complete(), "{:?}", simulation.census());
    }
    let all = simulation.take_passages_before(Time::NEVER);
    all.into_iter().filter(|passage| passage.time >= Time(S)).collect()
}

/// At a segment each 12 us, a wait of w has a run of floor(w / 12) + 1 segments, and each run one acknowledgement, up to 64 KiB in 45
/// segments. Without a wait each second segment has one.
#[test]
fn one_acknowledgement_for_a_run() {
    for (wait, segments) in [(0, 2), (20 * US, 2), (100 * US, 9), (250 * US, 21), (2000 * US, 45)] {
        let acknowledgements = passages(&path(wait, "newreno"), 3);
        assert!(acknowledgements.iter().all(|passage| passage.packet.has(flags::ACK)));
        let steps: Vec<u64> =
            acknowledgements.windows(2).map(|pair| (pair[1].packet.number - pair[0].packet.number) / 1448).collect();
        let mean = steps.iter().sum::<u64>() as f64 / steps.len() as f64;
        assert!((mean / f64::from(segments) - 1.0).abs() < 0.02, "{mean} segments, not {segments}, for {wait} ps");
    }
}

/// What a run's acknowledgement lets go leaves the host at once, at the rate of its own link, and the link stays full.
#[test]
fn bursts_at_line_rate() {
    let path = path(250 * US, "newreno");
    let sent = passages(&path, 0);
    // The sender's link is a hundred times as fast.
    let starts = sent.windows(2).filter(|pair| pair[1].time.since(pair[0].time) > Duration(US)).count();
    let burst = sent.len() as f64 / starts as f64;
    assert!((20.0..=22.5).contains(&burst), "{burst} segments a burst");
    let goodput = path.goodput(&path.run());
    assert!((goodput / (1e9 * 1448.0 / 1500.0) - 1.0).abs() < 1e-3, "{goodput}");
}

/// Segments and their repairs reach TCP in the order in which they arrive, so that a transfer over a lossy path is complete.
#[test]
fn nothing_is_lost_or_twice() {
    for wait in [5 * US, 100 * US, 3 * MS] {
        let mut path = path(wait, "cubic");
        path.drop = serde_json::json!({"every": 97});
        path.flows = vec![crate::support::finite("cubic", 3_000_000)];
        path.warm_up = 0;
        let result = path.run();
        assert_eq!(result.flows[0].total_bytes_delivered, 3_000_000, "{wait} ps");
    }
}

/// Linux tcp_output.c, tcp_tso_autosize and tcp_tso_should_defer, by hand: a sender waits until it can hand over as much as its pacing
/// rate, twice that of the link in slow start, sends in 1/1024 s, at most 45 segments, but not longer than until the first
/// acknowledgement that comes 1 ms after a burst. These leave back to back, and the link stays full.
#[test]
fn bursts_of_senders() {
    // At 200 Mbit/s there is an acknowledgement each 120 us, the ninth after 1.08 ms.
    for (rate, pacing, expected) in
        [(1_000_000_000, false, 45.0), (1_000_000_000, true, 45.0), (200_000_000, false, 18.0)]
    {
        let mut path = path(0, "newreno");
        (path.rate, path.edge_rate, path.rtt) = (rate, 100_000_000_000, 20 * MS);
        path.stack.receive_buffer = Bytes(rate / 8 / 50 * 3 / 2);
        path.stack.pacing = pacing;
        path.stack.send_offload = true;
        let sent = passages(&path, 0);
        let starts = sent.windows(2).filter(|pair| pair[1].time.since(pair[0].time) > Duration(US)).count();
        let burst = sent.len() as f64 / starts as f64;
        assert!((burst / expected - 1.0).abs() < 0.01, "{burst} segments a burst, not {expected}, at {rate}, {pacing}");
        let goodput = path.goodput(&path.run());
        assert!((goodput / (rate as f64 * 1448.0 / 1500.0) - 1.0).abs() < 2e-3, "{goodput} at {rate}");
    }
}

/// A transfer over a lossy path is complete whatever is sent together, and its last segments are not kept back.
#[test]
fn bursts_lose_nothing() {
    for size in [1000, 100_000, 3_000_000] {
        let mut path = path(0, "cubic");
        path.stack.send_offload = true;
        path.drop = serde_json::json!({"every": 97});
        path.flows = vec![crate::support::finite("cubic", size)];
        path.warm_up = 0;
        assert_eq!(path.run().flows[0].total_bytes_delivered, size);
    }
}
