//! Sessions of applications: what they are told of their connections, and what they do with them.
//!
//! A connection of a session is two flows, one for each direction, which share a handshake: the SYN opens the direction from the client,
//! its answer is acknowledged by the client, and that opens the direction from the server. An end that writes sends its pending delayed
//! acknowledgement of the other direction at once, in a packet of its own.

use super::Simulation;
use super::flow::{Endpoints, Flow, Owner};
use super::flows::Flows;
use super::open_sessions::Running;
use crate::agenda::{Clock, Timer};
use crate::application::{Action, Application, Context, End, Event, TransferKind};
use crate::numbers::FIRST_ARRIVED;
use crate::probe::Transfer;
use crate::tcp::connection::Connection;
use crate::tcp::sender::State;
use crate::time::Time;

impl Flows {
    /// Whether a flow is a direction of a connection of a session.
    pub fn has_session(&self, number: u32) -> bool {
        number >= FIRST_ARRIVED && self.groups[self.numbers.group(number).0].sessions.is_some()
    }

    fn running(&mut self, group: usize, session: u32) -> Option<&mut Running> {
        self.groups[group].sessions.as_mut()?.open.get_mut(session)
    }

    fn connection(&mut self, number: u32) -> Option<&mut Connection> {
        match &mut self.get_mut(number)?.endpoints {
            Endpoints::Tcp(connection) => Some(connection),
            Endpoints::Traffic(_) => None,
        }
    }
}

impl Simulation {
    /// A session arrives.
    pub(super) fn on_session_arrival(&mut self, group: usize) {
        let Flows { groups, numbers, .. } = &mut self.flows;
        let of_run = &mut groups[group];
        if of_run.is_stopped {
            return;
        }
        of_run.next = of_run.arrivals.next();
        let session = of_run.begin_session(|serial| numbers.number(group, serial), self.now);
        self.arm_arrival(group);
        if let Some(session) = session {
            self.tell(group, session, Event::Begun);
        }
    }

    pub(super) fn on_session_timer(&mut self, number: u32) {
        let (group, session) = self.flows.numbers.group(number);
        let Some(running) = self.flows.running(group, session) else { return };
        if running.wakes == self.now {
            running.wakes = Time::NEVER;
            self.tell(group, session, Event::Woken);
        }
    }

    /// Something happened at the sender of a direction.
    pub(super) fn attend_sender(&mut self, number: u32) {
        let Some(flow) = self.flows.take_ended(number, self.now) else { return self.attend(number) };
        let (_, Flow { owner: Some(owner), endpoints: Endpoints::Tcp(connection), .. }) = &*flow else { return };
        // It has ended; so has the session, unless the connection was aborted.
        let (group, _) = self.flows.numbers.group(number);
        self.flows.groups[group].totals.add(&flow.1, self.now);
        self.fail(group, owner.session);
        if connection.sender.state() != State::Completed {
            self.stop_direction(owner.other); // No FIN will reach it.
        }
    }

    /// A session whose connection was aborted is over.
    fn fail(&mut self, group: usize, session: u32) {
        let Some(running) = self.flows.groups[group].end_session(session, self.now) else { return };
        self.flows.groups[group].totals.aborted += 1;
        for number in running.connections.into_iter().flat_map(|(up, down)| [up, down]) {
            self.stop_direction(number);
        }
        self.let_think(group);
    }

    fn stop_direction(&mut self, number: u32) {
        if let Some(connection) = self.flows.connection(number) {
            connection.sender.stop(self.now);
            self.after_sender(number);
        }
    }

    /// Something happened to a direction of a connection: its session is told.
    pub(super) fn attend(&mut self, number: u32) {
        let (group, _) = self.flows.numbers.group(number);
        let Some(Flow { owner: Some(owner), endpoints: Endpoints::Tcp(connection), .. }) = self.flows.get_mut(number)
        else {
            return;
        };
        let opens = !owner.is_open && connection.sender.state() == State::Established;
        owner.is_open |= opens;
        let room = if owner.awaited_room > 0 { take_room(owner, connection) } else { None };
        let owner = **owner;
        let (has_syn, arrived, has_fin) = (connection.take_syn(), connection.take_arrived(), connection.take_fin());
        let lacks_ecn = connection.lacks_ecn();
        if let Some(room) = room {
            self.tell(group, owner.session, room);
        }
        if !(opens || has_syn || arrived > 0 || has_fin) {
            return;
        }
        let connection = owner.connection as usize;
        if owner.sends == End::Client {
            if has_syn {
                self.open_passively(owner.other, lacks_ecn);
            }
            if opens {
                self.complete_handshake(owner.other);
            }
            if arrived > 0 || has_fin {
                self.accept(owner.other);
            }
        }
        if opens {
            let event =
                if owner.sends == End::Client { Event::Opened(connection) } else { Event::Accepted(connection) };
            self.tell(group, owner.session, event);
        }
        for _ in 0..arrived {
            self.tell(group, owner.session, Event::Received { connection, at: owner.sends.other() });
        }
        if has_fin {
            self.close_direction(owner.other);
        }
    }

    /// The SYN has arrived at the server, which answers.
    fn open_passively(&mut self, down: u32, lacks_ecn: bool) {
        let Some(flow) = self.flows.get_mut(down) else { return };
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if connection.sender.state() == State::Closed {
            flow.start = self.now;
            if lacks_ecn {
                connection.go_without_ecn();
            }
            connection.sender.open_passively(self.now);
            self.after_sender(down);
        }
    }

