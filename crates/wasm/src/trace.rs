//! The packets of the bottleneck, one by one: when each arrives at its queue, and when it leaves or is dropped.
//!
//! The engine records the packets that pass ends of links. So the arrivals at a queue are those at the far ends of the links that
//! lead to it, and departures those at its near end. A packet that never leaves was dropped when the queue counted a drop; if it was
//! not the one that arrived at that moment, it is taken to have been the oldest of those that never leave.

use std::collections::{HashMap, VecDeque};

use serde_json::json;
use sojourn_engine::numbers::Numbers;
use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::{LinkSpecification, Specification};
use sojourn_engine::time::{Duration, Time};

use crate::columns::Columns;

/// Packets that are kept. Later ones are not.
const MOST: usize = 1_500_000;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Queued,
    Sent,
    Marked,
    Dropped,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The row of its flow; connections that arrive have that of their group.
    flow: u32,
    size: u16,
    fate: Fate,
    was_marked: bool,
    /// Whether it arrived as a packet of L4S, by its ECN field: ECT(1) or CE (RFC 9331 section 3).
    is_l4s: bool,
    arrived: Time,
    left: Time,
}

#[derive(Debug)]
pub struct Trace {
    link: usize,
    numbers: Numbers,
    /// Its rates in bit/s, each from a moment on, in order.
    rates: Vec<(u64, u64)>,
    rows: Vec<Row>,
    /// The rows of packets that have not left, by what tells packets apart: those with the same are in order of arrival.
    waiting: HashMap<(u32, u64, u64, u8), VecDeque<usize>>,
    /// When the queue dropped packets, one entry for each.
    drops: Vec<Time>,
    counted_drops: u64,
    /// Of a link that may refuse packets before its queue, as a policer does: when the queue counted an arrival.
    accepted: Option<Vec<Time>>,
    counted_arrivals: u64,
    /// Of a link that sends frames, whose packets pass together: when the queue gave packets that have not passed yet.
    given: Option<VecDeque<Time>>,
    counted_departures: u64,
    is_full: bool,
}

fn key(packet: &Packet) -> (u32, u64, u64, u8) {
    (packet.flow, packet.number, packet.stamp.0, packet.flags & (flags::DATA | flags::ACK | flags::SYN | flags::FIN))
}

/// The rates of a link and from when on it has them, in ps; changes that are made again and again are not looked at.
fn rates(link: &LinkSpecification) -> Vec<(u64, u64)> {
    let changed = link.changes.iter().filter_map(|each| Some((each.at.since(Time::ZERO).0, each.rate?.0)));
    std::iter::once((0, link.rate.0)).chain(changed).collect()
}

/// When the transmission of so many bytes began that ended at a time, both in ps.
fn began(rates: &[(u64, u64)], end: u64, bytes: u64) -> u64 {
    // In bits times 1e12, as rates times picoseconds are.
    let mut left = u128::from(bytes) * 8_000_000_000_000;
    let mut until = end;
    for &(from, rate) in rates.iter().rev().filter(|(from, _)| *from < end) {
        let carried = u128::from(rate) * u128::from(until - from);
        if carried >= left {
            return until - (left / u128::from(rate)) as u64;
        }
        left -= carried;
        until = from;
    }
    0
}

impl Trace {
    /// Records the packets of the first link that has a queue.
    pub fn begin(specification: &Specification, simulation: &mut Simulation) -> Result<Trace, String> {
        let links = &specification.links;
        let queued = links.iter().position(|link| link.queue.is_some());
        let link = queued.ok_or_else(|| "no link has a queue".to_owned())?;
        let (near, far) = (links[link].from, links[link].to);
        for (index, each) in links.iter().enumerate() {
            if each.to == near && each.from != far {
                simulation.record(index, End::Far)?;
            }
        }
        simulation.record(link, End::Near)?;
        Ok(Trace {
            link,
            numbers: Numbers::new(&specification.flow_groups()),
            rates: rates(&links[link]),
            rows: Vec::new(),
            waiting: HashMap::new(),
            drops: Vec::new(),
            counted_drops: 0,
            accepted: (!links[link].is_plain()).then(Vec::new),
            counted_arrivals: 0,
            given: links[link].aggregation.is_some().then(VecDeque::new),
            counted_departures: 0,
            is_full: false,
        })
    }

