//! Laws of TCP over a bottleneck: conservation, the arithmetic of the link, the geometry of the AIMD sawtooth, response
//! functions. Each test names its law. The expected values and tolerances were set before the simulator was written.

use crate::support::{
    self, MS, Path, Profiled, S, acknowledge_every_segment, droptail, finite, profiled, tcp, tcp_flows,
};
use serde_json::{Value, json};
use sojourn_engine::result::{FlowResult, RunResult};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::{Counting, StackProfile};
use sojourn_engine::tcp::recovery::RecoveryKind;
use sojourn_engine::time::Duration;
use sojourn_engine::units::Bytes;

fn close(measured: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (measured - expected).abs() <= tolerance,
        "{what}: measured {measured}, expected {expected} +- {tolerance}"
    );
}

fn close_relative(measured: f64, expected: f64, tolerance: f64, what: &str) {
    close(measured, expected, expected.abs() * tolerance, what);
}

fn tcp_of(flow: &FlowResult) -> &sojourn_engine::result::TcpResult {
    flow.tcp.as_ref().expect("a TCP flow")
}

/// conservation: created = delivered + dropped + queued + in transit, after every event, with heavy loss, delayed
/// acknowledgements and sender overhead. For the queue alone (arrivals = departures + drops + queued) a debug assertion
/// checks it after every arrival and departure in all tests.
#[test]
fn packet_conservation() {
    for queue in ["droptail", "pie", "codel"] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": queue, "limit": {"packets": 20}});
        path.stack = StackProfile::default();
        path.flows = vec![tcp_flows("newreno", 20, S), tcp_flows("cubic", 20, S), tcp_flows("compound", 20, S)];
        path.sender_overhead = MS;
        path.duration = 5 * S;
        path.warm_up = S;
        let dropped = path.run_with_census(queue);
        assert!(dropped > 100, "{queue}: the run must have losses to prove anything");
    }
}

/// conservation per queue: arrivals = departures + drops + still queued, over the whole run.
#[test]
fn queue_conservation() {
    for queue in ["droptail", "pie", "codel"] {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": queue, "limit": {"packets": 50}});
        path.flows = vec![tcp_flows("newreno", 30, S)];
        let statistics = path.run().queues.remove(0).statistics;
        let (before, window) = (statistics.before_window, statistics.window);
        let arrivals = before.arrivals + window.arrivals;
        let left = before.departures + window.departures;
        let dropped = before.drops_early + before.drops_overflow + window.drops_early + window.drops_overflow;
        assert!(dropped > 0);
        assert_eq!(arrivals, left + dropped + statistics.queued_at_end, "{queue}");
    }
}

/// goodput-cap: a saturated link delivers C * MSS / (MSS + headers): 9.6533 Mbit/s of 10.
#[test]
fn saturated_link_rate() {
    let mut path = Path::new(10_000_000, 40 * MS);
    path.queue = droptail(40); // The BDP is 33 packets.
    let result = path.run();
    close_relative(path.goodput(&result), 9.6533e6, 0.005, "goodput");
}

/// The window after each round of slow start, in segments.
fn slow_start_windows(stack: StackProfile, rounds: usize) -> Vec<f64> {
    let rtt = 100 * MS;
    let mut path = Path::new(100_000_000_000, rtt);
    path.stack = stack;
    path.flow_series = Some(rtt);
    path.duration = 2 * S;
    path.warm_up = S;
    let result = path.run();
    // The handshake ends after one RTT. Samples are taken half an RTT later, between the bursts of acknowledgements.
    (0..=rounds).map(|round| result.series.flows[2 + round].cwnd as f64 / 1448.0).collect()
}

/// slow-start-rounds: the window is IW * 2^n after n round trips with an acknowledgement for every segment, and with
/// delayed acknowledgements if bytes are counted.
#[test]
fn slow_start_doubling() {
    let counting_bytes =
        StackProfile { counting: Counting::Bytes, delayed_ack_count: 2, ..acknowledge_every_segment() };
    for stack in [acknowledge_every_segment(), counting_bytes] {
        let windows = slow_start_windows(stack, 5);
        for (round, window) in windows.iter().enumerate() {
            close(*window, 10.0 * f64::powi(2.0, round as i32), 1.0, &format!("round {round}"));
        }
    }
}

