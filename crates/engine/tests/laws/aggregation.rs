//! Frames of several packets with an airtime of their own: the model of Høiland-Jørgensen et al., "Ending the Anomaly", USENIX ATC
//! 2017, section 2.2.1, equations 1 to 3, and its Table 1. They were not compared with the paper's text again, which was not available;
//! that the formula has all five values of the table with the constants of the standard is evidence for both.

use std::sync::atomic::AtomicBool;

use crate::support::{MS, S, constant_rate};
use serde_json::{Value, json};
use sojourn_engine::probe::End;
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Time;

const US: u64 = MS / 1000;
const PACKET: f64 = 1500.0;

/// The frame of IEEE 802.11n as the paper reckons with it: DIFS, mean backoff and preamble, two SIFS, the block acknowledgement,
/// and delimiter, MAC header and FCS.
fn wifi(packets: u64) -> Value {
    json!({
        "packets": packets, "size": 65_535, "airtime": 100 * MS, "access": 133 * US + US / 2, "response": 32 * US,
        "response_size": 58, "header": 42,
    })
}

/// Equation 3: the rate of packets of 1500 bytes in frames of n packets at the rate r, in bits per second. A packet has 1544 bytes in
/// a frame (equation 1).
fn expected(packets: f64, rate: f64) -> f64 {
    let (difs, sifs, backoff, preamble) = (34e-6, 16e-6, 9e-6 * 15.0 / 2.0, 32e-6);
    let data = preamble + 8.0 * packets * 1544.0 / rate;
    8.0 * packets * PACKET / (data + difs + sifs + backoff + sifs + 8.0 * 58.0 / rate)
}

