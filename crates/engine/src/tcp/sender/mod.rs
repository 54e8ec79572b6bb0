//! The sender of a connection, composed of slow start, a congestion control algorithm, loss recovery, the
//! retransmission timeout and a scoreboard. It is a state machine without a clock: time is an argument, packets go to
//! an outbox, and its timers are deadlines that the owner observes.

mod acknowledgement;
mod congestion;
mod delivery;
mod info;
mod limits;
mod marks;
mod pacing;
mod rtt;
mod segment_times;
mod send_offload;
mod statistics;
mod stream;
mod timers;
mod transmission;

use std::sync::Arc;

use crate::packet::{LoadFactor, OptionsHandle, Packet, flags};
use crate::tcp::congestion::{Algorithm, CongestionControl, Needs};
use crate::tcp::ecn::EcnKind;
use crate::tcp::flight::{Flight, FlightSettings, LimitedTransmit};
use crate::tcp::governor::Governor;
use crate::tcp::profile::{Counting, RttSamples, StackProfile};
use crate::tcp::recovery::{Recovery, RecoveryKind, RecoverySettings};
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::{FIRST_DATA, Scoreboard};
use crate::tcp::send_buffer::SendBuffer;
use crate::tcp::slow_start::SlowStartChoice;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

pub use acknowledgement::Acknowledgement;
pub(crate) use delivery::DeliveryEstimator;
pub use info::{Repair, TcpInfo};
use limits::Buffer;
use marks::Marks;
use pacing::Pacer;
use rtt::RttSampler;
use segment_times::SegmentTimes;
use send_offload::SendOffload;
pub use statistics::SenderStatistics;
use stream::Stream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// The SYN was never answered.
    SynRetries,
    /// The maximum number of retransmissions of a segment was reached.
    DataRetries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Closed,
    SynSent,
    /// The SYN was answered.
    Established,
    /// All data including the FIN was acknowledged.
    Completed,
    /// Aborted by TCP.
    Aborted(Abort),
    /// Aborted by the application.
    Stopped,
}

/// The addressing of a sender's packets.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub flow: u32,
    /// The start of the path to the receiver in the table of hops.
    pub first_hop: u32,
}

/// The sending end of a connection. What an acknowledgement accesses is together, and what few do apart from it, since each cache line
/// counts where many flows take turns: in a [`Flow`] the lines begin at the fields that say so.
///
/// [`Flow`]: crate::simulation::flow::Flow
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    /// `NEVER` before.
    established_at: Time,
    /// `NEVER` before.
    completed_at: Time,
    /// A line begins. Flight and scoreboard fill it and the next, losses the one after it.
    state: State,
    /// Whether individual segments are tracked by the delivery estimator, the recovery, the pacer or the stream.
    watches: bool,
    /// Whether the window, rather than the stream or a buffer, limited the last transmission.
    window_limited: bool,
    /// Whether the retransmission timer awaits a window, with nothing outstanding.
    persists: bool,
    /// Which buffer alone limits transmission.
    limiting: Buffer,
    /// ECN bits of all data, for algorithms that request load factors.
    load_factor: u8,
    /// ECN bits of new data, and of everything else: none if the handshake did not agree on ECN.
    ecn_of_data: u8,
    ecn_of_control: u8,
    flight: Flight,
    /// When the retransmission timer expires, `NEVER` when it is stopped.
    retransmission: Time,
    profile: Arc<StackProfile>,
    address: Address,
    /// Its kind ends the line.
    recovery: Recovery,
    /// The number of probes of a window for which the retransmission timer waits.
    window_probes: u64,
    /// What a segment asks of them begins a line.
    marks: Marks,
    rto: Rto,
    /// A line begins. Retransmissions by timeout since the last acknowledgement of new data, or of the SYN.
    retries: u64,
    latest_rtt: Option<Duration>,
    rtt_sampler: RttSampler,
    /// Only with segmentation offload.
    send_offload: Option<Box<SendOffload>>,
    /// A line begins. The sequence number after the last byte that is available, `u64::MAX` if unlimited.
    end: u64,
    /// Counters since the start of the measuring window.
    pub statistics: SenderStatistics,
    /// Bytes outstanding when something other than the window last limited transmission.
    outstanding_when_limited: u64,
    /// Since when a buffer alone limits transmission, `NEVER` if none does.
    limited_since: Time,
    /// Only if an application writes over time.
    stream: Option<Box<Stream>>,
    /// A line begins.
    governor: Governor,
    /// Its deadline begins a line, which ends with the first field after the sender. All acknowledgements access it.
    pacer: Pacer,
    /// The sequence number of the FIN, `u64::MAX` while the stream does not end.
    fin: u64,
    /// The right edge of the receive window, `u64::MAX` if acknowledgements do not carry it.
    edge: u64,
    /// The most bytes that both buffers let be unacknowledged.
    room: u64,
    /// Only if samples are taken from the times at which segments were sent.
    segment_times: Option<Box<SegmentTimes>>,
    /// Only for algorithms that request it.
    delivery: Option<Box<DeliveryEstimator>>,
    /// Only if it grows.
    send_buffer: Option<Box<SendBuffer>>,
}