/// slow-start-rounds with delayed acknowledgements, if acknowledgements are counted: IW * 1.5^n, with a tolerance of
/// one segment per round.
#[test]
fn slow_start_with_delayed_acknowledgements() {
    let windows = slow_start_windows(counting_acknowledgements(), 5);
    for (round, window) in windows.iter().enumerate() {
        close(*window, 10.0 * f64::powi(1.5, round as i32), 1.0 + round as f64, &format!("round {round}"));
    }
}

/// A stack with delayed acknowledgements, each of which counts as one segment (b = 2 in the formulas of the
/// literature).
fn counting_acknowledgements() -> StackProfile {
    StackProfile { counting: Counting::Acknowledgements, ..StackProfile::default() }
}

/// transfer-latency: a transfer of S segments with IW 10 takes the handshake and ceil(log2(S/10 + 1)) round trips.
#[test]
fn short_transfer_latency() {
    let rtt = 100 * MS;
    for (segments, round_trips) in [(10, 2), (30, 3), (31, 4), (70, 4), (100, 5), (310, 6)] {
        let mut path = Path::new(100_000_000_000, rtt);
        path.flows = vec![finite("newreno", segments * 1448)];
        path.duration = 2 * S;
        path.warm_up = S;
        let result = path.run();
        let completed = tcp_of(&result.flows[0]).completed.expect("completes").seconds();
        let serialisation = segments as f64 * 1500.0 * 8.0 / 100e9 + 2e-6;
        assert!(
            completed >= f64::from(round_trips) * 0.1 && completed <= f64::from(round_trips) * 0.1 + serialisation,
            "{segments} segments took {completed} s, expected {round_trips} round trips"
        );
    }
}

/// A path on which every 1/p-th data packet is lost and nothing else limits the window.
fn periodic_loss(algorithm: &str, interval: u64, rtt: u64, stack: StackProfile, seconds: u64) -> (Path, RunResult) {
    let mut path = Path::new(100_000_000_000, rtt);
    path.stack = stack;
    path.flows = vec![tcp(algorithm)];
    path.drop = json!({"every": interval});
    path.duration = seconds * S;
    path.warm_up = seconds * S / 4;
    path.flow_series = Some(rtt / 2);
    let result = path.run();
    (path, result)
}

/// Mean congestion window in segments over the measuring window.
fn mean_window(path: &Path, result: &RunResult) -> f64 {
    let steady = result.series.flows.iter().filter(|sample| sample.time.0 >= path.warm_up);
    let windows: Vec<f64> = steady.map(|sample| sample.cwnd as f64 / 1448.0).collect();
    windows.iter().sum::<f64>() / windows.len() as f64
}

/// reno-periodic-loss: W = sqrt(3/2)/sqrt(p) with one acknowledgement per segment (Mathis et al. 1997).
#[test]
fn reno_periodic_loss() {
    for (interval, expected) in [(1000, 38.73), (10_000, 122.47)] {
        let (path, result) = periodic_loss("newreno", interval, 100 * MS, acknowledge_every_segment(), 800);
        close_relative(mean_window(&path, &result), expected, 0.05, &format!("one in {interval}, b = 1"));
    }
}

/// reno-periodic-loss with delayed acknowledgements, if acknowledgements are counted: W = sqrt(3/4)/sqrt(p).
#[test]
fn reno_periodic_loss_delayed_acknowledgements() {
    for (interval, expected) in [(1000, 27.39), (10_000, 86.6)] {
        let (path, result) = periodic_loss("newreno", interval, 100 * MS, counting_acknowledgements(), 1600);
        close_relative(mean_window(&path, &result), expected, 0.05, &format!("one in {interval}, b = 2"));
    }
}

