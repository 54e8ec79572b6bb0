//! The state in which a timeout leaves a connection: include/net/tcp.h, TCP_CA_Loss.

use crate::tcp::congestion::Ack;

/// Lasts until all is acknowledged that was sent before the timeout.
#[derive(Clone, Debug, Default)]
pub struct LossState {
    /// The next sequence number to be sent, at the latest acknowledgement.
    nxt: u64,
    /// What has to be acknowledged: `high_seq`.
    until: u64,
}

impl LossState {
    /// Takes an acknowledgement outside fast recovery. Returns whether the state was Loss as it arrived.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        self.nxt = ack.nxt;
        ack.una - ack.acked < self.until
    }

    /// Whether the state is Loss once this acknowledgement is taken into account.
    pub fn lasts(&self, ack: &Ack) -> bool {
        ack.una < self.until
    }

    pub fn begin(&mut self) {
        self.until = self.nxt;
    }
}
