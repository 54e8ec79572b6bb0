//! Standard slow start and HyStart.

use serde::Deserialize;
use serde_json::json;
use sojourn_engine::tcp::congestion::Ack;
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartChoice, SlowStartKind};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use super::flow::{MSS, milliseconds, vectors};
use crate::support::profiled;

/// Slow start grows the window by all bytes acknowledged, by at most one segment per acknowledgement and per full
/// segment acknowledged, also if the receiver splits acknowledgements.
#[test]
fn standard_increment() {
    for vector in vectors("congestion", "newreno-slow_start_increment") {
        let inputs = &vector["inputs"];
        let mss = inputs["mss"].as_u64().unwrap();
        let write = inputs["write_bytes"].as_u64().unwrap();
        let acked = inputs["receiver_acks_every_bytes"].as_u64().unwrap_or(write);
        let data = write * inputs["writes"].as_u64().unwrap();
        let per_ack = vector["expected"]["max_increment_per_ack_segments"].as_u64().unwrap() * mss;
        let per_mss = vector["expected"]["max_increments_per_full_mss_acked"].as_u64().unwrap() * mss;

        let mut slow_start = SlowStart::new(SlowStartKind::Standard);
        let mut window = Window { cwnd: mss, ssthresh: u64::MAX, mss };
        for una in (acked..=data).step_by(acked as usize) {
            let before = window.cwnd;
            let (now, srtt) = (Time::ZERO, Duration::from_seconds(1));
            let ack =
                Ack { now, acked, credit: acked.min(mss), rtt: Some(srtt), srtt, una, nxt: una, ..Ack::default() };
            assert_eq!(slow_start.increase(&mut window, &ack), 0, "{vector}");
            assert!(window.cwnd - before <= per_ack, "{vector}");
            assert!(window.cwnd - mss <= per_mss * una / mss, "{vector}");
        }
        assert_eq!(window.cwnd - mss, data, "{vector}");
    }
}

fn hystart(segments: u64, spacing: Duration, rtt_of_round: impl Fn(u64) -> Duration) -> Option<u64> {
    hystart_with(SlowStartKind::HyStart.into(), segments, spacing, rtt_of_round)
}

/// Runs slow start with one train of acknowledgements per round. Returns the window, in segments, at which it ended.
fn hystart_with(
    choice: SlowStartChoice,
    mut segments: u64,
    spacing: Duration,
    rtt_of_round: impl Fn(u64) -> Duration,
) -> Option<u64> {
    let mut slow_start = SlowStart::new(choice);
    let mut window = Window { cwnd: segments * MSS, ssthresh: u64::MAX, mss: MSS };
    let (mut una, mut start) = (0, Time::ZERO);
    for round in 0.. {
        let rtt = rtt_of_round(round);
        for i in 0..segments {
            let nxt = una + window.cwnd;
            una += MSS;
            let now = start + spacing * i;
            let ack = Ack { now, acked: MSS, credit: MSS, rtt: Some(rtt), srtt: rtt, una, nxt, ..Ack::default() };
            slow_start.increase(&mut window, &ack);
            if !window.in_slow_start() {
                return Some(window.cwnd / MSS);
            }
        }
        if segments >= 4096 {
            break;
        }
        start += rtt.max(spacing * segments + milliseconds(2.5));
        segments = window.cwnd / MSS;
    }
    None
}

/// Slow start ends at the ninth sample of a round, before it grows the window, if the RTT exceeds the minimum RTT by more than 1/8, with limits of
/// 4 and 16 ms for this threshold.
#[test]
fn hystart_delay() {
    for (base, less, more) in [(20.0, 3.9, 4.1), (100.0, 12.4, 12.6), (400.0, 15.9, 16.1)] {
        let rising = |rise: f64| move |round| milliseconds(if round < 2 { base } else { base + rise });
        assert_eq!(hystart(16, milliseconds(3.0), rising(less)), None, "{base} ms and {less}");
        assert_eq!(hystart(16, milliseconds(3.0), rising(more)), Some(64 + 8), "{base} ms and {more}");
    }
}

/// Slow start ends when acknowledgements at most 2 ms apart have arrived for more than half the RTT and half a millisecond
/// (tcp_cubic.c, hystart_update): with 1 ms and 100 ms, at the 52nd of a round, before it grows the window. Acknowledgements
/// farther apart are no train.
#[test]
fn hystart_train() {
    let constant = |_| milliseconds(100.0);
    assert_eq!(hystart(16, milliseconds(1.0), constant), Some(64 + 51));
    assert_eq!(hystart(16, milliseconds(2.0), constant), Some(32 + 26));
    assert_eq!(hystart(16, milliseconds(2.1), constant), None);
}

/// Below 16 segments a train is not seen. The one that begins at 16 ends slow start at its fourth acknowledgement, 6 ms later.
#[test]
fn hystart_low_window() {
    assert_eq!(hystart(4, milliseconds(2.0), |_| milliseconds(10.0)), Some(16 + 3));
}

/// In ns-3.48 slow start ends once the RTT of a round has doubled, or a train has lasted the whole minimum RTT
/// (tcp-cubic.cc, HystartDelayThresh and HystartUpdate).
#[test]
fn hystart_of_ns3() {
    let ns3 = || SlowStartChoice::deserialize(profiled("ns3-3.48", "cubic").slow_start).expect("a slow start");
    for (base, less, more) in [(20.0, 19.9, 20.1), (100.0, 99.9, 100.1), (2.0, 3.9, 4.1)] {
        let rising = |rise: f64| move |round| milliseconds(if round < 2 { base } else { base + rise });
        assert_eq!(hystart_with(ns3(), 16, milliseconds(3.0), rising(less)), None, "{base} ms and {less}");
        assert_eq!(hystart_with(ns3(), 16, milliseconds(3.0), rising(more)), Some(64 + 8), "{base} ms and {more}");
    }
    assert_eq!(hystart_with(ns3(), 16, milliseconds(1.0), |_| milliseconds(100.0)), Some(128 + 101));
}

/// A slow start is refused with a parameter that it does not have, or with one out of range.
#[test]
fn slow_start_parameters() {
    let read = |given| SlowStartChoice::deserialize(given).map_err(|error: serde_json::Error| error.to_string());
    assert!(read(json!("hystart")).is_ok());
    let unknown = read(json!({"name": "standard", "parameters": {"low_window": 1}}));
    assert_eq!(unknown.unwrap_err(), "unknown parameter \"low_window\"");
    let beyond = read(json!({"name": "hystart", "parameters": {"delay_divisor": 0}}));
    assert_eq!(beyond.unwrap_err(), "delay_divisor: 0 is out of range: at least 1 at most 1000");
}
