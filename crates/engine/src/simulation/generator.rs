//! The traffic of a run whose packets something else carries, such as the TCP and the UDP of a kernel: what arrives and when, what
//! applications do with their connections, and what rate-based sources send. All of it comes from the same state machines and the same
//! random streams as in a simulation of the run, so that both have the same transfers of the same sizes, at the same times as far as
//! these do not depend on what the network does.
//!
//! Like an application, a generator has no clock. It is told what happens to connections and datagrams, and says what is to be done with
//! them. Flows that only write all they can on a connection of their own are none of its business.

use std::collections::{BTreeMap, BTreeSet};

use super::ideal::Ideal;
use super::open_sessions::{Running, Sessions};
use super::plan::{Plan, Sending, start};
use crate::application::{Action, Application, Context, End, Event, TransferKind};
use crate::numbers::Numbers;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{Series, Transfer, Transfers};
use crate::random::{Purpose, Random};
use crate::result::{FlowResult, RunResult, TcpResult, TransferCounts};
use crate::specification::{FlowSpecification, Specification};
use crate::tcp::sender::{Address, SenderStatistics, State};
use crate::time::Time;
use crate::traffic::{RateBased, SourceSetup, Traffic};
use crate::workload::{Arrival, Arrivals};

/// What is to be done. Connections and datagrams have numbers of their own in the order in which they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The host of an end opens a connection to that of the other.
    Open {
        /// The connection's number.
        connection: u32,
        /// The flow that it belongs to.
        row: usize,
        /// The end that opens it: the client of a session. Of a transfer it is the server, the end at which data begin.
        by: End,
    },
    /// An end writes so many bytes once it can. The other end tells when it has all of them.
    Write {
        /// On this connection.
        connection: u32,
        /// The end that writes.
        from: End,
        /// One at least.
        bytes: u64,
    },
    /// The server is to tell, once, when fewer bytes than these of what it wrote wait for the window.
    AwaitRoom {
        /// Of this connection.
        connection: u32,
        /// How many may wait.
        waiting: u64,
    },
    /// An end closes its direction when all that it has written is sent. The other end does when it learns of that.
    Close {
        /// Of this connection.
        connection: u32,
        /// The end that closes.
        end: End,
    },
    /// Both ends forget the connection, if there is one.
    Abort {
        /// Its number.
        connection: u32,
    },
    /// A datagram leaves.
    Send {
        /// Its number.
        datagram: u32,
        /// The flow that it belongs to.
        row: usize,
        /// The end that sends it.
        from: End,
        /// Its size on the link, with all headers.
        size: u16,
        /// The bits of its ECN field (RFC 3168 section 5).
        ecn: u8,
    },
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The handshake is complete at the end that opened the connection.
    Opened(u32),
    /// It is at the other one.
    Accepted(u32),
    /// The next message of a connection has arrived whole at an end.
    Received(u32, End),
    /// The server may write so many bytes, with no more waiting than it asked for.
    Room(u32, u64),
    /// All that a transfer sent has been acknowledged.
    Ended {
        /// Its connection.
        connection: u32,
        /// When it sent its SYN, and when its last byte was acknowledged.
        from: Time,
        /// See there.
        until: Time,
        /// Segments retransmitted.
        retransmissions: u64,
    },
    /// A connection has given up.
    Failed(u32),
    /// A datagram has arrived, with a mark of congestion or without.
    Arrived(u32, bool),
    /// The measuring window opens.
    WindowOpens,
}

/// What the generator waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    RowStarts(usize),
    RowStops(usize),
    /// Of a group; those of its users each have a number.
    Arrival(usize, u64),
    Session(usize, u32),
    Source(usize),
}

#[derive(Debug)]
enum Row {
    /// Something else is its source.
    Plain,
    /// The group with this index.
    Group(usize),
    Source(Box<Source>),
}

#[derive(Debug)]
struct Source {
    traffic: Traffic,
    /// When it is due, as the agenda has it.
    armed: Time,
    is_stopped: bool,
    delivered_before: u64,
}

