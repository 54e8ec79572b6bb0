//! The load of a page: a first object, which names the others, then those. With HTTP/1.1 (RFC 9112 section 9.3) each of several
//! connections carries one request after another, each request after the response to the one before. With HTTP/2 (RFC 9113) all requests leave
//! at once on one connection, and the responses follow one another in the order of the requests.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Action, Application, Context, End, Event, Extent, Kind};
use crate::specification::PageSpecification;
use crate::time::Time;
use crate::workload::Sizes;

/// The most objects of a page, and the most connections to load it.
const MOST_OBJECTS: u64 = 10_000;
const MOST_CONNECTIONS: u64 = 256;

/// What all sessions share.
#[derive(Debug)]
pub struct PagePlan {
    /// Distributions: of requests, of the first object, of the number and of the sizes of the others.
    request: Sizes,
    first: Sizes,
    objects: Option<Sizes>,
    size: Sizes,
    connections: u64,
    multiplexed: bool,
}

impl PagePlan {
    /// Checks a specification.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn new(given: &PageSpecification) -> Result<PagePlan, String> {
        let sizes = |name: &str, of| Sizes::new(of).map_err(|error| format!("page: {name}: {error}"));
        if given.connections == 0 || given.connections > MOST_CONNECTIONS {
            return Err(format!("page: connections must be 1 to {MOST_CONNECTIONS}"));
        }
        let objects = given.objects.as_ref().map(|objects| sizes("objects", objects)).transpose()?;
        if objects.as_ref().is_some_and(|objects| objects.mean() > MOST_OBJECTS as f64) {
            return Err(format!("page: objects must be at most {MOST_OBJECTS}"));
        }
        Ok(PagePlan {
            request: sizes("request", &given.request)?,
            first: sizes("first", &given.first)?,
            objects,
            size: sizes("size", &given.size)?,
            connections: given.connections,
            multiplexed: given.multiplexed,
        })
    }

    /// What is known of all sessions.
    pub fn extent(&self) -> Extent {
        let objects = self.objects.as_ref().map_or(0.0, Sizes::mean);
        let bytes = self.first.mean() + objects * self.size.mean();
        let connections = if self.multiplexed { 1 } else { self.connections };
        Extent { connections, bytes, rows: Some(2.0 + objects), pace: None }
    }
}

/// The application of a session that loads one page.
#[derive(Debug)]
pub struct Page {
    plan: Arc<PagePlan>,
    start: Time,
    bytes: u64,
    /// Sizes of objects that are yet to be requested.
    wanted: VecDeque<u64>,
    /// Objects that have not arrived.
    missing: u64,
    /// Of each connection, the requests whose responses have not arrived.
    open: Vec<Pending>,
}

/// Requests whose responses have not arrived: when they were sent, and the sizes of the responses.
#[derive(Debug, Default)]
struct Pending {
    awaited: VecDeque<(Time, u64)>,
    /// How many of them the server has answered.
    answered: usize,
}

impl Page {
    /// The application of a session.
    pub fn new(plan: Arc<PagePlan>, _serial: u64) -> Page {
        let (wanted, open) = (VecDeque::new(), Vec::new());
        Page { plan, start: Time::ZERO, bytes: 0, wanted, missing: 1, open }
    }

    fn request(&mut self, connection: usize, size: u64, context: &mut Context) {
        self.open[connection].awaited.push_back((context.now, size));
        let bytes = self.plan.request.draw(context.random);
        context.write(connection, End::Client, bytes);
    }

    fn request_next(&mut self, connection: usize, context: &mut Context) {
        if let Some(size) = self.wanted.pop_front() {
            self.request(connection, size, context);
        }
    }

    fn open(&mut self, context: &mut Context) {
        self.open.push(Pending::default());
        context.act(Action::Open);
    }

    /// The first object has arrived, and names the others.
    fn want_others(&mut self, context: &mut Context) {
        let count = self.plan.objects.as_ref().map_or(0, |objects| objects.draw(context.random)).min(MOST_OBJECTS);
        self.wanted = (0..count).map(|_| self.plan.size.draw(context.random)).collect();
        self.missing += count;
        if self.plan.multiplexed {
            while !self.wanted.is_empty() {
                self.request_next(0, context);
            }
        } else {
            self.request_next(0, context);
            for _ in 1..self.plan.connections.min(count) {
                self.open(context);
            }
        }
    }

    fn on_response(&mut self, connection: usize, context: &mut Context) {
        let pending = &mut self.open[connection];
        let Some((sent, size)) = pending.awaited.pop_front() else { return };
        pending.answered -= 1;
        let is_first = self.bytes == 0;
        self.bytes += size;
        context.act(Action::Complete { kind: Kind::Request, start: sent, bytes: size });
        if is_first {
            self.want_others(context);
        } else if !self.plan.multiplexed {
            self.request_next(connection, context);
        }
        self.missing -= 1;
        if self.missing == 0 {
            context.act(Action::Complete { kind: Kind::Page, start: self.start, bytes: self.bytes });
            context.act(Action::End);
        }
    }
}

impl Application for Page {
    fn on_event(&mut self, event: Event, context: &mut Context) {
        match event {
            Event::Begun => {
                self.start = context.now;
                self.open(context);
            }
            Event::Opened(0) => {
                let size = self.plan.first.draw(context.random);
                self.request(0, size, context);
            }
            Event::Opened(connection) => self.request_next(connection, context),
            Event::Received { connection, at: End::Server } => {
                let pending = &mut self.open[connection];
                if let Some((_, size)) = pending.awaited.get(pending.answered) {
                    pending.answered += 1;
                    context.write(connection, End::Server, *size);
                }
            }
            Event::Received { connection, at: End::Client } => self.on_response(connection, context),
            Event::Accepted(_) | Event::Woken => {}
        }
    }
}
