//! Connections that arrive during a run. Memory is held for those that are open: a connection that ends leaves its place to a later
//! one, and adds what it counted to its group.

use std::collections::VecDeque;
use std::sync::Arc;

use super::flow::{Endpoints, Flow, Overhead, Owner};
use super::sessions::Sessions;
use crate::agenda::Source;
use crate::application::End;
use crate::numbers::{FIRST_ARRIVED, Numbers};
use crate::random::{Purpose, Random};
use crate::result::{FlowResult, TcpResult, TransferCounts};
use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::connection::Connection;
use crate::tcp::profile::StackProfile;
use crate::tcp::sender::{Address, Sender, SenderStatistics, State};
use crate::tcp::slow_start::SlowStartChoice;
use crate::time::{Duration, Time};
use crate::workload::{Arrival, Arrivals};

/// A row of a run and of its results. Most are flows, which stand in place: no pointer leads to them.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(super) enum Row {
    Flow(Flow),
    /// The group with this index.
    Group(usize),
}

/// The flows of a run: those of the specification, and those that have arrived and are open.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// In the order of the specification.
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    pub numbers: Numbers,
}

impl Flows {
    /// A flow by its number; none if it has ended.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Flow> {
        let Flows { rows, groups, numbers } = self;
        match rows.get_mut(number as usize) {
            None => arrived(groups, numbers, number),
            Some(row) => {
                let Row::Flow(flow) = row else { unreachable!("row {number} is no flow") };
                Some(flow)
            }
        }
    }

    /// The flows of the specification, each with its row.
    pub fn fixed(&self) -> impl Iterator<Item = (usize, &Flow)> {
        self.rows.iter().enumerate().filter_map(|(row, each)| match each {
            Row::Flow(flow) => Some((row, flow)),
            Row::Group(_) => None,
        })
    }

    /// Those of the specification, then those that have arrived and are open.
    pub fn all(&self) -> impl Iterator<Item = &Flow> {
        let fixed = self.fixed().map(|(_, flow)| flow);
        fixed.chain(self.groups.iter().flat_map(|group| group.open.iter()))
    }

    /// Nothing of a group arrives any more, and what is open is aborted. Returns the numbers of what was open.
    pub fn stop_group(&mut self, group: usize, now: Time) -> Vec<u32> {
        let Flows { groups, numbers, .. } = self;
        groups[group].next = None;
        groups[group].is_stopped = true;
        groups[group].abort_sessions(now);
        let open = groups[group].open.places.iter_mut().flatten();
        open.map(|there| {
            there.1.endpoints.stop(now);
            numbers.number(group, there.0)
        })
        .collect()
    }

    /// Removes a connection that arrived, if it has ended and nothing of it waits at its sender. Returns it if so.
    pub fn take_ended(&mut self, number: u32, now: Time) -> Option<Flow> {
        debug_assert!(number >= FIRST_ARRIVED);
        let (group, serial) = self.numbers.group(number);
        let group = &mut self.groups[group];
        let flow = group.open.get_mut(serial)?;
        let Endpoints::Tcp(connection) = &flow.endpoints else { return None };
        let has_ended = matches!(connection.sender.state(), State::Completed | State::Aborted(_) | State::Stopped);
        if !has_ended || flow.overhead.as_ref().is_some_and(|overhead| !overhead.waiting.is_empty()) {
            return None;
        }
        group.note_open(now);
        let flow = group.open.remove(serial)?;
        group.totals.add(&flow, now);
        Some(flow)
    }
}

#[inline(never)]
fn arrived<'a>(groups: &'a mut [Group], numbers: &Numbers, number: u32) -> Option<&'a mut Flow> {
    debug_assert!(number >= FIRST_ARRIVED, "row {number} is no flow");
    let (group, serial) = numbers.group(number);
    groups[group].open.get_mut(serial)
}

/// Places of open connections. A connection's place is its serial number modulo their count, which is a power of two; serial
/// numbers whose place is taken are left out.
#[derive(Debug)]
pub(super) struct Places<T> {
    places: Vec<Option<Box<(u32, T)>>>,
    next: u32,
    pub taken: usize,
}

impl<T> Default for Places<T> {
    fn default() -> Places<T> {
        Places { places: Vec::new(), next: 0, taken: 0 }
    }
}

impl<T> Places<T> {
    pub fn get_mut(&mut self, serial: u32) -> Option<&mut T> {
        let mask = self.places.len().wrapping_sub(1);
        let (there, thing) = self.places.get_mut(serial as usize & mask)?.as_deref_mut()?;
        (*there == serial).then_some(thing)
    }

