//! Builds runs for the tests: one bottleneck between hosts on fast links.
#![allow(dead_code)] // The pcapng tests use a part of it.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::profile::{DefaultKind, StackProfile};

/// Picoseconds per millisecond and per second.
pub const MS: u64 = 1_000_000_000;
pub const S: u64 = 1_000 * MS;

/// A path from a sending host over two routers to a receiving host. The middle link is the bottleneck.
pub struct Path {
    pub rate: u64,
    /// Round-trip propagation delay, all of it on the middle link, in picoseconds.
    pub rtt: u64,
    /// The rate of the edge links, in bits per second.
    pub edge_rate: u64,
    pub queue: Value,
    /// Number of packets in the bottleneck's device.
    pub device_queue: u64,
    pub drop: Value,
    /// Changes of the bottleneck during the run.
    pub changes: Vec<Value>,
    pub duration: u64,
    pub warm_up: u64,
    pub flows: Vec<Value>,
    pub stack: StackProfile,
    pub sender_overhead: u64,
    pub flow_series: Option<u64>,
    pub queue_series: Option<u64>,
    pub seed: u64,
}

impl Path {
    pub fn new(rate: u64, rtt: u64) -> Path {
        Path {
            rate,
            rtt,
            edge_rate: 100 * rate,
            queue: Value::Null,
            device_queue: 0,
            drop: Value::Null,
            changes: Vec::new(),
            duration: 60 * S,
            warm_up: 20 * S,
            flows: vec![tcp("newreno")],
            stack: acknowledge_every_segment(),
            sender_overhead: 0,
            flow_series: None,
            queue_series: None,
            seed: 1,
        }
    }

    pub fn specification(&self) -> Specification {
        let link = |from: u64, to: u64, rate: u64, delay: u64| json!({"from": from, "to": to, "rate": rate, "delay": delay, "queue": null, "drop": null});
        let edge = |from: u64, to: u64| link(from, to, self.edge_rate, 0);
        let mut bottleneck = link(1, 2, self.rate, self.rtt / 2);
        bottleneck["queue"] = self.queue.clone();
        bottleneck["device_queue"] = json!(self.device_queue);
        bottleneck["drop"] = self.drop.clone();
        bottleneck["changes"] = json!(self.changes);
        let specification = json!({
            "seed": self.seed, "duration": self.duration, "warm_up": self.warm_up,
            "sender_overhead": self.sender_overhead,
            "nodes": ["sender", "a", "b", "receiver"],
            "links": [
                edge(0, 1), bottleneck, edge(2, 3),
                edge(3, 2), link(2, 1, self.rate, self.rtt / 2), edge(1, 0),
            ],
            "stacks": [self.stack],
            "flows": self.flows,
            "probe": {"queue_statistics": true, "queue_series": self.queue_series, "flow_series": self.flow_series},
        });
        serde_json::from_value(specification).expect("the tests' specifications are well formed")
    }

    pub fn simulation(&self) -> Simulation {
        Simulation::new(&self.specification()).expect("the tests' specifications are valid")
    }

    pub fn run(&self) -> RunResult {
        self.simulation().run(&AtomicBool::new(false)).expect("nobody cancels")
    }

    /// Runs and accounts for every packet after every event. `what` names the run. Returns the number of drops.
    pub fn run_with_census(&self, what: &str) -> u64 {
        let mut simulation = self.simulation();
        let mut dropped = 0;
        while simulation.step() {
            let census = simulation.census();
            assert!(census.is_complete(), "{what}: {census:?}");
            dropped = census.dropped;
        }
        dropped
    }

    /// Goodput of all flows over the window, in bits per second.
    pub fn goodput(&self, result: &RunResult) -> f64 {
        let bytes: u64 = result.flows.iter().map(|flow| flow.bytes_delivered).sum();
        bytes as f64 * 8.0 / ((self.duration - self.warm_up) as f64 * 1e-12)
    }
}

/// The standard stack, but with an acknowledgement for every segment (b = 1 in the formulas of the literature).
pub fn acknowledge_every_segment() -> StackProfile {
    StackProfile { delayed_ack_count: 1, ..StackProfile::default() }
}

pub fn droptail(packets: u64) -> Value {
    json!({"name": "droptail", "limit": {"packets": packets}})
}

/// A congestion control as a named profile has it.
pub struct Profiled {
    pub stack: StackProfile,
    pub parameters: Value,
    pub slow_start: Value,
}

/// What a named profile says of a congestion control: its stack, the parameters it changes, and its slow start.
pub fn profiled(profile: &str, control: &str) -> Profiled {
    let named = StackProfile::named().into_iter().find(|named| named.name == profile).expect("a named profile");
    let mut stack = serde_json::Map::new();
    stack.extend(named.settings.into_iter().map(|setting| (setting.name.to_owned(), setting.value)));
    let (mut parameters, mut start, mut of_start) = (json!({}), json!("standard"), json!({}));
    for default in named.defaults.into_iter().filter(|default| default.algorithm == control) {
        match default.kind {
            DefaultKind::Control => parameters[default.parameter] = default.value,
            DefaultKind::Stack => drop(stack.insert(default.parameter.to_owned(), default.value)),
            DefaultKind::SlowStart if default.parameter == "name" => start = default.value,
            DefaultKind::SlowStart => of_start[default.parameter] = default.value,
        }
    }
    Profiled {
        stack: StackProfile::from_settings(&Value::Object(stack)).expect("settings that are allowed"),
        parameters,
        slow_start: json!({"name": start, "parameters": of_start}),
    }
}

pub fn tcp(name: &str) -> Value {
    tcp_flows(name, 1, 0)
}

pub fn tcp_flows(name: &str, count: u64, start_within: u64) -> Value {
    json!({
        "count": count, "from": 0, "to": 3, "group": name, "start": 0, "start_within": start_within, "size": null,
        "source": {"name": name, "slow_start": "standard", "stack": 0},
    })
}

pub fn finite(name: &str, bytes: u64) -> Value {
    let mut flow = tcp(name);
    flow["size"] = json!(bytes);
    flow
}

pub fn rate_based(name: &str, parameters: Value) -> Value {
    let mut flow = tcp(name);
    flow["source"]["parameters"] = parameters;
    flow
}

pub fn constant_rate(rate: u64, packet_size: u64, poisson: bool) -> Value {
    rate_based("cbr", json!({"rate": rate, "packet_size": packet_size, "poisson": poisson}))
}

/// The required parameters of a discipline.
pub fn required_parameters(discipline: &str) -> Value {
    match discipline {
        "tbf" => json!({"rate": 1_000_000_000}),
        "apd_static" | "codel_static" => json!({"hungriest": "cbr"}),
        _ => json!({}),
    }
}
