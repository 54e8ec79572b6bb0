//! A flow of a run: its two ends, and the timers it has on the agenda.

use std::collections::VecDeque;

use super::ideal::Ideal;
use crate::agenda::{Agenda, Clock, Timer};
use crate::application::{End, TransferKind};
use crate::inner::Tell;
use crate::packet::{OptionsPool, Packet, flags};
use crate::probe::{FlowSample, Transfer};
use crate::random::{Purpose, Random};
use crate::result::{FlowResult, TcpResult, TransferCounts};
use crate::tcp::congestion::CongestionControl;
use crate::tcp::connection::Connection;
use crate::tcp::sender::{SenderStatistics, State};
use crate::time::{Duration, Time};
use crate::traffic::{RateBased, Traffic};

/// What a flow is at its two ends. Most are connections, which stand in place: no pointer leads to them. Which it is stands before
/// it, beside what is accessed with it, and not in a field of the sender.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
#[repr(u8)]
pub enum Endpoints {
    Tcp(Connection),
    Traffic(Traffic),
}

/// A flow of the run, which begins with a cache line. The order of its fields, and of those of its ends, is that in memory: what each
/// packet accesses is together.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Flow {
    /// When the retransmission timer on the agenda fires; it is re-armed only then, however often the deadline moves.
    pub retransmission_armed: Time,
    /// What `retransmission_armed` is, for the delayed acknowledgement and for the next paced packet.
    pub delayed_ack_armed: Time,
    /// Of the sender's host and of the receiver's.
    pub sender_clock: Clock,
    pub receiver_clock: Clock,
    pub endpoints: Endpoints,
    pub overhead: Option<Box<Overhead>>,
    pub pacing_armed: Time,
    pub before_window: Counted,
    /// Its group in the specification.
    pub group: u32,
    /// Whether it was stopped.
    pub is_stopped: bool,
    pub start: Time,
    /// When it is to be stopped; [`Time::NEVER`] if it is not.
    pub stop: Time,
    /// The session that it belongs to, if it is a direction of a connection of one.
    pub owner: Option<Box<Owner>>,
}

/// Of which session a flow is a direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// The serial number of the session in its group.
    pub session: u32,
    /// The connection in the session.
    pub connection: u32,
    /// The end that sends.
    pub sends: End,
    /// The number of the other direction.
    pub other: u32,
    /// Whether the session knows that this end may write.
    pub is_open: bool,
    /// The session is to be told when fewer bytes than these wait for the window; zero if it is not.
    pub awaited_room: u64,
}

/// What a flow had counted when the measuring window opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub delivered: u64,
    pub retransmissions: u64,
    pub timeouts: u64,
}

/// Packets that wait for their sender's random overhead to pass.
#[derive(Debug)]
pub struct Overhead {
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
    #[inline(always)]
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

    /// When the sender's pacing timer expires: a packet may leave then.
    #[inline(always)]
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
    #[inline(always)]
    pub fn answer_deadline(&self) -> Time {
        match self {
            Endpoints::Tcp(connection) => connection.receiver.ack_deadline,
            Endpoints::Traffic(traffic) => traffic.answer_deadline(),
        }
    }

