//! Every discipline in the catalogue, with any arrivals and parameters.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sojourn_engine::parameter::Description;
use sojourn_engine::queue::{Discipline, Limit};
use sojourn_engine::time::Duration;
use sojourn_engine::units::Rate;

use super::run::{Case, FLOWS, Fate, Step, parameters, run};

/// Decodes a step: arrivals are more frequent than departures, with occasional idle times and rate changes.
///
/// A step is drawn as one number. A case has thousands of steps, and composed strategies would take many times as long as
/// the queue itself.
fn step(drawn: u64) -> Step {
    let [kind, flow, full_sized] = [0, 16, 32].map(|from| u64::from((drawn >> from) as u16));
    let value = drawn >> 48;
    match kind % 102 {
        0..60 => {
            let size = if full_sized % 2 == 0 { 1500 } else { 40 + (value % 1461) as u16 };
            Step::Arrival { size, flow: (flow % u64::from(FLOWS)) as u32 }
        }
        60..100 => Step::Departure,
        100 => Step::Idle(Duration::from_microseconds(value % 50_000)),
        _ => Step::LinkRate(Rate(1_000_000 + value * 290)),
    }
}

fn limit() -> impl Strategy<Value = Option<Limit>> {
    prop_oneof![
        Just(None),
        (1u64..300).prop_map(|packets| Some(Limit::Packets(packets))),
        (1u64..300_000).prop_map(|bytes| Some(Limit::Bytes(bytes))),
    ]
}

/// Runs a share of proptest's number of cases: 256 by default, `PROPTEST_CASES` if it is set. All disciplines are run.
fn runner(share: u32) -> TestRunner {
    let asked = Config::default();
    TestRunner::new(Config { cases: asked.cases / share, failure_persistence: None, ..asked })
}

fn case(descriptions: Vec<Description>) -> impl Strategy<Value = Case> {
    let gap = (50u64..2_000).prop_map(Duration::from_microseconds);
    let choices = vec(any::<prop::sample::Index>(), descriptions.len());
    (limit(), choices, vec(any::<u64>().prop_map(step), 0..3_000), gap, any::<u64>()).prop_map(
        move |(limit, choices, steps, gap, seed)| {
            let mut choices = choices.iter();
            let parameters = parameters(&descriptions, |of| choices.next().map_or(0, |choice| choice.index(of)));
            Case { limit, parameters, steps, gap, seed }
        },
    )
}

/// For every discipline: each arrival is either sent, dropped or still queued; counters and bytes agree; no limit is
/// exceeded, and nothing overflows below it; departures keep their order; a queue that holds packets sends one; only
/// packets that would not wait pass an idle queue directly; marks are on ECN-capable packets and counted. Each AQM has
/// early drops and marks in some cases, so that these are tested.
#[test]
fn conservation_order_and_limits() {
    for (about, descriptions) in Discipline::catalogue() {
        let (early_drops, overflows, marks) = (Cell::new(0), Cell::new(0), Cell::new(0));
        // VCP, DualPI2 and step marking always mark and have no such parameter.
        let knows_ecn = ["vcp", "dualpi2", "step"].contains(&about.name)
            || descriptions.iter().any(|description| description.name == "ecn");
        runner(4)
            .run(&case(descriptions), |case| {
                for fate in run(about.name, about.class, &case)? {
                    match fate {
                        Fate::Dropped { early: true, .. } => early_drops.set(early_drops.get() + 1),
                        Fate::Dropped { early: false, .. } => overflows.set(overflows.get() + 1),
                        Fate::Sent { marked, .. } => marks.set(marks.get() + u64::from(marked)),
                    }
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", about.name));
        assert!(overflows.get() > 0, "{}: nothing overflowed", about.name);
        // A scheduler may have no drops except those at the limit.
        if about.class != "scheduler" {
            assert_eq!(early_drops.get() > 0, about.class != "passive", "{}: {early_drops:?} early drops", about.name);
        }
        assert_eq!(marks.get() > 0, knows_ecn, "{}: {marks:?} marks", about.name);
    }
}

/// For every discipline the same packets and the same seed give the same fates.
#[test]
fn determinism_by_seed() {
    for (about, descriptions) in Discipline::catalogue() {
        runner(16)
            .run(&case(descriptions), |case| {
                prop_assert_eq!(run(about.name, about.class, &case)?, run(about.name, about.class, &case)?);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", about.name));
    }
}
