//! Two congestion controls in one run: the run is the leader's, and only rules make the two differ.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use sojourn_engine::oracle::{Kind, Oracle, Row, Rows};
use sojourn_engine::plugin::{Plugins, Unloaded};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::window::Window;

use crate::support::{MS, Path, S, droptail, profiled, tcp};

const EVENTS: usize = 12_000;

/// A run with overflow, a timeout half way and marks in the last quarter. With a seed there are besides random losses, delays and
/// outages, and the application pauses.
fn oracle(stack: StackProfile, leader: &str, follower: &str, seed: Option<u64>) -> Oracle {
    let mut path = Path::new(50_000_000, 40 * MS);
    path.stack = stack;
    path.queue = droptail(167);
    path.flows = vec![tcp(leader)];
    path.seed = seed.unwrap_or(1);
    path.duration = 12 * S;
    path.warm_up = 0;
    path.changes = vec![
        json!({"at": 2 * S, "loss": 1.0}),
        json!({"at": 2 * S + 240 * MS, "loss": 0.0}),
        json!({"at": 4 * S, "rate": 5_000_000_000_u64}),
    ];
    let mut specification = path.specification();
    let red = json!({"name": "red", "limit": {"packets": 300}, "parameters":
        {"min": {"packets": 1}, "max": {"packets": 167}, "weight": 1.0, "wait": false, "ecn": true}});
    specification.links[2].queue = serde_json::from_value(red).expect("a queue");
    let change: Value = json!([{"at": 4 * S, "rate": 50_000_000}]);
    specification.links[2].changes = serde_json::from_value(change).expect("changes");
    if seed.is_some() {
        let link = &mut specification.links[1];
        let changes = json!([
            {"at": S, "loss": 1.0, "repeat": {"every": 4 * S, "spread": 2 * S}},
            {"at": S + 240 * MS, "loss": 0.0005, "repeat": {"every": 4 * S, "spread": 2 * S}},
        ]);
        link.changes = serde_json::from_value(changes).expect("changes");
        link.impairments = serde_json::from_value(
            json!({"jitter": {"distribution": "uniform", "mean": 2 * MS, "reorders": true}, "duplication": 0.0005}),
        )
        .expect("impairments");
        let exchanges = json!({"exchanges": {"request": {"fixed": 350}, "response": {"exponential": {"mean": 4e6}}, "count": null, "think": S / 2}});
        specification.flows[0].application = Some(serde_json::from_value(exchanges).expect("an application"));
    }
    let follower = serde_json::from_value(tcp(follower)["source"].take()).expect("a source");
    Oracle { specification, follower, events: EVENTS }
}

/// Stacks with every recovery in which the window is the sender's to set: at once, in proportion, inflated.
fn stacks() -> Vec<StackProfile> {
    let linux = StackProfile { ecn: EcnKind::Classic, ..profiled("linux-6", "cubic").stack };
    vec![StackProfile::default(), linux]
}

fn names() -> impl Iterator<Item = &'static str> {
    Algorithm::catalogue().into_iter().map(|(about, _)| about.name)
}

/// An algorithm never parts from itself, whatever happens, and time does not run backwards.
#[test]
fn same_algorithm_agrees() {
    for name in names() {
        for stack in stacks() {
            for seed in [None, Some(1), Some(2)] {
                let plugins = Unloaded::default();
                let rows = oracle(stack.clone(), name, name, seed).rows(&plugins).expect("rows");
                assert_eq!(plugins.failure().get(), None);
                assert!(rows.len() > 50, "{name} {seed:?}: {}", rows.len());
                assert!(rows.is_sorted_by_key(|row| row.now), "{name} {seed:?}");
                let apart = rows.iter().position(|row| row.leader != row.follower);
                let shown = apart.map(|event| &rows[event.saturating_sub(3)..=event]);
                assert!(apart.is_none(), "{name} {:?} {seed:?} event {apart:?}: {shown:#?}", stack.recovery);
            }
        }
    }
}