/// reno-periodic-loss with the standard's recommended byte counting in congestion avoidance: delayed acknowledgements
/// have no effect.
#[test]
fn reno_periodic_loss_byte_counting() {
    for (interval, expected) in [(1000, 38.73), (10_000, 122.47)] {
        let (path, result) = periodic_loss("newreno", interval, 100 * MS, StackProfile::default(), 800);
        close_relative(mean_window(&path, &result), expected, 0.05, &format!("one in {interval}, bytes counted"));
    }
}

/// reno-periodic-loss at p = 0.01, where windows are so small that two effects matter that Mathis neglects: a cycle has
/// whole rounds, including both ends of the sawtooth, and a round of recovery without growth. With both, 1/p = 3/8 W^2
/// + 3/4 W + W/2 packets in W/2 + 2 rounds: W = 14.6, mean 10.7 instead of 12.25.
#[test]
fn reno_periodic_loss_small_windows() {
    let (path, result) = periodic_loss("newreno", 100, 100 * MS, acknowledge_every_segment(), 400);
    close_relative(mean_window(&path, &result), 10.7, 0.05, "one in 100, b = 1");
}

/// reno-peak: the sawtooth with p = 0.001 is between W_max/2 and W_max = sqrt(8/(3p)) = 51.64.
#[test]
fn reno_sawtooth_extremes() {
    let (_, result) = periodic_loss("newreno", 1000, 100 * MS, sack_halving(1), 200);
    let steady = result.series.flows.iter().filter(|sample| sample.time.seconds() > 50.0);
    let windows: Vec<f64> = steady.map(|sample| sample.cwnd as f64 / 1448.0).collect();
    let peak = windows.iter().copied().fold(0.0, f64::max);
    let foot = windows.iter().copied().fold(f64::INFINITY, f64::min);
    close_relative(peak, 51.64, 0.05, "peak");
    close_relative(foot, 51.64 / 2.0, 0.05, "foot");
}

/// A stack whose recovery halves the window at once, as assumed by the geometry of the sawtooth.
fn sack_halving(delayed_ack_count: u64) -> StackProfile {
    StackProfile { recovery: RecoveryKind::Sack, delayed_ack_count, ..StackProfile::default() }
}

/// cubic-response: RFC 9438 tables 1 and 2 (C = 0.4), within 10 % for p <= 1e-4, else 15 %. The window is measured over at least 24
/// periods of the sawtooth, which are alike.
#[test]
fn cubic_response_function() {
    let rows = [
        (100, 100, 12.0, 0.15, 400),
        (100, 1000, 38.0, 0.15, 400),
        (100, 10_000, 187.0, 0.10, 400),
        (100, 100_000, 1054.0, 0.10, 300),
        (10, 100, 12.0, 0.15, 100),
        (10, 1000, 38.0, 0.15, 100),
        (10, 10_000, 120.0, 0.10, 100),
        (10, 100_000, 379.0, 0.10, 100),
    ];
    for (rtt, interval, expected, tolerance, seconds) in rows {
        let (path, result) = periodic_loss("cubic", interval, rtt * MS, acknowledge_every_segment(), seconds);
        close_relative(mean_window(&path, &result), expected, tolerance, &format!("RTT {rtt} ms, one in {interval}"));
    }
}

/// ns-3's test of a link whose rate doubles at 10 s: the window stays constant until CUBIC's growth reaches the new
/// capacity, and has doubled by 18 s. The ranges are ns-3's with a margin of 10 %, since our window leaves the second
/// range 0.3 s earlier.
#[test]
fn cubic_after_capacity_doubles() {
    for (row, checks) in ns3_rows("cubic-system_capacity_step", "cwnd_segments_ranges") {
        let device_queue = row["inputs"]["device_queue_pkts"].as_u64().expect("a number");
        let windows = ns3s_cubic(&row, device_queue, rfc_on_ns3());
        for check in checks {
            hold_to(&check, &windows, &row);
        }
    }
}

