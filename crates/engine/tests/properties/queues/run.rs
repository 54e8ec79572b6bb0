//! Runs a discipline through a sequence of steps and checks the properties of every discipline after each.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value};
use sojourn_engine::packet::{OptionsHandle, Packet, flags};
use sojourn_engine::parameter::{Description, ParameterKind};
use sojourn_engine::queue::{Context, Discipline, DropCause, Limit, Outcome, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::{Bytes, Rate};

pub const FLOWS: u32 = 6;

#[derive(Clone, Debug)]
pub enum Step {
    /// The flow number determines the ECN field.
    Arrival {
        size: u16,
        flow: u32,
    },
    Departure,
    Idle(Duration),
    LinkRate(Rate),
}

/// A third of the flows is not ECN-capable, a third has ECT(0), a third ECT(1).
fn ecn_field(flow: u32) -> u8 {
    [0, flags::ECT_0, flags::ECT_1][flow as usize % 3]
}

#[derive(Clone, Debug)]
pub struct Case {
    pub limit: Option<Limit>,
    pub parameters: Value,
    pub steps: Vec<Step>,
    /// The time between steps.
    pub gap: Duration,
    pub seed: u64,
}

/// The parameters of a discipline. `choose` selects the value of each boolean and choice from their number. The others
/// have their defaults.
pub fn parameters(descriptions: &[Description], mut choose: impl FnMut(usize) -> usize) -> Value {
    let mut set = Map::new();
    for description in descriptions {
        let values: Vec<Value> = match description.kind {
            ParameterKind::Boolean => vec![false.into(), true.into()],
            ParameterKind::Choice => description.choices.unwrap().iter().map(|word| Value::from(*word)).collect(),
            _ => continue,
        };
        set.insert(description.name.to_owned(), values[choose(values.len())].clone());
    }
    Value::Object(set)
}

/// The fate of a packet. The fates are the same for the same case.
#[derive(Debug, PartialEq)]
pub enum Fate {
    Sent { number: u64, marked: bool, at: Time },
    Dropped { number: u64, early: bool, at: Time },
}

/// What a limit counts: Linux's RED bytes, of as many mean packets as it is told.
fn counted(name: &str, limit: Limit, parameters: &Value) -> Limit {
    if (name, parameters["rules"].as_str()) != ("red", Some("linux")) {
        return limit;
    }
    Limit::Bytes(limit.in_bytes(Bytes(parameters["mean_packet_size"].as_u64().unwrap_or(1500))))
}

/// Runs a case, checks after every step, and finally drains the queue.
pub fn run(name: &str, class: &str, case: &Case) -> Result<Vec<Fate>, TestCaseError> {
    let mut discipline = Discipline::new(name, case.limit, &case.parameters).unwrap();
    discipline.set_link_rate(Rate(10_000_000));
    let mut run = Run {
        queue: discipline,
        limit: case.limit.map(|limit| counted(name, limit, &case.parameters)),
        random: Random::stream(case.seed, Purpose::Queue, 0),
        outcome: Outcome::default(),
        now: Time::ZERO,
        inside: BTreeMap::new(),
        bytes_inside: 0,
        fates: Vec::new(),
        marks: 0,
        marked: 0,
        // DualPI2 has two queues, and a flow is in one of them.
        reorders_flows: class == "scheduler" || name == "dualpi2",
        writes_load: name == "vcp",
        last_sent: [None; FLOWS as usize],
    };
    let interval = run.queue.timer_interval();
    let mut timer = Time::ZERO;
    let mut number = 0;
    for step in &case.steps {
        match *step {
            Step::Arrival { size, flow } => {
                let flags = flags::DATA | ecn_field(flow);
                run.arrive(Packet { number, stamp: run.now, flow, hop: 0, options: OptionsHandle::NONE, size, flags })?;
                number += 1;
            }
            Step::Departure => run.depart()?,
            Step::Idle(duration) => run.now += duration,
            Step::LinkRate(rate) => run.queue.set_link_rate(rate),
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
    /// Packets queued and their arrival times, by number.
    inside: BTreeMap<u64, (Packet, Time)>,
    bytes_inside: u64,
    fates: Vec<Fate>,
    marks: u64,
    marked: u64,
    reorders_flows: bool,
    /// Whether the discipline uses the ECN field for more than marks.
    writes_load: bool,
    /// The last packet sent of each flow, or only the first entry for all flows.
    last_sent: [Option<u64>; FLOWS as usize],
}

impl Run {
    /// Whether another packet would exceed the limit.
    fn is_full_for(&self, packet: &Packet) -> bool {
        match self.limit {
            None => false,
            Some(Limit::Packets(packets)) => self.inside.len() as u64 + 1 > packets,
            Some(Limit::Bytes(bytes)) => self.bytes_inside + u64::from(packet.size) > bytes,
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
            self.bytes_inside += u64::from(packet.size);
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
        // The packets may have been dropped.
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

    /// Removes a packet that was sent or dropped. It must have been in the queue since the reported time.
    fn settle_queued(
        &mut self,
        packet: Packet,
        since: Option<Time>,
        dropped: Option<DropCause>,
    ) -> Result<(), TestCaseError> {
        let entry = self.inside.remove(&packet.number);
        prop_assert!(entry.is_some(), "packet {} left twice, or never came", packet.number);
        let (arrived, arrived_at) = entry.unwrap();
        self.bytes_inside -= u64::from(arrived.size);
        prop_assert_eq!(since, Some(arrived_at));
        self.settle(packet, arrived, dropped)
    }

    fn settle(&mut self, packet: Packet, arrived: Packet, dropped: Option<DropCause>) -> Result<(), TestCaseError> {
        let marked = packet.is_marked();
        let (field, others) = (flags::CONGESTION_EXPERIENCED, !flags::CONGESTION_EXPERIENCED);
        prop_assert_eq!(packet.flags & others, arrived.flags & others);
        prop_assert!(marked || self.writes_load || packet.flags & field == arrived.flags & field, "another ECN field");
        prop_assert_eq!(packet.is_ecn_capable(), arrived.is_ecn_capable());
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
        prop_assert_eq!(self.queue.bytes(), self.bytes_inside);
        match self.limit {
            Some(Limit::Packets(packets)) => prop_assert!(self.queue.packets() <= packets),
            Some(Limit::Bytes(bytes)) => prop_assert!(self.queue.bytes() <= bytes),
            None => {}
        }
        Ok(())
    }
}
