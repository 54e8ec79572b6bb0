//! Claims of the authors of queue disciplines for TCP traffic: whole paths over one bottleneck.

use crate::support::{MS, Path, S, constant_rate, droptail, required_parameters, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::probe::QueueStatistics;
use sojourn_engine::queue::Discipline;
use sojourn_engine::tcp::ecn::EcnKind;

/// Runs this number of NewReno flows over a link of 45 Mbit/s, 3750 packets per second as in Hollot et al. 2001, from
/// 100 s to 200 s.
fn bottleneck(queue: Value, flows: u64, rtt: u64, ecn: bool) -> QueueStatistics {
    let mut path = Path::new(45_000_000, rtt);
    path.queue = queue;
    path.flows = vec![tcp_flows("newreno", flows, 10 * S)];
    path.stack.ecn = if ecn { EcnKind::Classic } else { EcnKind::Off };
    path.duration = 200 * S;
    path.warm_up = 100 * S;
    path.run().queues.into_iter().next().expect("the bottleneck's queue").statistics
}

/// Hollot et al. 2001: the PI controller, designed for at least 60 flows and round-trip times up to 240 ms, keeps the
/// queue at its reference for any load. With RED the queue depends on the load.
#[test]
fn pi_queue_reference() {
    for (reference, flows) in [(200, 60), (200, 120), (300, 60)] {
        let queue = json!({"name": "pi", "limit": {"packets": 800}, "parameters": {"reference": reference, "w": 160}});
        let statistics = bottleneck(queue, flows, 200 * MS, false);
        let length = statistics.mean_packets;
        assert!((length / f64::from(reference) - 1.0).abs() < 0.1, "{flows} flows: {length} packets, not {reference}");
        assert!(statistics.busy_share > 0.99, "{flows} flows: {}", statistics.busy_share);
    }
}

/// Athuraliya et al. 2001: REM matches the rate and clears the buffer: with marks it keeps the queue at its target of
/// 20 packets and the link busy, for any number of flows.
#[test]
fn rem_rate_and_queue() {
    for flows in [30, 60, 90] {
        let queue = json!({"name": "rem", "limit": {"packets": 800}, "parameters": {"ecn": true}});
        let statistics = bottleneck(queue, flows, 80 * MS, true);
        let (length, busy) = (statistics.mean_packets, statistics.busy_share);
        assert!((length - 20.0).abs() < 4.0, "{flows} flows: {length} packets");
        assert!(busy > 0.96, "{flows} flows: {busy} of the time busy");
        assert_eq!(statistics.window.drops_overflow, 0);
    }
}

/// Kunniyur and Srikant 2004: AVQ keeps the utilisation at the desired value for any number of flows, without losses at
/// the limit.
#[test]
fn avq_utilisation() {
    for (flows, gamma) in [(30, 0.98), (60, 0.98), (120, 0.98), (120, 0.9)] {
        let queue = json!({"name": "avq", "limit": {"packets": 200}, "parameters": {"gamma": gamma}});
        let statistics = bottleneck(queue, flows, 80 * MS, false);
        let busy = statistics.busy_share;
        assert!((busy - gamma).abs() < 0.005, "{flows} flows: {busy} of the time busy, not {gamma}");
        assert_eq!(statistics.window.drops_overflow, 0);
    }
}

/// The share of the throughput of a link of 10 Mbit/s that an unresponsive flow with `times` the link's rate gets
/// against 32 NewReno flows, as in Pan, Prabhakar and Psounis 2000.
fn unresponsive_share(queue: Value, times: f64) -> f64 {
    let mut path = Path::new(10_000_000, 100 * MS);
    path.queue = queue;
    path.flows = vec![tcp_flows("newreno", 32, 5 * S), constant_rate((times * 10e6) as u64, 1500, true)];
    path.duration = 120 * S;
    path.warm_up = 20 * S;
    let result = path.run();
    result.flows.last().expect("the unresponsive flow").bytes_delivered as f64 * 8.0 / (100.0 * 10e6)
}

/// Tang, Wang and Low, "Understanding CHOKe" (2004): with many TCP flows an unresponsive flow gets at most 1 / (e + 1)
/// = 26.9 % of the link at any rate, and the less the more it exceeds the link's rate. RED leaves it nearly everything
/// (Pan et al. 2000).
#[test]
fn choke_unresponsive_flow() {
    let share = |name: &str, times| {
        let parameters = json!({"min": {"packets": 100}, "max": {"packets": 200}});
        unresponsive_share(json!({"name": name, "limit": {"packets": 300}, "parameters": parameters}), times)
    };
    let bound = 1.0 / (std::f64::consts::E + 1.0);
    let shares = [0.5, 1.0, 1.5, 2.0, 4.0, 8.0].map(|times| (times, share("choke", times)));
    for (times, share) in shares {
        assert!(share < bound, "{share} of the link at {times} times its rate");
    }
    let [.., (_, at_two), (_, at_four), (_, at_eight)] = shares;
    assert!(at_four < 0.8 * at_two && at_eight < 0.8 * at_four, "{shares:?}");
    let with_red = share("red", 2.0);
    assert!(with_red > 0.8, "{with_red} of the link with RED");
}

/// With CHOKe's comparison in PIE and CoDel, which drops only the arrival, those packets of an unresponsive flow of
/// lambda times the link's rate pass that are compared with another flow's: a share mu = lambda (1 - mu) of the link.
/// It is slightly more, since they do not compare all the time.
#[test]
fn choke_pie_and_choke_codel() {
    for (name, plain) in [("choke_pie", "pie"), ("choke_codel", "codel")] {
        for times in [0.5, 0.8, 1.2, 2.0, 4.0] {
            let share = |name: &str| unresponsive_share(json!({"name": name, "limit": {"packets": 300}}), times);
            let (with, without, law) = (share(name), share(plain), times / (1.0 + times));
            assert!((0.0..0.1).contains(&(with - law)), "{name} at {times}: {with} of the link, by the law {law}");
            assert!(with < without - 0.05, "{name} at {times}: {with} of the link, {plain}: {without}");
        }
    }
}

/// Feng et al. 2001: with SFB an unresponsive flow gets little more than the others at any rate: less than three times
/// its fair share of 1/33, where tail drop leaves it nearly everything.
#[test]
fn sfb_unresponsive_flow() {
    for times in [0.5, 1.0, 2.0, 4.0] {
        let share = |name: &str| unresponsive_share(json!({"name": name, "limit": {"packets": 300}}), times);
        let (with_sfb, without) = (share("sfb"), share("droptail"));
        assert!(with_sfb < 3.0 / 33.0, "{with_sfb} of the link at {times} times its rate");
        assert!(without > 0.8 * times.min(1.0), "{without} of the link at {times} times its rate, with tail drop");
    }
}

/// Law fq-maxmin: with AFpFT a flow that sends at the link's rate gets no more than each of three TCP flows, a quarter.
#[test]
fn afpft_unresponsive_flow() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = json!({"name": "afpft", "limit": {"packets": 100}});
    path.flows = vec![tcp_flows("newreno", 3, S), constant_rate(10_000_000, 1500, true)];
    let result = path.run();
    let window = (path.duration - path.warm_up) as f64 * 1e-12;
    let shares = result.flows.iter().map(|flow| flow.bytes_delivered as f64 * 8.0 / window / 10e6);
    // Delivered bytes are payload. The unresponsive flow's packets have smaller headers.
    let shares: Vec<f64> = shares.collect();
    assert!((shares[3] / 0.25 - 1.0).abs() < 0.03, "{shares:?}");
    assert!(shares[..3].iter().all(|share| (share / (0.25 * 1448.0 / 1500.0) - 1.0).abs() < 0.03), "{shares:?}");
}