    /// The answer to the SYN has arrived at the client, which acknowledges it.
    fn complete_handshake(&mut self, down: u32) {
        let Some(flow) = self.flows.get_mut(down) else { return };
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        let packet = connection.complete_handshake(flow.start, self.now);
        self.created += 1;
        self.network.enter(packet, self.now);
    }

    /// Data of the client have arrived at the server, which acknowledge its answer to the SYN if nothing has before.
    fn accept(&mut self, down: u32) {
        let Some(flow) = self.flows.get_mut(down) else { return };
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        if connection.sender.state() == State::SynSent {
            connection.sender.on_syn_ack(flow.start, self.now, &mut self.outbox);
            self.after_sender(down);
        }
    }

    /// Tells a session what happens, and does what it says; if that is at once followed by something else, tells it that.
    fn tell(&mut self, group: usize, session: u32, event: Event) {
        let mut actions = std::mem::take(&mut self.actions);
        let mut next = Some(event);
        while let Some(event) = next.take() {
            if let Some(Running { session, random, .. }) = self.flows.running(group, session) {
                session.on_event(event, &mut Context { now: self.now, random, actions: &mut actions });
            }
            for action in actions.drain(..) {
                if let Action::AwaitRoom { connection, waiting } = action {
                    next = self.await_room(group, session, connection, waiting);
                } else {
                    self.act(group, session, action);
                }
            }
        }
        self.actions = actions;
    }

    /// The session wants to know when fewer bytes than these wait for the window: now, or later.
    fn await_room(&mut self, group: usize, session: u32, connection: usize, waiting: u64) -> Option<Event> {
        let (_, down) = *self.flows.running(group, session)?.connections.get(connection)?;
        let flow = self.flows.get_mut(down)?;
        let (owner, Endpoints::Tcp(connection)) = (flow.owner.as_mut()?, &flow.endpoints) else { return None };
        owner.awaited_room = waiting;
        take_room(owner, connection)
    }

    fn act(&mut self, group: usize, session: u32, action: Action) {
        let Some(running) = self.flows.running(group, session) else { return };
        match action {
            Action::AwaitRoom { .. } => unreachable!("is answered by an event"),
            Action::Open => {
                let Flows { groups, numbers, .. } = &mut self.flows;
                let up = groups[group].open_connection(session, |serial| numbers.number(group, serial), self.now);
                if let Some(up) = up {
                    self.start_flow(up);
                }
            }
            Action::Write { connection, from, bytes } => {
                let (up, down) = running.connections[connection];
                let (own, other) = if from == End::Client { (up, down) } else { (down, up) };
                self.acknowledge_pending(other);
                if let Some(connection) = self.flows.connection(own) {
                    connection.write(bytes, self.now, &mut self.outbox);
                    self.after_sender(own);
                }
            }
            Action::WakeAt(time) => {
                running.wakes = time.max(self.now);
                let timer = Timer::Session(self.flows.numbers.number(group, session));
                self.network.agenda.set_timer(Clock::HOSTS, timer, time.max(self.now));
            }
            Action::Complete { kind, start, bytes } => {
                let Flows { groups, numbers, .. } = &mut self.flows;
                let ideal = self.ideals[groups[group].template.group].of_kind(kind, bytes);
                if kind == TransferKind::Report {
                    // Their session never ends.
                    groups[group].totals.completed += 1;
                }
                self.transfers.add(Transfer {
                    kind,
                    flow: numbers.row(numbers.number(group, session)) as u32,
                    start,
                    completed: self.now,
                    bytes,
                    ideal,
                    retransmissions: 0,
                    timeouts: 0,
                    stands_for: 1,
                });
            }
            Action::End(end) => self.close(group, session, end),
        }
    }

    /// The delayed acknowledgement that is pending in a direction leaves.
    fn acknowledge_pending(&mut self, number: u32) {
        let Some(Flow { endpoints: Endpoints::Tcp(connection), .. }) = self.flows.get_mut(number) else { return };
        let packet = connection.acknowledge_pending(self.now, &mut self.network.options);
        if let Some(packet) = packet {
            self.created += 1;
            self.network.enter(packet, self.now);
        }
    }

    /// A session is over at an end, which closes its connections. The other end closes each when the FIN has arrived there; of one that is
    /// not open it never knew, or is never to hear again.
    fn close(&mut self, group: usize, session: u32, end: End) {
        let Some(running) = self.flows.groups[group].end_session(session, self.now) else { return };
        self.flows.groups[group].totals.completed += 1;
        for (up, down) in running.connections {
            self.close_direction(if end == End::Client { up } else { down });
        }
        self.let_think(group);
    }

    fn close_direction(&mut self, number: u32) {
        if let Some(connection) = self.flows.connection(number) {
            connection.sender.close(self.now, &mut self.outbox);
        }
        self.after_sender(number);
    }
}

/// The room that a session has waited for, if it is there: fewer bytes than it said wait for the window.
fn take_room(owner: &mut Owner, connection: &Connection) -> Option<Event> {
    let (waiting, free) = connection.sender.waiting();
    if waiting >= owner.awaited_room {
        return None;
    }
    let bytes = std::mem::take(&mut owner.awaited_room) - waiting + free;
    Some(Event::Room { connection: owner.connection as usize, bytes })
}
