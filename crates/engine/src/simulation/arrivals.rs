//! What a run does as connections arrive, and as they end.

use super::Simulation;
use super::flows::Flows;
use super::group::Group;
use crate::agenda::Timer;
use crate::time::Time;

impl Simulation {
    /// The first connection of a group is to arrive.
    pub(super) fn await_arrival(&mut self, group: usize) {
        let of_run = &mut self.flows.groups[group];
        of_run.next = of_run.arrivals.next();
        let users = of_run.arrivals.users();
        self.arm_arrival(group);
        for _ in 0..users {
            self.let_think(group);
        }
    }

    /// A user of a group begins to think.
    pub(super) fn let_think(&mut self, group: usize) {
        let of_run = &mut self.flows.groups[group];
        if let Some(think) = of_run.arrivals.think()
            && !of_run.is_stopped
        {
            let (clock, _) = of_run.template.clocks;
            self.network.agenda.set_timer(clock, Timer::Arrival(group as u32), self.now + think);
        }
    }

    pub(super) fn arm_arrival(&mut self, group: usize) {
        let Group { next, template, .. } = &self.flows.groups[group];
        if let Some(arrival) = next {
            let (clock, _) = template.clocks;
            self.network.agenda.set_timer(clock, Timer::Arrival(group as u32), arrival.time);
        }
    }

    pub(super) fn on_flow_arrival(&mut self, group: usize) {
        let Flows { groups, numbers, .. } = &mut self.flows;
        let of_run = &mut groups[group];
        if of_run.sessions.is_some() {
            return self.on_session_arrival(group);
        }
        let of_user = of_run.arrivals.size().filter(|_| !of_run.is_stopped);
        let Some(size) = of_user.or(of_run.next.map(|arrival| arrival.size)) else { return };
        let serial = of_run.arrive(size, |serial| numbers.number(group, serial), self.now);
        of_run.next = of_run.arrivals.next();
        let number = numbers.number(group, serial);
        self.start_flow(number);
        self.arm_arrival(group);
    }

    /// A connection that arrived and has ended makes room.
    #[inline(never)]
    pub(super) fn end_if_over(&mut self, number: u32) {
        if self.flows.has_session(number) {
            return self.attend_sender(number);
        }
        if let Some(flow) = self.flows.take_ended(number, self.now) {
            self.flows.ended.add(number, self.now, flow);
            self.let_think(self.flows.numbers.group(number).0);
        }
    }

    /// The connections that ended before a moment have done so for their receivers too, and are counted.
    #[cold]
    pub(super) fn count_ended(&mut self, moment: Time) {
        while self.flows.ended.first() < moment {
            let Some((number, end, flow)) = self.flows.ended.take_first() else { return };
            let (_, flow) = *flow;
            let (group, row) = (self.flows.numbers.group(number).0, self.flows.numbers.row(number));
            self.flows.groups[group].totals.add(&flow, end);
            if let Some(transfer) = flow.transfer(row, &self.ideals[flow.group as usize]) {
                self.transfers.add(transfer);
            }
        }
    }
}
