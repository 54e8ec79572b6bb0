//! The sending end of a connection: composed of slow start, a congestion control algorithm, loss recovery, the
//! retransmission timeout and a scoreboard. A state machine without a clock: time is an argument, packets go into an
//! outbox, and the one timer it needs is a deadline that its owner watches.

mod delivery;
mod episode;
mod info;
mod marks;
mod pacing;
mod rack;
mod statistics;
mod transmission;

use std::sync::Arc;

use crate::packet::{AckOptions, LoadFactor, OptionsHandle, Packet, flags};
use crate::tcp::congestion::{Ack, Algorithm, CongestionControl, Delivery, Needs};
use crate::tcp::profile::{Counting, RecoveryKind, StackProfile};
use crate::tcp::recovery::Phase;
use crate::tcp::rto::Rto;
use crate::tcp::scoreboard::{FIRST_DATA, LossRule, Progress, Scoreboard};
use crate::tcp::slow_start::{SlowStart, SlowStartKind};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

use delivery::DeliveryEstimator;
pub use info::{Repair, TcpInfo};
use marks::Marks;
use rack::Rack;
pub use statistics::SenderStatistics;

/// Why a connection was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// Its SYN was never answered.
    SynRetries,
    /// A segment was retransmitted in vain too often.
    DataRetries,
}

/// The life of a connection, seen from the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not yet opened.
    Closed,
    /// SYN sent.
    SynSent,
    /// Data flows.
    Established,
    /// Everything including the FIN was acknowledged.
    Completed,
    /// Given up.
    Aborted(Abort),
    /// Aborted by its application.
    Stopped,
}

/// The segment whose round trip is timed when there are no timestamps (Karn's algorithm: only if it was sent once).
#[derive(Clone, Copy, Debug)]
struct TimedSegment {
    end: u64,
    sent: Time,
}

/// An acknowledgement as it comes to the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// Cumulative acknowledgement number.
    pub number: u64,
    /// The echoed timestamp.
    pub echo: Time,
    /// Whether it carries ECN-Echo.
    pub echoes_congestion: bool,
    /// Its options.
    pub options: &'a AckOptions,
}

/// What an acknowledgement of new data gives to window growth.
struct Growth<'a> {
    acked: u64,
    /// Segments newly known to have been marked.
    marked: u64,
    rtt: Option<Duration>,
    options: &'a AckOptions,
}

/// How a sender's packets are addressed.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Its flow.
    pub flow: u32,
    /// Where its path to the receiver begins in the table of hops.
    pub first_hop: u32,
}

/// See the module.
#[derive(Debug)]
pub struct Sender {
    address: Address,
    profile: Arc<StackProfile>,
    state: State,
    /// When the retransmission timer expires; `NEVER` when it is off.
    retransmission: Time,
    /// When a paced segment is to be released; `NEVER` when none waits.
    pub release: Time,
    /// Before this, pacing lets nothing go but the rest of a quantum.
    next_release: Time,
    /// Payload of the quantum that may still leave.
    quantum_left: u64,
    /// SND.UNA.
    una: u64,
    window: Window,
    phase: Phase,
    scoreboard: Scoreboard,
    algorithm: Algorithm,
    slow_start: SlowStart,
    rto: Rto,
    /// Payload bytes of the whole stream; none for a stream without end.
    size: Option<u64>,
    duplicate_acks: u64,
    /// New segments sent on duplicate acknowledgements, which the flight size leaves out (RFC 5681 section 3.2).
    limited_transmitted: u64,
    /// Whether the window, rather than the stream or a buffer, stopped the last sending.
    window_limited: bool,
    /// SND.NXT when the latest episode began: "recover" of RFC 6582, plus one.
    recover: u64,
    /// Retransmissions by timeout since the last acknowledgement of new data, or of the SYN.
    retries: u64,
    timed: Option<TimedSegment>,
    marks: Marks,
    /// Only for algorithms that ask.
    delivery: Option<Box<DeliveryEstimator>>,
    /// Only with the recovery that is named after it.
    rack: Option<Box<Rack>>,
    /// Whether the algorithm alone sets the window.
    is_governed: bool,
    is_paced: bool,
    /// Whether anybody follows single segments: deliveries, RACK or pacing.
    watches: bool,
    /// ECN bits of all data, for algorithms that ask for load factors.
    load_factor: u8,
    /// The latest tick of the timestamp clock that was looked up.
    tick: Time,
    latest_rtt: Option<Duration>,
    established_at: Option<Time>,
    completed_at: Option<Time>,
    /// Counts since the measuring window opened.
    pub statistics: SenderStatistics,
}