#[derive(Debug)]
struct Group {
    row: usize,
    arrivals: Arrivals,
    next: Option<Arrival>,
    is_stopped: bool,
    sessions: Option<Sessions>,
    /// Of transfers under way their connections.
    transfers: BTreeMap<u32, u64>,
    /// Connections that have not been closed from here.
    connections: BTreeSet<u32>,
    completed: u64,
    aborted: u64,
    /// The integral of the number of open ones, from the start of the measuring window to a moment.
    open_time: u128,
    until: Time,
}

impl Group {
    fn count_open(&self) -> usize {
        self.sessions.as_ref().map_or(self.transfers.len(), |sessions| sessions.open.taken)
    }

    /// To be called before the number of open ones changes.
    fn note_open(&mut self, now: Time) {
        self.open_time += self.count_open() as u128 * u128::from(now.since(self.until).0);
        self.until = now;
    }
}

/// What a connection is of.
#[derive(Clone, Copy, Debug)]
struct Carried {
    group: usize,
    /// The session, and which of its connections; none of a transfer.
    session: Option<(u32, usize)>,
}

/// See the module.
#[derive(Debug)]
pub struct Generator {
    specification: Specification,
    numbers: Numbers,
    ideals: Vec<Ideal>,
    /// Of each row: its group in the specification, and when it starts.
    known: Vec<(usize, Time)>,
    rows: Vec<Row>,
    groups: Vec<Group>,
    connections: BTreeMap<u32, Carried>,
    next_connection: u32,
    datagrams: BTreeMap<u32, Packet>,
    next_datagram: u32,
    users: u64,
    agenda: BTreeSet<(Time, Due)>,
    transfers: Transfers,
    plain: BTreeMap<usize, TransferCounts>,
    options: OptionsPool,
    outbox: Vec<Packet>,
    commands: Vec<Command>,
}

/// Whether a generator makes the traffic of these flows; a source that sends at its rate to the end needs none.
pub fn is_generated(flow: &FlowSpecification, is_rate_based: bool) -> bool {
    if is_rate_based {
        flow.source.name != "cbr" || flow.size.is_some()
    } else {
        flow.arrivals.is_some() || flow.application.is_some()
    }
}

impl Generator {
    /// The generator of a run that has not begun.
    ///
    /// # Errors
    /// One line that says what in the specification is wrong and what is allowed.
    pub fn new(specification: &Specification) -> Result<Generator, String> {
        let plan = Plan::without_plugins(specification)?;
        let mut generator = Generator {
            specification: specification.clone(),
            numbers: plan.numbers()?,
            ideals: plan.groups.iter().map(|group| group.ideal).collect(),
            known: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            connections: BTreeMap::new(),
            next_connection: 0,
            datagrams: BTreeMap::new(),
            next_datagram: 0,
            users: 0,
            agenda: BTreeSet::new(),
            transfers: Transfers::default(),
            plain: BTreeMap::new(),
            options: OptionsPool::default(),
            outbox: Vec::new(),
            commands: Vec::new(),
        };
        for group in &plan.groups {
            for _ in 0..group.flow.count {
                let row = generator.rows.len();
                let starts = start(specification.seed, row as u64, group.flow);
                generator.known.push((group.index, starts));
                let made = match &group.sending {
                    _ if !is_generated(group.flow, matches!(group.sending, Sending::Rate(_))) => Row::Plain,
                    Sending::Rate(blueprint) => {
                        let address = |first_hop| Address { flow: row as u32, first_hop };
                        let traffic = blueprint.build(SourceSetup {
                            address: address(group.way.first_hop),
                            return_address: group.way.first_hop_back.map(address),
                            profile: group.stack.clone(),
                            size: group.flow.size.map(|size| size.0),
                            seed: specification.seed,
                        });
                        let source = Source { traffic, armed: Time::NEVER, is_stopped: false, delivered_before: 0 };
                        Row::Source(Box::new(source))
                    }
                    Sending::Window(_) => {
                        let arrivals = match group.arrivals.as_deref() {
                            Some(given) => {
                                Arrivals::new(given, starts, &group.ideal.path, specification.seed, group.index as u64)
                                    .map_err(|error| group.misfit(&error))?
                            }
                            None => Arrivals::once(starts),
                        };
                        generator.groups.push(Group {
                            row,
                            arrivals,
                            next: None,
                            is_stopped: false,
                            sessions: group.application.clone().map(Sessions::new),
                            transfers: BTreeMap::new(),
                            connections: BTreeSet::new(),
                            completed: 0,
                            aborted: 0,
                            open_time: 0,
                            until: Time::ZERO,
                        });
                        Row::Group(generator.groups.len() - 1)
                    }
                };
                if !matches!(made, Row::Plain) {
                    generator.agenda.insert((starts, Due::RowStarts(row)));
                    generator.agenda.extend(group.flow.stop.map(|stop| (stop, Due::RowStops(row))));
                }
                generator.rows.push(made);
            }
        }
        Ok(generator)
    }

