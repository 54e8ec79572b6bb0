//! Laws of rate-based sources.

mod support;

use serde_json::json;
use support::{MS, Path, S, tcp};

/// 1000-byte packets, a millisecond from one to the next.
const GAP: u64 = MS;

fn on_off(on: u64, off: u64, exponential: bool) -> Path {
    let mut path = Path::new(100_000_000, 20 * MS);
    let mut flow = tcp("cbr");
    flow["source"]["parameters"] =
        json!({"rate": 8_000_000, "packet_size": 1000, "on": on, "off": off, "exponential": exponential});
    path.flows = vec![flow];
    path
}

/// When each packet was sent: the first link sends it on at once.
fn sent_at(path: &Path) -> Vec<u64> {
    let mut simulation = path.simulation();
    let mut times = Vec::new();
    let mut created = 0;
    while simulation.step() {
        if simulation.census().created > created {
            created = simulation.census().created;
            times.push(simulation.now().0);
        }
    }
    times
}

/// on-off: in each period of 50 ms on and 150 ms off there are 50 packets a millisecond apart, all of them while it is on.
#[test]
fn an_on_off_source_sends_nothing_while_it_is_off() {
    let (on, off) = (50 * MS, 150 * MS);
    let mut path = on_off(on, off, false);
    path.duration = 10 * S;
    path.warm_up = S;
    let times = sent_at(&path);
    assert_eq!(times.len(), 50 * 50);
    for (index, time) in times.iter().enumerate() {
        let (period, place) = (index as u64 / 50, index as u64 % 50);
        assert_eq!(*time, period * (on + off) + place * GAP, "packet {index}");
    }
}

/// on-off: a gap that the end of a time on cuts short is made up in the next. With 2.5 gaps on there are five packets in two
/// periods, and the mean rate is exactly rate * on / (on + off).
#[test]
fn the_rest_of_a_gap_is_made_up_after_the_pause() {
    let (on, off) = (5 * GAP / 2, 7 * GAP);
    let mut path = on_off(on, off, false);
    path.duration = 2000 * (on + off);
    path.warm_up = S;
    let times = sent_at(&path);
    assert_eq!(times.len(), 5 * 1000);
    for time in &times {
        assert!(time % (on + off) < on, "a packet at {time} ps");
    }
    let first: Vec<u64> = times.iter().take(6).copied().collect();
    let period = on + off;
    assert_eq!(first, [0, GAP, 2 * GAP, period + GAP / 2, period + 3 * GAP / 2, 2 * period]);
}

/// on-off with exponential times: the share of time on has the mean on / (on + off), and over n periods a standard error of
/// sqrt(2 / n) * on * off / (on + off)^2 (the delta method for a ratio of two exponential means).
#[test]
fn exponential_on_off_has_its_mean_rate() {
    let (on, off) = (100 * MS, 300 * MS);
    let mut path = on_off(on, off, true);
    path.duration = 8000 * S;
    path.warm_up = 1;
    let delivered = path.run().flows[0].bytes_delivered;
    let share = delivered as f64 * 8.0 / 8e6 / 8000.0;
    let periods = 8000.0 / 0.4;
    let standard_error = f64::sqrt(2.0 / periods) * 0.1 * 0.3 / (0.4 * 0.4);
    assert!((share - 0.25).abs() < 3.0 * standard_error, "{share}, 3 standard errors are {}", 3.0 * standard_error);
}

/// Poisson gaps within times on, equally long or not, leave the mean rate as it is. Counts over n periods of m packets on
/// average vary by sqrt(n m) with fixed times on.
#[test]
fn poisson_packets_keep_to_the_times_on() {
    let (on, off) = (50 * MS, 150 * MS);
    let mut path = on_off(on, off, false);
    path.flows[0]["source"]["parameters"]["poisson"] = json!(true);
    path.duration = 400 * S;
    path.warm_up = 1;
    let times = sent_at(&path);
    for time in &times {
        assert!(time % (on + off) < on, "a packet at {time} ps");
    }
    let expected = 2000.0 * 50.0;
    assert!((times.len() as f64 - expected).abs() < 3.0 * f64::sqrt(expected), "{} packets", times.len());
}

/// A time on in which not one packet can be sent is refused in one line.
#[test]
fn a_time_on_holds_a_packet_or_more() {
    let mut path = on_off(GAP - 1, GAP, false);
    let refused = |path: &Path| sojourn_engine::simulation::Simulation::new(&path.specification()).err();
    let error = refused(&path).expect("too short");
    assert!(error.starts_with("flows[0] (cbr): on: 0.000999999999 s is less than the 0.001 s"), "{error}");
    path.flows[0]["source"]["parameters"]["off"] = json!(0);
    assert_eq!(refused(&path), None, "without pauses it does not matter");
}