impl Sender {
    /// A sender of `size` bytes, or without end.
    pub fn new(
        address: Address,
        profile: Arc<StackProfile>,
        algorithm: Algorithm,
        slow_start: SlowStartKind,
        size: Option<u64>,
    ) -> Sender {
        let mss = profile.segment_size.0;
        let needs = algorithm.needs();
        let rule = match profile.recovery {
            RecoveryKind::Fack => LossRule::Forward,
            RecoveryKind::Rack => LossRule::Time,
            _ => LossRule::Above,
        };
        let mut scoreboard = Scoreboard::new(mss, profile.duplicate_ack_threshold, rule);
        if needs.deliveries {
            scoreboard.tell_losses();
        }
        Sender {
            address,
            state: State::Closed,
            retransmission: Time::NEVER,
            release: Time::NEVER,
            next_release: Time::ZERO,
            quantum_left: 0,
            una: FIRST_DATA,
            window: Window { cwnd: profile.initial_window * mss, ssthresh: u64::MAX, mss },
            phase: Phase::Open,
            scoreboard,
            algorithm,
            slow_start: SlowStart::new(slow_start),
            rto: Rto::new(&profile.rto_limits()),
            size,
            duplicate_acks: 0,
            limited_transmitted: 0,
            window_limited: true,
            recover: 0,
            retries: 0,
            timed: None,
            marks: Marks::default(),
            delivery: needs.deliveries.then(|| Box::new(DeliveryEstimator::new(mss))),
            rack: (profile.recovery == RecoveryKind::Rack).then(|| Box::new(Rack::new())),
            is_governed: needs.governs,
            is_paced: needs.pacing || profile.pacing,
            watches: needs.deliveries || profile.recovery == RecoveryKind::Rack || needs.pacing || profile.pacing,
            load_factor: if needs.load_factor { LoadFactor::Low.bits() } else { 0 },
            tick: Time::ZERO,
            latest_rtt: None,
            established_at: None,
            completed_at: None,
            statistics: SenderStatistics::default(),
            profile,
        }
    }

    /// What its algorithm needs of the stack and the receiver.
    pub fn needs(&self) -> Needs {
        self.algorithm.needs()
    }

    /// Its algorithm, as it stands.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The congestion window and its threshold.
    pub fn window(&self) -> Window {
        self.window
    }

