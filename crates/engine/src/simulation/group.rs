//! Groups of connections that arrive during a run, or of sessions with connections. Memory is held for those that are open: a connection
//! that ends leaves its place to a later one, and adds what it counted to its group.

use std::sync::Arc;

use super::flow::{Endpoints, Flow, Overhead, Owner};
use super::open_sessions::{Running, Sessions};
use super::places::Places;
use crate::agenda::Clock;
use crate::application::End;
use crate::random::{Purpose, Random};
use crate::result::{FlowResult, TcpResult, TransferCounts};
use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::connection::Connection;
use crate::tcp::profile::StackProfile;
use crate::tcp::receiver::ReceiverProfile;
use crate::tcp::sender::{Address, Sender, SenderStatistics, State};
use crate::tcp::slow_start::SlowStartChoice;
use crate::time::{Duration, Time};
use crate::workload::{Arrival, Arrivals};

/// What the connections of a group are made of.
#[derive(Clone, Debug)]
pub struct Template {
    pub profile: Arc<StackProfile>,
    pub receiver_profile: Arc<ReceiverProfile>,
    pub algorithm: Algorithm,
    pub slow_start: SlowStartChoice,
    /// The clocks of the sender's host and of the receiver's.
    pub clocks: (Clock, Clock),
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
        self.with_sender(self.sender(number, self.there, size), return_address)
    }

    fn with_sender(&self, sender: Sender, return_address: Address) -> Connection {
        Connection::new(sender, Arc::clone(&self.profile), Arc::clone(&self.receiver_profile), return_address)
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
        let connection = self.with_sender(sender, return_address);
        Flow { owner: Some(Box::new(owner)), ..self.flow(number, connection, now) }
    }

    fn flow(&self, number: u32, connection: Connection, now: Time) -> Flow {
        let overhead = Overhead::new(self.overhead, self.seed, number);
        Flow::new(Endpoints::Tcp(connection), self.group, self.clocks, now, overhead)
    }
}

/// A group of flows whose connections arrive.
#[derive(Debug)]
pub struct Group {
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
    pub totals: Totals,
    /// The integral of the number of open connections, in picoseconds, from the start of the measuring window to a moment.
    open_time: u128,
    until: Time,
}

/// What the connections of a group that have ended counted in the measuring window.
#[derive(Debug, Default)]
pub struct Totals {
    statistics: SenderStatistics,
    delivered: u64,
    total_delivered: u64,
    pub completed: u64,
    pub aborted: u64,
    established: Option<Time>,
}

impl Totals {
    /// Adds what a connection counted.
    pub fn add(&mut self, flow: &Flow, now: Time) {
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

    /// The open connection that sends forward, of a group in which one arrives at most.
    pub fn only_connection(&self) -> Option<&Flow> {
        if !self.arrivals.is_single() {
            return None;
        }
        self.open.iter().find(|flow| flow.is_forward())
    }

    /// How many are open: sessions if the group has them, connections otherwise.
    fn count_open(&self) -> usize {
        self.sessions.as_ref().map_or(self.open.taken, |sessions| sessions.open.taken)
    }

    /// To be called before the number of open ones changes.
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

    /// A session begins. Returns its serial number.
    pub fn begin_session(&mut self, number: impl Fn(u32) -> u32, now: Time) -> Option<u32> {
        self.note_open(now);
        let seed = self.template.seed;
        Some(self.sessions.as_mut()?.begin(|serial| Random::stream(seed, Purpose::Session, number(serial).into())))
    }

    /// A session is over. Its connections are not.
    pub fn end_session(&mut self, session: u32, now: Time) -> Option<Running> {
        self.note_open(now);
        self.sessions.as_mut()?.end(session, now)
    }

    /// All sessions are over. Their connections are not.
    pub fn abort_sessions(&mut self, now: Time) {
        self.note_open(now);
        if let Some(sessions) = &mut self.sessions {
            self.totals.aborted += sessions.abort(now);
        }
    }

    /// Adds both directions of a connection. Returns the number of that from the client.
    pub fn open_connection(&mut self, session: u32, number: impl Fn(u32) -> u32, now: Time) -> Option<u32> {
        let running = self.sessions.as_mut()?.open.get_mut(session)?;
        let connection = running.connections.len() as u32;
        let mut other = 0;
        let [up, down] = [(0, End::Client), (1, End::Server)].map(|(remainder, sends)| {
            let owner = Owner { session, connection, sends, other, is_open: false, awaited_room: 0 };
            let template = &self.template;
            let serial = self.open.insert_at(remainder, 2, |serial| template.direction(number(serial), owner, now));
            other = number(serial);
            serial
        });
        if let Some(Flow { owner: Some(owner), .. }) = self.open.get_mut(up) {
            owner.other = number(down);
        }
        running.connections.push((number(up), number(down)));
        Some(number(up))
    }
}
