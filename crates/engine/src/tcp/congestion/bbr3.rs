//! BBR version 3: draft-ietf-ccwg-bbr-06 (July 2026), whose sections and names are cited.
//!
//! Like the first version it paces at a multiple of the bandwidth and bounds what is in flight by a multiple of the
//! BDP. Beyond that, loss bounds both: for long what was in flight when probing lost too much, and until the next probe
//! what was delivered while packets were lost.

use std::sync::Arc;

use super::model::{self, Aggregation, HeldBack, PacingRate, PriorWindow, ProbeRtt, Rounds, WindowedMaximum};
use super::{Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs, RateSample};
use crate::about::About;
use crate::parameters;
use crate::random::{Purpose, Random};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    /// What can be set of BBR version 3.
    pub struct Bbr3Parameters {
        startup_pacing_gain: f64 = 2.77, in 1 .. 100, "Pacing gain of Startup", "section 2.5, BBR.StartupPacingGain: 4 ln 2";
        drain_pacing_gain: f64 = 0.5, in 0.01 .. 1, "Pacing gain of Drain", "section 2.5, BBR.DrainPacingGain";
        cwnd_gain: f64 = 2.0, in 1 .. 100, "Multiple of the BDP that may be in flight but for ProbeBW_UP and ProbeRTT", "section 2.6, BBR.DefaultCwndGain";
        up_pacing_gain: f64 = 1.25, in 1 .. 100, "Pacing gain of ProbeBW_UP", "section 5.6.1";
        up_cwnd_gain: f64 = 2.25, in 1 .. 100, "Multiple of the BDP that may be in flight in ProbeBW_UP", "section 5.6.1";
        down_pacing_gain: f64 = 0.9, in 0.01 .. 1, "Pacing gain of ProbeBW_DOWN", "section 5.3.3.1";
        loss_threshold: f64 = 0.02, in 0 .. 0.9, "Share of losses that a probe for bandwidth may cause", "section 2.8, BBR.LossThresh";
        beta: f64 = 0.7, in 0 .. 1, "What remains at least of the bounds after a round with losses", "section 2.8, BBR.Beta";
        headroom: f64 = 0.15, in 0 .. 1, "Share of the long-term bound left to others while cruising", "section 2.8, BBR.Headroom";
        least_window: u64 = 4, in 1 .. 1000, "Segments of the least window", "section 2.8, BBR.MinPipeCwnd";
        full_bandwidth_threshold: f64 = 1.25, in 1 .. 100, "Growth of the delivery rate in a round below which the pipe is found full", "section 5.3.1.2";
        full_bandwidth_rounds: u64 = 3, in 1 .. 10000, "Rounds of no such growth that fill the pipe", "section 5.3.1.2";
        startup_loss_ranges: u64 = 6, in 1 .. 10000, "Ranges lost in a round, with too many losses, that end Startup", "section 5.3.1.3, BBRStartupFullLossCnt";
        extra_acked_rounds: u64 = 10, in 1 .. 10000, "Rounds for which lumps of acknowledgements are remembered", "section 2.12, BBR.ExtraAckedFilterLen";
        probe_wait: Duration = Duration::from_seconds(2), "Least time from one probe for bandwidth to the next, unless Reno's time scale is shorter", "section 5.3.3.8.2, T_bbr";
        probe_wait_spread: Duration = Duration::from_seconds(1), "Random time added to it", "section 5.3.3.8.2, T_bbr";
        reno_rounds: u64 = 63, in 1 .. 1000000, "Most rounds from one probe for bandwidth to the next", "section 5.3.3.8.2, T_reno_bound";
        min_rtt_filter: Duration = Duration::from_seconds(10), "Time for which the least round-trip time is believed", "section 2.16.1, BBR.MinRTTFilterLen";
        probe_rtt_interval: Duration = Duration::from_seconds(5), "Time without as short a round trip after which ProbeRTT comes", "section 2.16.2, BBR.ProbeRTTInterval";
        probe_rtt_time: Duration = Duration::from_milliseconds(200), "Least time in ProbeRTT", "section 2.16.2, BBR.ProbeRTTDuration";
        probe_rtt_cwnd_gain: f64 = 0.5, in 0 .. 1, "Multiple of the BDP that may be in flight in ProbeRTT", "section 2.16.2, BBR.ProbeRTTCwndGain";
        pacing_margin: f64 = 0.01, in 0 .. 0.5, "Share by which it paces below what a gain says", "section 2.5, BBR.PacingMarginPercent";
    }
}