    /// The latest RTT sample.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.latest_rtt
    }

    /// When the SYN was answered.
    pub fn established_at(&self) -> Option<Time> {
        self.established_at
    }

    /// When the last byte was acknowledged.
    pub fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    /// When its next timer but pacing's expires; `NEVER` when none is on.
    pub fn deadline(&self) -> Time {
        self.rack.as_ref().map_or(self.retransmission, |rack| self.retransmission.min(rack.deadline))
    }

    /// Opens the connection.
    pub fn open(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.state = State::SynSent;
        self.send_syn(now, outbox);
    }

    fn send_syn(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let stamp = self.timestamp(now);
        outbox.push(self.packet(0, stamp, self.profile.syn_size(), flags::SYN | self.profile.ecn_of_control()));
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

    /// The SYN was answered.
    pub fn on_syn_ack(&mut self, echo: Time, now: Time, outbox: &mut Vec<Packet>) {
        if self.state != State::SynSent {
            return;
        }
        self.state = State::Established;
        self.established_at = Some(now);
        self.retransmission = Time::NEVER;
        let syn_was_lost = self.retries > 0;
        if self.profile.timestamps {
            self.take_rtt(echo, now);
        } else if !syn_was_lost {
            self.take_exact_rtt(now.since(echo));
        }
        if syn_was_lost {
            self.rto.restart(self.profile.rto_after_syn_loss);
        }
        if self.retries > 1 {
            self.window.cwnd = self.profile.initial_window_after_syn_loss * self.window.mss;
        }
        self.retries = 0;
        self.send(now, outbox);
    }

    /// An acknowledgement arrived.
    pub fn on_ack(&mut self, ack: &Acknowledgement, now: Time, outbox: &mut Vec<Packet>) {
        let Acknowledgement { number, echo, options, .. } = *ack;
        let sacks = options.sacks.as_slice();
        if self.state != State::Established {
            return;
        }
        if number < self.una {
            return self.on_old_acknowledgement(number, sacks, now);
        }
        let acked = number - self.una;
        let prior_in_flight = self.scoreboard.pipe() * self.window.mss;
        let mut progress = Progress::default();
        if !sacks.is_empty() || acked > 0 {
            progress = self.take_arrivals(ack, now);
            self.una = number;
        }
        let rtt = if acked > 0 { self.sample_rtt(number, echo, now) } else { None };
        if acked > 0 {
            self.retries = 0;
            self.limited_transmitted = 0;
        }
        if self.rack.is_some() {
            self.rack_on_ack(sacks, &mut progress, now);
        }
        let marked = self.count_marks(ack, progress.delivered);
        let delivery = self.delivery_of(&progress, marked, rtt, prior_in_flight, now);
        if marked > 0 {
            self.on_marks(now);
        }
        let duplicate =
            if self.profile.sack { progress.newly_sacked > 0 } else { acked == 0 && self.scoreboard.outstanding() > 0 };
        let restart_timer = match &self.phase {
            Phase::Open => {
                if acked > 0 {
                    self.duplicate_acks = 0;
                    self.grow(&Growth { acked, marked, rtt, options }, now);
                }
                // By time, losses may come to light with any acknowledgement.
                if duplicate || (progress.newly_lost > 0 && self.rack.is_some()) {
                    self.on_duplicate(progress, now, outbox);
                }
                true
            }
            Phase::Recovery { point, .. } if self.ends_recovery(acked, *point) => {
                self.leave_recovery(now);
                // New data sent during the episode may be known to be lost: the next one begins.
                if self.knows_of_loss() {
                    self.enter_recovery(progress, now, outbox);
                }
                true
            }
            Phase::Recovery { .. } => self.on_ack_in_recovery(acked, progress, now, outbox),
            Phase::Loss { point } => {
                if self.una >= *point {
                    self.phase = Phase::Open;
                    self.duplicate_acks = 0;
                }
                if acked > 0 {
                    self.grow(&Growth { acked, marked, rtt, options }, now);
                }
                true
            }
        };
        if let Some(delivery) = delivery {
            let in_recovery = !matches!(self.phase, Phase::Open);
            self.algorithm.on_delivery(&mut self.window, &Delivery { in_recovery, ..delivery });
        }
        if acked > 0 {
            if self.scoreboard.outstanding() == 0 {
                self.retransmission = Time::NEVER; // RFC 6298 (5.2)
            } else if restart_timer {
                self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.3)
            }
            if self.size.is_some_and(|size| self.una > FIRST_DATA + size) {
                self.state = State::Completed;
                self.completed_at = Some(now);
                self.stop_timers();
                return;
            }
        }
        self.send(now, outbox);
        if acked > 0 && self.rack.is_some() {
            self.arm_probe(now);
        }
    }

    /// Tells the algorithm of each segment found lost, if it asks.
    #[inline(always)]
    pub(super) fn tell_losses(&mut self, now: Time) {
        if self.scoreboard.has_untold_losses() {
            self.tell_each_loss(now);
        }
    }

    fn tell_each_loss(&mut self, now: Time) {
        let Some(estimator) = &mut self.delivery else { return };
        while let Some(index) = self.scoreboard.next_untold_loss() {
            let loss = estimator.on_lost(index, now);
            self.algorithm.on_lost(&mut self.window, &loss);
        }
    }

    /// Enters what arrived into the scoreboard, and tells those who watch segments.
    fn take_arrivals(&mut self, ack: &Acknowledgement, now: Time) -> Progress {
        let sacks = ack.options.sacks.as_slice();
        if !self.watches {
            return self.scoreboard.on_acknowledgement(ack.number, sacks, |_| ());
        }
        let (delivery, rack) = (&mut self.delivery, &mut self.rack);
        // An exact clock's ticks last for no time: what it shows then ends before the next instant.
        let tick = self.profile.timestamp_clock.max(Duration(1));
        let echo_ended = self.profile.timestamps.then_some(ack.echo + tick);
        self.scoreboard.on_acknowledgement(ack.number, sacks, |index| {
            if let Some(delivery) = delivery {
                delivery.on_delivered(index, now);
            }
            if let Some(rack) = rack {
                rack.on_delivered(index, echo_ended, now);
            }
        })
    }

    /// What this acknowledgement delivered, for algorithms that ask.
    fn delivery_of(
        &mut self,
        progress: &Progress,
        marked: u64,
        rtt: Option<Duration>,
        prior_in_flight: u64,
        now: Time,
    ) -> Option<Delivery> {
        let lost_before = self.delivery.as_ref()?.lost();
        self.tell_losses(now);
        let estimator = self.delivery.as_mut()?;
        let mss = self.window.mss;
        Some(Delivery {
            now,
            delivered: progress.delivered * mss,
            total_delivered: estimator.delivered(),
            lost: estimator.lost() - lost_before,
            marked: marked * mss,
            rtt,
            srtt: self.rto.srtt(),
            prior_in_flight,
            in_flight: self.scoreboard.pipe() * mss,
            rate: estimator.take_sample(now),
            in_recovery: false,
        })
    }

    fn on_duplicate(&mut self, progress: Progress, now: Time, outbox: &mut Vec<Packet>) {
        // Without SACK, duplicates that answer needless retransmissions look like any (RFC 6582 section 3.2 step 2).
        let repeats = self.profile.recovery == RecoveryKind::Reno && self.profile.repeated_fast_retransmit;
        if !self.profile.sack && !repeats && self.una <= self.recover {
            return;
        }
        self.duplicate_acks += 1;
        let by_duplicates = self.rack.is_none() && self.duplicate_acks >= self.profile.duplicate_ack_threshold;
        if by_duplicates || self.knows_of_loss() {
            self.enter_recovery(progress, now, outbox);
        }
    }

    /// Whether a loss waits for its repair: by time any segment may, by counting the first is lost before the others.
    fn knows_of_loss(&mut self) -> bool {
        if self.rack.is_some() { self.scoreboard.next_lost().is_some() } else { self.scoreboard.first_is_lost() }
    }

    /// Grows the window, unless the sender did not use what it had, or is told of congestion.
    fn grow(&mut self, growth: &Growth, now: Time) {
        let Growth { acked, marked, rtt, options } = *growth;
        let mss = self.window.mss;
        let credit = match (self.profile.counting, self.window.in_slow_start()) {
            (Counting::Acknowledgements, _) | (Counting::Recommended, true) => acked.min(mss),
            // RFC 3465 sections 2.2 and 2.3: in slow start at most two segments, one after a timeout.
            (Counting::Bytes, true) if matches!(self.phase, Phase::Loss { .. }) => acked.min(mss),
            (Counting::Bytes, true) => acked.min(2 * mss),
            // An acknowledgement that leaps over a repaired hole is worth one window at most.
            (Counting::Recommended | Counting::Bytes, false) => acked.min(self.window.cwnd),
        };
        let mut ack = Ack {
            now,
            acked,
            credit,
            rtt,
            srtt: self.rto.srtt(),
            una: self.una,
            nxt: self.next_sequence(),
            in_flight: self.scoreboard.pipe() * mss,
            one_way_delay: options.one_way_delay,
            arrived: options.arrived,
            marked: marked * mss,
            load_factor: options.load_factor,
        };
        self.algorithm.on_ack(&self.window, &ack);
        if self.is_governed {
            return;
        }
        // RFC 3168 section 6.1.2: not in response to an acknowledgement with ECN-Echo.
        if !self.window_limited || marked > 0 {
            return;
        }
        if self.window.in_slow_start() {
            ack.credit = self
                .algorithm
                .increase_in_slow_start(&mut self.window, &ack)
                .unwrap_or_else(|| self.slow_start.increase(&mut self.window, &ack));
        }
        if ack.credit > 0 && !self.window.in_slow_start() {
            self.algorithm.increase(&mut self.window, &ack);
        }
    }

    fn sample_rtt(&mut self, number: u64, echo: Time, now: Time) -> Option<Duration> {
        if self.profile.timestamps {
            return self.take_rtt(echo, now);
        }
        let timed = self.timed.filter(|timed| number >= timed.end)?;
        self.timed = None;
        Some(self.take_exact_rtt(now.since(timed.sent)))
    }

    /// What the timestamp clock shows: the time, in whole ticks.
    fn timestamp(&mut self, now: Time) -> Time {
        let tick = self.profile.timestamp_clock.0;
        if tick == 0 || !self.profile.timestamps {
            return now;
        }
        if now.since(self.tick).0 >= tick {
            self.tick = Time(now.0 - now.0 % tick);
        }
        self.tick
    }

    /// A sample by timestamps.
    fn take_rtt(&mut self, echo: Time, now: Time) -> Option<Duration> {
        let rtt = self.timestamp(now).since(echo);
        if rtt == Duration::ZERO {
            return None;
        }
        Some(self.take_exact_rtt(rtt))
    }

    fn take_exact_rtt(&mut self, rtt: Duration) -> Duration {
        self.rto.sample(rtt, &self.profile.rto_limits());
        if let Some(rack) = &mut self.rack {
            rack.on_rtt(rtt);
        }
        self.statistics.on_rtt(rtt);
        self.latest_rtt = Some(rtt);
        rtt
    }

    /// A timer expired, at its deadline.
    pub fn on_timer(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        if self.rack.as_ref().is_some_and(|rack| rack.deadline <= now) && self.state == State::Established {
            self.on_rack_timer(now, outbox);
        } else {
            self.on_timeout(now, outbox);
        }
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        match self.state {
            State::SynSent => {
                if self.retries >= self.profile.syn_retries {
                    return self.abort(Abort::SynRetries);
                }
                self.retries += 1;
                self.rto.back_off();
                self.send_syn(now, outbox);
            }
            State::Established => {
                self.statistics.timeouts += 1;
                if self.retries >= self.profile.data_retries {
                    return self.abort(Abort::DataRetries);
                }
                // RFC 5681 section 3.1: the threshold stays when the segment was already sent again by timeout.
                if self.retries == 0 {
                    self.note_for_undo();
                    self.window.ssthresh = self.algorithm.reduce(&self.window, self.flight_size(), now);
                }
                self.retries += 1;
                self.rto.back_off();
                self.start_over(now, outbox);
            }
            State::Closed | State::Completed | State::Aborted(_) | State::Stopped => self.stop_timers(),
        }
    }

    /// Its application aborts the connection: ABORT of RFC 9293 section 3.10.5, without the reset, for nobody would act
    /// on it. False if there is nothing left to abort.
    pub fn stop(&mut self) -> bool {
        if matches!(self.state, State::Completed | State::Aborted(_)) {
            return false;
        }
        self.state = State::Stopped;
        self.stop_timers();
        self.release = Time::NEVER;
        true
    }

    fn abort(&mut self, cause: Abort) {
        self.state = State::Aborted(cause);
        self.stop_timers();
    }

    fn stop_timers(&mut self) {
        self.retransmission = Time::NEVER;
        if let Some(rack) = &mut self.rack {
            rack.deadline = Time::NEVER;
        }
    }
}
