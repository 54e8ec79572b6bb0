//! Requests and responses on one persistent connection: the client thinks, sends a request, and thinks again when the response has
//! arrived.

use std::sync::Arc;

use super::{Action, Application, Context, End, Event, Extent, TransferKind};
use crate::specification::ExchangesSpecification;
use crate::time::{Duration, Time};
use crate::workload::Sizes;

#[derive(Debug)]
pub struct ExchangesPlan {
    request: Sizes,
    response: Sizes,
    count: Option<u64>,
    think: Duration,
}

impl ExchangesPlan {
    pub fn new(given: &ExchangesSpecification) -> Result<ExchangesPlan, String> {
        if given.count == Some(0) {
            return Err("exchange: count must be at least 1".to_owned());
        }
        Ok(ExchangesPlan {
            request: Sizes::new(&given.request).map_err(|error| format!("exchange: request: {error}"))?,
            response: Sizes::new(&given.response).map_err(|error| format!("exchange: response: {error}"))?,
            count: given.count,
            think: given.think,
        })
    }

    pub fn extent(&self) -> Extent {
        let messages = self.count.unwrap_or(1) as f64;
        let rows = self.count.map(|count| count as f64);
        let (bytes, requested) = (messages * self.response.mean(), messages * self.request.mean());
        Extent { connections: 1, bytes, requested, rows, pace: None }
    }
}

#[derive(Debug)]
pub struct Exchanges {
    plan: Arc<ExchangesPlan>,
    done: u64,
    /// When the latest request was sent, and the size of its response.
    sent: Time,
    size: u64,
}

impl Exchanges {
    pub fn new(plan: Arc<ExchangesPlan>, _serial: u64) -> Exchanges {
        Exchanges { plan, done: 0, sent: Time::ZERO, size: 0 }
    }

    fn request(&mut self, context: &mut Context) {
        self.sent = context.now;
        let bytes = self.plan.request.draw(context.random);
        self.size = self.plan.response.draw(context.random);
        context.write(0, End::Client, bytes);
    }
}

impl Application for Exchanges {
    fn on_event(&mut self, event: Event, context: &mut Context) {
        match event {
            Event::Begun => context.act(Action::Open),
            Event::Opened(_) | Event::Woken => self.request(context),
            Event::Received { connection, at: End::Server } => context.write(connection, End::Server, self.size),
            Event::Received { at: End::Client, .. } => {
                context.act(Action::Complete { kind: TransferKind::Request, start: self.sent, bytes: self.size });
                self.done += 1;
                if self.plan.count == Some(self.done) {
                    context.act(Action::End(End::Client));
                } else {
                    let think = context.random.exponential(self.plan.think);
                    context.act(Action::WakeAt(context.now + think));
                }
            }
            Event::Accepted(_) | Event::Room { .. } => {}
        }
    }
}
