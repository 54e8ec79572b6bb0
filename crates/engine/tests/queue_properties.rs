//! What holds for every discipline of the catalogue, whatever arrives and however it is set.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value};
use sojourn_engine::packet::{OptionsHandle, Packet, flags};
use sojourn_engine::parameter::{Description, Kind};
use sojourn_engine::queue::{Context, Discipline, DropCause, Limit, Outcome, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

#[derive(Clone, Debug)]
enum Step {
    Arrival { size: u16, flow: u32, ecn_capable: bool },
    Departure,
    Idle(Duration),
}

/// More arrivals than departures, an idle gap now and then.
fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => (prop_oneof![Just(1500u16), 40u16..=1500], 0u32..4, any::<bool>())
            .prop_map(|(size, flow, ecn_capable)| Step::Arrival { size, flow, ecn_capable }),
        40 => Just(Step::Departure),
        1 => (0u64..50_000).prop_map(|microseconds| Step::Idle(Duration::from_microseconds(microseconds))),
    ]
}

fn limit() -> impl Strategy<Value = Option<Limit>> {
    prop_oneof![
        Just(None),
        (1u64..300).prop_map(|packets| Some(Limit::Packets(packets))),
        (1u64..300_000).prop_map(|bytes| Some(Limit::Bytes(bytes))),
    ]
}

/// Each switch and choice of the discipline set at random, the rest as it is.
fn parameters(descriptions: Vec<Description>) -> impl Strategy<Value = Value> {
    let switches = descriptions.len();
    vec(any::<prop::sample::Index>(), switches).prop_map(move |indices| {
        let mut set = Map::new();
        for (description, index) in descriptions.iter().zip(indices) {
            let values: Vec<Value> = match description.kind {
                Kind::Boolean => vec![false.into(), true.into()],
                Kind::Choice => description.choices.unwrap().iter().map(|word| Value::from(*word)).collect(),
                _ => continue,
            };
            set.insert(description.name.to_owned(), values[index.index(values.len())].clone());
        }
        Value::Object(set)
    })
}

#[derive(Clone, Debug)]
struct Case {
    limit: Option<Limit>,
    parameters: Value,
    steps: Vec<Step>,
    /// Between steps.
    gap: Duration,
    seed: u64,
}

fn case(descriptions: Vec<Description>) -> impl Strategy<Value = Case> {
    let gap = (50u64..2_000).prop_map(Duration::from_microseconds);
    (limit(), parameters(descriptions), vec(step(), 0..3_000), gap, any::<u64>())
        .prop_map(|(limit, parameters, steps, gap, seed)| Case { limit, parameters, steps, gap, seed })
}

/// What became of each packet, in order: the same for the same case.
#[derive(Debug, PartialEq)]
enum Fate {
    Sent { number: u64, marked: bool, at: Time },
    Dropped { number: u64, early: bool, at: Time },
}

/// Runs a case, checking after every step, and at the end drains the queue.
fn run(name: &str, class: &str, case: &Case) -> Result<Vec<Fate>, TestCaseError> {
    let mut discipline = Discipline::new(name, case.limit, &case.parameters).unwrap();
    discipline.set_link_rate(Rate(10_000_000));
    let mut run = Run {
        queue: discipline,
        limit: case.limit,
        random: Random::stream(case.seed, Purpose::Queue, 0),
        outcome: Outcome::default(),
        now: Time::ZERO,
        inside: BTreeMap::new(),
        fates: Vec::new(),
        marks: 0,
        marked: 0,
        reorders_flows: class == "scheduler",
        last_sent: [None; 4],
    };
    let interval = run.queue.timer_interval();
    let mut timer = Time::ZERO;
    let mut number = 0;
    for step in &case.steps {
        match *step {
            Step::Arrival { size, flow, ecn_capable } => {
                let ecn = if ecn_capable { flags::ECT_0 } else { 0 };
                let flags = flags::DATA | ecn;
                run.arrive(Packet { number, stamp: run.now, flow, hop: 0, options: OptionsHandle::NONE, size, flags })?;
                number += 1;
            }
            Step::Departure => run.depart()?,
            Step::Idle(duration) => run.now += duration,
        }
        run.now += case.gap;
        while let Some(interval) = interval.filter(|_| timer <= run.now) {
            run.queue.on_timer(timer);
            timer += interval;
        }
    }
    while run.queue.packets() > 0 {
        run.depart()?;
        run.now = run.queue.release_time().unwrap_or(Time::ZERO).max(run.now + case.gap);
    }
    run.depart()?;
    prop_assert!(run.inside.is_empty(), "an empty queue has lost {:?}", run.inside.keys());
    prop_assert_eq!(run.fates.len() as u64, number);
    prop_assert_eq!(run.marks, run.marked, "marks counted are packets marked");
    Ok(run.fates)
}