/// Runs a flow of ns-3's tests of CUBIC through CoDel and the device's queue. Returns times since the start of the run,
/// as in ns-3, and windows in segments. In the system test ns-3 uses FQ-CoDel, which is equivalent for one flow.
fn ns3s_cubic(row: &Value, device_queue: u64, ns3: Profiled) -> Vec<(f64, f64)> {
    let inputs = &row["inputs"];
    let number = |name: &str| inputs[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"));
    let mut path = Path::new(number("bottleneck_Mbps") as u64 * 1_000_000, number("base_rtt_ms") as u64 * MS);
    path.edge_rate = number("edge_Mbps") as u64 * 1_000_000;
    path.queue = json!({"name": "codel", "limit": {"packets": 10_240}, "parameters": {"ecn": inputs["ecn"] == true}});
    path.device_queue = device_queue;
    if let Some(rate) = inputs["then_Mbps"].as_u64() {
        path.changes = vec![json!({"at": number("from_s") as u64 * S, "rate": rate * 1_000_000})];
    }
    path.flows = vec![tcp("cubic")];
    path.flows[0]["start"] = json!((number("flow_start_s") * S as f64) as u64);
    path.flows[0]["source"]["slow_start"] = ns3.slow_start;
    path.flows[0]["source"]["parameters"] = ns3.parameters;
    path.flows[0]["source"]["parameters"]["fast_convergence"] = json!(inputs["fast_convergence"] != false);
    path.flows[0]["source"]["parameters"]["reno_friendly"] = json!(inputs["tcp_friendliness"] != false);
    path.stack = ns3.stack;
    path.duration = number("stop_s") as u64 * S;
    path.warm_up = 0;
    path.flow_series = Some(5 * MS);
    let result = path.run();
    result.series.flows.iter().map(|sample| (sample.time.seconds(), sample.cwnd as f64 / 1448.0)).collect()
}

/// CUBIC of RFC 9438 on the stack of ns-3.48. With ns-3's own arithmetic the sawtooth has another phase.
fn rfc_on_ns3() -> Profiled {
    let stack = StackProfile::of_name("ns3-3.48").expect("a named profile");
    Profiled { stack, parameters: json!({}), slow_start: json!("standard") }
}

/// The rows of ns-3's tests whose id has this prefix, each with the applicable checks.
fn ns3_rows(prefix: &str, checks: &str) -> Vec<(Value, Vec<Value>)> {
    let figures: Value = serde_json::from_str(include_str!("../data/congestion.json")).expect("the figures are JSON");
    let rows = figures["vectors"].as_array().expect("vectors").iter();
    let rows = rows.filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with(prefix)));
    let held = |row: &Value| {
        let checks = row["expected"][checks].as_array().expect("checks");
        checks.iter().filter(|check| check["held"] != false).cloned().collect()
    };
    rows.map(|row| (row.clone(), held(row))).collect()
}

/// Checks that the windows at the times of a check are within its range.
fn hold_to(check: &Value, windows: &[(f64, f64)], row: &Value) {
    let during = check["t"][0].as_f64().expect("a time")..check["t"][1].as_f64().expect("a time");
    let margin = row["margin"].as_f64().unwrap_or(0.0);
    let least = (1.0 - margin) * check["range"][0].as_f64().or(check["min"].as_f64()).unwrap_or(0.0);
    let greatest = (1.0 + margin) * check["range"][1].as_f64().or(check["max"].as_f64()).unwrap_or(f64::INFINITY);
    let mut windows = windows.iter().filter(|(time, _)| during.contains(time)).peekable();
    assert!(windows.peek().is_some(), "{check} checks nothing");
    for (time, segments) in windows {
        assert!((least..=greatest).contains(segments), "{}, {check}: {segments} segments at {time} s", row["id"]);
    }
}

/// ns-3's system test of CUBIC: one flow over 100 Mbit/s and 5 ms keeps its window between 60 and 110 segments, with
/// fast convergence and without. ns-3's narrower second ranges are not tested, since they depend on the phase of the
/// sawtooth.
#[test]
fn cubic_window_range_of_ns3() {
    for (row, checks) in ns3_rows("cubic-system_cwnd_range", "cwnd_segments_ranges") {
        let device_queue = row["inputs"]["device_queue_pkts"].as_u64().expect("a number");
        let windows = ns3s_cubic(&row, device_queue, rfc_on_ns3());
        for check in checks {
            hold_to(&check, &windows, &row);
        }
    }
}