    /// Adds what is made for its serial number.
    pub fn insert(&mut self, make: impl FnOnce(u32) -> T) -> u32 {
        self.insert_at(0, 1, make)
    }

    /// The same, with a serial number that has this remainder.
    pub fn insert_at(&mut self, remainder: u32, divisor: u32, make: impl FnOnce(u32) -> T) -> u32 {
        if 2 * self.taken >= self.places.len() {
            self.double();
        }
        let mask = self.places.len() - 1;
        while self.next % divisor != remainder || self.places[self.next as usize & mask].is_some() {
            self.next += 1;
        }
        let serial = self.next;
        self.next += 1;
        self.taken += 1;
        self.places[serial as usize & mask] = Some(Box::new((serial, make(serial))));
        serial
    }

    fn double(&mut self) {
        let length = (2 * self.places.len()).max(8);
        let mut places: Vec<_> = std::iter::repeat_with(|| None).take(length).collect();
        for there in self.places.drain(..).flatten() {
            let place = there.0 as usize & (length - 1);
            places[place] = Some(there);
        }
        self.places = places;
    }

    pub fn remove(&mut self, serial: u32) -> Option<T> {
        self.get_mut(serial)?;
        let mask = self.places.len() - 1;
        let (_, thing) = *self.places[serial as usize & mask].take()?;
        self.taken -= 1;
        Some(thing)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten().map(|there| &there.1)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|there| &mut there.1)
    }
}

/// What the connections of a group are made of.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub profile: Arc<StackProfile>,
    pub algorithm: Algorithm,
    pub slow_start: SlowStartChoice,
    /// Where the paths there and back begin.
    pub there: u32,
    pub back: u32,
    pub seed: u64,
    /// The upper bound of the sender's overhead, zero if there is none.
    pub overhead: Duration,
    /// Index of the group in the specification.
    pub group: usize,
}

impl Template {
    /// A connection that is not yet open.
    pub fn connection(&self, number: u32, size: Option<u64>) -> Connection {
        let return_address = Address { flow: number, first_hop: self.back };
        Connection::new(self.sender(number, self.there, size), Arc::clone(&self.profile), return_address)
    }

    fn sender(&self, number: u32, first_hop: u32, size: Option<u64>) -> Sender {
        let mut algorithm = self.algorithm.clone();
        algorithm.take_flow(number);
        let needs = algorithm.needs();
        if needs.common_random {
            algorithm.take_random(Random::stream(self.seed, Purpose::CommonControl, 0));
        } else if needs.random {
            algorithm.take_random(Random::stream(self.seed, Purpose::CongestionControl, u64::from(number)));
        }
        let address = Address { flow: number, first_hop };
        Sender::new(address, Arc::clone(&self.profile), algorithm, self.slow_start.clone(), size)
    }

    /// A direction of a connection of a session.
    pub fn direction(&self, number: u32, owner: Owner, now: Time) -> Flow {
        let (there, back) = match owner.sends {
            End::Server => (self.there, self.back),
            End::Client => (self.back, self.there),
        };
        let return_address = Address { flow: number, first_hop: back };
        let sender = self.sender(number, there, None).with_stream();
        let connection = Connection::new(sender, Arc::clone(&self.profile), return_address);
        Flow { owner: Some(owner), ..self.flow(number, connection, now) }
    }

    fn flow(&self, number: u32, connection: Connection, now: Time) -> Flow {
        Flow {
            endpoints: Endpoints::Tcp(connection),
            retransmission_armed: Time::NEVER,
            pacing: Source::NONE,
            pacing_armed: Time::NEVER,
            delayed_ack_armed: Time::NEVER,
            before_window: Default::default(),
            group: self.group,
            start: now,
            stop: Time::NEVER,
            is_stopped: false,
            overhead: overhead(self.overhead, self.seed, number),
            owner: None,
        }
    }
}

/// The random overhead of a sender, if it has one.
pub(super) fn overhead(limit: Duration, seed: u64, number: u32) -> Option<Box<Overhead>> {
    (limit > Duration::ZERO).then(|| {
        let random = Random::stream(seed, Purpose::SenderOverhead, u64::from(number));
        Box::new(Overhead { limit, random, waiting: VecDeque::new() })
    })
}

