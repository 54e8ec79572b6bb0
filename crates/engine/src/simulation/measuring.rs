//! What a run measures: the window in which it counts, samples over time, and the result.

use super::Simulation;
use super::flows::{Flows, Row};
use crate::agenda::{Clock, Timer};
use crate::network::{Egress, Network};
use crate::probe::{QueueSample, States, Whose};
use crate::queue::QueueDiscipline;
use crate::result::{QueueResult, RunResult};
use crate::time::Time;

impl Simulation {
    pub(super) fn open_window(&mut self) {
        self.network.let_leave_before(self.now);
        for link in &mut self.network.links {
            link.transmitter.open_window(self.now);
            let remaining = link.remaining(self.now);
            if let Some(queue) = link.egress.queue_mut()
                && let Some(probe) = &mut queue.probe
            {
                probe.open_window(self.now, remaining);
            }
        }
        self.network.drops.open_window();
        for (_, flow) in self.flows.fixed_mut() {
            flow.open_window(self.now);
        }
        for group in &mut self.flows.groups {
            group.open_window(self.now);
        }
    }

    pub(super) fn sample_queues(&mut self) {
        self.network.let_leave_before(self.now);
        for (index, link) in self.network.links.iter().enumerate() {
            if let Some(queue) = link.egress.queue() {
                let (packets, bytes) = (queue.discipline.packets(), queue.discipline.bytes());
                let drops = queue.probe.as_ref().map(|probe| probe.totals().counts.drops());
                self.series.queues.push(QueueSample { time: self.now, link: index, packets, bytes, drops });
            }
        }
        if self.queue_state {
            tell_queues(self.now, &self.network, &mut self.series.states);
        }
        if let Some(interval) = self.queue_series {
            self.network.agenda.set_timer(Clock::RUN, Timer::SampleQueues, self.now + interval);
        }
    }

    pub(super) fn sample_flows(&mut self) {
        for (row, flow) in self.flows.sampled() {
            self.series.flows.extend(flow.endpoints.sample(self.now, row));
        }
        if self.flow_state {
            tell_flows(self.now, &self.flows, &mut self.series.states);
        }
        if let Some(interval) = self.flow_series {
            self.network.agenda.set_timer(Clock::RUN, Timer::SampleFlows, self.now + interval);
        }
    }

    /// The result of a run that has come to its end.
    pub fn finish(mut self) -> RunResult {
        self.network.let_leave_before(self.end);
        self.count_ended(self.end);
        debug_assert!(self.census().is_complete(), "{:?}", self.census());
        let (drops, opens, end) = (&self.network.drops.data, self.window_opens, self.end);
        for (row, flow) in self.flows.fixed() {
            if let Some(transfer) = flow.transfer(row, &self.ideals[flow.group as usize]) {
                self.transfers.add(transfer);
            }
        }
        let Flows { rows, mut groups, .. } = self.flows;
        // In place: of many flows there are never both all states and all results.
        let told = drops.iter().zip(self.long_lived.iter());
        let results = rows.into_iter().zip(told).map(|(row, (drops, long_lived))| match row {
            Row::Flow(flow) => flow.into_result(*long_lived, *drops, opens, end),
            Row::Group(group) => groups[group].result(*drops, opens, end),
        });
        let mut flows: Vec<_> = results.collect();
        flows.shrink_to_fit();
        let mut queues = Vec::new();
        for (index, mut link) in self.network.links.into_iter().enumerate() {
            let remaining = link.remaining(self.end);
            if let Some(queue) = link.egress.queue_mut()
                && let Some(probe) = queue.probe.take()
            {
                let mut statistics = probe.close(self.end, remaining);
                // Of frames the medium's time counts: they carry more than their packets.
                if !matches!(link.egress, Egress::Frames(_))
                    && let Some(share) = link.transmitter.use_of_changing_rate(statistics.window.bytes_sent, self.end)
                {
                    statistics.busy_share = share;
                }
                let link_losses = link.special.map_or(0, |special| special.lost);
                queues.push(QueueResult { link: index, link_losses, statistics });
            }
        }
        RunResult {
            flows,
            queues,
            series: self.series,
            transfers: self.transfers.into_rows(),
            events: self.events + self.network.asked,
            data_packets_delivered: self.data_packets_delivered,
        }
    }
}

/// The inner states of queue disciplines.
#[cold]
pub(super) fn tell_queues(now: Time, network: &Network, states: &mut States) {
    for (index, link) in network.links.iter().enumerate() {
        if let Some(queue) = link.egress.queue() {
            states.take(now, Whose::Link(index), |tell| queue.discipline.tell_state(now, tell));
        }
    }
}

/// The inner states of the congestion controls of the flows that are sampled.
#[cold]
pub(super) fn tell_flows(now: Time, flows: &Flows, states: &mut States) {
    for (row, flow) in flows.sampled() {
        states.take(now, Whose::Flow(row), |tell| flow.endpoints.tell_state(now, tell));
    }
}