/// ns-3's validation of CUBIC: one flow over 50 Mbit/s and 50 ms, with drops and with marks, in four periods of the
/// run.
#[test]
fn cubic_validation_of_ns3() {
    for (row, checks) in ns3_rows("cubic-validation_50ms", "checks_enforced") {
        let device_queue = row["inputs"]["bottleneck_device_queue_pkts"].as_u64().expect("a number");
        let ecn = if row["inputs"]["ecn"] == true { EcnKind::Classic } else { EcnKind::Off };
        let ns3 = profiled("ns3-3.48", "cubic");
        let windows = ns3s_cubic(&row, device_queue, Profiled { stack: StackProfile { ecn, ..ns3.stack }, ..ns3 });
        for check in checks {
            hold_to(&check, &windows, &row);
        }
    }
}

/// util-zero-buffer and util-buffer: the utilisation of one Reno flow with a buffer of b BDP follows from the geometry
/// of the sawtooth. Without a buffer it is 3/4.
#[test]
fn reno_utilisation_by_buffer() {
    let bandwidth_delay_product = 200.0;
    let rows = [
        (0.0, 0.75, 0.02),
        (0.1, 0.8176, 0.015),
        (0.25, 0.8929, 0.015),
        (0.5, 0.9643, 0.015),
        (0.75, 0.9932, 0.015),
        (1.0, 1.0, 0.015),
    ];
    for (buffer, expected, tolerance) in rows {
        let mut path = Path::new(24_000_000, 100 * MS); // 1500 B in 0.5 ms: the BDP is 200 packets.
        path.queue = droptail(((buffer * bandwidth_delay_product) as u64).max(1));
        path.stack = sack_halving(1);
        path.duration = 800 * S;
        path.warm_up = 100 * S;
        let result = path.run();
        close(result.queues[0].statistics.busy_share, expected, tolerance, &format!("utilisation with {buffer} BDP"));
    }
}

/// max-queue: one loss-based flow fills the whole buffer, and the RTT is between RTT0 (1 + b) beta and RTT0 + B/C.
#[test]
fn full_buffer_and_rtt_range() {
    for (algorithm, beta) in [("newreno", 0.5), ("cubic", 0.7)] {
        let mut path = Path::new(24_000_000, 50 * MS); // The BDP is 100 packets.
        path.queue = droptail(200);
        path.flows = vec![tcp(algorithm)];
        path.stack = sack_halving(1);
        path.duration = 300 * S;
        path.warm_up = 100 * S;
        path.flow_series = Some(10 * MS);
        let result = path.run();
        assert_eq!(result.queues[0].statistics.max_packets, 200, "{algorithm}: the queue reaches its limit");
        let statistics = tcp_of(&result.flows[0]).statistics;
        close_relative(statistics.max_rtt.seconds(), 0.050 * 3.0, 0.03, &format!("{algorithm}: greatest RTT"));
        close_relative(statistics.min_rtt.seconds(), 0.050 * 3.0 * beta, 0.03, &format!("{algorithm}: least RTT"));
    }
}

/// A device queue below the discipline adds delay that the discipline does not measure: with B packets in the one and R
/// in the other the maximum RTT is RTT0 + (B + R)/C, while the sojourn time in the discipline is at most about B/C.
#[test]
fn device_queue_delay() {
    let mut path = Path::new(24_000_000, 50 * MS); // 1500 B in 0.5 ms.
    path.queue = droptail(100);
    path.device_queue = 60;
    path.stack = sack_halving(1);
    path.duration = 200 * S;
    path.warm_up = 50 * S;
    let result = path.run();
    let statistics = tcp_of(&result.flows[0]).statistics;
    close_relative(statistics.max_rtt.seconds(), 0.050 + 160.0 * 0.0005, 0.02, "greatest RTT");
    let queue = &result.queues[0].statistics;
    close_relative(queue.sojourn.expect("packets were sent").max, 100.0 * 0.0005, 0.02, "longest sojourn");
    assert_eq!(queue.max_packets, 100);
    close(queue.busy_share, 1.0, 1e-9, "utilisation with more than one BDP of buffer");
}

