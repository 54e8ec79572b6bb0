//! Messages at equal times: reports, or a source of a limited rate. The server writes the first when the connection is open, and then one
//! after another whether the earlier ones have arrived or not.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Action, Application, Context, End, Event, Extent, TransferKind};
use crate::specification::PeriodicSpecification;
use crate::time::{Duration, Time};
use crate::workload::Sizes;

#[derive(Debug)]
pub struct PeriodicPlan {
    size: Sizes,
    every: Duration,
}

impl PeriodicPlan {
    pub fn new(given: &PeriodicSpecification) -> Result<PeriodicPlan, String> {
        if given.every == Duration::ZERO {
            return Err("periodic: every must be above 0".to_owned());
        }
        let size = Sizes::new(&given.size).map_err(|error| format!("periodic: size: {error}"))?;
        Ok(PeriodicPlan { size, every: given.every })
    }

    pub fn extent(&self) -> Extent {
        Extent { connections: 1, bytes: self.size.mean(), requested: 0.0, rows: None, pace: Some(self.every) }
    }
}

#[derive(Debug)]
pub struct Periodic {
    plan: Arc<PeriodicPlan>,
    /// Of each message that has not arrived, when it was written and its size.
    under_way: VecDeque<(Time, u64)>,
}

impl Periodic {
    pub fn new(plan: Arc<PeriodicPlan>, _serial: u64) -> Periodic {
        Periodic { plan, under_way: VecDeque::new() }
    }

    fn write(&mut self, context: &mut Context) {
        let bytes = self.plan.size.draw(context.random);
        self.under_way.push_back((context.now, bytes));
        context.write(0, End::Server, bytes);
        context.act(Action::WakeAt(context.now + self.plan.every));
    }
}

impl Application for Periodic {
    fn on_event(&mut self, event: Event, context: &mut Context) {
        match event {
            Event::Begun => context.act(Action::Open),
            Event::Accepted(_) | Event::Woken => self.write(context),
            Event::Received { at: End::Client, .. } => {
                if let Some((start, bytes)) = self.under_way.pop_front() {
                    context.act(Action::Complete { kind: TransferKind::Report, start, bytes });
                }
            }
            Event::Opened(_) | Event::Received { .. } | Event::Room { .. } => {}
        }
    }
}
