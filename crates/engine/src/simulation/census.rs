//! Conservation of packets.

use super::Simulation;
use crate::network::Egress;
use crate::queue::QueueDiscipline;

/// Where every packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Made by hosts, and copies that links made.
    pub created: u64,
    /// Reached their host.
    pub delivered: u64,
    /// Dropped by a queue or by a link's plan.
    pub dropped: u64,
    /// Waiting in queues.
    pub queued: u64,
    /// On links.
    pub in_transit: u64,
    /// Waiting for their sender's overhead to pass.
    pub in_senders: u64,
}

impl Census {
    /// The law of conservation.
    pub fn is_complete(&self) -> bool {
        self.created == self.delivered + self.dropped + self.queued + self.in_transit + self.in_senders
    }
}

impl Simulation {
    /// Counts every packet.
    pub fn census(&self) -> Census {
        let mut census = Census {
            created: self.created + self.network.duplicates,
            delivered: self.delivered,
            dropped: self.network.drops.total,
            ..Census::default()
        };
        for link in &self.network.links {
            census.in_transit += link.in_transit.len() as u64;
            // What is foreseen to leave is under way already.
            if let Some(queue) = link.egress.queue()
                && !matches!(link.egress, Egress::Foreseen(_))
            {
                census.queued += queue.discipline.packets();
            }
        }
        for flow in self.flows.all() {
            census.in_senders += flow.overhead.as_ref().map_or(0, |overhead| overhead.waiting.len() as u64);
        }
        census
    }
}