/// rto-doubling: a black-holed flow retransmits after 1, 2, 4, 8, 16, 32, 60, 60 s and is aborted after its retries.
#[test]
fn rto_doubling() {
    let mut path = Path::new(10_000_000, 0);
    path.drop = json!({"every": 1});
    path.flows = vec![finite("newreno", 1000)];
    path.duration = 400 * S;
    path.warm_up = 1;
    let mut sent = Vec::new();
    let mut simulation = path.simulation();
    let mut dropped = 0;
    while simulation.step() {
        if simulation.census().dropped > dropped {
            dropped = simulation.census().dropped;
            sent.push(simulation.now().seconds());
        }
    }
    let gaps: Vec<f64> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.len(), 8, "eight retransmissions: {gaps:?}");
    for (gap, expected) in gaps.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]) {
        close(*gap, expected, 0.01, "gap between retransmissions");
    }
    let result = path.run();
    let flow = tcp_of(&result.flows[0]);
    assert_eq!(
        flow.state,
        sojourn_engine::tcp::sender::State::Aborted(sojourn_engine::tcp::sender::Abort::DataRetries)
    );
}

/// An unanswered SYN is retransmitted at 1, 3, 7 ... s, and the connection is aborted after the profile's retries.
#[test]
fn syn_retries() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(1);
    // An unresponsive flow starts first and permanently occupies the only place in the queue.
    path.flows = vec![support::constant_rate(40_000_000, 1500, false), tcp("newreno")];
    path.flows[1]["start"] = json!(S);
    path.stack = StackProfile { syn_retries: 3, ..StackProfile::default() };
    path.duration = 60 * S;
    path.warm_up = 1;
    let result = path.run();
    let flow = tcp_of(&result.flows[1]);
    assert_eq!(flow.state, sojourn_engine::tcp::sender::State::Aborted(sojourn_engine::tcp::sender::Abort::SynRetries));
    assert_eq!(flow.established, None);
    assert_eq!(flow.statistics.segments_sent, 0);
}

/// delack-acks: in order, exactly every second segment is acknowledged. Each segment out of order is acknowledged
/// immediately.
#[test]
fn delayed_acknowledgements() {
    let segments = 1000;
    let acknowledgements = |drop: serde_json::Value| {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.stack = StackProfile { delayed_ack_count: 2, ..acknowledge_every_segment() };
        path.flows = vec![finite("newreno", segments * 1448)];
        path.drop = drop;
        path.warm_up = 1;
        let mut simulation = path.simulation();
        while simulation.step() {}
        let census = simulation.census();
        // Packets delivered: data, SYN, SYN-ACK and the acknowledgements.
        census.delivered - segments - 2
    };
    // With IW 10 and growth by one segment, some windows are odd. Their last segment waits for the next one or for the
    // timer.
    let in_order = acknowledgements(serde_json::Value::Null);
    assert!((segments / 2..=segments / 2 + 1).contains(&in_order), "{in_order} acknowledgements");
    // Segment 200 is lost once. Each segment that arrives before the repair is acknowledged immediately.
    let mut path = Path::new(10_000_000, 20 * MS);
    path.stack = StackProfile { delayed_ack_count: 2, ..acknowledge_every_segment() };
    path.flows = vec![finite("newreno", segments * 1448)];
    path.drop = json!({"listed": [200]});
    path.warm_up = 1;
    let out_of_order = acknowledgements(json!({"listed": [200]}));
    assert!(out_of_order > in_order, "{out_of_order} with a gap, {in_order} without");
}

/// cbr-droptail: half of a constant rate of twice the link's is lost, and delivered packets have waited for B/C.
#[test]
fn overloaded_tail_drop() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.queue = droptail(50);
    path.flows = vec![support::constant_rate(20_000_000, 1500, false)];
    let statistics = path.run().queues.remove(0).statistics;
    let loss = statistics.window.drops_overflow as f64 / statistics.window.arrivals as f64;
    close_relative(loss, 0.5, 0.005, "loss");
    // The last of 50 queued packets waits for the others and for the one in transmission: at most 50 transmission times
    // of 1.2 ms, less half of one on average.
    let sojourn = statistics.sojourn.expect("packets were sent");
    for (what, time) in [("mean", sojourn.mean), ("median", sojourn.p50), ("p99", sojourn.p99)] {
        close_relative(time, 50.0 * 0.0012, 0.015, what);
    }
    close_relative(statistics.busy_share, 1.0, 1e-9, "utilisation");
}

