//! Laws of algorithms that model the path, over one bottleneck: data in flight, response to random loss, shares. The
//! expected values and tolerances were set before the algorithms were written.

use crate::support::{MS, Path, S, droptail, tcp, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::result::RunResult;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;

/// The payload as a share of the packet size.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn between(measured: f64, least: f64, most: f64, what: &str) {
    assert!((least..=most).contains(&measured), "{what}: measured {measured}, expected {least} to {most}");
}

/// The utilisation by payload, as a share of the maximum.
fn utilisation(path: &Path, result: &RunResult) -> f64 {
    path.goodput(result) / (path.rate as f64 * PAYLOAD)
}

/// The bandwidth-delay product in packets.
fn bdp(path: &Path) -> f64 {
    path.rate as f64 * path.rtt as f64 * 1e-12 / 12_000.0
}

/// Mean of the RTT samples of all flows, in multiples of the propagation delay.
fn mean_rtt(path: &Path, result: &RunResult) -> f64 {
    let statistics = result.flows.iter().map(|flow| flow.tcp.as_ref().expect("a TCP flow").statistics);
    let (sum, samples) =
        statistics.fold((0.0, 0), |(sum, samples), flow| (sum + flow.rtt_sum.seconds(), samples + flow.rtt_samples));
    sum / samples as f64 / (path.rtt as f64 * 1e-12)
}

/// A loss pattern in which each packet is lost with probability p.
fn random_loss(p: f64, packets: u64, seed: u64) -> Value {
    let mut random = Random::stream(seed, Purpose::Source, 0);
    let lost: Vec<u64> = (1..=packets).filter(|_| random.unit() < p).collect();
    json!({ "listed": lost })
}

/// Mean utilisation over ten seeds of a flow with random losses, over 20 Mbit/s and 100 ms with two BDPs of buffer.
/// Lost retransmissions are detected by time, since each would otherwise wait for the timer.
fn utilisation_at_loss(algorithm: &str, p: f64) -> f64 {
    let run = |seed| {
        let mut path = Path::new(20_000_000, 100 * MS);
        path.queue = droptail(334);
        path.stack = StackProfile { recovery: RecoveryKind::Rack, ..path.stack };
        path.drop = random_loss(p, 80_000, seed);
        path.flows = vec![tcp(algorithm)];
        path.duration = 30 * S;
        path.warm_up = 5 * S;
        path.seed = seed;
        let result = path.run();
        utilisation(&path, &result)
    };
    (0..10).map(run).sum::<f64>() / 10.0
}

/// One flow over 20 Mbit/s and 100 ms, a BDP of 167 packets, with a buffer that loses nothing.
fn one_flow(algorithm: &str, duration: u64, warm_up: u64) -> (Path, RunResult) {
    let mut path = Path::new(20_000_000, 100 * MS);
    path.queue = droptail(1000);
    path.flows = vec![tcp(algorithm)];
    (path.duration, path.warm_up) = (duration, warm_up);
    path.flow_series = Some(10 * MS);
    path.queue_series = Some(10 * MS);
    let result = path.run();
    (path, result)
}

/// bbr-inflight: a single flow has 1.0 to 1.1 BDP in flight on average in PROBE_BW (law: +- 10 %). Its window limits it
/// to 2 BDP and three quanta, here of two segments. PROBE_RTT costs at most 2 % of the link.
#[test]
fn bbr_data_in_flight() {
    // PROBE_RTT occurs 10 s after the minimum RTT sample and ends within a second.
    for (from, to) in [(2, 9), (12, 19)] {
        let (path, result) = one_flow("bbr", to * S, from * S);
        let in_flight = utilisation(&path, &result) + result.queues[0].statistics.mean_packets / bdp(&path);
        between(in_flight, 0.9, 1.21, "mean BDPs in flight");
        let windows = result.series.flows.iter().filter(|sample| sample.time.0 >= path.warm_up);
        let greatest = windows.map(|sample| sample.cwnd as f64 / 1448.0).fold(0.0, f64::max);
        between(greatest, 2.0 * bdp(&path), 1.1 * (2.0 * bdp(&path) + 6.0), "greatest window in packets");
    }
    let (path, result) = one_flow("bbr", 42 * S, 2 * S);
    between(utilisation(&path, &result), 0.97, 1.0, "utilisation, PROBE_RTT included");
}