    /// When the generator has something to do unasked; [`Time::NEVER`] if it only waits for what happens.
    pub fn due(&self) -> Time {
        self.agenda.first().map_or(Time::NEVER, |(time, _)| *time)
    }

    /// Takes what is to be done now, in order.
    pub fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    /// Does what is due up to now.
    pub fn advance(&mut self, now: Time) {
        while let Some(&(time, due)) = self.agenda.first()
            && time <= now
        {
            self.agenda.remove(&(time, due));
            match due {
                Due::RowStarts(row) => self.start_row(row, now),
                Due::RowStops(row) => self.stop_row(row, now),
                Due::Arrival(group, _) => self.arrive(group, now),
                Due::Session(group, session) => self.wake(group, session, time, now),
                Due::Source(row) => self.attend_source(row, now),
            }
        }
    }

    /// Is told what has happened.
    pub fn on(&mut self, happening: Happening, now: Time) {
        self.advance(now);
        match happening {
            Happening::WindowOpens => self.open_window(now),
            Happening::Arrived(datagram, is_marked) => self.deliver(datagram, is_marked, now),
            Happening::Opened(number) => self.tell_of(number, now, Event::Opened),
            Happening::Accepted(number) => self.tell_of(number, now, Event::Accepted),
            Happening::Received(number, at) => {
                self.tell_of(number, now, |connection| Event::Received { connection, at });
            }
            Happening::Room(number, bytes) => {
                self.tell_of(number, now, |connection| Event::Room { connection, bytes: bytes.max(1) });
            }
            Happening::Ended { connection, from, until, retransmissions } => {
                self.end_transfer(connection, Some((from, until, retransmissions)), now);
            }
            Happening::Failed(number) => match self.connections.get(&number) {
                Some(&Carried { group, session: Some((session, _)) }) => self.fail(group, session, now),
                Some(Carried { session: None, .. }) => self.end_transfer(number, None, now),
                None => {}
            },
        }
    }

    fn start_row(&mut self, row: usize, now: Time) {
        match &mut self.rows[row] {
            Row::Plain => {}
            Row::Source(source) => {
                source.traffic.start(now, &mut self.outbox, &mut self.options);
                self.after_source(row);
            }
            Row::Group(group) => {
                let group = *group;
                let of_run = &mut self.groups[group];
                of_run.next = of_run.arrivals.next();
                let users = of_run.arrivals.users();
                self.arm_arrival(group);
                for _ in 0..users {
                    self.let_think(group, now);
                }
            }
        }
    }

    fn stop_row(&mut self, row: usize, now: Time) {
        match &mut self.rows[row] {
            Row::Plain => {}
            Row::Source(source) => {
                source.is_stopped = source.traffic.stop();
                self.after_source(row);
            }
            Row::Group(group) => {
                let of_run = &mut self.groups[*group];
                of_run.note_open(now);
                (of_run.next, of_run.is_stopped) = (None, true);
                of_run.aborted += std::mem::take(&mut of_run.transfers).len() as u64;
                if let Some(sessions) = &mut of_run.sessions {
                    of_run.aborted += sessions.abort(now);
                }
                for connection in std::mem::take(&mut of_run.connections) {
                    self.connections.remove(&connection);
                    self.commands.push(Command::Abort { connection });
                }
            }
        }
    }

    fn arm_arrival(&mut self, group: usize) {
        if let Some(arrival) = self.groups[group].next {
            self.agenda.insert((arrival.time, Due::Arrival(group, 0)));
        }
    }

    /// A user of a group begins to think.
    fn let_think(&mut self, group: usize, now: Time) {
        let of_run = &mut self.groups[group];
        if let Some(think) = of_run.arrivals.think()
            && !of_run.is_stopped
        {
            self.users += 1;
            self.agenda.insert((now + think, Due::Arrival(group, self.users)));
        }
    }