/// A TCP connection needs a return route, a source without congestion control does not.
#[test]
fn missing_return_route() {
    let mut path = Path::new(10_000_000, 20 * MS);
    path.flows = vec![support::constant_rate(5_000_000, 1500, true)];
    let mut specification = path.specification();
    specification.links.truncate(3);
    assert!(Simulation::new(&specification).is_ok());
    path.flows = vec![tcp("newreno")];
    let mut specification = path.specification();
    specification.links.truncate(3);
    let error = Simulation::new(&specification).expect_err("no way for acknowledgements");
    assert!(error.contains("no route from \"receiver\" to \"sender\""), "{error}");
}

/// A link fed by several others serves packets in the order of their arrival: packets of a distant sender that are
/// still on their way do not delay those of a near one.
#[test]
fn arrival_order_at_shared_link() {
    let link = |from: u64, to: u64, rate: u64, delay: u64| json!({"from": from, "to": to, "rate": rate, "delay": delay, "queue": null, "drop": null});
    let mut far = support::constant_rate(1_000_000, 1500, false);
    let mut near = finite("newreno", 10 * 1448);
    far["to"] = json!(3);
    (near["from"], near["to"], near["start"]) = (json!(1), json!(3), json!(S));
    let specification = json!({
        "seed": 1, "duration": 3 * S, "warm_up": 0, "sender_overhead": 0, "nodes": ["far", "near", "router", "receiver"],
        "links": [
            link(0, 2, 10_000_000, 500 * MS), link(1, 2, 10_000_000, 0), link(2, 3, 10_000_000, 0),
            link(3, 2, 10_000_000, 0), link(2, 1, 10_000_000, 0),
        ],
        "stacks": [StackProfile::default()], "flows": [far, near], "probe": {"queue_statistics": true, "queue_series": null, "flow_series": null},
    });
    let specification = serde_json::from_value(specification).expect("well formed");
    let simulation = Simulation::new(&specification).expect("valid");
    let result = simulation.run(&std::sync::atomic::AtomicBool::new(false)).expect("nobody cancels");
    let completed = tcp_of(&result.flows[1]).completed.expect("completes").seconds() - 1.0;
    // Ten segments of 1.2 ms on two links, with as many packets of the far sender between them.
    assert!(completed < 0.05, "the near sender took {completed} s");
}

/// reno-periodic-loss without SACK: with window inflation (RFC 6582) the response function is the same.
#[test]
fn reno_periodic_loss_without_sack() {
    let stack = StackProfile { sack: false, recovery: RecoveryKind::NewReno, ..acknowledge_every_segment() };
    let (path, result) = periodic_loss("newreno", 1000, 100 * MS, stack, 800);
    close_relative(mean_window(&path, &result), 38.73, 0.05, "one in 1000, without SACK");
    assert_eq!(tcp_of(&result.flows[0]).statistics.timeouts, 0);
}

/// equal-share: ten identical flows over DropTail for 120 s have a Jain index of at least 0.95, over ten seeds.
#[test]
fn equal_shares() {
    let mut sum = 0.0;
    for seed in 1..=10 {
        let mut path = Path::new(50_000_000, 40 * MS);
        path.queue = droptail(167); // One BDP.
        path.flows = vec![tcp_flows("newreno", 10, S)];
        path.duration = 120 * S;
        path.warm_up = 20 * S;
        // Without it, phase effects would determine the shares (Floyd and Jacobson 1991).
        path.sender_overhead = 240_000_000;
        path.seed = seed;
        let delivered: Vec<f64> = path.run().flows.iter().map(|flow| flow.bytes_delivered as f64).collect();
        let total: f64 = delivered.iter().sum();
        let squares: f64 = delivered.iter().map(|bytes| bytes * bytes).sum();
        sum += total * total / squares / delivered.len() as f64;
    }
    assert!(sum / 10.0 >= 0.95, "Jain's index {}", sum / 10.0);
}

