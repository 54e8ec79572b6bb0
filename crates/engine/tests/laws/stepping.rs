//! A run that is advanced in steps and inspected in between gives the same result as an uninterrupted one.

use crate::support::{MS, Path, S, constant_rate, tcp};
use proptest::prelude::*;
use serde_json::json;
use sojourn_engine::time::Time;

/// Window-based, rate-based and one-way flows share 5 Mbit/s for 4 s. PIE draws random numbers and has a timer.
fn path() -> Path {
    let mut path = Path::new(5_000_000, 20 * MS);
    path.queue = json!({"name": "pie", "limit": {"packets": 100}});
    path.flows = vec![tcp("cubic"), tcp("bbr"), tcp("tfrc"), constant_rate(500_000, 500, false)];
    (path.warm_up, path.duration) = (S, 4 * S);
    path.queue_series = Some(100 * MS);
    path.flow_series = Some(100 * MS);
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// For any strides and numbers of events per step the result is the same to the last digit.
    #[test]
    fn stepping_has_no_effect(strides in prop::collection::vec(1..500 * MS, 1..20), most_events in 1..5_000u64) {
        let mut simulation = path().simulation();
        let mut until = Time::ZERO;
        for stride in strides.into_iter().cycle() {
            until = Time(until.0 + stride);
            while !simulation.advance(until, most_events) {
                assert!(simulation.now() < until, "nothing happens beyond the stride");
                assert_eq!((simulation.queues().count(), simulation.flows().count()), (1, 4));
            }
            if until >= Time(4 * S) {
                break;
            }
        }
        prop_assert_eq!(format!("{:?}", simulation.finish()), format!("{:?}", path().run()));
    }
}

/// The values that a look shows at the end equal those of the result for the whole run.
#[test]
fn final_look() {
    let mut simulation = path().simulation();
    assert!(simulation.advance(Time(9 * S), u64::MAX));
    let queue = simulation.queues().next().expect("there is one queue");
    let delivered: Vec<u64> = simulation.flows().map(|flow| flow.bytes_delivered).collect();
    let totals = queue.totals.expect("queues are measured");
    let result = simulation.finish();
    let statistics = &result.queues[0].statistics;
    assert_eq!(totals.counts, statistics.before_window + statistics.window);
    assert_eq!(queue.packets, statistics.queued_at_end);
    assert_eq!(delivered, result.flows.iter().map(|flow| flow.total_bytes_delivered).collect::<Vec<_>>());
    assert!(totals.counts.drops() > 0 && statistics.before_window.departures > 0, "{totals:?}");

    // A window from the start covers all sojourn times in its mean.
    let mut whole = path();
    whole.warm_up = 0;
    let statistics = &whole.run().queues[0].statistics;
    let sum = statistics.sojourn.expect("packets were sent").mean * statistics.window.departures as f64;
    assert!((totals.sojourn_sum - sum).abs() < 1e-9 * sum, "{} and {sum}", totals.sojourn_sum);
}