struct Run {
    queue: Discipline,
    limit: Option<Limit>,
    random: Random,
    outcome: Outcome,
    now: Time,
    /// Packets queued and since when, by number.
    inside: BTreeMap<u64, (Packet, Time)>,
    fates: Vec<Fate>,
    marks: u64,
    marked: u64,
    reorders_flows: bool,
    /// By flow, or the first alone.
    last_sent: [Option<u64>; 4],
}

impl Run {
    fn bytes_inside(&self) -> u64 {
        self.inside.values().map(|(packet, _)| u64::from(packet.size)).sum()
    }

    /// Whether a packet more would pass the limit.
    fn is_full_for(&self, packet: &Packet) -> bool {
        match self.limit {
            None => false,
            Some(Limit::Packets(packets)) => self.inside.len() as u64 + 1 > packets,
            Some(Limit::Bytes(bytes)) => self.bytes_inside() + u64::from(packet.size) > bytes,
        }
    }

    fn arrive(&mut self, packet: Packet) -> Result<(), TestCaseError> {
        let full = self.is_full_for(&packet);
        let may_pass = self.queue.lets_pass(&packet);
        prop_assert!(!may_pass || self.inside.is_empty() && !full, "nothing passes by what it would have to wait for");
        self.queue
            .enqueue(packet, &mut Context { now: self.now, random: &mut self.random, outcome: &mut self.outcome });
        let overflows = self.outcome.dropped.iter().any(|dropped| dropped.cause == DropCause::Overflow);
        prop_assert!(full || !overflows, "overflow below the limit");
        let refused = self.outcome.dropped.iter().any(|dropped| dropped.queued_since.is_none());
        if !refused {
            self.inside.insert(packet.number, (packet, self.now));
        }
        prop_assert!(!may_pass || self.outcome.is_empty(), "what may pass is neither dropped nor marked");
        for dropped in std::mem::take(&mut self.outcome.dropped) {
            if dropped.queued_since.is_none() {
                prop_assert_eq!(dropped.packet.number, packet.number, "only an arrival was never queued");
                self.settle(dropped.packet, packet, Some(dropped.cause))?;
            } else {
                self.settle_queued(dropped.packet, dropped.queued_since, Some(dropped.cause))?;
            }
        }
        self.check()
    }

    fn depart(&mut self) -> Result<(), TestCaseError> {
        let empty = self.inside.is_empty();
        prop_assert!(!self.queue.is_at_rest() || empty, "a queue at rest has nothing to give");
        let sent =
            self.queue.dequeue(&mut Context { now: self.now, random: &mut self.random, outcome: &mut self.outcome });
        for dropped in std::mem::take(&mut self.outcome.dropped) {
            self.settle_queued(dropped.packet, dropped.queued_since, Some(dropped.cause))?;
        }
        // What it held it may have dropped.
        if sent.is_none() && !self.inside.is_empty() {
            let release = self.queue.release_time();
            prop_assert!(
                release > Some(self.now),
                "packets that are held back are so until {release:?}, now {:?}",
                self.now
            );
        }
        prop_assert!(!(empty && sent.is_some()), "a packet from an empty queue");
        if let Some(queued) = sent {
            let line = if self.reorders_flows { queued.packet.flow as usize } else { 0 };
            prop_assert!(self.last_sent[line] < Some(queued.packet.number), "out of order");
            self.last_sent[line] = Some(queued.packet.number);
            self.settle_queued(queued.packet, Some(queued.since), None)?;
        }
        self.check()
    }

