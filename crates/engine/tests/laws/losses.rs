//! Laws of losses at a queue: how many in a row, and of how many flows at a time.

use serde_json::json;

use crate::support::{MS, Path, S, constant_rate, droptail, tcp};

/// A full drop-tail queue at a load of n accepts one packet in n: it drops n - 1 in a row.
#[test]
fn drop_runs_of_overload() {
    for load in [2, 3, 5] {
        let mut path = Path::new(12_000_000, 20 * MS);
        path.queue = droptail(20);
        path.flows = vec![constant_rate(12_000_000 * load, 1500, false)];
        path.duration = 20 * S;
        path.warm_up = 10 * S;
        let statistics = path.run().queues[0].statistics.clone();
        let mean = statistics.window.drops() as f64 / statistics.drop_runs as f64;
        assert!((mean - (load - 1) as f64).abs() < 0.01, "load {load}: {mean}");
        assert_eq!(statistics.longest_drop_run, load - 1, "load {load}");
        assert_eq!(statistics.synchronisation, None, "the source is not long-lived");
    }
}

/// A flow alone loses in every epoch.
#[test]
fn synchronisation_of_one_flow() {
    let mut path = Path::new(12_000_000, 50 * MS);
    path.queue = droptail(50);
    let alone = path.run();
    let together = alone.queues[0].statistics.synchronisation.expect("losses");
    assert_eq!(together.share, 1.0, "{together:?}");
    // Reno halves once an epoch: as many epochs as fast recoveries.
    let recoveries = alone.flows[0].statistics().fast_recoveries;
    assert!(together.epochs.abs_diff(recoveries) <= 1, "{together:?}, {recoveries}");
}

/// Two equal flows that start at the same time lose together at a drop-tail queue more often than under random early drops,
/// which RED was made for (Floyd and Jacobson 1993, section 1: global synchronisation).
#[test]
fn less_synchronised_by_red() {
    let share = |queue: serde_json::Value| {
        let mut path = Path::new(24_000_000, 50 * MS);
        path.queue = queue;
        path.flows = (0..8).map(|_| tcp("newreno")).collect();
        path.sender_overhead = MS / 2;
        path.run().queues[0].statistics.synchronisation.expect("losses").share
    };
    let (tail, red) = (
        share(droptail(100)),
        share(
            json!({"name": "red", "limit": {"packets": 200}, "parameters": {"min": {"packets": 20}, "max": {"packets": 80}}}),
        ),
    );
    assert!(red < 0.7 * tail, "drop-tail {tail}, RED {red}");
}

/// A sender whose receiver acknowledges what was lost never learns of it: it retransmits nothing, and fills the link where the losses would
/// keep it at MSS/RTT * sqrt(3/2p) (Mathis et al. 1997). What was lost does not count as delivered. Savage et al. 1999, section 2.4.
#[test]
fn concealed_losses_are_not_answered() {
    let run = |conceals: bool| {
        let mut path = Path::new(50_000_000, 40 * MS);
        path.drop = json!({"every": 50});
        path.stack.conceals_losses = conceals;
        path.duration = 30 * S;
        path.warm_up = 10 * S;
        let result = path.run();
        let flow = &result.flows[0];
        (flow.bytes_delivered as f64 * 8.0 / 20.0 / 50e6, flow.statistics())
    };
    let (honest, concealed) = (run(false), run(true));
    assert!(honest.1.retransmissions > 0 && honest.0 < 0.1, "{:?}", honest.0);
    assert_eq!(concealed.1.retransmissions, 0);
    // Packets are lost before the link. Of each 1500 bytes on it 1448 are payload.
    let most = 1448.0 / 1500.0;
    assert!((concealed.0 / most - 1.0).abs() < 0.001, "{} of {most}", concealed.0);
}

/// The same of what an application writes: of 5000 segments every fiftieth is lost, and 49 of 50 arrive.
#[test]
fn concealed_losses_of_an_application() {
    let mut flow = tcp("newreno");
    let response = 5000 * 1448;
    flow["application"] = json!({"exchanges": {
        "request": {"fixed": 400}, "response": {"fixed": response}, "count": 1, "think": 0,
    }});
    let mut path = Path { flows: vec![flow], duration: 60 * S, warm_up: 0, ..Path::new(50_000_000, 40 * MS) };
    path.drop = json!({"every": 50});
    let honest = path.run();
    assert_eq!(honest.flows[0].total_bytes_delivered, response);
    path.stack.conceals_losses = true;
    let concealed = path.run();
    let arrived = concealed.flows[0].total_bytes_delivered as f64 / response as f64;
    assert!((arrived - 0.98).abs() < 0.001, "{arrived}");
    assert_eq!(concealed.transfers.len(), honest.transfers.len());
}