/// Law md1: Poisson arrivals of one size wait rho / (2 (1 - rho)) transmission times on average (Pollaczek and
/// Khinchine), within 2 % over ten seeds, in the whole simulation.
#[test]
fn md1_waiting_time() {
    let data: Value = serde_json::from_str(include_str!("../data/queue.json")).unwrap();
    for row in data["laws"]["md1"]["worked"].as_array().unwrap() {
        let (rho, law) = (row["rho"].as_f64().unwrap(), row["wait"].as_f64().unwrap());
        let mut waited = 0.0;
        for seed in 0..10 {
            let mut path = Path::new(100_000_000, 0);
            path.queue = droptail(1_000_000);
            path.flows = vec![constant_rate((rho * 100e6) as u64, 1500, true)];
            (path.duration, path.warm_up, path.seed) = (81 * S, S, seed);
            let result = path.run();
            waited += result.queues[0].statistics.sojourn.as_ref().expect("packets were sent").mean / 10.0;
        }
        let transmissions = waited * 100e6 / 12_000.0;
        assert!(
            (transmissions / law - 1.0).abs() < 0.02,
            "load {rho}: {transmissions} transmissions, by the law {law}"
        );
    }
}

/// Law mg1: Poisson arrivals wait lambda E[S^2] / (2 (1 - rho)) on average, S being the time to send one (Pollaczek and Khinchine). Of
/// 100 and 1500 bytes, 58 and 42 in a hundred, the second moment is that of an exponential distribution within half a percent: these are
/// the waits of M/M/1, rho / (1 - rho) transmissions. Within 3 %: four standard errors of 1.4 million packets at a load of 0.8.
#[test]
fn mm1_waiting_time() {
    let sizes = [(0.58, 100.0), (0.42, 1500.0)];
    let moment =
        |power| sizes.iter().map(|(share, bytes): &(f64, f64)| share * (8.0 * bytes / 100e6).powi(power)).sum::<f64>();
    assert!((moment(2) / (2.0 * moment(1).powi(2)) - 1.0).abs() < 0.005, "not those of an exponential distribution");
    for rho in [0.5, 0.8] {
        let arrivals = rho / moment(1);
        let law = arrivals * moment(2) / (2.0 * (1.0 - rho));
        let mut waited = 0.0;
        for seed in 0..2 {
            let mut path = Path::new(100_000_000, 0);
            path.queue = droptail(1_000_000);
            path.flows = sizes
                .iter()
                .map(|(share, bytes)| constant_rate((arrivals * share * bytes * 8.0) as u64, *bytes as u64, true))
                .collect();
            (path.duration, path.warm_up, path.seed) = (51 * S, S, seed);
            waited += path.run().queues[0].statistics.sojourn.as_ref().expect("packets were sent").mean / 2.0;
        }
        assert!((waited / law - 1.0).abs() < 0.03, "load {rho}: {waited} s, by the law {law} s");
    }
}

