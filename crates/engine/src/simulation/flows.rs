//! The rows of a run, and how a flow is found by its number.

use super::ended::Ended;
use super::flow::Flow;
use super::group::Group;
use super::places::Place;
use crate::numbers::{FIRST_ARRIVED, Numbers};
use crate::time::Time;

/// A row of a run and of its results. Most are flows, which stand in place: no pointer leads to them.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Row {
    Flow(Flow),
    /// The group with this index.
    Group(usize),
}

/// The flows of a run: those of the specification, and those that have arrived and are open.
#[derive(Debug, Default)]
pub struct Flows {
    /// In the order of the specification.
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    pub ended: Ended,
    pub numbers: Numbers,
}

impl Flows {
    /// A flow by its number; none if it has ended.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Flow> {
        let Flows { rows, groups, numbers, .. } = self;
        match rows.get_mut(number as usize) {
            Some(Row::Flow(flow)) => Some(flow),
            Some(Row::Group(_)) => unreachable!("row {number} is no flow"),
            None => arrived(groups, numbers, number),
        }
    }

    /// The flows of the specification, each with its row.
    pub fn fixed(&self) -> impl Iterator<Item = (usize, &Flow)> {
        self.rows.iter().enumerate().filter_map(|(row, each)| match each {
            Row::Flow(flow) => Some((row, flow)),
            Row::Group(_) => None,
        })
    }

    /// Those that are sampled, each with its row: the flows of the specification, and the connection of an application that has one.
    pub fn sampled(&self) -> impl Iterator<Item = (usize, &Flow)> {
        self.rows.iter().enumerate().filter_map(|(row, each)| match each {
            Row::Flow(flow) => Some((row, flow)),
            Row::Group(group) => Some((row, self.groups[*group].only_connection()?)),
        })
    }

    /// The flows of the specification, to be changed.
    pub fn fixed_mut(&mut self) -> impl Iterator<Item = (usize, &mut Flow)> {
        self.rows.iter_mut().enumerate().filter_map(|(row, each)| match each {
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
        let of_run = &mut groups[group];
        (of_run.next, of_run.is_stopped) = (None, true);
        of_run.abort_sessions(now);
        let open = of_run.open.entries_mut().map(|(serial, flow)| {
            flow.endpoints.stop(now);
            numbers.number(group, serial)
        });
        open.collect()
    }

    /// Removes a connection that arrived, if it has ended and nothing of it waits at its sender. Returns it if so.
    pub fn take_ended(&mut self, number: u32, now: Time) -> Option<Place<Flow>> {
        debug_assert!(number >= FIRST_ARRIVED);
        let (group, serial) = self.numbers.group(number);
        let group = &mut self.groups[group];
        let flow = group.open.get_mut(serial)?;
        if !flow.has_ended() || flow.overhead.as_ref().is_some_and(|overhead| !overhead.waiting.is_empty()) {
            return None;
        }
        group.note_open(now);
        group.open.remove(serial)
    }

    /// Payload bytes that a group has delivered since the start of the run.
    pub fn delivered(&self, group: usize) -> u64 {
        let ended = self.ended.iter().filter(|(number, _)| self.numbers.group(*number).0 == group);
        self.groups[group].delivered() + ended.map(|(_, flow)| flow.endpoints.delivered()).sum::<u64>()
    }
}

#[inline(never)]
fn arrived<'a>(groups: &'a mut [Group], numbers: &Numbers, number: u32) -> Option<&'a mut Flow> {
    let (group, serial) = numbers.group(number);
    groups[group].open.get_mut(serial)
}
