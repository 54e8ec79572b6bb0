//! A flow of a run: its two ends, and the timers it has on the agenda.

use std::collections::VecDeque;

use crate::agenda::Source;
use crate::packet::Packet;
use crate::random::Random;
use crate::result::{FlowResult, TcpResult};
use crate::tcp::connection::Connection;
use crate::time::{Duration, Time};
use crate::traffic::ConstantRate;

/// What a flow is at its two ends. Most are connections, which stand in place: no pointer leads to them.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(super) enum Endpoints {
    Tcp(Connection),
    ConstantRate(Box<ConstantRate>),
}

/// A flow of the run.
#[derive(Debug)]
pub(super) struct Flow {
    pub endpoints: Endpoints,
    /// When the retransmission timer on the agenda fires; it is re-armed only then, however often the deadline moves.
    pub retransmission_armed: Time,
    /// The event that a paced segment is released; [`Source::NONE`] if it has none.
    pub releases: Source,
    /// When that is to happen, as the agenda knows it.
    pub release: Time,
    /// The same for the delayed acknowledgement.
    pub delayed_ack_armed: Time,
    pub delivered_before_window: u64,
    pub group: usize,
    pub start: Time,
    pub overhead: Option<Box<Overhead>>,
}

/// Packets that wait for their sender's random overhead to pass.
#[derive(Debug)]
pub(super) struct Overhead {
    pub limit: Duration,
    pub random: Random,
    pub waiting: VecDeque<(Time, Packet)>,
}

impl Endpoints {
    pub fn delivered(&self) -> u64 {
        match self {
            Endpoints::Tcp(connection) => connection.delivered(),
            Endpoints::ConstantRate(source) => source.bytes_delivered,
        }
    }
}

impl Flow {
    pub fn into_result(self) -> FlowResult {
        let delivered = self.endpoints.delivered();
        let (tcp, segments_sent) = match &self.endpoints {
            Endpoints::Tcp(connection) => {
                let sender = &connection.sender;
                let tcp = TcpResult {
                    state: sender.state(),
                    established: sender.established_at(),
                    completed: sender.completed_at(),
                    statistics: sender.statistics,
                };
                (Some(tcp), sender.statistics.segments_sent)
            }
            Endpoints::ConstantRate(source) => (None, source.packets_sent),
        };
        FlowResult {
            group: self.group,
            start: self.start,
            bytes_delivered: delivered - self.delivered_before_window,
            total_bytes_delivered: delivered,
            tcp,
            segments_sent,
        }
    }
}