    fn arrive(&mut self, group: usize, now: Time) {
        let of_run = &mut self.groups[group];
        if of_run.is_stopped {
            return;
        }
        if of_run.sessions.is_some() {
            of_run.next = of_run.arrivals.next();
            of_run.note_open(now);
            let (seed, numbers) = (self.specification.seed, &self.numbers);
            let session = of_run.sessions.as_mut().map(|sessions| {
                sessions.begin(|serial| Random::stream(seed, Purpose::Session, numbers.number(group, serial).into()))
            });
            self.arm_arrival(group);
            if let Some(session) = session {
                self.tell(group, session, Event::Begun, now);
            }
            return;
        }
        let of_user = of_run.arrivals.size();
        let Some(bytes) = of_user.or(of_run.next.map(|arrival| arrival.size)) else { return };
        of_run.note_open(now);
        of_run.next = of_run.arrivals.next();
        let connection = self.open(group, None, End::Server);
        self.groups[group].transfers.insert(connection, bytes);
        self.commands.push(Command::Write { connection, from: End::Server, bytes });
        self.commands.push(Command::Close { connection, end: End::Server });
        self.arm_arrival(group);
    }

    fn open(&mut self, group: usize, session: Option<(u32, usize)>, by: End) -> u32 {
        let connection = self.next_connection;
        self.next_connection += 1;
        self.connections.insert(connection, Carried { group, session });
        let of_run = &mut self.groups[group];
        of_run.connections.insert(connection);
        self.commands.push(Command::Open { connection, row: of_run.row, by });
        connection
    }

    fn forget(&mut self, connection: u32) {
        if let Some(carried) = self.connections.remove(&connection) {
            self.groups[carried.group].connections.remove(&connection);
        }
    }

    /// A transfer is over: complete, or given up.
    fn end_transfer(&mut self, connection: u32, complete: Option<(Time, Time, u64)>, now: Time) {
        let Some(&Carried { group, session: None }) = self.connections.get(&connection) else { return };
        self.forget(connection);
        let of_run = &mut self.groups[group];
        of_run.note_open(now);
        let Some(bytes) = of_run.transfers.remove(&connection) else { return };
        if let Some((from, until, retransmissions)) = complete {
            of_run.completed += 1;
            let row = of_run.row;
            self.add_transfer(row, TransferKind::Transfer, from, until, bytes, retransmissions);
        } else {
            of_run.aborted += 1;
            self.commands.push(Command::Abort { connection });
        }
        self.let_think(group, now);
    }

    fn add_transfer(&mut self, row: usize, kind: TransferKind, from: Time, until: Time, bytes: u64, again: u64) {
        let (group, _) = self.known[row];
        self.transfers.add(Transfer {
            kind,
            flow: row as u32,
            start: from,
            completed: until,
            bytes,
            ideal: self.ideals[group].of_kind(kind, bytes),
            retransmissions: again,
            timeouts: 0,
            stands_for: 1,
        });
    }

    fn running(&mut self, group: usize, session: u32) -> Option<&mut Running> {
        self.groups[group].sessions.as_mut()?.open.get_mut(session)
    }

    fn wake(&mut self, group: usize, session: u32, time: Time, now: Time) {
        if let Some(running) = self.running(group, session)
            && running.wakes == time
        {
            running.wakes = Time::NEVER;
            self.tell(group, session, Event::Woken, now);
        }
    }

    /// A session whose connection was aborted is over.
    fn fail(&mut self, group: usize, session: u32, now: Time) {
        self.groups[group].note_open(now);
        let Some(running) = self.end_session(group, session, now) else { return };
        self.groups[group].aborted += 1;
        for (connection, _) in running.connections {
            self.forget(connection);
            self.commands.push(Command::Abort { connection });
        }
        self.let_think(group, now);
    }

    fn end_session(&mut self, group: usize, session: u32, now: Time) -> Option<Running> {
        self.groups[group].sessions.as_mut()?.end(session, now)
    }

    /// Tells the session of a connection what happened to that.
    fn tell_of(&mut self, connection: u32, now: Time, event: impl FnOnce(usize) -> Event) {
        if let Some(&Carried { group, session: Some((session, place)) }) = self.connections.get(&connection) {
            self.tell(group, session, event(place), now);
        }
    }

