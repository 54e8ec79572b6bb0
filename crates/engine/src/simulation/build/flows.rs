//! The flows of the specification, and the groups whose connections arrive.

use std::sync::Arc;

use crate::agenda::Clock;
use crate::numbers::Numbers;
use crate::simulation::flow::{Endpoints, Flow, Overhead};
use crate::simulation::flows::{Flows, Row};
use crate::simulation::group::{Group, Template};
use crate::simulation::open_sessions::Sessions;
use crate::simulation::plan::{Plan, Planned, Sending, start};
use crate::tcp::congestion::{Algorithm, CongestionControl};
use crate::tcp::sender::Address;
use crate::time::{Duration, Time};
use crate::traffic::{self, SourceSetup};
use crate::workload::Arrivals;

/// The rows of a run, with the clock of each node.
///
/// # Errors
/// One line if there is not enough memory, or if arrivals are wrong.
pub fn build(plan: &Plan, numbers: Numbers, clocks: &[Clock]) -> Result<Flows, String> {
    let mut flows = Flows { numbers, ..Flows::default() };
    // Rows do not move. Where there is not enough memory, the first group that does not fit says so.
    let _ = flows.rows.try_reserve_exact(plan.groups.iter().map(|group| group.flow.count as usize).sum());
    for group in &plan.groups {
        let reserved = flows.rows.try_reserve_exact(group.flow.count as usize);
        reserved.map_err(|_| group.misfit(&format!("no memory for {} flows", group.flow.count)))?;
        let clocks = (clocks[group.flow.from], clocks[group.flow.to]);
        let mut builder = Builder { plan, group, clocks, flows: &mut flows };
        match &group.sending {
            Sending::Rate(blueprint) => builder.add_traffic(blueprint),
            Sending::Window(algorithm) => {
                builder.add_connections(algorithm).map_err(|error| group.misfit(&error))?;
            }
        }
    }
    Ok(flows)
}

/// Adds the rows of a group.
struct Builder<'a> {
    plan: &'a Plan<'a>,
    group: &'a Planned<'a>,
    /// Of the sender's host and of the receiver's.
    clocks: (Clock, Clock),
    flows: &'a mut Flows,
}

impl Builder<'_> {
    /// Flows with a rate-based source.
    fn add_traffic(&mut self, blueprint: &traffic::Blueprint) {
        let Planned { flow, stack, way, .. } = self.group;
        for _ in 0..flow.count {
            let number = self.flows.rows.len() as u32;
            let address = |first_hop| Address { flow: number, first_hop };
            let setting = SourceSetup {
                address: address(way.first_hop),
                return_address: way.first_hop_back.map(address),
                profile: Arc::clone(stack),
                size: flow.size.map(|size| size.0),
                seed: self.plan.specification.seed,
            };
            self.add_flow(Endpoints::Traffic(blueprint.build(setting)));
        }
    }

    /// Flows with a window, or groups of such whose connections arrive or are those of sessions.
    fn add_connections(&mut self, algorithm: &Algorithm) -> Result<(), String> {
        let Planned { index, flow, stack, way, ideal, arrivals, application, .. } = self.group;
        let seed = self.plan.specification.seed;
        let template = Template {
            profile: Arc::clone(stack),
            receiver_profile: Arc::new(stack.receiver_for(&algorithm.needs())),
            algorithm: algorithm.clone(),
            slow_start: flow.source.slow_start.clone(),
            clocks: self.clocks,
            there: way.first_hop,
            back: way.first_hop_back.expect("a connection is answered"),
            seed,
            overhead: self.overhead(),
            group: *index,
        };
        for _ in 0..flow.count {
            let number = self.flows.rows.len() as u32;
            if arrivals.is_none() && application.is_none() {
                self.add_flow(Endpoints::Tcp(template.connection(number, flow.size.map(|size| size.0))));
                continue;
            }
            let start = start(seed, number.into(), flow);
            let arrivals = match arrivals.as_deref() {
                Some(given) => Arrivals::new(given, start, &ideal.path, seed, *index as u64)?,
                None => Arrivals::once(start),
            };
            let sessions = application.clone().map(Sessions::new);
            let stop = flow.stop.unwrap_or(Time::NEVER);
            self.flows.rows.push(Row::Group(self.flows.groups.len()));
            self.flows.groups.push(Group::new(template.clone(), start, stop, arrivals, sessions));
        }
        Ok(())
    }

    fn add_flow(&mut self, endpoints: Endpoints) {
        let Planned { index, flow, .. } = self.group;
        let number = self.flows.rows.len() as u32;
        let seed = self.plan.specification.seed;
        let overhead = Overhead::new(self.overhead(), seed, number);
        let start = start(seed, number.into(), flow);
        let stop = flow.stop.unwrap_or(Time::NEVER);
        self.flows.rows.push(Row::Flow(Flow { stop, ..Flow::new(endpoints, *index, self.clocks, start, overhead) }));
    }

    /// The upper bound of the random time that a sender takes over a packet.
    fn overhead(&self) -> Duration {
        if self.group.stack.random_overhead { self.plan.specification.sender_overhead } else { Duration::ZERO }
    }
}
