//! Laws of schedulers and shapers in whole runs: shares, delays of sparse flows, rates.

use crate::support::{self, MS, Path, S, constant_rate, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::result::RunResult;
use sojourn_engine::specification::Specification;

const SCHEDULERS: [&str; 5] = ["fq_codel", "fq_pie", "sfq", "drr", "cake"];

fn close(measured: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (measured - expected).abs() <= tolerance * expected,
        "{what}: measured {measured}, expected {expected} within {tolerance}"
    );
}

/// The rate on the wire of each flow in the window, in bits per second. TCP segments carry 1448 bytes of 1500.
fn rates(path: &Path, result: &RunResult) -> Vec<f64> {
    let seconds = (path.duration - path.warm_up) as f64 * 1e-12;
    let wire = |flow: &sojourn_engine::result::FlowResult| if flow.tcp.is_some() { 1500.0 / 1448.0 } else { 1.0 };
    result.flows.iter().map(|flow| flow.bytes_delivered as f64 * wire(flow) * 8.0 / seconds).collect()
}

/// Law fq-maxmin: an unresponsive source at the link's rate and three TCP flows get a quarter of the link each.
#[test]
fn max_min_shares() {
    for queue in SCHEDULERS {
        let mut path = Path::new(20_000_000, 20 * MS);
        path.queue = json!({"name": queue, "limit": {"packets": 200}});
        path.flows = vec![constant_rate(20_000_000, 1500, false), tcp_flows("cubic", 3, S)];
        path.duration = 40 * S;
        path.warm_up = 10 * S;
        for (flow, rate) in rates(&path, &path.run()).into_iter().enumerate() {
            close(rate, 5e6, 0.03, &format!("{queue}: flow {flow}"));
        }
    }
    // Control: with drop-tail it gets nearly all of the link.
    let mut path = Path::new(20_000_000, 20 * MS);
    path.queue = support::droptail(200);
    path.flows = vec![constant_rate(20_000_000, 1500, false), tcp_flows("cubic", 3, S)];
    assert!(rates(&path, &path.run())[0] > 15e6);
}

/// Packets are conserved after every event. Schedulers and shapers lose none.
#[test]
fn packet_conservation() {
    for queue in ["fq_codel", "fq_pie", "sfq", "drr", "cake", "cobalt", "tbf"] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": queue, "limit": {"packets": 20}});
        path.flows = vec![tcp_flows("newreno", 20, S), tcp_flows("cubic", 20, S)];
        path.duration = 4 * S;
        path.warm_up = S;
        assert!(path.run_with_census(queue) > 100, "{queue}: the run must have losses to prove anything");
    }
}

/// A shaper at half the link's rate has that throughput, for any device queue, and a run takes no more steps than one
/// over a link of that rate whose queue puts nothing off, as that of a link that may lose packets.
#[test]
fn shaper_rate() {
    let parameters = json!({"rate": 5_000_000, "burst": 3_000});
    for (queue, parameters) in [("tbf", parameters), ("cake", json!({"bandwidth": 5_000_000}))] {
        for device_queue in [0, 1, 20] {
            let steps = |rate: u64, queue: Value, changes: Vec<Value>| {
                let mut path = Path::new(rate, 20 * MS);
                (path.queue, path.changes) = (queue, changes);
                path.device_queue = device_queue;
                path.flows = vec![tcp_flows("cubic", 2, S)];
                path.duration = 20 * S;
                path.warm_up = 5 * S;
                let mut simulation = path.simulation();
                let mut steps = 0u64;
                while simulation.step() {
                    steps += 1;
                }
                let rates = rates(&path, &path.run());
                (rates.iter().sum::<f64>(), steps)
            };
            let limit = json!({"packets": 100});
            let what = format!("{queue}, device of {device_queue}");
            let shaper = json!({"name": queue, "limit": limit, "parameters": parameters});
            let (rate, shaped) = steps(10_000_000, shaper, Vec::new());
            close(rate, 5e6, 0.01, &what);
            // It loses none: the run has ended.
            let changes = vec![json!({"at": 21 * S, "loss": 0.5})];
            let (_, plain) = steps(5_000_000, json!({"name": "codel", "limit": limit}), changes);
            assert!(shaped < plain * 3 / 2, "{what}: {shaped} steps, {plain} without");
        }
    }
}

/// The rates of two hosts that send to one host each over the same link, one with ten flows, the other with one.
fn two_hosts(queue: Value) -> Vec<f64> {
    let path = Path::new(20_000_000, 20 * MS);
    let link = |from: u64, to: u64, rate: u64, delay: u64, queue: &Value| json!({"from": from, "to": to, "rate": rate, "delay": delay, "queue": queue, "drop": null});
    let edge = |from: u64, to: u64| link(from, to, 1_000_000_000, 0, &Value::Null);
    let middle = |from: u64, to: u64, queue: &Value| link(from, to, 20_000_000, 10 * MS, queue);
    let flows = |from: u64, to: u64, count: u64| {
        let mut flows = tcp_flows("cubic", count, S);
        flows["from"] = json!(from);
        flows["to"] = json!(to);
        flows
    };
    let specification = json!({
        "seed": 1, "duration": path.duration, "warm_up": path.warm_up, "sender_overhead": 0,
        "nodes": ["one", "two", "a", "b", "to_one", "to_two"],
        "links": [
            edge(0, 2), edge(1, 2), middle(2, 3, &queue), edge(3, 4), edge(3, 5),
            edge(4, 3), edge(5, 3), middle(3, 2, &Value::Null), edge(2, 0), edge(2, 1),
        ],
        "stacks": [path.stack],
        "flows": [flows(0, 4, 10), flows(1, 5, 1)],
        "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    });
    let specification: Specification = serde_json::from_value(specification).unwrap();
    let simulation = sojourn_engine::simulation::Simulation::new(&specification).unwrap();
    rates(&path, &simulation.run(&std::sync::atomic::AtomicBool::new(false)).unwrap())
}

/// CAKE shares between hosts first, then between flows: a host with one flow gets half the link, and 1/11 if only flows
/// count. The target is such that a host always has packets to send: with the default 5 ms the other host's ten flows
/// can use more in one turn. FQ-CoDel has enough queues for no two flows to share one.
#[test]
fn cake_host_fairness() {
    let cake = |isolation: &str| {
        let parameters = json!({"isolation": isolation, "target": 50 * MS});
        json!({"name": "cake", "limit": {"packets": 1000}, "parameters": parameters})
    };
    for (queue, expected) in [
        (cake("triple"), 10e6),
        (cake("dual_src_host"), 10e6),
        (cake("dual_dst_host"), 10e6),
        (cake("src_host"), 10e6),
        (cake("flows"), 20e6 / 11.0),
        (
            json!({"name": "fq_codel", "limit": {"packets": 1000}, "parameters": {"target": 50 * MS, "queues": 60_000}}),
            20e6 / 11.0,
        ),
    ] {
        let rates = two_hosts(queue.clone());
        close(rates[10], expected, 0.03, &queue.to_string());
        close(rates.iter().sum(), 20e6, 0.01, &queue.to_string());
    }
}