    /// Goes on event by event, since the queue's counters tell when it drops.
    pub fn advance(&mut self, simulation: &mut Simulation, until: Time, most_events: u64) -> bool {
        let mut is_there = false;
        for _ in 0..most_events {
            is_there = simulation.advance(until, 1);
            if is_there || self.is_full {
                break;
            }
            self.count(simulation);
        }
        if self.is_full {
            return simulation.advance(until, most_events);
        }
        let moment = if is_there { until } else { simulation.now() };
        for passage in simulation.take_passages_before(moment) {
            self.take(&passage);
        }
        self.is_full = self.rows.len() >= MOST;
        is_there
    }

    fn count(&mut self, simulation: &Simulation) {
        let Some(totals) = simulation.queues().next().and_then(|look| look.totals) else { return };
        let drops = totals.counts.drops();
        for _ in self.counted_drops..drops {
            self.drops.push(simulation.now());
        }
        self.counted_drops = drops;
        if let Some(accepted) = &mut self.accepted {
            accepted.extend((self.counted_arrivals < totals.counts.arrivals).then(|| simulation.now()));
            self.counted_arrivals = totals.counts.arrivals;
        }
        if let Some(given) = &mut self.given {
            given.extend((self.counted_departures..totals.counts.departures).map(|_| simulation.now()));
            self.counted_departures = totals.counts.departures;
        }
    }

    fn take(&mut self, passage: &Passage) {
        let Passage { time, packet, .. } = passage;
        if passage.link != self.link {
            let row = Row {
                flow: self.numbers.row(packet.flow) as u32,
                size: packet.size,
                fate: Fate::Queued,
                was_marked: packet.is_marked(),
                is_l4s: packet.flags & flags::ECT_1 != 0,
                arrived: *time,
                left: Time::NEVER,
            };
            self.waiting.entry(key(packet)).or_default().push_back(self.rows.len());
            self.rows.push(row);
            return;
        }
        let Some(rows) = self.waiting.get_mut(&key(packet)) else { return };
        let Some(index) = rows.pop_front() else { return };
        if rows.is_empty() {
            self.waiting.remove(&key(packet));
        }
        let row = &mut self.rows[index];
        // The last bit passes then: it was taken out when its transmission began.
        let began = || Time::ZERO + Duration(began(&self.rates, time.since(Time::ZERO).0, row.size.into()));
        let taken = self.given.as_mut().and_then(VecDeque::pop_front).unwrap_or_else(began);
        row.left = taken.max(row.arrived);
        row.fate = if packet.is_marked() && !row.was_marked { Fate::Marked } else { Fate::Sent };
    }

    /// Packets that the link refused before its queue fall out when they arrive.
    fn refuse(&mut self) {
        let Some(accepted) = self.accepted.take() else { return };
        for row in &mut self.rows {
            if row.fate == Fate::Queued && accepted.binary_search(&row.arrived).is_err() {
                row.fate = Fate::Dropped;
                row.left = row.arrived;
            }
        }
    }

    /// Gives each drop of the queue to a packet that never leaves.
    fn settle(&mut self) {
        let mut pending: VecDeque<usize> =
            (0..self.rows.len()).filter(|row| self.rows[*row].fate == Fate::Queued).collect();
        for moment in std::mem::take(&mut self.drops) {
            let arrived = pending.partition_point(|row| self.rows[*row].arrived <= moment);
            if arrived == 0 {
                continue;
            }
            let is_arriving = self.rows[pending[arrived - 1]].arrived == moment;
            let taken = pending.remove(if is_arriving { arrived - 1 } else { 0 });
            if let Some(row) = taken {
                self.rows[row].fate = Fate::Dropped;
                self.rows[row].left = moment;
            }
        }
    }

    /// The packets in order of arrival. `fate` is 0 of a packet that is still queued at the end, 1 of one that was sent, 2 of one
    /// that was marked as well, 3 of one that was dropped.
    pub fn columns(mut self) -> Columns {
        self.refuse();
        self.settle();
        let mut columns = Columns::new(json!({ "is_whole": !self.is_full }));
        columns.indices("packets.flow", self.rows.iter().map(|row| row.flow));
        columns.indices("packets.size", self.rows.iter().map(|row| row.size.into()));
        columns.indices("packets.l4s", self.rows.iter().map(|row| row.is_l4s.into()));
        columns.indices("packets.fate", self.rows.iter().map(|row| row.fate as u32));
        columns.numbers("packets.arrived", self.rows.iter().map(|row| row.arrived.seconds()));
        let left = |row: &Row| if row.left == Time::NEVER { f64::NAN } else { row.left.seconds() };
        columns.numbers("packets.left", self.rows.iter().map(left));
        columns
    }
}
