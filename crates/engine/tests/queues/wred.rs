//! WRED: Cisco's thresholds by precedence, and their effect.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_engine::numbers::FlowGroup;
use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{DropCause, FlowTable, Limit, QueueDiscipline, Wred, WredParameters};
use sojourn_engine::time::Time;
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};

/// Two flows in two groups: flow 0 in "voice", flow 1 in "bulk".
pub fn two_groups() -> Arc<FlowTable> {
    let group = |name: &str| FlowGroup { count: 1, to: 1, name: name.to_owned(), ..FlowGroup::default() };
    Arc::new(FlowTable::new(&[group("voice"), group("bulk")]))
}

fn wred(limit: Limit, parameters: Value) -> Bench<Wred> {
    let parameters: WredParameters = serde_json::from_value(parameters).unwrap();
    let mut wred = Wred::new(limit, parameters);
    wred.set_link_rate(Rate(10_000_000));
    wred.set_flows(&two_groups()).unwrap();
    Bench::new(wred, 1)
}

fn of_flow(flow: u32, ecn_flag: u8) -> Packet {
    Packet { flow, ..packet(1500, ecn_flag) }
}

/// The minimum threshold is half of the maximum for precedence 0, and rises by a ninth of the half per precedence.
#[test]
fn minimum_by_precedence() {
    let parameters = WredParameters { max: Limit::Packets(36), ..WredParameters::default() };
    let minima: Vec<f64> = (0..=7).map(|precedence| parameters.minimum(precedence)).collect();
    assert_eq!(minima, [18.0, 20.0, 22.0, 24.0, 26.0, 28.0, 30.0, 32.0]);
}

/// The shares of both flows' packets that are dropped with 33 packets queued.
fn rates_of_drops(favoured: &str) -> [f64; 2] {
    let set = json!({"max": {"packets": 36}, "weight": 1.0, "favoured": favoured, "precedence": 6});
    let mut bench = wred(UNLIMITED, set);
    while bench.queue.packets() < 33 {
        bench.enqueue(Time::ZERO, of_flow(1, 0));
    }
    let mut drops = [0.0; 2];
    for arrival in 0..200_000u32 {
        let before = bench.outcome.dropped.len();
        bench.enqueue(Time::ZERO, of_flow(arrival % 2, 0));
        drops[arrival as usize % 2] += (bench.outcome.dropped.len() - before) as f64 / 1e5;
        if bench.queue.packets() > 33 {
            bench.dequeue(Time::ZERO);
        }
    }
    drops
}

/// At 33 packets, with thresholds of 18 and 30, the probabilities are 0.1 * 15 / 18 and 0.1 * 3 / 6. The drop rate is
/// 2p / (1 + p) to 2p (law red-uniform), with 2 % on either side.
#[test]
fn favoured_group() {
    let within = |rate: f64, p: f64| (0.98 * 2.0 * p / (1.0 + p)..1.02 * 2.0 * p).contains(&rate);
    let rates = rates_of_drops("voice");
    assert!(within(rates[0], 0.05) && within(rates[1], 0.1 * 15.0 / 18.0), "{rates:?}");
    // Without favoured flows, both share the spacing of drops.
    let rates = rates_of_drops("");
    assert!(within((rates[0] + rates[1]) / 2.0, 0.1 * 15.0 / 18.0), "{rates:?}");
}

/// From max on all arrivals are dropped, and none is marked. Below, ECN-capable packets are marked.
#[test]
fn maximum_threshold() {
    let run = |ecn_flag: u8| {
        let mut bench =
            wred(UNLIMITED, json!({"max": {"packets": 36}, "weight": 1.0, "ecn": true, "favoured": "voice"}));
        for _ in 0..1_000 {
            bench.enqueue(Time::ZERO, of_flow(0, ecn_flag));
        }
        bench
    };
    let bench = run(flags::ECT_0);
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Early)), (36, 964));
    let bench = run(0);
    assert_eq!((bench.queue.packets(), bench.outcome.marks), (36, 0));
    // Average queue between the thresholds.
    let mut bench = wred(UNLIMITED, json!({"max": {"packets": 36}, "weight": 1.0, "ecn": true}));
    for _ in 0..1_000 {
        bench.enqueue(Time::ZERO, of_flow(0, flags::ECT_0));
        if bench.queue.packets() > 30 {
            bench.dequeue(Time::ZERO);
        }
    }
    assert!(bench.drops(DropCause::Early) == 0 && bench.outcome.marks > 50, "{}", bench.outcome.marks);
}

/// A favoured group must be a group of the scenario.
#[test]
fn unknown_group() {
    let parameters = WredParameters { favoured: "video".to_owned(), ..WredParameters::default() };
    let error = Wred::new(UNLIMITED, parameters).set_flows(&two_groups()).unwrap_err();
    assert!(error.contains("favoured") && error.contains("video") && error.contains("voice, bulk"), "{error}");
}