    /// Tells a session what happens, and does what it says.
    fn tell(&mut self, group: usize, session: u32, event: Event, now: Time) {
        let mut actions = Vec::new();
        if let Some(Running { session, random, .. }) = self.running(group, session) {
            session.on_event(event, &mut Context { now, random, actions: &mut actions });
        }
        for action in actions {
            self.act(group, session, action, now);
        }
    }

    fn act(&mut self, group: usize, session: u32, action: Action, now: Time) {
        let Some(running) = self.running(group, session) else { return };
        match action {
            Action::Open => {
                let place = running.connections.len();
                let connection = self.open(group, Some((session, place)), End::Client);
                if let Some(running) = self.running(group, session) {
                    running.connections.push((connection, connection));
                }
            }
            Action::Write { connection, from, bytes } => {
                let (connection, _) = running.connections[connection];
                self.commands.push(Command::Write { connection, from, bytes });
            }
            Action::AwaitRoom { connection, waiting } => {
                let (connection, _) = running.connections[connection];
                self.commands.push(Command::AwaitRoom { connection, waiting });
            }
            Action::WakeAt(time) => {
                running.wakes = time.max(now);
                self.agenda.insert((time.max(now), Due::Session(group, session)));
            }
            Action::Complete { kind, start, bytes } => {
                if kind == TransferKind::Report {
                    // Their session never ends.
                    self.groups[group].completed += 1;
                }
                let row = self.groups[group].row;
                self.add_transfer(row, kind, start, now, bytes, 0);
            }
            Action::End(end) => {
                self.groups[group].note_open(now);
                let Some(running) = self.end_session(group, session, now) else { return };
                self.groups[group].completed += 1;
                for (connection, _) in running.connections {
                    self.forget(connection);
                    self.commands.push(Command::Close { connection, end });
                }
                self.let_think(group, now);
            }
        }
    }

    fn attend_source(&mut self, row: usize, now: Time) {
        let Row::Source(source) = &mut self.rows[row] else { return };
        source.armed = Time::NEVER;
        if source.traffic.deadline() <= now {
            source.traffic.on_deadline(now);
        }
        if source.traffic.pacing_deadline() <= now {
            source.traffic.on_pacing_timer(now, &mut self.outbox, &mut self.options);
        }
        if source.traffic.answer_deadline() <= now {
            self.outbox.extend(source.traffic.on_answer_deadline(now, &mut self.options));
        }
        self.after_source(row);
    }

    /// Sends what a source has to send, and waits for its timers.
    fn after_source(&mut self, row: usize) {
        for packet in self.outbox.drain(..) {
            let datagram = self.next_datagram;
            self.next_datagram += 1;
            let from = if packet.has(flags::ACK) { End::Client } else { End::Server };
            let ecn = match packet.flags & flags::CONGESTION_EXPERIENCED {
                0 => 0,
                flags::ECT_1 => 1,
                flags::ECT_0 => 2,
                _ => 3,
            };
            self.commands.push(Command::Send { datagram, row, from, size: packet.size, ecn });
            self.datagrams.insert(datagram, packet);
        }
        let Row::Source(source) = &mut self.rows[row] else { return };
        let traffic = &source.traffic;
        let due = traffic.deadline().min(traffic.pacing_deadline()).min(traffic.answer_deadline());
        if due != source.armed {
            self.agenda.remove(&(source.armed, Due::Source(row)));
            source.armed = due;
            if due != Time::NEVER {
                self.agenda.insert((due, Due::Source(row)));
            }
        }
    }

    fn deliver(&mut self, datagram: u32, is_marked: bool, now: Time) {
        let Some(mut packet) = self.datagrams.remove(&datagram) else { return };
        if is_marked {
            packet.flags |= flags::CONGESTION_EXPERIENCED;
        }
        let row = packet.flow as usize;
        let Some(Row::Source(source)) = self.rows.get_mut(row) else { return };
        if packet.has(flags::ACK) {
            source.traffic.on_answer(&packet, now, &mut self.options);
        } else {
            self.outbox.extend(source.traffic.on_data(&packet, now, &mut self.options));
        }
        self.after_source(row);
    }