    pub fn on_answer_deadline(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        match self {
            Endpoints::Tcp(connection) => connection.on_receiver_timer(now, options),
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

    /// Tells the inner state of the congestion control.
    pub fn tell_state(&self, now: Time, tell: &mut Tell<'_>) {
        if let Endpoints::Tcp(connection) = self {
            let sender = &connection.sender;
            sender.algorithm().tell_state(&sender.window(), now, tell);
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

impl Overhead {
    /// That of a flow's sender, if it has any.
    pub fn new(limit: Duration, seed: u64, number: u32) -> Option<Box<Overhead>> {
        (limit > Duration::ZERO).then(|| {
            let random = Random::stream(seed, Purpose::SenderOverhead, number.into());
            Box::new(Overhead { limit, random, waiting: VecDeque::new() })
        })
    }
}

impl Flow {
    /// One that starts then and is not stopped, with the clocks of its sender's host and of its receiver's.
    pub fn new(
        endpoints: Endpoints,
        group: usize,
        (sender_clock, receiver_clock): (Clock, Clock),
        start: Time,
        overhead: Option<Box<Overhead>>,
    ) -> Flow {
        Flow {
            endpoints,
            sender_clock,
            receiver_clock,
            retransmission_armed: Time::NEVER,
            pacing_armed: Time::NEVER,
            delayed_ack_armed: Time::NEVER,
            before_window: Counted::default(),
            group: group as u32,
            is_stopped: false,
            start,
            stop: Time::NEVER,
            overhead,
            owner: None,
        }
    }

    /// Arms the timers that its sender now wants.
    #[inline(always)]
    pub fn arm_sender_timers(&mut self, number: u32, agenda: &mut Agenda) {
        let deadline = self.endpoints.deadline();
        if deadline < self.retransmission_armed {
            self.retransmission_armed = deadline;
            agenda.set_timer(self.sender_clock, Timer::Retransmission(number), deadline);
        }
        let pacing_deadline = self.endpoints.pacing_deadline();
        if pacing_deadline != Time::NEVER && pacing_deadline < self.pacing_armed {
            self.pacing_armed = pacing_deadline;
            agenda.set_timer(self.sender_clock, Timer::Pacing(number), pacing_deadline);
        }
    }

    /// Arms the timer that its receiver now wants.
    #[inline(always)]
    pub fn arm_answer_timer(&mut self, number: u32, agenda: &mut Agenda) {
        let deadline = self.endpoints.answer_deadline();
        if deadline < self.delayed_ack_armed {
            self.delayed_ack_armed = deadline;
            agenda.set_timer(self.receiver_clock, Timer::DelayedAck(number), deadline);
        }
    }

    /// The measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        if let Endpoints::Tcp(connection) = &self.endpoints {
            let SenderStatistics { retransmissions, timeouts, .. } = connection.sender.statistics;
            self.before_window = Counted { retransmissions, timeouts, ..self.before_window };
        }
        self.before_window.delivered = self.endpoints.delivered();
        self.endpoints.open_window(now);
    }

    /// Whether its connection has ended at its sender.
    pub fn has_ended(&self) -> bool {
        let Endpoints::Tcp(connection) = &self.endpoints else { return false };
        matches!(connection.sender.state(), State::Completed | State::Aborted(_) | State::Stopped)
    }

    /// Whether its group is to be told of it, if it arrived: its connection has ended, or is one of a session's.
    pub fn is_told(&self) -> bool {
        self.owner.is_some() || self.has_ended()
    }

    /// Whether its sender may end it before another packet reaches its receiver: nothing is missing there.
    pub fn may_end(&self) -> bool {
        matches!(&self.endpoints, Endpoints::Tcp(connection) if connection.receiver.has_fin())
    }

    /// Whether its data are those of its flow of the specification, which go from the server to the client.
    pub fn is_forward(&self) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner.sends == End::Server)
    }

    /// The transfer that the flow was, if all its bytes were acknowledged.
    pub fn transfer(&self, row: usize, ideal: &Ideal) -> Option<Transfer> {
        let Endpoints::Tcp(connection) = &self.endpoints else { return None };
        let sender = &connection.sender;
        let (completed, bytes) = (sender.completed_at()?, sender.size()?);
        Some(Transfer {
            kind: TransferKind::Transfer,
            flow: row as u32,
            start: self.start,
            completed,
            bytes,
            ideal: ideal.of(bytes),
            retransmissions: self.before_window.retransmissions + sender.statistics.retransmissions,
            timeouts: self.before_window.timeouts + sender.statistics.timeouts,
            stands_for: 1,
        })
    }

    /// The transfer of a flow of limited size, counted in a measuring window.
    fn transfer_counts(&self, opens: Time, now: Time) -> Option<TransferCounts> {
        let Endpoints::Tcp(connection) = &self.endpoints else { return None };
        connection.sender.size()?;
        let completed = connection.sender.completed_at();
        let ended = completed.unwrap_or(if self.is_stopped { self.stop } else { now });
        let open = ended.max(opens).since(self.start.max(opens).min(ended.max(opens)));
        Some(TransferCounts {
            completed: u64::from(completed.is_some_and(|time| time >= opens)),
            unfinished: u64::from(completed.is_none()),
            open_mean: open.0 as f64 / now.since(opens).0.max(1) as f64,
        })
    }

    /// The result of the flow in a run whose measuring window opened, and which ends now.
    pub fn into_result(self, long_lived: bool, packets_dropped: u64, opens: Time, now: Time) -> FlowResult {
        let delivered = self.endpoints.delivered();
        let transfers = self.transfer_counts(opens, now);
        let (tcp, traffic) = match &self.endpoints {
            Endpoints::Tcp(connection) => {
                let sender = &connection.sender;
                let tcp = TcpResult {
                    state: sender.state(),
                    established: sender.established_at(),
                    completed: sender.completed_at(),
                    statistics: sender.statistics_at(now),
                };
                (Some(tcp), None)
            }
            Endpoints::Traffic(traffic) => (None, Some(traffic)),
        };
        FlowResult {
            group: self.group as usize,
            long_lived,
            start: self.start,
            stopped: self.is_stopped.then_some(self.stop),
            bytes_delivered: delivered - self.before_window.delivered,
            total_bytes_delivered: delivered,
            packets_dropped,
            tcp,
            rate_based: traffic.map(|traffic| Box::new(*traffic.statistics())),
            delays: traffic.and_then(Traffic::delays).map(Box::new),
            transfers,
            round_trips: traffic.and_then(Traffic::round_trips).map(Box::new),
            call: traffic.and_then(|traffic| traffic.call(packets_dropped)).map(Box::new),
            video: None,
        }
    }
}