fn specification(rate: u64, offered: u64, settings: &Value) -> Specification {
    let mut link = json!({"from": 0, "to": 1, "rate": rate, "delay": 0, "drop": null});
    link["queue"] = json!({"name": "droptail", "limit": {"packets": 1000}});
    for (key, value) in settings.as_object().expect("a table") {
        link[key] = value.clone();
    }
    let mut source = constant_rate(offered, 1500, false);
    source["to"] = json!(1);
    serde_json::from_value(json!({
        "seed": 1, "duration": 5 * S, "warm_up": S, "sender_overhead": 0, "nodes": ["access point", "station"],
        "links": [link], "stacks": [{}], "flows": [source],
        "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    }))
    .expect("well formed")
}

fn run(specification: &Specification) -> RunResult {
    Simulation::new(specification).expect("valid").run(&AtomicBool::new(false)).expect("nobody cancels")
}

/// What a saturated link delivers, in bits per second.
fn delivered(rate: u64, aggregation: Value) -> f64 {
    let result = run(&specification(rate, 2 * rate, &json!({ "aggregation": aggregation })));
    assert!((result.queues[0].statistics.busy_share - 1.0).abs() < 1e-6, "a saturated link is always busy");
    result.flows[0].bytes_delivered as f64 * 8.0 / 4.0
}

/// The formula has the paper's rates (Table 1, column "Base"), within 0.1 Mbit/s, for its mean sizes of aggregates with headers.
#[test]
fn rates_as_published() {
    for (bytes, rate, published) in [
        (6892.0, 144.4, 97.3),
        (7833.0, 144.4, 101.1),
        (28_434.0, 144.4, 126.7),
        (28_557.0, 144.4, 126.8),
        (2914.0, 7.2, 6.5),
    ] {
        let found = expected(bytes / 1544.0, rate * 1e6) / 1e6;
        assert!((found - published).abs() < 0.1, "{found} Mbit/s for {bytes} bytes at {rate}, not {published}");
    }
}

/// A saturated link delivers what the formula says, for frames of 1 to 42 packets, which 65,535 bytes hold. Within a frame.
#[test]
fn rate_of_saturated_link() {
    for rate in [7_200_000, 144_400_000] {
        for packets in [1, 2, 7, 16, 42] {
            let (found, expected) = (delivered(rate, wifi(packets)), expected(packets as f64, rate as f64));
            let frame = packets as f64 * PACKET * 8.0 / 4.0;
            assert!((found - expected).abs() <= frame + 1.0, "{packets} packets: {found} bit/s, not {expected}");
        }
        let by_size = delivered(rate, wifi(64));
        assert!((by_size - expected(42.0, rate as f64)).abs() <= 42.0 * PACKET * 8.0 / 4.0 + 1.0, "{by_size}");
    }
}

/// A frame's data take no longer than its airtime: at 7.2 Mbit/s two packets of 1544 bytes take 3.43 ms, three more than 4 ms.
#[test]
fn airtime_limits_frames() {
    let mut aggregation = wifi(64);
    aggregation["airtime"] = json!(4 * MS);
    let found = delivered(7_200_000, aggregation);
    assert!((found / expected(2.0, 7.2e6) - 1.0).abs() < 2e-3, "{found}");
}

/// Below its capacity a link delivers what is offered, the frames hold what has arrived during the one before, and all packets of a
/// frame arrive together, in order. Every packet is accounted for at each event.
#[test]
fn frames_arrive_together() {
    let specification = specification(144_400_000, 60_000_000, &json!({"aggregation": wifi(64), "loss": 0.02}));
    let mut simulation = Simulation::new(&specification).expect("valid");
    simulation.record(0, End::Far).expect("the link exists");
    while simulation.step() {
        assert!(simulation.census().is_complete(), "{:?}", simulation.census());
    }
    let passages = simulation.take_passages_before(Time::NEVER);
    assert!(passages.is_sorted_by_key(|passage| passage.packet.number));
    let frames = passages.chunk_by(|one, other| one.time == other.time);
    let sizes: Vec<usize> = frames.map(<[_]>::len).collect();
    let mean = passages.len() as f64 / sizes.len() as f64;
    // 60 Mbit/s are 5 packets a millisecond, and a frame of n takes 168.7 + 85.5 n microseconds: n is 1.47, of which 2 % are lost.
    let expected = 0.98 * 5.0 * 0.168_7 / (1.0 - 5.0 * 0.085_5);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} packets a frame, not {expected}");
    assert!(sizes.iter().all(|size| *size <= 3), "{sizes:?}");
    let lost = 1.0 - passages.len() as f64 / 25_000.0;
    assert!((lost - 0.02).abs() < 0.005, "{lost}");
    assert_eq!(run(&specification).queues[0].statistics.window.drops(), 0);
}

/// A frame that is interrupted by an outage goes on after it, and nothing is lost.
#[test]
fn frames_wait_for_outages() {
    let changes = json!([{"at": 2 * S, "rate": 0}, {"at": 3 * S, "rate": 144_400_000}]);
    let specification = specification(144_400_000, 10_000_000, &json!({"aggregation": wifi(64), "changes": changes}));
    let result = run(&specification);
    assert_eq!(result.flows[0].packets_dropped, 0);
    assert!(result.flows[0].total_bytes_delivered >= 10_000_000 / 8 * 5 - 3000);
}

/// What no frame can be is refused in one line.
#[test]
fn bad_frames() {
    let aggregation = |key: &str, value: u64| {
        let mut frames = wifi(64);
        frames[key] = json!(value);
        json!({ "aggregation": frames })
    };
    for (settings, expected) in [
        (aggregation("packets", 0), "packets must be 1 to"),
        (aggregation("header", 60_000), "header and response_size must be at most 500"),
        (aggregation("access", 4_000 * S), "at most an hour"),
        (json!({"aggregation": wifi(1), "queue": null}), "aggregation needs a queue"),
        (json!({"aggregation": wifi(1), "device_queue": 1}), "exclude each other"),
    ] {
        let error = Simulation::new(&specification(1_000_000, 1_000_000, &settings)).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}
