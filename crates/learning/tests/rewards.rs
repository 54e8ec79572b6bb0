//! Rewards are what their formulas make of an interval.

use serde_json::json;
use sojourn_learning::action::Of;
use sojourn_learning::observer::Measured;
use sojourn_learning::reward::{Around, Reward};
use sojourn_learning::specification::NamedSpecification;

/// An interval at 8 of 10 Mbit/s, with an RTT of 40 ms over a base of 25 ms and a loss of 1 %.
fn interval() -> Measured {
    Measured {
        seconds: 0.1,
        send_rate: 9e6,
        throughput: 8e6,
        rtt: 0.04,
        base_rtt: 0.025,
        greatest_rate: 10e6,
        loss: 0.01,
        gradient: 0.002,
        link_rate: 10e6,
        ..Measured::default()
    }
}

fn worth(name: &str, of: Of, all: &[Measured]) -> f64 {
    let named = NamedSpecification { name: name.to_owned(), parameters: json!({}) };
    let before = Measured { throughput: 7e6, ..interval() };
    Reward::of(&named, of).unwrap().value(&Around { own: &all[0], before: &before, all, capacity: 10e6 })
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} instead of {expected}");
}

/// Computed by hand from the formulas of docs/learning.md.
#[test]
fn formulas() {
    let one = [interval()];
    assert_near(worth("pcc", Of::Flow, &one), (10.0 * 8e6 / 12_000.0 - 1000.0 * 0.04 - 2000.0 * 0.01) * 0.001);
    assert_near(worth("vivace", Of::Flow, &one), 9f64.powf(0.9) - 900.0 * 9.0 * 0.002 - 11.35 * 9.0 * 0.01);
    let lost = 8e6 * 0.01 / 0.99;
    assert_near(worth("orca", Of::Flow, &one), (8e6 - 5.0 * lost) / 10e6 * (1.25 * 0.025 / 0.04));
    assert_near(worth("copa", Of::Flow, &one), 8f64.ln() - 0.5 * 40f64.ln());
    assert_near(worth("aqm", Of::Queue, &one), 0.8 - 0.1 * 0.04 / 0.015 - 0.01);
}

/// Astraea's terms are over all agents: two that share equally are worth more than two that do not, at the same sum.
#[test]
fn fairness() {
    let share = |throughput: f64| Measured { throughput, ..interval() };
    let alone = worth("astraea", Of::Flow, &[interval()]);
    assert_near(alone, 0.8 - 0.2 * (0.04 / 0.025 - 1.0) - 0.01 - 0.1 / 15.0);
    let (fair, unfair) = ([share(4e6), share(4e6)], [share(4e6), share(2e6)]);
    let found = worth("astraea", Of::Flow, &unfair);
    // The sum is 6 and the standard deviation 1 Mbit/s; the agent's own throughput was 7 Mbit/s before.
    assert_near(found, 0.6 - 0.2 * 0.6 - 0.01 - 0.2 / 6.0 - 0.1 * 3.0 / 11.0);
    assert_near(worth("astraea", Of::Flow, &fair), 0.8 - 0.2 * 0.6 - 0.01 - 0.1 * 3.0 / 11.0);
}

/// A reward that the agent's own interval gives is the same with others around it, and one that they change is none of its own.
#[test]
fn own_rewards() {
    let others = [interval(), Measured { throughput: 1e6, loss: 0.1, rtt: 0.09, ..interval() }];
    for (name, of) in
        [("pcc", Of::Flow), ("vivace", Of::Flow), ("orca", Of::Flow), ("copa", Of::Flow), ("aqm", Of::Queue)]
    {
        let named = NamedSpecification { name: name.to_owned(), parameters: json!({}) };
        let own = Reward::of(&named, of).unwrap().of_own(&interval());
        assert_eq!(own, Some(worth(name, of, &others)), "{name}");
    }
    assert_ne!(worth("astraea", Of::Flow, &others), worth("astraea", Of::Flow, &others[..1]));
    let named = NamedSpecification { name: "astraea".to_owned(), parameters: json!({}) };
    assert_eq!(Reward::of(&named, Of::Flow).unwrap().of_own(&interval()), None);
}

/// Of a link that stands still, the queue's reward is a number.
#[test]
fn a_link_that_stands_still() {
    let still = Measured { throughput: 0.0, link_rate: 0.0, ..interval() };
    assert_near(worth("aqm", Of::Queue, &[still]), -0.1 * 0.04 / 0.015 - 0.01);
}

/// A reward of flows is none of a queue's, and the complaint says what there is.
#[test]
fn unknown_rewards() {
    let named = |name: &str| NamedSpecification { name: name.to_owned(), parameters: json!({"zeal": 1}) };
    assert_eq!(Reward::of(&named("pcc"), Of::Queue).unwrap_err(), "reward: unknown reward \"pcc\" (there are: aqm)");
    let wrong = Reward::of(&named("orca"), Of::Flow).unwrap_err();
    assert_eq!(wrong, "reward: orca has no parameter \"zeal\" (there are: zeta, beta)");
}
