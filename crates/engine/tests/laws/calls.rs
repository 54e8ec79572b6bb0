//! Laws of calls. The expected values were set before the code was written.

use serde_json::json;
use sojourn_engine::result::RunResult;

use crate::support::{MS, Path, S, constant_rate, droptail, rate_based};

/// A call over 12 Mbit/s, 40 ms one way.
fn call(parameters: serde_json::Value) -> Path {
    let mut path = Path::new(12_000_000, 80 * MS);
    path.queue = droptail(1_000);
    path.flows = vec![rate_based("voice", parameters)];
    path.duration = 30 * S;
    path.warm_up = 10 * S;
    path
}

fn rating(result: &RunResult) -> f64 {
    result.flows[0].call.as_deref().expect("a call").rating
}

/// The mouth-to-ear delay is the speech of a packet, the look-ahead, three transmissions and the propagation. Of G.711 a packet
/// has 160 bytes of 20 ms and 40 of headers: 50 a second. At 60 ms the rating is that of an unimpaired conversation less what
/// Cole and Rosenbluth's fit gives for the delay, within 1.
#[test]
fn call_over_idle_path() {
    for (codec, spoken, size, impairment) in [
        ("g711", 0.020, 200.0, 0.0),
        ("g729a", 0.025, 60.0, 11.0),
        ("g723", 0.0375, 64.0, 15.0),
        ("gsm_efr", 0.020, 71.0, 5.0),
    ] {
        let result = call(json!({"codec": codec})).run();
        let heard = result.flows[0].call.as_deref().expect("a call");
        let sent = size * 8.0 / 12e6 * 1.02;
        let delay = heard.mouth_to_ear.expect("packets arrived");
        assert!((delay - spoken - 0.040 - sent).abs() < 1e-9, "{codec}: {heard:?}");
        assert!((heard.rating - (93.2 - impairment - 24.0 * delay)).abs() < 1.0, "{codec}: {heard:?}");
        assert_eq!(heard.late, 0);
        let interval = if codec == "g723" { 0.03 } else { 0.02 };
        assert!((result.flows[0].statistics().segments_sent as f64 - 20.0 / interval).abs() <= 1.0, "{codec}");
    }
}

/// A loss of one packet in fifty costs (95 - Ie) 2 / (2 + Bpl) of the rating (G.107, 7-29).
#[test]
fn call_with_losses() {
    for (codec, impairment, robustness) in
        [("g711", 0.0, 25.1), ("g711_without_concealment", 0.0, 4.3), ("g729a", 11.0, 19.0)]
    {
        let mut lossy = call(json!({"codec": codec}));
        lossy.drop = json!({"every": 50});
        let cost = rating(&call(json!({"codec": codec})).run()) - rating(&lossy.run());
        assert!((cost - (95.0 - impairment) * 2.0 / (2.0 + robustness)).abs() < 0.1, "{codec}: {cost}");
    }
}

/// No playout buffer gives a better rating than the best one, and both a short and a long one give a worse one when the queue
/// varies by some 100 ms: the one loses packets, the other time.
#[test]
fn best_playout_buffer() {
    let with = |buffer: u64| {
        let mut path = call(json!({"playout_buffer": buffer}));
        path.rate = 3_000_000;
        let mut others = constant_rate(10_000_000, 1500, true);
        for (name, value) in [("on", 30 * MS), ("off", 400 * MS)] {
            others["source"]["parameters"][name] = json!(value);
        }
        others["source"]["parameters"]["exponential"] = json!(true);
        path.flows.push(others);
        path.run()
    };
    let best = with(0);
    let heard = best.flows[0].call.as_deref().expect("a call");
    assert!(heard.late > 0, "{heard:?}");
    for buffer in [10 * MS, 60 * MS, 3 * S] {
        let fixed = with(buffer);
        assert!(rating(&fixed) < rating(&best), "{buffer}: {:?}, best {heard:?}", fixed.flows[0].call);
    }
}