    fn open_window(&mut self, now: Time) {
        for row in &mut self.rows {
            if let Row::Source(source) = row {
                source.delivered_before = source.traffic.delivered();
                source.traffic.open_window();
            }
        }
        for group in &mut self.groups {
            group.note_open(now);
            (group.open_time, group.completed) = (0, 0);
            if let Some(sessions) = &mut group.sessions {
                sessions.open_window(now);
            }
        }
    }

    /// Is told of a flow of limited size that has a connection of its own: when that sent its SYN, when its last byte was acknowledged,
    /// if it was, and how many segments were retransmitted.
    pub fn note_plain(&mut self, row: usize, from: Time, until: Option<Time>, retransmissions: u64) {
        let Some(&(group, _)) = self.known.get(row) else { return };
        let flow = &self.specification.flows[group];
        let (stop, Some(size)) = (flow.stop.unwrap_or(Time::NEVER), flow.size) else { return };
        if let Some(until) = until {
            self.add_transfer(row, TransferKind::Transfer, from, until, size.0, retransmissions);
        }
        let (opens, end) = (self.specification.warm_up, self.specification.duration);
        let ended = until.unwrap_or(stop.min(end)).max(opens);
        let open = ended.since(from.max(opens).min(ended));
        let counts = TransferCounts {
            completed: u64::from(until.is_some_and(|time| time >= opens)),
            unfinished: u64::from(until.is_none()),
            open_mean: open.0 as f64 / end.since(opens).0.max(1) as f64,
        };
        self.plain.insert(row, counts);
    }

    /// What is known here at the end of the run: transfers, and rows of flows with what does not come from the kernel. How many data packets
    /// of each row were dropped in the measuring window may be known; else those were that did not arrive.
    #[must_use]
    pub fn finish(mut self, dropped: Option<&[u64]>) -> RunResult {
        let (opens, now) = (self.specification.warm_up, self.specification.duration);
        let mut flows = Vec::new();
        for (row, kind) in self.rows.iter().enumerate() {
            let (group, start) = self.known[row];
            let known = dropped.and_then(|dropped| dropped.get(row).copied());
            let missing = |traffic: &Traffic| {
                let arrived = traffic.delays().map_or(0, |delays| delays.packets);
                traffic.statistics().segments_sent.saturating_sub(arrived)
            };
            let mut found = FlowResult {
                group,
                long_lived: false,
                start,
                stopped: None,
                bytes_delivered: 0,
                total_bytes_delivered: 0,
                packets_dropped: known.unwrap_or_default(),
                tcp: None,
                rate_based: None,
                delays: None,
                transfers: self.plain.get(&row).copied(),
                round_trips: None,
                call: None,
                video: None,
            };
            match kind {
                Row::Plain => {}
                Row::Source(source) => {
                    let traffic = &source.traffic;
                    found.stopped = self.specification.flows[group].stop.filter(|_| source.is_stopped);
                    found.total_bytes_delivered = traffic.delivered();
                    found.bytes_delivered = traffic.delivered() - source.delivered_before;
                    found.rate_based = Some(Box::new(*traffic.statistics()));
                    found.delays = traffic.delays().map(Box::new);
                    found.round_trips = traffic.round_trips().map(Box::new);
                    found.call = traffic.call(known.unwrap_or_else(|| missing(traffic))).map(Box::new);
                }
                Row::Group(place) => {
                    let of_run = &mut self.groups[*place];
                    of_run.note_open(now);
                    let unfinished = of_run.aborted + of_run.count_open() as u64;
                    let open_mean = of_run.open_time as f64 / now.since(opens).0.max(1) as f64;
                    found.stopped = self.specification.flows[group].stop.filter(|_| of_run.is_stopped);
                    found.transfers = Some(TransferCounts { completed: of_run.completed, unfinished, open_mean });
                    found.video = of_run.sessions.as_mut().and_then(|sessions| sessions.seen(now)).map(Box::new);
                    found.tcp = Some(TcpResult {
                        state: State::Established,
                        established: None,
                        completed: None,
                        statistics: SenderStatistics::default(),
                    });
                }
            }
            flows.push(found);
        }
        RunResult {
            flows,
            queues: Vec::new(),
            series: Series::default(),
            transfers: self.transfers.into_rows(),
            events: 0,
            data_packets_delivered: 0,
        }
    }
}
