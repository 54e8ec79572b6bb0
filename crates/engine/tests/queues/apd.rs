//! Active packet dropping: packets of the hungriest are n times as likely to be dropped as by RED (Hanai et al. 2016,
//! Fig. 3).

use serde_json::{Value, json};
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{ApdDynamic, ApdDynamicParameters, ApdStatic, ApdStaticParameters, QueueDiscipline};
use sojourn_engine::time::Time;
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};
use super::wred::two_groups;

/// Halfway between the thresholds the drop probability before spacing is 0.01.
fn parameters(more: Value) -> Value {
    let mut set = json!({
        "min": {"packets": 25}, "max": {"packets": 75}, "weight": 1.0, "maximum_probability": 0.02, "queue_in_bytes": false,
        "multiple": 3.0,
    });
    set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    set
}

/// The ratio of the drop rates of flows 0 and 1 with 50 packets queued. Flow 0 sends `tenths` tenths of the packets.
fn ratio_of_drops(queue: impl QueueDiscipline, tenths: u64) -> f64 {
    let mut bench = Bench::new(queue, 1);
    bench.queue.set_link_rate(Rate(10_000_000));
    let (mut sent, mut lost) = ([0.0f64; 2], [0.0f64; 2]);
    for arrival in 0..1_000_000u64 {
        let flow = usize::from(bench.random.index(10) >= tenths);
        bench.enqueue(Time::ZERO, Packet { flow: flow as u32, ..packet(1500, 0) });
        if bench.queue.packets() > 50 {
            bench.dequeue(Time::ZERO);
        }
        let dropped = bench.outcome.dropped.len();
        bench.outcome.dropped.clear();
        if arrival >= 10_000 {
            sent[flow] += 1.0;
            lost[flow] += dropped as f64;
        }
    }
    (lost[0] / sent[0]) / (lost[1] / sent[1])
}

/// Static: the named group is dropped n times as often, whether it is the hungriest or not. If spacing makes a drop
/// almost certain, the ratio is a few per cent lower. About 3000 drops of the flow with the fewest have a standard
/// deviation of 2 %.
#[test]
fn named_drop_ratio() {
    for wait in [false, true] {
        let run = |hungriest: &str, tenths: u64| {
            let set = parameters(json!({"hungriest": hungriest, "wait": wait}));
            let parameters: ApdStaticParameters = serde_json::from_value(set).unwrap();
            let mut queue = ApdStatic::new(UNLIMITED, parameters);
            queue.set_flows(&two_groups()).unwrap();
            ratio_of_drops(queue, tenths)
        };
        let (hungry, other) = (run("voice", 5), 1.0 / run("bulk", 5));
        assert!((hungry - 3.0).abs() < 0.3 && (other - 3.0).abs() < 0.3, "{hungry} {other}");
    }
}

/// Dynamic: the flow that sends most is dropped n times as often.
#[test]
fn guessed_drop_ratio() {
    let run = |tenths: u64| {
        let parameters: ApdDynamicParameters =
            serde_json::from_value(parameters(json!({"connection": "flow"}))).unwrap();
        ratio_of_drops(ApdDynamic::new(UNLIMITED, parameters), tenths)
    };
    let (first, second) = (run(8), 1.0 / run(2));
    assert!((first - 3.0).abs() < 0.3 && (second - 3.0).abs() < 0.3, "{first} {second}");
}

/// Static: the name must be that of a group in the scenario. The error lists the groups.
#[test]
fn unknown_group() {
    for name in ["", "video"] {
        let parameters = ApdStaticParameters { hungriest: name.to_owned(), ..ApdStaticParameters::default() };
        let error = ApdStatic::new(UNLIMITED, parameters).set_flows(&two_groups()).unwrap_err();
        assert!(error.contains("hungriest") && error.contains("voice, bulk"), "{error}");
    }
}
