//! Conservation of packets.

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