impl Sender {
    /// Creates a sender of `size` bytes, unlimited if `None`.
    pub fn new(
        address: Address,
        profile: Arc<StackProfile>,
        algorithm: Algorithm,
        slow_start: impl Into<SlowStartChoice>,
        size: Option<u64>,
    ) -> Sender {
        let mss = profile.segment_size.0;
        let needs = algorithm.needs();
        let recovery = Recovery::new(
            profile.recovery,
            RecoverySettings {
                repeats: profile.repeated_fast_retransmit,
                duplicate_sack: profile.duplicate_sack,
                timer_tick: profile.timer_tick,
            },
        );
        let samples_segments = profile.rtt_samples == RttSamples::Segments;
        let pacer = Pacer::new(needs.pacing, profile.pacing, profile.pacing_clock, profile.pacing_burst);
        Sender {
            address,
            state: State::Closed,
            retransmission: Time::NEVER,
            flight: Sender::flight_of(&profile, &needs),
            watches: needs.deliveries
                || recovery.follows_segments()
                || pacer.is_on()
                || samples_segments
                || profile.send_offload
                || profile.send_buffer_grows,
            send_buffer: profile
                .send_buffer_grows
                .then(|| Box::new(SendBuffer::new(mss, profile.send_buffer.0, needs.governs, profile.sack))),
            segment_times: samples_segments.then(|| Box::new(SegmentTimes::new(!recovery.knows_transmissions()))),
            recovery,
            governor: Governor::new(algorithm, slow_start, &profile),
            rto: Rto::new(&profile.rto_limits()),
            rtt_sampler: RttSampler::new(&profile),
            send_offload: profile.send_offload.then(|| Box::new(SendOffload::new())),
            pacer,
            marks: Marks::new(profile.ecn),
            delivery: needs.deliveries.then(|| Box::new(DeliveryEstimator::new(mss, needs.samples_as_ns3))),
            end: size.map_or(u64::MAX, |size| FIRST_DATA + size),
            fin: size.map_or(u64::MAX, |size| FIRST_DATA + size),
            stream: None,
            window_limited: true,
            edge: u64::MAX,
            room: profile.send_buffer.0.min(profile.receive_buffer.0),
            outstanding_when_limited: 0,
            persists: false,
            window_probes: 0,
            limiting: Buffer::Receiver,
            limited_since: Time::NEVER,
            retries: 0,
            load_factor: if needs.load_factor { LoadFactor::Low.bits() } else { 0 },
            ecn_of_data: profile.ecn_of_data(),
            ecn_of_control: profile.ecn_of_control(),
            latest_rtt: None,
            established_at: Time::NEVER,
            completed_at: Time::NEVER,
            statistics: SenderStatistics::default(),
            profile,
        }
    }

    fn flight_of(profile: &StackProfile, needs: &Needs) -> Flight {
        let mss = profile.segment_size.0;
        let window = Window { cwnd: profile.initial_window * mss, ssthresh: u64::MAX, mss };
        let mut scoreboard = Scoreboard::new(mss, profile.duplicate_ack_threshold, profile.recovery.loss_rule());
        if needs.deliveries {
            scoreboard.report_losses();
        }
        let settings = FlightSettings {
            has_sack: profile.sack,
            limited_transmit: match (profile.limited_transmit, profile.sack) {
                (false, _) => LimitedTransmit::Off,
                (true, false) if profile.recovery != RecoveryKind::LinuxNewReno => LimitedTransmit::Beyond,
                (true, _) => LimitedTransmit::Pipe,
            },
            flight_size: profile.flight_size,
            is_governed: needs.governs,
            counts_segments: profile.counting == Counting::Segments,
        };
        Flight::new(FIRST_DATA, window, scoreboard, settings)
    }