/// Little's law, whatever the discipline: the mean number of queued packets is the rate at which they leave times the mean time that
/// they were queued. Packets that were dropped after they had queued are in the number only, so it is at least the law's, and greater
/// by no more than twice the longest wait for each drop.
#[test]
fn littles_law() {
    for (about, _) in Discipline::catalogue() {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue =
            json!({"name": about.name, "limit": {"packets": 100}, "parameters": required_parameters(about.name)});
        path.flows = [1_000_000, 2_500_000, 4_500_000].map(|rate| constant_rate(rate, 1500, true)).to_vec();
        (path.warm_up, path.duration) = (0, 20 * S);
        let statistics = path.run().queues.remove(0).statistics;
        let sojourn = statistics.sojourn.as_ref().expect("packets were sent");
        let law = statistics.window.departures as f64 * sojourn.mean / 20.0;
        let dropped = 2.0 * sojourn.max * statistics.window.drops() as f64 / 20.0;
        let ends = statistics.max_packets as f64 * sojourn.max / 20.0;
        let case = format!("{}: {} packets, by the law {law}", about.name, statistics.mean_packets);
        assert!(
            statistics.mean_packets > law - 1e-9 && statistics.mean_packets < law + dropped + ends + 1e-9,
            "{case}"
        );
        assert!(
            statistics.window.drops() > 0 || (statistics.mean_packets - law).abs() <= ends + 1e-9,
            "{case}, without drops"
        );
    }
}