/// Cycles for which a bandwidth is remembered besides the present one (section 2.11, BBR.MaxBwFilterLen = 2).
const BANDWIDTH_CYCLES: u64 = 1;

/// Seconds that a quantum lasts at the pacing rate, its most bytes and least segments (section 5.6.3).
const QUANTUM_TIME: f64 = 0.001;
const QUANTUM_BYTES: u64 = 64 * 1024;
const QUANTUM_SEGMENTS: u64 = 2;

/// Quanta between the ends of a TCP connection that offloads (section 5.5.8.1).
const QUANTA: u64 = 3;

/// No bound on what is in flight.
const UNBOUNDED: u64 = u64::MAX;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// IsProbingBW().
    fn accelerates(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// BBR.ack_phase, of which REFILLING and INIT make no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Idle,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    parameters: Arc<Bbr3Parameters>,
    state: Box<State>,
}

#[derive(Clone, Debug)]
struct State {
    random: Random,
    started: bool,
    initial_cwnd: u64,
    /// C.delivered, as last told.
    delivered: u64,
    mode: Mode,
    rounds: Rounds,
    round_start: bool,
    drain_start_round: u64,
    pacing_rate: PacingRate,
    max_bw: WindowedMaximum,
    cycle_count: u64,
    /// BBR.bw: the bandwidth within its short-term bound.
    bw: f64,
    bw_shortterm: f64,
    bw_latest: f64,
    inflight_longterm: u64,
    inflight_shortterm: u64,
    inflight_latest: u64,
    is_loss_in_round: bool,
    loss_round_start: bool,
    loss_round_delivered: u64,
    /// Bytes marked since the loss round began, which count as lost.
    marked_in_round: u64,
    /// Ranges lost since the loss round began, and the latest segment lost.
    lost_ranges: u64,
    last_lost: Option<u64>,
    full_bw: f64,
    full_bw_count: u64,
    full_bw_now: bool,
    full_bw_reached: bool,
    aggregation: Aggregation,
    extra_acked: WindowedMaximum,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u64,
    probe_up_acked_per_increment: u64,
    rounds_since_probe_up: u64,
    bw_probe_wait: Duration,
    cycle_stamp: Time,
    /// Whether the window was full in the present round, and in the one before.
    cwnd_limited: (bool, bool),
    min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt: ProbeRtt,
    held_back: HeldBack,
    idle_restart: bool,
    prior: PriorWindow,
    undo: Undo,
}

/// What a needless recovery gives back (section 5.5.11).
#[derive(Clone, Copy, Debug)]
struct Undo {
    saved: Option<Time>,
    mode: Option<Mode>,
    bw_shortterm: f64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

impl State {
    /// OnInit() of section 5.2.1, but for what the first acknowledgement tells.
    fn new() -> State {
        State {
            random: Random::stream(0, Purpose::CongestionControl, 0),
            started: false,
            initial_cwnd: 0,
            delivered: 0,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            round_start: false,
            drain_start_round: 0,
            pacing_rate: PacingRate::default(),
            max_bw: WindowedMaximum::default(),
            cycle_count: 0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_longterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            inflight_latest: 0,
            is_loss_in_round: false,
            loss_round_start: false,
            loss_round_delivered: 0,
            marked_in_round: 0,
            lost_ranges: 0,
            last_lost: None,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            aggregation: Aggregation::default(),
            extra_acked: WindowedMaximum::default(),
            ack_phase: AckPhase::Idle,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0,
            probe_up_acked_per_increment: UNBOUNDED,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: Time::ZERO,
            cwnd_limited: (false, false),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt: ProbeRtt::default(),
            held_back: HeldBack::default(),
            idle_restart: false,
            prior: PriorWindow::default(),
            undo: Undo { saved: None, mode: None, bw_shortterm: 0.0, inflight_shortterm: 0, inflight_longterm: 0 },
        }
    }

    fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = UNBOUNDED;
    }

    fn reset_full_bw(&mut self, baseline: f64) {
        self.full_bw = baseline;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// SaveCwnd() of section 5.6.4.4.
    fn save_cwnd(&mut self, window: &Window) {
        self.prior.save(window, self.mode == Mode::ProbeRtt);
    }

    /// SaveStateUponLoss() of section 5.5.11.1. Of losses that come to light together the first saves, before any of
    /// them changes what is saved.
    fn save_state(&mut self, window: &Window, now: Time) {
        if self.undo.saved == Some(now) {
            return;
        }
        self.save_cwnd(window);
        self.undo = Undo {
            saved: Some(now),
            mode: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// NoteLoss() of section 5.5.10.2.
    fn note_loss(&mut self, window: &Window, total_delivered: u64, now: Time) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = total_delivered;
            self.save_state(window, now);
        }
        self.is_loss_in_round = true;
    }

    /// C.is_cwnd_limited: whether the window was full at some time in the last round.
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.0 || self.cwnd_limited.1
    }
}

