//! Laws of connections that arrive: processor sharing, Little's law, and what ended connections leave.

use std::collections::HashMap;

use serde_json::{Value, json};
use sojourn_engine::probe::Transfer;
use sojourn_engine::result::{RunResult, TransferCounts};
use sojourn_engine::time::Time;

use crate::support::{MS, Path, S, droptail, finite, tcp};

/// A group of connections that arrive.
fn arriving(control: &str, process: Value, sizes: Value) -> Value {
    let mut flow = tcp(control);
    flow["arrivals"] = json!({"process": process, "sizes": sizes});
    flow
}

/// A bottleneck of 100 Mbit/s with a fair queue and a round trip that is short beside a transfer.
fn fair(load: f64, sizes: Value) -> Path {
    Path {
        queue: json!({"name": "drr", "limit": {"packets": 1_000_000}}),
        flows: vec![arriving("newreno", json!({"poisson": {"load": load}}), sizes)],
        duration: 400 * S,
        warm_up: 10 * S,
        ..Path::new(100_000_000, MS / 50)
    }
}

fn seconds(transfer: &Transfer) -> f64 {
    transfer.completed.since(transfer.start).seconds()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn counts(result: &RunResult) -> TransferCounts {
    result.flows[0].transfers.expect("a group whose connections arrive has transfers")
}

/// Law mg1-ps: where a fair queue shares a link among transfers, their mean slowdown is 1 / (1 - load), whatever the distribution of
/// their sizes (Kleinrock, Queueing Systems II, 1976, section 4.4). The busy share of the link is the load. Within 5 %: of about
/// 20,000 transfers, whose times are correlated, the mean is not known better, and packets are not infinitely small.
#[test]
fn processor_sharing() {
    shares_processor(0.5);
}

/// The same at a higher load.
#[test]
#[ignore = "long: make test-long runs it"]
fn processor_sharing_at_higher_load() {
    shares_processor(0.7);
}

fn shares_processor(load: f64) {
    for (what, sizes) in [
        ("fixed", json!({"fixed": 150_000})),
        ("exponential", json!({"exponential": {"mean": 150_000.0}})),
        ("bounded Pareto", json!({"pareto": {"shape": 1.5, "least": 58_000.0, "most": 3e6}})),
    ] {
        let result = fair(load, sizes.clone()).run();
        let slowdown = mean(result.transfers.iter().map(|each| seconds(each) / each.ideal.seconds()));
        let law = 1.0 / (1.0 - load);
        assert!((slowdown / law - 1.0).abs() < 0.05, "{what}, load {load}: {slowdown}, law {law}");
        // Law mm1: so many are open on average, as customers of M/M/1 are in the system.
        let (open, law) = (counts(&result).open_mean, load / (1.0 - load));
        assert!((open / law - 1.0).abs() < 0.06, "{what}, load {load}: {open} open, law {law}");
        let busy = result.queues[0].statistics.busy_share;
        assert!((busy / load - 1.0).abs() < 0.03, "{what}, load {load}: busy {busy}");
    }
}

/// Little's law: the mean number of open transfers is their rate of completion times their mean time. Within 1 %: those at the
/// ends of the window are counted by one side only.
#[test]
fn littles_law() {
    let path = Path { warm_up: 0, duration: 200 * S, ..fair(0.6, json!({"exponential": {"mean": 150_000.0}})) };
    let result = path.run();
    let rate = result.transfers.len() as f64 / 200.0;
    let law = rate * mean(result.transfers.iter().map(seconds));
    let open = counts(&result).open_mean;
    assert!((open / law - 1.0).abs() < 0.01, "{open} open, law {law}");
}

/// Every arrival is completed or open at the end, and every byte of those completed is delivered once, though queues drop and
/// retransmissions of ended connections are still under way when others have begun. Packets are conserved after every event.
#[test]
fn nothing_is_lost() {
    let path = Path {
        queue: droptail(20),
        flows: vec![
            arriving("cubic", json!({"poisson": {"load": 0.5}}), json!({"exponential": {"mean": 30_000.0}})),
            arriving(
                "newreno",
                json!({"deterministic": {"every": {"rate": 20.0}, "phase": 1.0}}),
                json!({"fixed": 20_000}),
            ),
        ],
        duration: 20 * S,
        warm_up: 5 * S,
        sender_overhead: MS,
        ..Path::new(10_000_000, 20 * MS)
    };
    assert!(path.run_with_census("two groups") > 100, "the run must have losses to prove anything");
    let result = path.run();
    for (row, flow) in result.flows.iter().enumerate() {
        let of_flow: Vec<&Transfer> = result.transfers.iter().filter(|each| each.flow as usize == row).collect();
        let bytes: u64 = of_flow.iter().map(|each| each.bytes).sum();
        let unfinished = flow.transfers.expect("counted").unfinished;
        assert!(of_flow.len() > 300 && unfinished < 20, "{} completed, {unfinished} not", of_flow.len());
        assert!(bytes <= flow.total_bytes_delivered && flow.total_bytes_delivered < bytes + unfinished * 1_000_000);
        assert!(of_flow.iter().all(|each| seconds(each) >= each.ideal.seconds()), "faster than possible");
    }
    // 20 a second from 0.05 s on.
    let equal = counts_of(&result, 1);
    assert_eq!(result.transfers.iter().filter(|each| each.flow == 1).count() as u64 + equal.unfinished, 399);
    assert!(result.transfers.iter().any(|each| each.retransmissions > 0) && result.flows[0].packets_dropped > 0);
}

fn counts_of(result: &RunResult, flow: usize) -> TransferCounts {
    result.flows[flow].transfers.expect("counted")
}

/// The arrivals are the same whatever the queue: times and sizes of transfers agree between two disciplines, one of which draws
/// random numbers itself.
#[test]
fn arrivals_of_any_queue() {
    let begun = |queue: Value| -> HashMap<u64, u64> {
        let flows =
            vec![arriving("cubic", json!({"poisson": {"load": 0.4}}), json!({"exponential": {"mean": 30_000.0}}))];
        let path = Path { queue, flows, duration: 10 * S, warm_up: 0, ..Path::new(10_000_000, 20 * MS) };
        path.run().transfers.iter().map(|each| (each.start.0, each.bytes)).collect()
    };
    let (plain, pie) = (begun(droptail(100)), begun(json!({"name": "pie", "limit": {"packets": 100}})));
    let both = plain.iter().filter(|(start, bytes)| pie.get(start) == Some(bytes)).count();
    assert!(both > 100 && both + 5 > plain.len().max(pie.len()), "{both} of {} and {}", plain.len(), pie.len());
}

/// A transfer that is alone takes the ideal time and what slow start adds: with the whole of it in the initial window nothing but
/// the transmission over the links at the edges. A flow of limited size is a transfer like one that arrives.
#[test]
fn alone() {
    let size = 10_000;
    let listed = arriving("newreno", json!({"listed": [[S, size]]}), Value::Null);
    for flow in [listed, finite("newreno", size)] {
        let path = Path { flows: vec![flow], duration: 3 * S, warm_up: 0, ..Path::new(10_000_000, 20 * MS) };
        let result = path.run();
        let [transfer] = result.transfers[..] else { panic!("{:?}", result.transfers) };
        let slowdown = seconds(&transfer) / transfer.ideal.seconds();
        assert_eq!((transfer.bytes, transfer.retransmissions, transfer.timeouts), (size, 0, 0));
        assert!((1.0..1.01).contains(&slowdown), "{slowdown}");
        assert_eq!((counts(&result).completed, counts(&result).unfinished), (1, 0));
    }
}

/// The interactive response time law (Denning and Buzen 1978): users who think for Z on average complete N / (Z + R) transfers a
/// second, R being how long a transfer takes. Within 2 %: four standard errors of the mean of 40,000 exponential times.
#[test]
fn interactive_response_time() {
    let users = json!({"users": {"count": 20, "think": S / 2}});
    let path = Path {
        flows: vec![arriving("newreno", users, json!({"exponential": {"mean": 100_000.0}}))],
        warm_up: 0,
        ..fair(0.5, json!({"fixed": 1}))
    };
    let result = path.run();
    let response = mean(result.transfers.iter().map(seconds));
    let law = 20.0 / (0.5 + response) * 400.0;
    let completed = result.transfers.len() as f64;
    assert!(response > 0.01 && completed > 10_000.0 && (completed / law - 1.0).abs() < 0.02, "{completed}, law {law}");
}

/// A run that goes on stride by stride has the arrivals of one that runs to its end at once.
#[test]
fn stride_by_stride() {
    let path = Path {
        flows: vec![arriving("cubic", json!({"poisson": {"load": 0.4}}), json!({"fixed": 20_000}))],
        duration: 4 * S,
        warm_up: 0,
        ..Path::new(10_000_000, 20 * MS)
    };
    let mut strides = path.simulation();
    for until in 1..=8 {
        while !strides.advance(Time(until * S / 2), 1000) {}
    }
    let whole = path.run().transfers;
    assert!(whole.len() > 50, "{}", whole.len());
    assert_eq!(strides.finish().transfers, whole);
}

/// When a group stops, nothing arrives any more, and connections that are open are aborted and count as unfinished.
#[test]
fn stopped_group() {
    let mut flow = arriving("cubic", json!({"poisson": {"load": 3.0}}), json!({"fixed": 100_000}));
    flow["stop"] = json!(2 * S);
    let path =
        Path { flows: vec![flow], queue: droptail(50), duration: 4 * S, warm_up: S, ..Path::new(10_000_000, 20 * MS) };
    let result = path.run();
    let latest = result.transfers.iter().map(|each| each.completed.0).max().expect("some are completed");
    assert!(latest <= 2 * S, "{latest}");
    assert!(counts(&result).unfinished > 10, "{:?}", counts(&result));
    assert_eq!(result.flows[0].stopped.map(|time| time.0), Some(2 * S));
}

/// Connections that arrive have pacing timers of their own: BBR's transfers are completed too.
#[test]
fn paced_transfers() {
    let flows = vec![arriving("bbr", json!({"poisson": {"load": 0.3}}), json!({"fixed": 50_000}))];
    let path = Path { flows, queue: droptail(100), duration: 20 * S, warm_up: 0, ..Path::new(10_000_000, 20 * MS) };
    let result = path.run();
    assert!(counts(&result).completed > 80 && counts(&result).unfinished < 10, "{:?}", counts(&result));
}