/// The run with the leader alone and with any follower is the same: the same flows, queues and packets.
#[test]
fn run_is_that_of_the_leader() {
    let never = AtomicBool::new(false);
    let followers: Vec<&str> = names().collect();
    for (place, leader) in names().enumerate() {
        for (stack, seed) in stacks().into_iter().flat_map(|stack| [(stack.clone(), None), (stack, Some(1))]) {
            let Oracle { specification, .. } = oracle(stack.clone(), leader, leader, seed);
            let alone = Simulation::new(&specification).expect("a run").run(&never).expect("its end");
            let alone = format!("{alone:?}");
            // Each leads once with itself and once with another.
            for follower in [leader, followers[(7 * place + 3) % followers.len()]] {
                let oracle = oracle(stack.clone(), leader, follower, seed);
                let pair = oracle.simulation(&Unloaded::default(), &Rows::default()).expect("a run");
                let pair = pair.run(&never).expect("its end");
                assert_eq!(alone, format!("{pair:?}"), "{leader} with {follower}, {seed:?}");
            }
        }
    }
}

/// The planned sequence has all that it promises, and a random one has pauses and reductions that are taken back, too.
#[test]
fn all_kinds_of_events() {
    let linux = stacks().pop().expect("stacks");
    let of = |seed| oracle(linux.clone(), "newreno", "cubic", seed).rows(&Unloaded::default()).expect("rows");
    let (planned, random) = (of(None), of(Some(1)));
    for kind in [Kind::Loss, Kind::Repair, Kind::Recovered, Kind::Timeout, Kind::Mark, Kind::Acknowledgement] {
        assert!(planned.iter().any(|row| row.kind == kind), "{kind:?}");
    }
    assert_eq!(planned.iter().filter(|row| row.kind == Kind::Timeout).count(), 1);
    for kind in [Kind::Restart, Kind::Undone] {
        assert!(random.iter().any(|row| row.kind == kind), "{kind:?}");
    }
}

/// The threshold after congestion is whole segments where the stack counts in segments, as Linux does (tcp.h, `snd_ssthresh`).
#[test]
fn threshold_is_whole_segments() {
    let stack = stacks().pop().expect("stacks");
    let rows = oracle(stack, "cubic", "westwood", Some(1)).rows(&Unloaded::default()).expect("rows");
    let losses: Vec<&Row> = rows.iter().filter(|row| row.kind == Kind::Loss).collect();
    assert!(losses.len() > 1, "{}", losses.len());
    for row in losses {
        for Window { ssthresh, mss, .. } in [row.leader.window, row.follower.window] {
            assert_eq!(ssthresh % mss, 0, "{row:?}");
        }
    }
}

/// New Reno halves its window on the first loss, and a round trip of acknowledgements afterwards adds a segment (RFC 5681), as leader
/// and as follower.
#[test]
fn law_of_new_reno() {
    let rows = oracle(stacks().pop().expect("stacks"), "newreno", "newreno", None).rows(&Unloaded::default());
    let rows = rows.expect("rows");
    for of in [|row: &Row| row.leader.window, |row: &Row| row.follower.window] {
        let loss = rows.iter().position(|row| row.kind == Kind::Loss).expect("a loss");
        let (before, after) = (of(&rows[loss - 1]), of(&rows[loss]));
        assert!(after.cwnd.abs_diff(before.cwnd / 2) <= before.mss, "{before:?} {after:?}");
        let start = rows[loss..].iter().position(|row| row.kind == Kind::Recovered).expect("its end") + loss;
        let round = rows[start].now + rows[start + 1].rtt.expect("a sample");
        let end = rows[start..].iter().position(|row| row.now > round).expect("a round trip later") + start;
        assert!(rows[start..=end].iter().all(|row| row.kind != Kind::Loss), "a round trip without a loss");
        let growth = of(&rows[end]).cwnd - of(&rows[start]).cwnd;
        assert!((0.7..1.3).contains(&(growth as f64 / before.mss as f64)), "{growth} bytes");
    }
}
