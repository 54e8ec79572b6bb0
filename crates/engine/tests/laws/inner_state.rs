//! Laws of what algorithms tell of their inner state, and of asking for it.

use crate::support::{MS, Path, S, constant_rate, droptail, required_parameters, tcp};
use serde_json::{Value, json};
use sojourn_engine::probe::{States, Whose};
use sojourn_engine::queue::Discipline;
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::units::Bytes;

/// The bottleneck's rate and round-trip time: a BDP of 167 packets of 1500 bytes.
const RATE: u64 = 20_000_000;
const RTT: u64 = 100 * MS;

/// One flow over the bottleneck with two BDPs of buffer, whose state is asked for at this interval.
fn alone(algorithm: &str, interval: u64) -> Path {
    let mut path = Path::new(RATE, RTT);
    path.queue = droptail(334);
    path.flows = vec![tcp(algorithm)];
    (path.warm_up, path.duration) = (S, 30 * S);
    path.flow_series = Some(interval);
    path
}

fn asked(path: &Path) -> RunResult {
    let mut specification = path.specification();
    specification.probe.flow_state = true;
    Simulation::new(&specification).expect("it is valid").run(&false.into()).expect("nobody cancels")
}

/// The samples of a value, each with its time in seconds.
fn of(states: &States, name: &str) -> Vec<(f64, f64)> {
    let samples = states.samples.iter().filter(|sample| &*sample.name == name);
    samples.map(|sample| (sample.time.seconds(), sample.value)).collect()
}

/// What a flow of this algorithm tells of a value, from this second on.
fn told(algorithm: &str, name: &str, from: f64) -> Vec<f64> {
    late(&alone(algorithm, 20 * MS), name, from)
}

fn late(path: &Path, name: &str, from: f64) -> Vec<f64> {
    let result = asked(path);
    let late = of(&result.series.states, name).into_iter().filter(|(time, _)| *time >= from);
    late.map(|(_, value)| value).collect()
}