/// bbr-inflight: STARTUP leaves a queue of at most about 2 BDP (law: +- 10 %), and DRAIN removes it in about two round
/// trips, including the queueing delay.
#[test]
fn bbr_startup_and_drain() {
    let (path, result) = one_flow("bbr", 4 * S, 0);
    let peak = result.series.queues.iter().max_by_key(|sample| sample.packets).expect("samples");
    between(peak.packets as f64 / bdp(&path), 0.5, 2.2, "queue at the end of STARTUP in BDPs");
    let drained = result.series.queues.iter().find(|sample| sample.time > peak.time && sample.packets < 8);
    let took = drained.expect("the queue is drained").time.since(peak.time).seconds();
    let longest = 0.1 * (1.0 + peak.packets as f64 / bdp(&path));
    between(took, 0.0, 1.1 * 2.0 * longest, "seconds to drain it");
}

/// bbr-inflight: PROBE_RTT, four packets for 200 ms every 10 s. With two flows, since a single flow measures the
/// minimum RTT again and again without it.
#[test]
fn bbr_probe_rtt_interval() {
    let mut path = Path::new(20_000_000, 100 * MS);
    path.queue = droptail(1000);
    path.flows = vec![tcp_flows("bbr", 2, S)];
    (path.duration, path.warm_up) = (65 * S, 25 * S);
    path.flow_series = Some(10 * MS);
    let result = path.run();
    let is_small = |flow| {
        let samples = result.series.flows.iter().filter(move |sample| sample.flow == flow);
        samples.map(|sample| (sample.time.seconds(), sample.cwnd == 4 * 1448)).collect::<Vec<_>>()
    };
    for flow in 0..2 {
        let samples = is_small(flow);
        let mut edges = samples.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| pair[1].0);
        let mut begins = Vec::new();
        while let (Some(begin), Some(end)) = (edges.next(), edges.next()) {
            // The time until four packets are in flight, 200 ms, and the rest of a round.
            between(end - begin, 0.2, 0.2 + 4.0 * 0.1, "seconds in PROBE_RTT");
            begins.push(begin);
        }
        assert!(begins.len() >= 4, "PROBE_RTT at {begins:?}");
        for pair in begins.windows(2) {
            between(pair[1] - pair[0], 10.0, 11.0, "seconds from one to the next");
        }
    }
}

/// bbr-throughput: random loss does not reduce the throughput, 93 % of the link at 1 % (calculated value), until it
/// reaches the probing gain of about 20 %.
#[test]
fn bbr_random_loss() {
    between(utilisation_at_loss("bbr", 0.01), 0.93, 1.0, "utilisation at 1 %");
    let (below, above) = (utilisation_at_loss("bbr", 0.1), utilisation_at_loss("bbr", 0.25));
    assert!(above < 0.5 * below, "{above} of the link at 25 % and {below} at 10 %");
}

/// At 1 % of random loss BBR has at least ten times the throughput of CUBIC, if the BDP is large enough.
#[test]
fn bbr_and_cubic_random_loss() {
    let goodput = |algorithm| {
        let mut path = Path::new(50_000_000, 100 * MS);
        path.queue = droptail(417);
        path.drop = random_loss(0.01, 200_000, 1);
        path.flows = vec![tcp(algorithm)];
        (path.duration, path.warm_up) = (25 * S, 5 * S);
        let result = path.run();
        path.goodput(&result)
    };
    let (bbr, cubic) = (goodput("bbr"), goodput("cubic"));
    assert!(bbr > 10.0 * cubic, "{bbr} and {cubic} bit/s");
}

