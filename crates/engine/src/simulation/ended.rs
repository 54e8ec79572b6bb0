//! Connections that arrived and have ended, as far as the run has not come to their end: a sender's host that runs ahead ends them, and
//! what reaches their receivers before that is answered.

use std::collections::{BTreeMap, VecDeque};

use super::flow::Flow;
use super::places::Place;
use crate::time::Time;

/// See the module.
#[derive(Debug, Default)]
pub struct Ended {
    /// By their numbers, each with its end.
    flows: BTreeMap<u32, (Time, Place<Flow>)>,
    /// When they end, in order, and their numbers.
    order: VecDeque<(Time, u32)>,
}

impl Ended {
    pub fn add(&mut self, number: u32, end: Time, flow: Place<Flow>) {
        // Hosts that run ahead do so about equally far.
        let place = self.order.iter().rposition(|other| *other < (end, number)).map_or(0, |before| before + 1);
        self.order.insert(place, (end, number));
        self.flows.insert(number, (end, flow));
    }

    /// One that ends after this moment.
    pub fn get_mut(&mut self, number: u32, now: Time) -> Option<&mut Flow> {
        let (end, flow) = self.flows.get_mut(&number)?;
        (now < *end).then_some(&mut flow.1)
    }

    /// When the first ends.
    #[inline(always)]
    pub fn first(&self) -> Time {
        self.order.front().map_or(Time::NEVER, |(end, _)| *end)
    }

    /// The first, with its number and its end.
    pub fn take_first(&mut self) -> Option<(u32, Time, Place<Flow>)> {
        let (end, number) = self.order.pop_front()?;
        let (_, flow) = self.flows.remove(&number)?;
        Some((number, end, flow))
    }

    /// All, each with its number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Flow)> {
        self.flows.iter().map(|(number, (_, flow))| (*number, &flow.1))
    }
}