fn all_between(values: &[f64], least: f64, most: f64, what: &str) {
    assert!(!values.is_empty(), "{what}: no samples");
    for value in values {
        assert!((least..=most).contains(value), "{what}: {value}, expected {least} to {most}");
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The names of the phases of an algorithm, by the catalogue.
fn phases(algorithm: &str) -> &'static [&'static str] {
    let (about, _) =
        Algorithm::catalogue().into_iter().find(|(about, _)| about.name == algorithm).expect("it is listed");
    about.state.iter().find(|value| value.name == "phase").and_then(|value| value.phases).expect("it has phases")
}

/// The phases that the first of these flows goes through, with the time at which each began.
fn phases_of(algorithm: &str, flows: u64) -> Vec<(f64, &'static str)> {
    let mut path = alone(algorithm, MS / 2);
    path.flows = vec![tcp(algorithm); flows as usize];
    let mut states = asked(&path).series.states;
    states.samples.retain(|sample| sample.whose == Whose::Flow(0));
    let mut seen: Vec<(f64, &'static str)> = Vec::new();
    for (time, phase) in of(&states, "phase") {
        let name = phases(algorithm)[phase as usize];
        if seen.last().is_none_or(|(_, before)| *before != name) {
            seen.push((time, name));
        }
    }
    seen
}

/// Asking changes nothing: for every congestion control the result is that of a run that does not ask, samples and the number of
/// events included. Only those that list values tell any.
#[test]
fn asking_has_no_effect() {
    for (about, _) in Algorithm::catalogue() {
        let mut path = alone(about.name, 100 * MS);
        path.duration = 4 * S;
        let mut result = asked(&path);
        let states = std::mem::take(&mut result.series.states);
        assert_eq!(states.samples.is_empty(), about.state.is_empty(), "{}", about.name);
        let plain = path.run();
        assert!(plain.series.states.samples.is_empty(), "{}: nobody asked", about.name);
        assert_eq!(format!("{result:?}"), format!("{plain:?}"), "{}", about.name);
    }
}

/// A receive window of a third of the path's product holds data back: that is no lack of data (Linux tcp.c,
/// tcp_rate_check_app_limited), so that BBR finds the rate that it leaves, and leaves startup. An
/// application that writes no faster, or has a send buffer of as much, does lack: BBR stays there.
#[test]
fn receive_window_ends_startup() {
    let product = RATE / 8 / (S / RTT);
    let changed = |change: fn(&mut Path, u64)| {
        let mut path = alone("bbr", 20 * MS);
        path.duration = 5 * S;
        change(&mut path, product / 3);
        path
    };
    let window = changed(|path, bytes| path.stack.receive_buffer = Bytes(bytes));
    let buffered = changed(|path, bytes| path.stack.send_buffer = Bytes(bytes));
    let writing = changed(|path, bytes| {
        path.flows[0]["application"] = json!({"periodic": {"size": {"fixed": bytes / 10}, "every": RTT / 10}});
    });
    let startup = phases("bbr").iter().position(|name| *name == "startup").expect("it begins there") as f64;
    for (what, path, stays) in
        [("receive window", window, false), ("application", writing, true), ("send buffer", buffered, true)]
    {
        let later = late(&path, "phase", 3.0);
        assert!(!later.is_empty(), "{what}");
        assert_eq!(later.iter().all(|phase| *phase == startup), stays, "{what}");
        assert_eq!(later.contains(&startup), stays, "{what}");
    }
}

/// Without samples of flows there is nothing to add to.
#[test]
fn needs_samples() {
    let mut specification = alone("bbr", MS).specification();
    (specification.probe.flow_series, specification.probe.flow_state) = (None, true);
    let error = Simulation::new(&specification).expect_err("there are no samples");
    assert_eq!(error, "probe.flow_state: needs flow_series, whose samples it adds to");
}

/// The least RTT of a flow alone is that of the path: 100 ms, 0.6 ms for a packet at the bottleneck and 0.012 ms at both edges, and
/// less than 0.05 ms for an acknowledgement. The pacing of BBR, its third version and Prague keeps the queue empty at times; that of
/// delay-based controls is so at the start.
#[test]
fn least_rtt_is_that_of_the_path() {
    for (algorithm, name) in [
        ("bbr", "min_rtt"),
        ("bbr3", "min_rtt"),
        ("vegas", "base_rtt"),
        ("hybla", "min_rtt"),
        ("illinois", "base_rtt"),
        ("westwood", "min_rtt"),
        ("veno", "base_rtt"),
        ("compound", "base_rtt"),
        ("yeah", "base_rtt"),
        ("htcp", "min_rtt"),
    ] {
        all_between(&told(algorithm, name, 1.0), 0.100_612, 0.100_662, algorithm);
    }
}

/// The estimated bandwidth of a flow alone is the rate of the bottleneck, less headers: 20 x 1448 / 1500 = 19.31 Mbit/s, within 2 % for
/// BBR's maximum, and 10 % for Westwood+'s average.
#[test]
fn bandwidth_is_that_of_the_bottleneck() {
    let payload = RATE as f64 * 1448.0 / 1500.0;
    for (algorithm, name, share) in [("bbr", "max_bw", 0.02), ("bbr3", "max_bw", 0.02), ("westwood", "bwe", 0.1)] {
        let values = told(algorithm, name, 20.0);
        all_between(&values, (1.0 - share) * payload, (1.0 + share) * payload, algorithm);
    }
}

/// BBR's phases come in the order of tcp_bbr.c: STARTUP, DRAIN, PROBE_BW, and from there PROBE_RTT and back, ten seconds after the
/// minimum RTT was measured (bbr_min_rtt_win_sec). A flow alone measures it in each cycle, two have a queue that stays.
#[test]
fn phases_of_bbr() {
    let seen = phases_of("bbr", 1);
    assert_eq!(seen.iter().map(|(_, name)| *name).collect::<Vec<_>>(), ["startup", "drain", "probe_bw"], "{seen:?}");
    let seen = phases_of("bbr", 2);
    let names: Vec<&str> = seen.iter().map(|(_, name)| *name).collect();
    assert_eq!(names[..4], ["startup", "drain", "probe_bw", "probe_rtt"], "{seen:?}");
    assert!(names[4..].iter().all(|name| ["probe_bw", "probe_rtt"].contains(name)), "{seen:?}");
}

/// BBRv3's phases come in the order of draft-ietf-ccwg-bbr section 5.1.1: Startup, Drain, and the cycle of ProbeBW, which ProbeRTT
/// interrupts and which goes on with DOWN. One acknowledgement enters DOWN and leaves it where little is in flight (section 5.3.3.9), as
/// after Drain and ProbeRTT. ProbeRTT begins five seconds after the last (section 2.16.2, BBR.ProbeRTTInterval), or
/// after a lower RTT was seen, and lasts 200 ms and up to two rounds more until the data in flight is little.
#[test]
fn phases_of_bbr3() {
    let seen = phases_of("bbr3", 1);
    let names: Vec<&str> = seen.iter().map(|(_, name)| *name).collect();
    assert_eq!(names[..2], ["startup", "drain"], "{seen:?}");
    for pair in names.windows(2) {
        let allowed: &[&str] = match pair[0] {
            "startup" => &["drain"],
            "drain" => &["probe_bw_down", "probe_bw_cruise"],
            "probe_bw_down" => &["probe_bw_cruise", "probe_bw_refill", "probe_rtt"],
            "probe_bw_cruise" => &["probe_bw_refill", "probe_rtt"],
            "probe_bw_refill" => &["probe_bw_up", "probe_rtt"],
            "probe_bw_up" => &["probe_bw_down", "probe_rtt"],
            _ => &["probe_bw_down", "probe_bw_cruise"],
        };
        assert!(allowed.contains(&pair[1]), "{} is followed by {}", pair[0], pair[1]);
    }
    for name in phases("bbr3") {
        assert!(names.contains(name), "{name} never came");
    }
    let spans = seen.windows(2).filter(|pair| pair[0].1 == "probe_rtt").map(|pair| (pair[0].0, pair[1].0));
    let spans: Vec<(f64, f64)> = spans.collect();
    assert!(spans.len() >= 4, "{spans:?}");
    for (begin, end) in &spans {
        assert!((0.2..=0.42).contains(&(end - begin)), "ProbeRTT from {begin} s to {end} s");
    }
    for pair in spans.windows(2) {
        assert!((5.0..=5.3).contains(&(pair[1].0 - pair[0].1)), "ProbeRTT from {} s, after {} s", pair[1].0, pair[0].1);
    }
}

/// CUBIC's K is the time that the window takes from beta W_max to W_max: the cube root of W_max (1 - beta) / C (RFC 9438 equation 2,
/// figure 2), within 3 %, since the flight size is reduced and not cwnd. Fast convergence would lower W_max.
#[test]
fn time_to_the_plateau() {
    let mut path = alone("cubic", 100 * MS);
    path.flows[0]["source"]["parameters"] = json!({"fast_convergence": false});
    let result = asked(&path);
    let states = &result.series.states;
    let (w_max, k) = (of(states, "w_max"), of(states, "k"));
    let mut compared = 0;
    for (time, k) in k.into_iter().filter(|(time, _)| *time > 5.0) {
        let (_, w_max) = w_max.iter().find(|(other, _)| *other == time).expect("W_max is known where K is");
        let expected = (w_max * 0.3 / 0.4).cbrt();
        assert!(
            (k / expected - 1.0).abs() < 0.03,
            "at {time} s: K is {k} s, by W_max of {w_max} segments {expected} s"
        );
        compared += 1;
    }
    assert!(compared > 100, "{compared} samples");
}

/// A path that flows which add a segment a round trip fill within a second: 5 Mbit/s and 20 ms, a BDP of 8 packets.
fn short(algorithm: &str) -> Path {
    let mut path = alone(algorithm, 20 * MS);
    (path.rate, path.edge_rate, path.rtt) = (5_000_000, 500_000_000, 20 * MS);
    path
}

/// Vegas alone keeps alpha to beta segments in the queue, 2 to 4 (Brakmo and Peterson 1995), and a segment more or less while it
/// adjusts.
#[test]
fn backlog_of_vegas() {
    all_between(&late(&short("vegas"), "diff", 10.0), 1.0, 5.0, "diff");
}

/// LEDBAT alone holds the queueing delay at its target, here 100 ms (RFC 6817 section 2.4.2), within 5 %, and its base delay is that of
/// the path: 10 ms, and 2.448 ms for a packet at its three links.
#[test]
fn delays_of_ledbat() {
    let delays = late(&short("ledbat"), "queuing_delay", 20.0);
    assert!((mean(&delays) / 0.1 - 1.0).abs() < 0.05, "{}", mean(&delays));
    all_between(&late(&short("ledbat"), "base_delay", 1.0), 0.012_447, 0.012_449, "base delay");
}

/// Hybla's rho is the RTT over 25 ms (Caini and Firrincieli 2004): 4, and 1 before an RTT is known.
#[test]
fn rho_of_hybla() {
    all_between(&told("hybla", "rho", 1.0), 4.02, 4.03, "rho");
}

/// alpha and beta of Illinois stay within the bounds of their curves (Liu, Basar and Srikant 2006): 0.3 to 10 segments, 1/8 to 1/2.
#[test]
fn curves_of_illinois() {
    all_between(&told("illinois", "alpha", 0.0), 0.3, 10.0, "alpha");
    all_between(&told("illinois", "beta", 0.0), 0.125, 0.5, "beta");
}

/// alpha of DCTCP and Prague is a share, and with marks above a threshold it falls below 1/2, since only the packets above the threshold
/// are marked (Alizadeh et al. 2010 section 3.3).
#[test]
fn share_of_marks() {
    for algorithm in ["dctcp", "prague"] {
        let mut path = alone(algorithm, 20 * MS);
        path.queue = json!({"name": "step", "limit": {"packets": 1000}, "parameters": {"mark": {"packets": 50}}});
        let result = asked(&path);
        let alpha = of(&result.series.states, "alpha");
        let values: Vec<f64> = alpha.iter().map(|(_, value)| *value).collect();
        all_between(&values, 0.0, 1.0, algorithm);
        let late: Vec<f64> = alpha.iter().filter(|(time, _)| *time > 15.0).map(|(_, value)| *value).collect();
        assert!(late.iter().any(|value| *value > 0.0) && mean(&late) < 0.5, "{algorithm}: {}", mean(&late));
    }
}

/// A look at a moment shows what a sample of that moment has.
#[test]
fn look() {
    let path = alone("bbr3", S);
    let sampled = asked(&path).series.states;
    let mut simulation = path.simulation();
    simulation.advance(sojourn_engine::time::Time(7 * S + 1), u64::MAX);
    let looked = simulation.states();
    let rows = |states: &States, second: f64| {
        let rows = states.samples.iter().filter(|sample| (sample.time.seconds() - second).abs() < 1e-3);
        rows.map(|sample| (sample.whose, sample.name.to_string(), sample.value)).collect::<Vec<_>>()
    };
    assert_eq!(rows(&looked, 7.0), rows(&sampled, 7.0));
    assert!(!looked.samples.is_empty());
}

/// Four flows over the bottleneck, 20 ms long, with a discipline that is asked every 10 ms.
fn queue(discipline: &str, parameters: &Value) -> Path {
    let mut required = required_parameters(discipline);
    for (name, value) in parameters.as_object().expect("parameters") {
        required[name] = value.clone();
    }
    let mut path = alone("newreno", S);
    (path.rtt, path.flow_series, path.queue_series) = (20 * MS, None, Some(10 * MS));
    path.flows = vec![tcp("newreno"), tcp("cubic"), tcp("dctcp"), tcp("prague")];
    if matches!(discipline, "apd_static" | "codel_static") {
        path.flows.push(constant_rate(1_000_000, 1000, false));
    }
    path.queue = json!({"name": discipline, "limit": {"packets": 200}, "parameters": required});
    path
}

fn asked_of_queue(path: &Path) -> RunResult {
    let mut specification = path.specification();
    specification.probe.queue_state = true;
    Simulation::new(&specification).expect("it is valid").run(&false.into()).expect("nobody cancels")
}

/// Asking a discipline changes nothing, and it tells what the catalogue lists: finite numbers, each value at most once a sample.
#[test]
fn asking_disciplines_has_no_effect() {
    for (about, _) in Discipline::catalogue() {
        let mut path = queue(about.name, &json!({}));
        path.duration = 4 * S;
        let mut result = asked_of_queue(&path);
        let states = std::mem::take(&mut result.series.states);
        assert_eq!(states.samples.is_empty(), about.state.is_empty(), "{}", about.name);
        let mut seen = std::collections::BTreeSet::new();
        for sample in &states.samples {
            assert!(about.state.iter().any(|value| value.name == &*sample.name), "{}: {}", about.name, sample.name);
            assert!(seen.insert((sample.time, sample.name.clone())), "{}: {} twice", about.name, sample.name);
            assert!(sample.value.is_finite() && sample.whose == Whose::Link(1), "{}: {sample:?}", about.name);
        }
        assert_eq!(format!("{result:?}"), format!("{:?}", path.run()), "{}", about.name);
    }
}

/// CoDel knows when the next drop is due in the dropping state only (RFC 8289 section 5.5): then it has dropped, and the next is at most
/// an interval away.
#[test]
fn drops_of_codel() {
    let states = asked_of_queue(&queue("codel", &json!({}))).series.states;
    let next = of(&states, "drop_next");
    let dropping = of(&states, "phase").into_iter().filter(|(_, phase)| *phase == 1.0);
    assert_eq!(
        dropping.map(|(time, _)| time).collect::<Vec<_>>(),
        next.iter().map(|(time, _)| *time).collect::<Vec<_>>()
    );
    assert!(!next.is_empty() && of(&states, "count").iter().any(|(_, count)| *count > 1.0));
    for (time, next) in next {
        assert!(next < time + 0.1, "at {time} s: {next} s");
    }
}

/// PIE holds the delay at its target, 15 ms (RFC 8033 section 4.2), within 30 % on average; its probability is one.
#[test]
fn delay_of_pie() {
    let states = asked_of_queue(&queue("pie", &json!({}))).series.states;
    let values = |name| {
        of(&states, name).into_iter().filter(|(time, _)| *time > 10.0).map(|(_, value)| value).collect::<Vec<_>>()
    };
    let delay = mean(&values("delay"));
    assert!((0.7..=1.3).contains(&(delay / 0.015)), "{delay}");
    all_between(&values("drop_probability"), 1e-6, 1.0, "drop probability");
}

/// RED's average is that of the queue as it is sampled, within 20 %, over twenty seconds.
#[test]
fn average_of_red() {
    let result = asked_of_queue(&queue("red", &json!({"queue_in_bytes": false})));
    let late = of(&result.series.states, "average").into_iter().filter(|(time, _)| *time > 10.0);
    let average = mean(&late.map(|(_, value)| value).collect::<Vec<_>>());
    let late = result.series.queues.iter().filter(|sample| sample.time.seconds() > 10.0);
    let sampled = mean(&late.map(|sample| sample.packets as f64).collect::<Vec<_>>());
    assert!((average / sampled - 1.0).abs() < 0.2, "{average} of {sampled}");
}

/// The probabilities of DualPI2 are coupled: p_C is the square of p', p_CL is k times it, k = 2, and p_L is not below that (RFC 9332
/// sections 2.1 and 2.4).
#[test]
fn coupling_of_dualpi2() {
    let states = asked_of_queue(&queue("dualpi2", &json!({}))).series.states;
    let value = |name| of(&states, name).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    let (base, classic) = (value("base_probability"), value("classic_probability"));
    let (coupled, l4s) = (value("coupled_probability"), value("l4s_probability"));
    assert!(base.iter().any(|base| *base > 0.01), "it never had to drop");
    for (place, base) in base.iter().enumerate() {
        assert!((classic[place] - base * base).abs() < 1e-12 && (coupled[place] - (2.0 * base).min(1.0)).abs() < 1e-12);
        assert!((coupled[place]..=1.0).contains(&l4s[place]), "{} of {}", l4s[place], coupled[place]);
    }
}