/// bbr-multi: several flows fill a deep buffer up to the limit of their windows, so that the RTT is 1.5 to 2.2 times
/// the propagation delay. The quanta of each flow are negligible at a BDP of 417 packets.
#[test]
fn several_bbr_flows() {
    for flows in [2, 4] {
        let run = |seed| {
            let mut path = Path::new(50_000_000, 100 * MS);
            path.queue = droptail(4 * 417);
            path.flows = vec![tcp_flows("bbr", flows, S)];
            (path.duration, path.warm_up, path.seed) = (40 * S, 15 * S, seed);
            let result = path.run();
            assert_eq!(result.queues[0].statistics.window.drops_overflow, 0);
            between(utilisation(&path, &result), 0.9, 1.0, "utilisation");
            mean_rtt(&path, &result)
        };
        let mean = (0..10).map(run).sum::<f64>() / 10.0;
        between(mean, 1.5, 2.2, &format!("round trips of {flows} flows in propagation delays"));
    }
}

/// Random loss below the threshold of 2 % slows version 3 only between probes: each round reduces the rate to 0.99 by
/// the pacing margin and to 0.99 by the losses, for at most 3 s (sections 5.6.2, 5.5.10.3 and 5.3.3.8.2), so the mean
/// over 30 round trips is (1 - 0.98^30) / (30 * 0.02) = 0.757. Loss above the threshold slows it throughout.
#[test]
fn bbr3_random_loss() {
    let (below, above) = (utilisation_at_loss("bbr3", 0.01), utilisation_at_loss("bbr3", 0.05));
    between(below, 0.757, 1.0, "utilisation at 1 %");
    assert!(above < 0.5 * below, "{above} of the link at 5 % and {below} at 1 %");
}

/// A single flow of version 3 uses the link except for the cost of ProbeRTT, 2 % by section 5.3.4.2, and of
/// ProbeBW_DOWN, 10 % of the rate for at most as long as ProbeBW_UP's queue lasts. The queue is less than the BDP.
#[test]
fn bbr3_utilisation() {
    let (path, result) = one_flow("bbr3", 42 * S, 2 * S);
    between(utilisation(&path, &result), 0.95, 1.0, "utilisation");
    between(result.queues[0].statistics.mean_packets / bdp(&path), 0.0, 0.5, "mean queue in BDPs");
}

/// Version 3 does not persistently lose more than 2 % in any buffer of at least a quarter of the BDP, where version 1
/// loses several times as much (section 2.8, BBR.LossThresh).
#[test]
fn bbr3_shallow_buffers() {
    for buffer in [16, 33, 66] {
        let run = |algorithm: &str| {
            let mut path = Path::new(20_000_000, 40 * MS);
            path.queue = droptail(buffer);
            path.flows = vec![tcp_flows(algorithm, 2, S)];
            let result = path.run();
            let counts = result.queues[0].statistics.window;
            (counts.drops_overflow as f64 / counts.arrivals as f64, utilisation(&path, &result))
        };
        let ((loss, used), (loss_of_first, _)) = (run("bbr3"), run("bbr"));
        between(loss, 0.0, 0.02, &format!("share lost in a buffer of {buffer} packets"));
        assert!(loss_of_first > 2.0 * loss, "buffer of {buffer} packets: {loss_of_first} and {loss}");
        between(used, 0.85, 1.0, "utilisation");
    }
}

/// A second flow that starts later gets its share: DOWN's gain of 0.9 is the least with which bandwidths converge
/// (section 5.3.3.1). Mean over ten seeds, since each flow probes at random times.
#[test]
fn bbr3_convergence() {
    let share_of_late = |seed| {
        let mut path = Path::new(20_000_000, 40 * MS);
        path.queue = droptail(3 * 67);
        let mut late = tcp("bbr3");
        late["start"] = json!(10 * S);
        path.flows = vec![tcp("bbr3"), late];
        (path.duration, path.warm_up, path.seed) = (80 * S, 40 * S, seed);
        let result = path.run();
        between(utilisation(&path, &result), 0.9, 1.0, "utilisation");
        let delivered: Vec<f64> = result.flows.iter().map(|flow| flow.bytes_delivered as f64).collect();
        delivered[1] / (delivered[0] + delivered[1])
    };
    let mean = (0..10).map(share_of_late).sum::<f64>() / 10.0;
    between(mean, 0.4, 0.6, "share of the later flow");
}