/// An acknowledgement at hand with a delivery rate.
#[derive(Clone, Copy)]
struct Sampled<'a> {
    delivery: &'a Delivery,
    sample: RateSample,
    /// RS.delivery_rate.
    rate: f64,
    /// RS.is_app_limited.
    app_limited: bool,
}

impl Bbr3 {
    /// What it is.
    pub const ABOUT: About = About {
        name: "bbr3",
        aliases: &["bbrv3"],
        title: "BBR version 3",
        class: "model",
        year: 2026,
        source: "draft-ietf-ccwg-bbr-06",
        departures: "congestion marks count as losses, for which the draft leaves the response open; without selective \
                     acknowledgements it is as with them; a delivery rate that is not reliable ends no round, as in Linux; a \
                     needless recovery gives back what was before its first loss, where the draft saves it once more after; \
                     the least round-trip time starts with the first segment acknowledged, not with the handshake; segments \
                     leave one by one, so that the quanta of segmentation offload count in the window only",
    };

    /// A fresh BBR version 3.
    pub fn new(parameters: Arc<Bbr3Parameters>) -> Bbr3 {
        Bbr3 { parameters, state: Box::new(State::new()) }
    }

    /// The table of section 5.6.1.
    fn pacing_gain(&self) -> f64 {
        match self.state.mode {
            Mode::Startup => self.parameters.startup_pacing_gain,
            Mode::Drain => self.parameters.drain_pacing_gain,
            Mode::Down => self.parameters.down_pacing_gain,
            Mode::Up => self.parameters.up_pacing_gain,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => 1.0,
        }
    }

    /// The same.
    fn cwnd_gain(&self) -> f64 {
        match self.state.mode {
            Mode::Up => self.parameters.up_cwnd_gain,
            Mode::ProbeRtt => self.parameters.probe_rtt_cwnd_gain,
            _ => self.parameters.cwnd_gain,
        }
    }

    fn least_window(&self, mss: u64) -> u64 {
        self.parameters.least_window * mss
    }

