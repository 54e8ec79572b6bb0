//! What is to be seen of a run under way. Looking changes nothing.

use super::Simulation;
use super::flow::{Endpoints, Flow};
use super::flows::Row;
use super::measuring::{tell_flows, tell_queues};
use crate::probe::{End, FlowLook, Passage, QueueLook, QueueProbe, Series, States};
use crate::queue::QueueDiscipline;
use crate::tcp::congestion::Algorithm;
use crate::tcp::sender::TcpInfo;
use crate::time::Time;

impl Simulation {
    /// The queues, in the order of the specification.
    pub fn queues(&self) -> impl Iterator<Item = QueueLook> {
        self.network.links.iter().enumerate().filter_map(|(link, each)| {
            let queue = each.egress.queue()?;
            Some(QueueLook {
                link,
                packets: queue.discipline.packets(),
                bytes: queue.discipline.bytes(),
                totals: queue.probe.as_ref().map(QueueProbe::totals),
            })
        })
    }

    /// The inner states of disciplines and congestion controls.
    pub fn states(&self) -> States {
        let mut states = States::default();
        tell_queues(self.now, &self.network, &mut states);
        tell_flows(self.now, &self.flows, &mut states);
        states
    }

    /// What was sampled so far.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// How the sojourn times at a link's queue are distributed since the measuring window opened: times in seconds, and packets that
    /// waited no longer, but longer than the time before. Empty if the queue is not measured.
    pub fn sojourns(&self, link: usize) -> Vec<(f64, u64)> {
        let queue = self.network.links.get(link).and_then(|link| link.egress.queue());
        queue.and_then(|queue| queue.probe.as_ref()).map(QueueProbe::sojourns).unwrap_or_default()
    }

    /// The flows, in the order of the specification.
    pub fn flows(&self) -> impl Iterator<Item = FlowLook> {
        self.flows.rows.iter().enumerate().map(|(index, row)| match row {
            Row::Flow(Flow { endpoints, .. }) => {
                FlowLook { bytes_delivered: endpoints.delivered(), sample: endpoints.sample(self.now, index) }
            }
            Row::Group(group) => FlowLook { bytes_delivered: self.flows.delivered(*group), sample: None },
        })
    }

    /// The congestion control of a flow, as it stands; none if the flow has none.
    pub fn algorithm(&self, flow: usize) -> Option<&Algorithm> {
        match &self.flows.rows[flow] {
            Row::Flow(Flow { endpoints: Endpoints::Tcp(connection), .. }) => Some(connection.sender.algorithm()),
            Row::Flow(Flow { endpoints: Endpoints::Traffic(_), .. }) => None,
            Row::Group(group) => Some(&self.flows.groups[*group].template.algorithm),
        }
    }

    /// The state of a flow's connection; none if the flow has none.
    pub fn tcp_info(&self, flow: usize) -> Option<TcpInfo> {
        match &self.flows.rows[flow] {
            Row::Flow(Flow { endpoints: Endpoints::Tcp(connection), .. }) => Some(connection.sender.info()),
            _ => None,
        }
    }

    /// Records what passes an end of a link from now on. That changes nothing else.
    ///
    /// # Errors
    /// One line if there is no such link.
    pub fn record(&mut self, link: usize, end: End) -> Result<(), String> {
        let links = self.network.links.len();
        if link >= links {
            return Err(format!("link {link} does not exist; there are {links}"));
        }
        self.network.record_at(link, end);
        Ok(())
    }

    /// The recorded packets that pass before a moment, in order of time, each once. All of them are known when whatever
    /// happens before that moment has happened.
    pub fn take_passages_before(&mut self, moment: Time) -> Vec<Passage> {
        self.network.take_passages_before(moment)
    }
}