/// codel-track: with one flow the median sojourn time of a standing queue is between target and 2*target, for 5 ms. At
/// an RTT of 100 ms the utilisation is that of the geometry of the sawtooth for a buffer of the target, 0.79 for Reno.
#[test]
fn codel_sojourn_time() {
    for (algorithm, rtt, utilisation) in
        [("newreno", 20, 0.90), ("newreno", 100, 0.78), ("cubic", 20, 0.90), ("cubic", 100, 0.90)]
    {
        let mut path = Path::new(10_000_000, rtt * MS);
        path.queue = json!({"name": "codel", "limit": {"packets": 1000}});
        path.flows = vec![tcp(algorithm)];
        path.duration = 200 * S;
        path.warm_up = 50 * S;
        let statistics = path.run().queues.remove(0).statistics;
        let median = statistics.sojourn.expect("packets were sent").p50;
        assert!(median <= 0.010, "{algorithm}, {rtt} ms: median sojourn {median}");
        assert!(statistics.busy_share >= utilisation, "{algorithm}, {rtt} ms: utilisation {}", statistics.busy_share);
    }
}

/// The same specification and seed give the same run. Another seed gives another run.
#[test]
fn determinism_by_seed() {
    let run = |seed| {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": "pie", "limit": {"packets": 100}});
        path.flows = vec![tcp_flows("newreno", 10, S)];
        path.duration = 10 * S;
        path.warm_up = S;
        path.flow_series = Some(100 * MS);
        path.seed = seed;
        format!("{:?}", path.run())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Probes only read: sampling flows and queues changes no measured value.
#[test]
fn sampling_has_no_effect() {
    let run = |series: Option<u64>| {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.queue = json!({"name": "pie", "limit": {"packets": 100}});
        path.flows = vec![tcp_flows("cubic", 10, S)];
        path.duration = 10 * S;
        path.warm_up = S;
        path.flow_series = series;
        path.queue_series = series;
        let result = path.run();
        format!("{:?} {:?}", result.flows, result.queues)
    };
    assert_eq!(run(None), run(Some(MS)));
}

/// A paced sender never exceeds its rate, so a path with spare capacity has no queue. Without pacing the initial window
/// alone makes a queue of nine packets. Both use the window that the buffer allows.
#[test]
fn pacing_avoids_queue() {
    let run = |pacing: bool| {
        let mut path = Path::new(100_000_000, 100 * MS);
        path.queue = droptail(1000);
        path.stack = StackProfile { pacing, send_buffer: Bytes(200 * 1448), ..StackProfile::default() };
        path.warm_up = 0;
        path.duration = 20 * S;
        let result = path.run();
        (result.queues[0].statistics.max_packets, path.goodput(&result))
    };
    let ((paced_queue, paced), (queue, unpaced)) = (run(true), run(false));
    assert!(paced_queue <= 1, "{paced_queue} packets");
    assert!(queue >= 9, "{queue} packets");
    close_relative(paced, 200.0 * 1448.0 * 8.0 / 0.1, 0.04, "200 segments in each round trip");
    close_relative(unpaced, paced, 0.04, "the same without pacing");
}

/// An additional flow does not change the random draws of the others: their start times stay the same.
#[test]
fn independent_start_times() {
    let starts = |count| {
        let mut path = Path::new(10_000_000, 20 * MS);
        path.flows = vec![tcp_flows("newreno", count, 3 * S)];
        path.duration = 4 * S;
        path.warm_up = S;
        path.run().flows.iter().map(|flow| flow.start).collect::<Vec<_>>()
    };
    let (five, six) = (starts(5), starts(6));
    assert_eq!(five, six[..5]);
    let spread = five.iter().max().unwrap().since(*five.iter().min().unwrap());
    assert!(spread > Duration::from_milliseconds(300), "starts are spread: {spread:?}");
}
