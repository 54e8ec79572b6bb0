//! A flow of a run: its two ends, and the timers it has on the agenda.

use std::collections::VecDeque;

use crate::agenda::Source;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::FlowSample;
use crate::random::Random;
use crate::result::{FlowResult, TcpResult};
use crate::tcp::connection::Connection;
use crate::time::{Duration, Time};
use crate::traffic::Traffic;

/// What a flow is at its two ends. Most are connections, which stand in place: no pointer leads to them.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(super) enum Endpoints {
    Tcp(Connection),
    Traffic(Traffic),
}

/// A flow of the run.
#[derive(Debug)]
pub(super) struct Flow {
    pub endpoints: Endpoints,
    /// When the retransmission timer on the agenda fires; it is re-armed only then, however often the deadline moves.
    pub retransmission_armed: Time,
    /// The event that its pacing timer expires; [`Source::NONE`] if it is not paced.
    pub pacing: Source,
    /// When that is to happen, as the agenda knows it.
    pub pacing_armed: Time,
    /// What `retransmission_armed` is, for the delayed acknowledgement.
    pub delayed_ack_armed: Time,
    pub delivered_before_window: u64,
    pub group: usize,
    pub start: Time,
    /// When it is to be stopped; [`Time::NEVER`] if it is not.
    pub stop: Time,
    /// Whether it was.
    pub is_stopped: bool,
    pub overhead: Option<Box<Overhead>>,
}

/// Packets that wait for their sender's random overhead to pass.
#[derive(Debug)]
pub(super) struct Overhead {
    pub limit: Duration,
    pub random: Random,
    pub waiting: VecDeque<(Time, Packet)>,
}

/// What the run tells and asks of a flow's ends, whichever they are.
impl Endpoints {
    pub fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
        match self {
            Endpoints::Tcp(connection) => connection.sender.open(now, outbox),
            Endpoints::Traffic(traffic) => traffic.start(now, outbox, options),
        }
    }

    /// Nothing more is sent. False if the flow has ended before.
    pub fn stop(&mut self, now: Time) -> bool {
        match self {
            Endpoints::Tcp(connection) => connection.sender.stop(now),
            Endpoints::Traffic(traffic) => traffic.stop(),
        }
    }

    /// When the sender's timer expires, other than that of its next packet.
    pub fn deadline(&self) -> Time {
        match self {
            Endpoints::Tcp(connection) => connection.sender.deadline(),
            Endpoints::Traffic(traffic) => traffic.deadline(),
        }
    }

    pub fn on_deadline(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        match self {
            Endpoints::Tcp(connection) => connection.sender.on_timer(now, outbox),
            Endpoints::Traffic(traffic) => traffic.on_deadline(now),
        }
    }

    /// Whether its packets are ever paced.
    pub fn is_paced(&self) -> bool {
        match self {
            Endpoints::Tcp(connection) => connection.sender.is_paced(),
            Endpoints::Traffic(_) => true,
        }
    }

    /// When the sender's pacing timer expires: a packet may leave then.
    pub fn pacing_deadline(&self) -> Time {
        match self {
            Endpoints::Tcp(connection) => connection.sender.pacing_deadline(),
            Endpoints::Traffic(traffic) => traffic.pacing_deadline(),
        }
    }

    pub fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
        match self {
            Endpoints::Tcp(connection) => connection.sender.on_pacing_timer(now, outbox),
            Endpoints::Traffic(traffic) => traffic.on_pacing_timer(now, outbox, options),
        }
    }

    /// When the receiver answers without having been asked.
    pub fn answer_deadline(&self) -> Time {
        match self {
            Endpoints::Tcp(connection) => connection.receiver.ack_deadline,
            Endpoints::Traffic(traffic) => traffic.answer_deadline(),
        }
    }

    pub fn on_answer_deadline(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        match self {
            Endpoints::Tcp(connection) => connection.on_ack_timer(now, options),
            Endpoints::Traffic(traffic) => traffic.on_answer_deadline(now, options),
        }
    }

    /// An answer arrived at the sender.
    #[inline(always)]
    pub fn on_answer(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool, outbox: &mut Vec<Packet>) {
        debug_assert!(packet.has(flags::ACK));
        match self {
            Endpoints::Tcp(connection) => connection.on_ack(packet, now, options, outbox),
            Endpoints::Traffic(traffic) => traffic.on_answer(packet, now, options),
        }
    }

    /// A packet arrived at the receiver, which may answer.
    #[inline(always)]
    pub fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        match self {
            Endpoints::Tcp(connection) => connection.on_data(packet, now, options),
            Endpoints::Traffic(traffic) => traffic.on_data(packet, now, options),
        }
    }

    pub fn delivered(&self) -> u64 {
        match self {
            Endpoints::Tcp(connection) => connection.delivered(),
            Endpoints::Traffic(traffic) => traffic.delivered(),
        }
    }

    /// What a sample over time holds; none for a source that only sends.
    pub fn sample(&self, time: Time, flow: usize) -> Option<FlowSample> {
        let bytes_delivered = self.delivered();
        match self {
            Endpoints::Tcp(connection) => {
                let window = connection.sender.window();
                let ssthresh = (window.ssthresh != u64::MAX).then_some(window.ssthresh);
                let rtt = connection.sender.latest_rtt();
                let bytes_received = connection.received();
                Some(FlowSample { time, flow, cwnd: window.cwnd, ssthresh, rtt, bytes_delivered, bytes_received })
            }
            Endpoints::Traffic(traffic) => traffic.sample().map(|sample| FlowSample {
                time,
                flow,
                cwnd: sample.window,
                ssthresh: None,
                rtt: sample.rtt,
                bytes_delivered,
                bytes_received: bytes_delivered,
            }),
        }
    }

    /// The measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        match self {
            Endpoints::Tcp(connection) => connection.sender.open_window(now),
            Endpoints::Traffic(traffic) => traffic.open_window(),
        }
    }
}

impl Flow {
    /// The result of the flow in a run that ends now.
    pub fn into_result(self, packets_dropped: u64, now: Time) -> FlowResult {
        let delivered = self.endpoints.delivered();
        let (tcp, rate_based, delays) = match &self.endpoints {
            Endpoints::Tcp(connection) => {
                let sender = &connection.sender;
                let tcp = TcpResult {
                    state: sender.state(),
                    established: sender.established_at(),
                    completed: sender.completed_at(),
                    statistics: sender.statistics_at(now),
                };
                (Some(tcp), None, None)
            }
            Endpoints::Traffic(traffic) => (None, Some(*traffic.statistics()), traffic.delays().map(Box::new)),
        };
        FlowResult {
            group: self.group,
            start: self.start,
            stopped: self.is_stopped.then_some(self.stop),
            bytes_delivered: delivered - self.delivered_before_window,
            total_bytes_delivered: delivered,
            packets_dropped,
            tcp,
            rate_based,
            delays,
        }
    }
}
