//! The load of a page: a first object, which names the others, then those. With HTTP/1.1 (RFC 9112 section 9.3) each of several
//! connections carries one request after another, each request after the response to the one before. With HTTP/2 (RFC 9113) all requests leave
//! at once on one connection, and the responses follow one another in the order of the requests, or take turns frame by frame.

use std::collections::VecDeque;
use std::sync::Arc;

use super::frames::Frames;
use super::{Action, Application, Context, End, Event, Extent, TransferKind};
use crate::specification::PageSpecification;
use crate::time::Time;
use crate::workload::Sizes;

/// The most objects of a page, and the most connections to load it.
const MOST_OBJECTS: u64 = 10_000;
const MOST_CONNECTIONS: u64 = 256;

/// The greatest frame: RFC 9113 section 6.5.2, SETTINGS_MAX_FRAME_SIZE.
const MOST_FRAME: u64 = (1 << 24) - 1;

#[derive(Debug)]
pub struct PagePlan {
    /// Distributions: of requests, of the first object, of the number and of the sizes of the others.
    request: Sizes,
    first: Sizes,
    objects: Option<Sizes>,
    size: Sizes,
    connections: u64,
    multiplexed: bool,
    frame: Option<u64>,
}

impl PagePlan {
    pub fn new(given: &PageSpecification) -> Result<PagePlan, String> {
        let sizes = |name: &str, of| Sizes::new(of).map_err(|error| format!("page: {name}: {error}"));
        if given.connections == 0 || given.connections > MOST_CONNECTIONS {
            return Err(format!("page: connections must be 1 to {MOST_CONNECTIONS}"));
        }
        if given.frame.is_some_and(|frame| !given.multiplexed || frame.0 == 0 || frame.0 > MOST_FRAME) {
            return Err(format!("page: frame must be 1 to {MOST_FRAME} bytes, of a multiplexed page"));
        }
        let objects = given.objects.as_ref().map(|objects| sizes("objects", objects)).transpose()?;
        if objects.as_ref().is_some_and(|objects| objects.mean_count() > MOST_OBJECTS as f64) {
            return Err(format!("page: objects must be at most {MOST_OBJECTS}"));
        }
        Ok(PagePlan {
            request: sizes("request", &given.request)?,
            first: sizes("first", &given.first)?,
            objects,
            size: sizes("size", &given.size)?,
            connections: given.connections,
            multiplexed: given.multiplexed,
            frame: given.frame.map(|frame| frame.0),
        })
    }

    pub fn extent(&self) -> Extent {
        let objects = self.objects.as_ref().map_or(0.0, Sizes::mean_count);
        let bytes = self.first.mean() + objects * self.size.mean();
        let connections = if self.multiplexed { 1 } else { self.connections };
        let requested = (1.0 + objects) * self.request.mean();
        Extent { connections, bytes, requested, rows: Some(2.0 + objects), pace: None }
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
    open: Vec<Carried>,
    /// Responses that take turns, if they do.
    frames: Option<Frames>,
}

#[derive(Debug, Default)]
struct Carried {
    /// Its requests: when they were sent, and the sizes of the responses.
    requests: Vec<(Time, u64)>,
    /// How many of them have arrived at the server.
    asked: usize,
    /// Of what the server has written and has not arrived, the request to which it is the end of the response, if it is.
    under_way: VecDeque<Option<usize>>,
}

impl Page {
    pub fn new(plan: Arc<PagePlan>, _serial: u64) -> Page {
        let (wanted, open) = (VecDeque::new(), Vec::new());
        let frames = plan.frame.map(Frames::new);
        Page { plan, start: Time::ZERO, bytes: 0, wanted, missing: 1, open, frames }
    }

    fn request(&mut self, connection: usize, size: u64, context: &mut Context) {
        self.open[connection].requests.push((context.now, size));
        let bytes = self.plan.request.draw(context.random);
        context.write(connection, End::Client, bytes);
    }

    fn request_next(&mut self, connection: usize, context: &mut Context) {
        if let Some(size) = self.wanted.pop_front() {
            self.request(connection, size, context);
        }
    }

    fn open(&mut self, context: &mut Context) {
        self.open.push(Carried::default());
        context.act(Action::Open);
    }

    /// The first object has arrived, and names the others.
    fn want_others(&mut self, context: &mut Context) {
        let count = self.plan.objects.as_ref().map_or(0, |objects| objects.count(context.random)).min(MOST_OBJECTS);
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

    fn answer(&mut self, connection: usize, context: &mut Context) {
        let carried = &mut self.open[connection];
        let request = carried.asked;
        let Some((_, size)) = carried.requests.get(request) else { return };
        carried.asked += 1;
        if let Some(frames) = &mut self.frames {
            frames.open(request, *size);
            await_room(connection, frames, &self.plan, context);
        } else {
            carried.under_way.push_back(Some(request));
            context.write(connection, End::Server, *size);
        }
    }

    /// Responses that take turns go on.
    fn go_on(&mut self, connection: usize, mut room: u64, context: &mut Context) {
        let Some(frames) = &mut self.frames else { return };
        while let Some(portion) = frames.take(room) {
            room = room.saturating_sub(portion.bytes);
            self.open[connection].under_way.push_back(portion.ends);
            context.write(connection, End::Server, portion.bytes);
        }
        await_room(connection, frames, &self.plan, context);
    }

    fn on_arrival(&mut self, connection: usize, context: &mut Context) {
        let carried = &mut self.open[connection];
        let Some(Some(request)) = carried.under_way.pop_front() else { return };
        let (sent, size) = carried.requests[request];
        let is_first = self.bytes == 0;
        self.bytes += size;
        context.act(Action::Complete { kind: TransferKind::Request, start: sent, bytes: size });
        if is_first {
            self.want_others(context);
        } else if !self.plan.multiplexed {
            self.request_next(connection, context);
        }
        self.missing -= 1;
        if self.missing == 0 {
            context.act(Action::Complete { kind: TransferKind::Page, start: self.start, bytes: self.bytes });
            context.act(Action::End(End::Client));
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
            Event::Received { connection, at: End::Server } => self.answer(connection, context),
            Event::Received { connection, at: End::Client } => self.on_arrival(connection, context),
            Event::Room { connection, bytes } => self.go_on(connection, bytes, context),
            Event::Accepted(_) | Event::Woken => {}
        }
    }
}

/// The server goes on when less than a frame waits for the window.
fn await_room(connection: usize, frames: &Frames, plan: &PagePlan, context: &mut Context) {
    if let Some(waiting) = plan.frame.filter(|_| !frames.is_empty()) {
        context.act(Action::AwaitRoom { connection, waiting });
    }
}
