//! Claims of RFC 9332 for the coupled dual queue, over a whole path: L4S flows and Classic flows get similar rates,
//! each with the delay of its own queue.

use crate::support::{MS, Path, S, constant_rate, tcp, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::probe::SojournTimes;
use sojourn_engine::result::RunResult;

/// Runs flows over a buffer of 250 ms (appendix A). The round-trip time, with the Classic queue's 15 ms, equals that
/// which Prague's flows emulate.
fn run(rate: u64, flows: Vec<Value>, scheduler: &str) -> RunResult {
    let mut path = Path::new(rate, 10 * MS);
    path.queue = json!({
        "name": "dualpi2", "limit": {"bytes": rate / 8 / 4}, "parameters": {"scheduler": scheduler},
    });
    path.flows = flows;
    path.duration = 80 * S;
    path.run()
}

/// Mean goodput of a group's flows, in bits per second.
fn goodput(result: &RunResult, group: usize) -> f64 {
    let flows: Vec<f64> =
        result.flows.iter().filter(|flow| flow.group == group).map(|flow| flow.bytes_delivered as f64).collect();
    flows.iter().sum::<f64>() * 8.0 / 60.0 / flows.len() as f64
}

fn sojourn(result: &RunResult) -> SojournTimes {
    result.queues[0].statistics.sojourn.expect("packets were sent")
}

/// RFC 9332: p_C = (p_CL / k)^2 compensates for the square root law of Classic congestion controls, so a flow's rate
/// does not depend on its queue: within a factor of two, for any mix of flows, with high utilisation.
#[test]
fn l4s_and_classic_rates() {
    share_alike(40_000_000);
}

/// The same on a faster link.
#[test]
#[ignore = "long: make test-long runs it"]
fn l4s_and_classic_rates_on_a_faster_link() {
    share_alike(100_000_000);
}

fn share_alike(rate: u64) {
    for classic in ["newreno", "cubic"] {
        for (l4s_flows, classic_flows) in [(1, 1), (4, 1), (1, 4), (5, 5)] {
            let flows = vec![tcp_flows("prague", l4s_flows, S), tcp_flows(classic, classic_flows, S)];
            let result = run(rate, flows, "wrr");
            let ratio = goodput(&result, 0) / goodput(&result, 1);
            let case = format!("{l4s_flows} Prague, {classic_flows} {classic} at {rate} bit/s");
            assert!((0.5..=2.0).contains(&ratio), "{case}: Prague gets {ratio} times as much");
            let queue = &result.queues[0].statistics;
            assert!(queue.busy_share > 0.99, "{case}: {}", queue.busy_share);
            assert_eq!(queue.window.drops_overflow, 0, "{case}");
        }
    }
}

/// Appendix A: the delay of the Classic queue is at its target of 15 ms, that of the L4S queue at its threshold of 1
/// ms, also if both have flows and most packets are L4S. Prague loses nothing, as only overload drops from its queue.
#[test]
fn delay_of_each_queue() {
    for scheduler in ["wrr", "time_shifted_fifo"] {
        let l4s = run(40_000_000, vec![tcp_flows("prague", 5, S)], scheduler);
        assert!(sojourn(&l4s).mean < 0.001 && sojourn(&l4s).p99 < 0.002, "{scheduler}: {:?}", sojourn(&l4s));
        let counts = l4s.queues[0].statistics.window;
        assert!(counts.marks > 0 && counts.drops_early + counts.drops_overflow == 0, "{scheduler}: {counts:?}");
        for classic in ["newreno", "cubic"] {
            let delays = sojourn(&run(40_000_000, vec![tcp_flows(classic, 5, S)], scheduler));
            assert!((delays.mean - 0.015).abs() < 0.001, "{scheduler}, {classic}: {delays:?}");
            let flows = vec![tcp_flows("prague", 4, S), tcp_flows(classic, 1, S)];
            let delays = sojourn(&run(40_000_000, flows, scheduler));
            assert!(delays.p50 < 0.001 && delays.p95 < 0.030, "{scheduler}, Prague and {classic}: {delays:?}");
        }
    }
}

/// Unresponsive Classic traffic of 1.1 times the link's rate is dropped down to that rate. The delay stays at the
/// target, and flows that respond to marks are not starved.
#[test]
fn unresponsive_traffic() {
    let flood = constant_rate(44_000_000, 1500, false);
    let result = run(40_000_000, vec![tcp("prague"), flood], "wrr");
    let (queue, prague) = (&result.queues[0].statistics, goodput(&result, 0));
    assert!(queue.busy_share > 0.999 && queue.window.drops_overflow == 0, "{queue:?}");
    assert!(sojourn(&result).p99 < 0.020, "{:?}", sojourn(&result));
    assert!(prague > 1e6, "Prague gets {prague} bit/s");
}