/// A group of flows whose connections arrive.
#[derive(Debug)]
pub(super) struct Group {
    pub template: Template,
    pub start: Time,
    /// When it is to be stopped; [`Time::NEVER`] if it is not.
    pub stop: Time,
    pub arrivals: Arrivals,
    /// The next to arrive, while any does; users bring theirs.
    pub next: Option<Arrival>,
    /// Whether nothing arrives any more.
    pub is_stopped: bool,
    pub open: Places<Flow>,
    /// Only if its connections belong to sessions.
    pub sessions: Option<Sessions>,
    pub(super) totals: Totals,
    /// The integral of the number of open connections, in picoseconds, from the start of the measuring window to a moment.
    open_time: u128,
    until: Time,
}

/// What the connections of a group that have ended counted in the measuring window.
#[derive(Debug, Default)]
pub(super) struct Totals {
    statistics: SenderStatistics,
    delivered: u64,
    total_delivered: u64,
    pub completed: u64,
    pub aborted: u64,
    established: Option<Time>,
}

impl Totals {
    fn add(&mut self, flow: &Flow, now: Time) {
        let Endpoints::Tcp(connection) = &flow.endpoints else { return };
        let sender = &connection.sender;
        self.statistics.add(&sender.statistics_at(now));
        if flow.is_forward() {
            self.delivered += connection.delivered() - flow.before_window.delivered;
            self.total_delivered += connection.delivered();
        }
        self.established = self.established.or(sender.established_at());
        if flow.owner.is_some() {
            return; // Its session counts.
        }
        match sender.state() {
            State::Completed => self.completed += 1,
            State::Aborted(_) | State::Stopped => self.aborted += 1,
            _ => {}
        }
    }
}

impl Group {
    pub fn new(template: Template, start: Time, stop: Time, arrivals: Arrivals, sessions: Option<Sessions>) -> Group {
        Group {
            template,
            start,
            stop,
            arrivals,
            next: None,
            is_stopped: false,
            open: Places::default(),
            sessions,
            totals: Totals::default(),
            open_time: 0,
            until: Time::ZERO,
        }
    }

    /// The next connection arrives. Returns its serial number.
    pub fn arrive(&mut self, size: u64, number: impl Fn(u32) -> u32, now: Time) -> u32 {
        self.note_open(now);
        let template = &self.template;
        self.open.insert(|serial| {
            let number = number(serial);
            template.flow(number, template.connection(number, Some(size)), now)
        })
    }

    /// How many are open, of what the group's transfers are.
    fn count_open(&self) -> usize {
        self.sessions.as_ref().map_or(self.open.taken, |sessions| sessions.open.taken)
    }

    /// How many are open is about to change.
    pub fn note_open(&mut self, now: Time) {
        self.open_time += self.count_open() as u128 * u128::from(now.since(self.until).0);
        self.until = now;
    }

    /// Payload bytes delivered since the start of the run.
    pub fn delivered(&self) -> u64 {
        let open = self.open.iter().filter(|flow| flow.is_forward());
        self.totals.total_delivered + open.map(|flow| flow.endpoints.delivered()).sum::<u64>()
    }

    /// The measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        self.note_open(now);
        self.open_time = 0;
        let (total_delivered, aborted) = (self.totals.total_delivered, self.totals.aborted);
        let established = self.totals.established;
        self.totals = Totals { total_delivered, aborted, established, ..Totals::default() };
        for flow in self.open.iter_mut() {
            flow.open_window(now);
        }
        if let Some(sessions) = &mut self.sessions {
            sessions.open_window(now);
        }
    }

    /// The result of the whole group in a run whose measuring window opened, and which ends now.
    pub fn result(&mut self, packets_dropped: u64, opens: Time, now: Time) -> FlowResult {
        self.note_open(now);
        let mut totals = std::mem::take(&mut self.totals);
        let unfinished = totals.aborted + self.count_open() as u64;
        for flow in self.open.iter() {
            totals.add(flow, now);
        }
        let open_mean = self.open_time as f64 / now.since(opens).0.max(1) as f64;
        FlowResult {
            group: self.template.group,
            long_lived: false,
            start: self.start,
            stopped: self.is_stopped.then_some(self.stop),
            bytes_delivered: totals.delivered,
            total_bytes_delivered: totals.total_delivered,
            packets_dropped,
            tcp: Some(TcpResult {
                state: State::Established,
                established: totals.established,
                completed: None,
                statistics: totals.statistics,
            }),
            rate_based: None,
            delays: None,
            transfers: Some(TransferCounts { completed: totals.completed, unfinished, open_mean }),
            round_trips: None,
            call: None,
            video: self.sessions.as_mut().and_then(|sessions| sessions.seen(now)).map(Box::new),
        }
    }
}