    pub fn needs(&self) -> Needs {
        self.algorithm().needs()
    }

    pub fn algorithm(&self) -> &Algorithm {
        self.governor.algorithm()
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn window(&self) -> Window {
        self.flight.window
    }

    /// Payload bytes of the whole stream, `None` if unlimited or written over time.
    pub fn size(&self) -> Option<u64> {
        (self.fin != u64::MAX && self.stream.is_none()).then(|| self.fin - FIRST_DATA)
    }

    pub fn latest_rtt(&self) -> Option<Duration> {
        self.latest_rtt
    }

    /// When the SYN was answered.
    pub fn established_at(&self) -> Option<Time> {
        (self.established_at != Time::NEVER).then_some(self.established_at)
    }

    /// When the stream was completely acknowledged.
    pub fn completed_at(&self) -> Option<Time> {
        (self.completed_at != Time::NEVER).then_some(self.completed_at)
    }

    pub fn open(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.state = State::SynSent;
        self.send_syn(now, outbox);
    }

    /// A SYN that opens the connection in the other direction has arrived, and its answer leaves: what answers that is to be passed
    /// to [`Sender::on_syn_ack`].
    pub fn open_passively(&mut self, now: Time) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
        }
    }

    fn send_syn(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let stamp = self.rtt_sampler.timestamp(now);
        let asks = self.profile.ecn != EcnKind::Off && self.retries <= self.profile.ecn_syn_retries;
        // RFC 3168 sections 6.1.1 and 6.1.1.1.
        let ecn = if asks { flags::ECN_SETUP | self.ecn_of_control } else { 0 };
        outbox.push(self.packet(0, stamp, self.profile.syn_size(), flags::SYN | ecn));
        self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
    }

    fn packet(&self, number: u64, stamp: Time, size: u64, flags: u8) -> Packet {
        Packet {
            number,
            stamp,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags,
        }
    }

    /// Whether new data is ECN-capable.
    pub fn uses_ecn(&self) -> bool {
        self.ecn_of_data != 0
    }

    /// The handshake has not agreed on ECN: packets are not ECN-capable.
    pub fn go_without_ecn(&mut self) {
        (self.ecn_of_data, self.ecn_of_control) = (0, 0);
    }

    pub fn on_syn_ack(&mut self, echo: Time, now: Time, outbox: &mut Vec<Packet>) {
        if self.state != State::SynSent {
            return;
        }
        self.state = State::Established;
        self.established_at = now;
        self.retransmission = Time::NEVER;
        let syn_was_lost = self.retries > 0;
        if let Some(rtt) = self.rtt_sampler.sample_of_syn(echo, syn_was_lost, now) {
            self.take_rtt(rtt);
        }
        if syn_was_lost {
            self.rto.restart(self.profile.rto_after_syn_loss);
        }
        if self.retries > 1 {
            self.flight.window.cwnd = self.profile.initial_window_after_syn_loss * self.flight.window.mss;
        }
        self.retries = 0;
        self.governor.on_established(&mut self.flight.window, self.rto.srtt(), now);
        self.send(now, outbox);
    }

    /// Aborts the connection on behalf of the application: ABORT of RFC 9293 section 3.10.5, without the reset, which
    /// would have no effect. Returns false if the connection has already ended.
    pub fn stop(&mut self, now: Time) -> bool {
        if matches!(self.state, State::Completed | State::Aborted(_)) {
            return false;
        }
        self.on_unlimited(now);
        self.state = State::Stopped;
        self.stop_timers();
        self.pacer.clear();
        true
    }

    fn abort(&mut self, cause: Abort, now: Time) {
        self.on_unlimited(now);
        self.state = State::Aborted(cause);
        self.stop_timers();
    }

    fn stop_timers(&mut self) {
        self.retransmission = Time::NEVER;
        self.recovery.stop_timer();
    }
}