    /// BDPMultiple() of section 5.6.4.2, of this bandwidth.
    fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        match self.state.min_rtt {
            Some(min_rtt) => (gain * bandwidth * min_rtt.seconds()) as u64,
            None => self.state.initial_cwnd,
        }
    }

    /// SetSendQuantum() of section 5.6.3.
    fn quantum(&self, mss: u64) -> u64 {
        ((self.state.pacing_rate.get() * QUANTUM_TIME) as u64).min(QUANTUM_BYTES).max(QUANTUM_SEGMENTS * mss)
    }

    /// QuantizationBudget() of section 5.6.4.2.
    fn with_quanta(&self, bytes: u64, mss: u64) -> u64 {
        let bytes = bytes.max(QUANTA * self.quantum(mss)).max(self.least_window(mss));
        if self.state.mode == Mode::Up { bytes + 2 * mss } else { bytes }
    }

    /// Inflight() of section 5.6.4.2.
    fn inflight(&self, bandwidth: f64, mss: u64) -> u64 {
        self.with_quanta(self.bdp(bandwidth, 1.0), mss)
    }

    /// TargetInflight() of section 5.3.3.8.3.
    fn target_inflight(&self, window: &Window) -> u64 {
        self.bdp(self.state.bw, 1.0).min(window.cwnd)
    }

    /// InflightWithHeadroom() of section 5.3.3.9.
    fn inflight_with_headroom(&self, mss: u64) -> u64 {
        let longterm = self.state.inflight_longterm;
        if longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = ((self.parameters.headroom * longterm as f64) as u64).max(mss);
        longterm.saturating_sub(headroom).max(self.least_window(mss))
    }

    fn start(&mut self, window: &Window, delivery: &Delivery) {
        if !self.state.started {
            self.state.started = true;
            self.state.initial_cwnd = window.cwnd;
            self.state.min_rtt_stamp = delivery.now;
            self.state.probe_rtt_min_stamp = delivery.now;
            self.state.aggregation.restart(delivery.now);
        }
        if self.state.pacing_rate.awaits(delivery.srtt) {
            self.state.pacing_rate.set(self.first_pacing_rate(window, delivery.srtt));
        }
    }

    /// InitPacingRate() of section 5.6.2.
    fn first_pacing_rate(&self, window: &Window, srtt: Duration) -> f64 {
        self.parameters.startup_pacing_gain * window.cwnd as f64 / model::assumed_rtt(srtt)
    }

    /// UpdateModelAndState() of section 5.2.3.
    fn update_model(&mut self, window: &mut Window, ack: &Sampled) {
        self.update_latest_delivery_signals(ack);
        self.update_congestion_signals(window, ack);
        self.update_ack_aggregation(window, ack);
        self.check_full_bw_reached(ack);
        self.check_startup_done(window, ack);
        self.check_drain_done(window, ack);
        self.update_probe_bw(window, ack);
        self.update_min_rtt(ack);
        self.check_probe_rtt(window, ack);
        self.advance_latest_delivery_signals(ack);
        self.state.bw = self.state.max_bw.get().min(self.state.bw_shortterm);
    }

    /// Section 5.5.10.3.
    fn update_latest_delivery_signals(&mut self, ack: &Sampled) {
        let state = &mut *self.state;
        state.bw_latest = state.bw_latest.max(ack.rate);
        state.inflight_latest = state.inflight_latest.max(ack.sample.delivered);
        state.loss_round_start = ack.sample.prior_delivered >= state.loss_round_delivered;
        if state.loss_round_start {
            state.loss_round_delivered = ack.delivery.total_delivered;
        }
    }

    /// Section 5.5.10.3.
    fn advance_latest_delivery_signals(&mut self, ack: &Sampled) {
        let state = &mut *self.state;
        if state.loss_round_start {
            state.bw_latest = ack.rate;
            state.inflight_latest = ack.sample.delivered;
            state.marked_in_round = 0;
            state.lost_ranges = 0;
        }
    }

    /// Section 5.5.10.3.
    fn update_congestion_signals(&mut self, window: &Window, ack: &Sampled) {
        self.update_max_bw(ack);
        if !self.state.loss_round_start {
            return;
        }
        if self.state.is_loss_in_round && !self.state.mode.accelerates() {
            self.adapt_lower_bounds(window);
        }
        self.state.is_loss_in_round = false;
    }

    /// UpdateMaxBw() of section 5.5.5 and UpdateRound() of section 5.5.1.
    fn update_max_bw(&mut self, ack: &Sampled) {
        let state = &mut *self.state;
        state.round_start = state.rounds.update(&ack.sample, ack.delivery.total_delivered);
        if state.round_start {
            state.rounds_since_probe_up += 1;
            state.cwnd_limited = (false, state.cwnd_limited.0);
        }
        if !ack.app_limited || ack.rate >= state.max_bw.get() {
            state.max_bw.update(ack.rate, state.cycle_count, BANDWIDTH_CYCLES);
        }
    }

    /// InitLowerBounds() and LossLowerBounds() of section 5.5.10.3.
    fn adapt_lower_bounds(&mut self, window: &Window) {
        let beta = self.parameters.beta;
        let state = &mut *self.state;
        let bw = if state.bw_shortterm.is_finite() { state.bw_shortterm } else { state.max_bw.get() };
        let inflight = if state.inflight_shortterm == UNBOUNDED { window.cwnd } else { state.inflight_shortterm };
        state.bw_shortterm = state.bw_latest.max(beta * bw);
        state.inflight_shortterm = state.inflight_latest.max((beta * inflight as f64) as u64);
    }

    /// Section 5.5.9.
    fn update_ack_aggregation(&mut self, window: &Window, ack: &Sampled) {
        let rounds = if self.state.full_bw_reached { self.parameters.extra_acked_rounds } else { 1 };
        let state = &mut *self.state;
        let extra = state.aggregation.excess(ack.delivery, state.bw, window.cwnd);
        state.extra_acked.update(extra as f64, state.rounds.count, rounds - 1);
    }

    /// Section 5.3.1.2.
    fn check_full_bw_reached(&mut self, ack: &Sampled) {
        let state = &mut *self.state;
        if state.full_bw_now || !state.round_start || ack.app_limited {
            return;
        }
        if ack.rate >= self.parameters.full_bandwidth_threshold * state.full_bw {
            state.reset_full_bw(ack.rate);
            return;
        }
        state.full_bw_count += 1;
        state.full_bw_now = state.full_bw_count >= self.parameters.full_bandwidth_rounds;
        state.full_bw_reached |= state.full_bw_now;
    }

    /// Sections 5.3.1.1 and 5.3.2.
    fn check_startup_done(&mut self, window: &mut Window, ack: &Sampled) {
        self.check_startup_high_loss(ack);
        if self.state.mode == Mode::Startup && self.state.full_bw_reached {
            self.state.mode = Mode::Drain;
            self.state.drain_start_round = self.state.rounds.count;
            window.ssthresh = self.inflight(self.state.bw, window.mss);
        }
    }

    /// Section 5.3.1.3. A loss round begins with the first loss, so that its end is a full round of recovery later.
    fn check_startup_high_loss(&mut self, ack: &Sampled) {
        let in_recovery = ack.delivery.in_recovery && self.state.prior.was_in_recovery;
        if self.state.full_bw_reached
            || !(self.state.loss_round_start && in_recovery)
            || self.state.lost_ranges < self.parameters.startup_loss_ranges
            || !self.is_inflight_too_high(ack.sample.lost, ack.sample.in_flight_when_sent)
        {
            return;
        }
        self.state.undo.mode = Some(Mode::Startup);
        self.state.full_bw_reached = true;
        self.state.inflight_longterm = self.bdp(self.state.bw, 1.0).max(self.state.inflight_latest);
    }

    /// Section 5.3.2.
    fn check_drain_done(&mut self, window: &Window, ack: &Sampled) {
        let takes_long = self.state.rounds.count > self.state.drain_start_round + 3;
        let is_drained = ack.delivery.in_flight <= self.inflight(self.state.bw, window.mss);
        if self.state.mode == Mode::Drain && (is_drained || takes_long) {
            self.start_down(ack.delivery.now, ack.delivery.total_delivered);
        }
    }

    /// StartProbeBW_DOWN() of section 5.3.3.9, PickProbeWait() of section 5.3.3.8.3.
    fn start_down(&mut self, now: Time, total_delivered: u64) {
        let state = &mut *self.state;
        state.reset_congestion_signals();
        state.probe_up_acked_per_increment = UNBOUNDED;
        state.rounds_since_probe_up = u64::from(state.random.unit() >= 0.5);
        state.bw_probe_wait = self.parameters.probe_wait + state.random.below(self.parameters.probe_wait_spread);
        state.cycle_stamp = now;
        state.ack_phase = AckPhase::ProbeStopping;
        state.rounds.restart(total_delivered);
        state.mode = Mode::Down;
    }

    fn start_refill(&mut self, total_delivered: u64) {
        let state = &mut *self.state;
        state.reset_short_term_model();
        state.bw_probe_up_rounds = 0;
        state.bw_probe_up_acked = 0;
        state.prev_probe_precautionary = false;
        state.ack_phase = AckPhase::Idle;
        state.rounds.restart(total_delivered);
        state.mode = Mode::Refill;
    }

    fn start_up(&mut self, window: &Window, ack: &Sampled) {
        let state = &mut *self.state;
        state.ack_phase = AckPhase::ProbeStarting;
        state.rounds.restart(ack.delivery.total_delivered);
        state.reset_full_bw(ack.rate);
        state.mode = Mode::Up;
        self.raise_inflight_longterm_slope(window);
    }

    /// UpdateProbeBWCyclePhase() of section 5.3.3.9.
    fn update_probe_bw(&mut self, window: &Window, ack: &Sampled) {
        if !self.state.full_bw_reached || self.adapt_long_term_model(window, ack) {
            return;
        }
        let Delivery { now, total_delivered, .. } = *ack.delivery;
        let mode = self.state.mode;
        match mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(window, now) => self.start_refill(total_delivered),
            Mode::Down if self.is_time_to_cruise(window, ack) => self.state.mode = Mode::Cruise,
            Mode::Refill if self.state.round_start => {
                self.state.is_bw_probe_sample = true;
                self.start_up(window, ack);
            }
            Mode::Up if self.is_time_to_go_down(window, ack) => {
                self.state.prev_probe_too_high = false;
                self.start_down(now, total_delivered);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW() of section 5.3.3.8.3: after a time, or after as many rounds as Reno would take.
    fn is_time_to_probe(&self, window: &Window, now: Time) -> bool {
        let segments = self.target_inflight(window).div_ceil(window.mss);
        now > self.state.cycle_stamp + self.state.bw_probe_wait
            || self.state.rounds_since_probe_up >= segments.min(self.parameters.reno_rounds)
    }

    fn is_time_to_cruise(&self, window: &Window, ack: &Sampled) -> bool {
        let in_flight = ack.delivery.in_flight;
        in_flight <= self.inflight_with_headroom(window.mss)
            && in_flight <= self.inflight(self.state.max_bw.get(), window.mss)
    }

    fn is_time_to_go_down(&mut self, window: &Window, ack: &Sampled) -> bool {
        let is_limited = self.state.is_cwnd_limited();
        let state = &mut *self.state;
        if state.prev_probe_too_high && ack.delivery.in_flight >= state.inflight_longterm {
            state.prev_probe_precautionary = true;
            return true;
        }
        if is_limited && window.cwnd >= state.inflight_longterm {
            state.reset_full_bw(ack.rate);
            return false;
        }
        state.full_bw_now
    }

    fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth_this_round = 1 << self.state.bw_probe_up_rounds;
        self.state.bw_probe_up_rounds = (self.state.bw_probe_up_rounds + 1).min(30);
        self.state.probe_up_acked_per_increment = (window.cwnd / growth_this_round).max(window.mss);
    }

    fn probe_inflight_longterm_upward(&mut self, window: &Window, ack: &Sampled) {
        if !self.state.is_cwnd_limited() || window.cwnd < self.state.inflight_longterm {
            return;
        }
        let state = &mut *self.state;
        state.bw_probe_up_acked += ack.delivery.delivered;
        let increments = state.bw_probe_up_acked / state.probe_up_acked_per_increment;
        state.bw_probe_up_acked %= state.probe_up_acked_per_increment;
        state.inflight_longterm += increments * window.mss;
        if state.round_start {
            self.raise_inflight_longterm_slope(window);
        }
    }

    /// AdaptLongTermModel() of section 5.3.3.9. Returns whether it changed the state.
    fn adapt_long_term_model(&mut self, window: &Window, ack: &Sampled) -> bool {
        if self.state.round_start && self.advance_ack_phase(ack) {
            return true;
        }
        let sample = &ack.sample;
        if self.is_inflight_too_high(sample.lost, sample.in_flight_when_sent)
            || self.state.inflight_longterm == UNBOUNDED
        {
            return false;
        }
        self.state.inflight_longterm = self.state.inflight_longterm.max(sample.in_flight_when_sent);
        if self.state.mode == Mode::Up {
            self.probe_inflight_longterm_upward(window, ack);
        }
        false
    }

    /// What a round's end says of the acknowledgements to come; the rest as above.
    fn advance_ack_phase(&mut self, ack: &Sampled) -> bool {
        let state = &mut *self.state;
        match state.ack_phase {
            AckPhase::ProbeStarting => state.ack_phase = AckPhase::ProbeFeedback,
            AckPhase::ProbeStopping => {
                state.is_bw_probe_sample = false;
                state.ack_phase = AckPhase::Idle;
                if state.mode.is_probe_bw() && !ack.app_limited {
                    state.cycle_count += 1;
                }
                if state.mode.is_probe_bw() && state.prev_probe_precautionary && !state.prev_probe_too_high {
                    self.start_refill(ack.delivery.total_delivered);
                    return true;
                }
            }
            AckPhase::Idle | AckPhase::ProbeFeedback => {}
        }
        false
    }

    /// IsInflightTooHigh() of section 5.5.10.2.
    fn is_inflight_too_high(&self, lost: u64, in_flight_when_sent: u64) -> bool {
        (lost + self.state.marked_in_round) as f64 > self.parameters.loss_threshold * in_flight_when_sent as f64
    }

    /// HandleInflightTooHigh() of section 5.5.10.2.
    fn handle_inflight_too_high(&mut self, window: &Window, loss: &LostSegment, in_flight: u64) {
        let least = (self.parameters.beta * self.target_inflight(window) as f64) as u64;
        self.state.prev_probe_too_high = true;
        self.state.is_bw_probe_sample = false;
        if !loss.app_limited {
            self.state.inflight_longterm = in_flight.max(least);
        }
        if self.state.mode == Mode::Up {
            self.state.undo.mode = Some(Mode::Up);
            self.start_down(loss.now, loss.total_delivered);
        }
    }

    /// Marks count as losses of a probe, too: of what was in flight when the segment acknowledged was sent.
    fn on_marked(&mut self, window: &Window, delivery: &Delivery) {
        let Delivery { now, total_delivered, marked, .. } = *delivery;
        self.state.note_loss(window, total_delivered, now);
        self.state.marked_in_round += marked;
        if let Some(RateSample { lost, in_flight_when_sent, app_limited, .. }) = delivery.rate
            && self.state.is_bw_probe_sample
            && self.is_inflight_too_high(lost, in_flight_when_sent)
        {
            let loss = LostSegment { now, segment: 0, in_flight_when_sent, lost, app_limited, total_delivered };
            self.handle_inflight_too_high(window, &loss, in_flight_when_sent);
        }
    }

    /// InflightAtLoss() of section 5.5.10.2: how much was in flight when losses crossed the threshold.
    fn inflight_at_loss(&self, loss: &LostSegment, mss: u64) -> u64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_before = loss.in_flight_when_sent.saturating_sub(mss) as f64;
        let lost_before = loss.lost.saturating_sub(mss) as f64;
        let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
        (inflight_before + lost_prefix) as u64
    }

    /// Section 5.3.4.3.
    fn update_min_rtt(&mut self, ack: &Sampled) {
        let now = ack.delivery.now;
        let Bbr3Parameters { probe_rtt_interval, min_rtt_filter, .. } = *self.parameters;
        let state = &mut *self.state;
        state.probe_rtt_expired = now > state.probe_rtt_min_stamp + probe_rtt_interval;
        if let Some(rtt) = ack.sample.rtt
            && (state.probe_rtt_expired || state.probe_rtt_min_delay.is_none_or(|least| rtt < least))
        {
            state.probe_rtt_min_delay = Some(rtt);
            state.probe_rtt_min_stamp = now;
        }
        let has_expired = now > state.min_rtt_stamp + min_rtt_filter;
        if let Some(delay) = state.probe_rtt_min_delay
            && (has_expired || state.min_rtt.is_none_or(|least| delay < least))
        {
            state.min_rtt = Some(delay);
            state.min_rtt_stamp = state.probe_rtt_min_stamp;
        }
    }

    /// Section 5.3.4.3.
    fn check_probe_rtt(&mut self, window: &mut Window, ack: &Sampled) {
        let state = &mut *self.state;
        if state.mode != Mode::ProbeRtt && state.probe_rtt_expired && !state.idle_restart {
            state.mode = Mode::ProbeRtt;
            state.save_cwnd(window);
            state.probe_rtt = ProbeRtt::default();
            state.ack_phase = AckPhase::ProbeStopping;
            state.rounds.restart(ack.delivery.total_delivered);
        }
        if state.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(window, ack);
        }
        self.state.idle_restart = false;
    }

    /// Section 5.3.4.3.
    fn handle_probe_rtt(&mut self, window: &mut Window, ack: &Sampled) {
        let Delivery { now, in_flight, total_delivered, .. } = *ack.delivery;
        let is_reached = in_flight <= self.probe_rtt_cwnd(window.mss);
        let state = &mut *self.state;
        state.held_back.extend(ack.delivery);
        let time = self.parameters.probe_rtt_time;
        if state.probe_rtt.advance(ack.delivery, is_reached, time, state.round_start, &mut state.rounds) {
            self.check_probe_rtt_done(window, now, total_delivered);
        }
    }

    /// CheckProbeRTTDone() of section 5.3.4.3, ExitProbeRTT() of section 5.3.4.4.
    fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time, total_delivered: u64) {
        if !self.state.probe_rtt.is_over(now) {
            return;
        }
        self.state.probe_rtt_min_stamp = now;
        window.cwnd = window.cwnd.max(self.state.prior.cwnd);
        self.state.reset_short_term_model();
        if self.state.full_bw_reached {
            self.start_down(now, total_delivered);
            self.state.mode = Mode::Cruise;
        } else {
            self.state.mode = Mode::Startup;
        }
    }

    /// ProbeRTTCwnd() of section 5.6.4.5.
    fn probe_rtt_cwnd(&self, mss: u64) -> u64 {
        self.bdp(self.state.bw, self.parameters.probe_rtt_cwnd_gain).max(self.least_window(mss))
    }

    /// SetPacingRateWithGain() of section 5.6.2.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.state.bw * (1.0 - self.parameters.pacing_margin);
        self.state.pacing_rate.follow(rate, self.state.full_bw_reached);
    }

    /// The end of a recovery gives the window back (section 5.6.4.4).
    fn follow_recovery(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.state.prior.was_in_recovery && !delivery.in_recovery {
            window.cwnd = window.cwnd.max(self.state.prior.cwnd);
        }
        self.state.prior.was_in_recovery = delivery.in_recovery;
    }

    /// SetCwnd() of section 5.6.4.6.
    fn set_cwnd(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = window.mss;
        let max_inflight = self.bdp(self.state.bw, self.cwnd_gain()) + self.state.extra_acked.get() as u64;
        let max_inflight = self.with_quanta(max_inflight, mss);
        if self.state.full_bw_reached {
            window.cwnd = (window.cwnd + delivery.delivered).min(max_inflight);
        } else if window.cwnd < max_inflight || delivery.total_delivered < self.state.initial_cwnd {
            window.cwnd += delivery.delivered;
        }
        window.cwnd = window.cwnd.max(self.least_window(mss));
        if self.state.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd(mss));
        }
        window.cwnd = window.cwnd.min(self.cap(mss));
    }

    /// BoundCwndForModel() of section 5.6.4.7.
    fn cap(&self, mss: u64) -> u64 {
        let longterm = match self.state.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.state.inflight_longterm,
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(mss),
            Mode::Startup | Mode::Drain => UNBOUNDED,
        };
        longterm.min(self.state.inflight_shortterm).max(self.least_window(mss))
    }

    /// HandleSpuriousLossDetection() of section 5.5.11.2.
    fn handle_spurious_loss(&mut self, window: &mut Window) {
        let state = &mut *self.state;
        window.cwnd = window.cwnd.max(state.prior.cwnd);
        state.is_loss_in_round = false;
        state.reset_full_bw(0.0);
        state.bw_shortterm = state.bw_shortterm.max(state.undo.bw_shortterm);
        state.inflight_shortterm = state.inflight_shortterm.max(state.undo.inflight_shortterm);
        state.inflight_longterm = state.inflight_longterm.max(state.undo.inflight_longterm);
        let may_return = state.mode != Mode::ProbeRtt;
        match state.undo.mode.take() {
            Some(Mode::Startup) if state.mode != Mode::Startup => {
                state.full_bw_reached = false;
                if may_return {
                    state.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if state.mode != Mode::Up && may_return => {
                let delivered = state.delivered;
                self.start_refill(delivered);
            }
            _ => {}
        }
    }
}

impl CongestionControl for Bbr3 {
    /// The window grows in [`CongestionControl::on_delivery`] alone.
    fn increase(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// OnEnterFastRecovery() and OnEnterRTO() of section 5.6.4.4. The threshold stays, since the window does not follow
    /// it. Marks are dealt with as they are delivered.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { .. } => self.state.save_state(window, now),
            CongestionEvent::Ecn { .. } => {}
            CongestionEvent::Timeout => self.state.prior.was_in_recovery = true,
            CongestionEvent::Spurious => self.handle_spurious_loss(window),
        }
    }

    /// HandleLostPacket() of section 5.5.10.2.
    fn on_segment_lost(&mut self, window: &mut Window, loss: &LostSegment) {
        self.state.note_loss(window, loss.total_delivered, loss.now);
        if self.state.last_lost.is_none_or(|last| loss.segment != last + 1) {
            self.state.lost_ranges += 1;
        }
        self.state.last_lost = Some(loss.segment);
        if self.state.is_bw_probe_sample && self.is_inflight_too_high(loss.lost, loss.in_flight_when_sent) {
            let in_flight = self.inflight_at_loss(loss, window.mss);
            self.handle_inflight_too_high(window, loss, in_flight);
        }
    }

    /// UpdateOnACK() of section 5.2.3.
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.start(window, delivery);
        self.state.delivered = delivery.total_delivered;
        self.state.cwnd_limited.0 |= delivery.prior_in_flight + window.mss > window.cwnd;
        if delivery.marked > 0 {
            self.on_marked(window, delivery);
        }
        if let Some((sample, rate)) = model::rate_of(delivery) {
            let app_limited = self.state.held_back.is_app_limited(&sample);
            self.update_model(window, &Sampled { delivery, sample, rate, app_limited });
            self.set_pacing_rate(self.pacing_gain());
        }
        self.follow_recovery(window, delivery);
        self.set_cwnd(window, delivery);
    }

    /// HandleRestartFromIdle() of section 5.4.1.
    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.state.idle_restart = true;
        self.state.aggregation.restart(now);
        if self.state.mode.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(window, now, self.state.delivered);
        }
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        self.quantum(mss)
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.state.pacing_rate.or_first(|| self.first_pacing_rate(window, srtt)))
    }

    fn take_random(&mut self, random: Random) {
        self.state.random = random;
    }

    fn needs(&self) -> Needs {
        model::needs()
    }
}