    /// A packet leaves the queue, sent or dropped: it must have been in it since it is said to.
    fn settle_queued(
        &mut self,
        packet: Packet,
        since: Option<Time>,
        dropped: Option<DropCause>,
    ) -> Result<(), TestCaseError> {
        let entry = self.inside.remove(&packet.number);
        prop_assert!(entry.is_some(), "packet {} left twice, or never came", packet.number);
        let (arrived, arrived_at) = entry.unwrap();
        prop_assert_eq!(since, Some(arrived_at));
        self.settle(packet, arrived, dropped)
    }

    fn settle(&mut self, packet: Packet, arrived: Packet, dropped: Option<DropCause>) -> Result<(), TestCaseError> {
        let marked = packet.is_marked();
        prop_assert_eq!(packet.flags & !flags::ECT_1, arrived.flags);
        prop_assert!(!marked || arrived.is_ecn_capable(), "marked, though not ECN-capable");
        prop_assert_eq!((packet.size, packet.flow), (arrived.size, arrived.flow));
        self.marked += u64::from(marked);
        let (number, at) = (packet.number, self.now);
        self.fates.push(match dropped {
            None => Fate::Sent { number, marked, at },
            Some(cause) => Fate::Dropped { number, early: cause == DropCause::Early, at },
        });
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        self.marks += std::mem::take(&mut self.outcome.marks);
        prop_assert_eq!(self.queue.packets(), self.inside.len() as u64);
        prop_assert_eq!(self.queue.bytes(), self.bytes_inside());
        match self.limit {
            Some(Limit::Packets(packets)) => prop_assert!(self.queue.packets() <= packets),
            Some(Limit::Bytes(bytes)) => prop_assert!(self.queue.bytes() <= bytes),
            None => {}
        }
        Ok(())
    }
}

/// For every discipline: each packet that arrives is sent, dropped or still queued, and only one of these; counts and
/// bytes agree; no limit is passed, and nothing overflows below it; what is sent keeps its order; a queue that holds
/// packets sends one; only what would not wait passes by; marks are on ECN-capable packets and counted. An AQM drops and marks early in some cases, so
/// that these were tried.
#[test]
fn packets_are_conserved_ordered_and_within_limits() {
    for (about, descriptions) in Discipline::catalogue() {
        let (early_drops, overflows, marks) = (Cell::new(0), Cell::new(0), Cell::new(0));
        // VCP and DualPI2 are made for marks, so nothing turns them on.
        let knows_ecn = ["vcp", "dualpi2"].contains(&about.name)
            || descriptions.iter().any(|description| description.name == "ecn");
        let mut runner = TestRunner::new(Config { cases: 128, ..Config::default() });
        runner
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
        // A scheduler may know no other drops than those at the limit.
        if about.class != "scheduler" {
            assert_eq!(early_drops.get() > 0, about.class != "passive", "{}: {early_drops:?} early drops", about.name);
        }
        assert_eq!(marks.get() > 0, knows_ecn, "{}: {marks:?} marks", about.name);
    }
}

/// For every discipline: the same packets and the same seed give the same fates.
#[test]
fn the_same_seed_gives_the_same_fates() {
    for (about, descriptions) in Discipline::catalogue() {
        let mut runner = TestRunner::new(Config { cases: 32, ..Config::default() });
        runner
            .run(&case(descriptions), |case| {
                prop_assert_eq!(run(about.name, about.class, &case)?, run(about.name, about.class, &case)?);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", about.name));
    }
}
