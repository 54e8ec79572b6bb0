//! BBR version 1: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM
//! Queue 14 (2016). The algorithm and its constants are those of Linux 5.x, net/ipv4/tcp_bbr.c; comments give the names
//! used there. draft-cardwell-iccrg-bbr-congestion-control-00 explains them.
//!
//! The sender paces at a multiple of the maximum recent delivery rate (BtlBw) and limits the data in flight to a
//! multiple of the BDP, which is BtlBw times the minimum recent RTT. The mode determines the multiples.

mod linux;
mod ns3;

use std::sync::Arc;

use super::model::{self, Aggregation, HeldBack, PacingRate, PriorWindow, ProbeRtt, Rounds, WindowedMaximum};
use super::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::about::{About, Listed};
use crate::random::{Purpose, Random};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;
use crate::{choice, parameters};

use linux::{Change, LongTerm, RunningMaximum};
use ns3::Socket;

choice! {
    /// Whose rules it follows.
    pub enum Rules {
        Published = "published",
        Linux = "linux",
        Ns3 = "ns3",
    }
}

parameters! {
    /// Parameters of BBR.
    pub struct BbrParameters {
        high_gain: f64 = 2.885, in 1 .. 100, "Pacing and window gain in STARTUP; DRAIN paces at its inverse", "tcp_bbr.c, bbr_high_gain: 2/ln 2";
        cwnd_gain: f64 = 2.0, in 1 .. 100, "Window in PROBE_BW, as a multiple of the BDP", "tcp_bbr.c, bbr_cwnd_gain";
        probing_gain: f64 = 1.25, in 1 .. 100, "Pacing gain of the PROBE_BW phase that probes for bandwidth", "tcp_bbr.c, bbr_pacing_gain[0]";
        draining_gain: f64 = 0.75, in 0.01 .. 1, "Pacing gain of the next PROBE_BW phase, which drains the queue", "tcp_bbr.c, bbr_pacing_gain[1]";
        bandwidth_rounds: u64 = 10, in 0 .. 10000, "Rounds over which the maximum delivery rate is taken", "tcp_bbr.c, bbr_bw_rtts";
        full_bandwidth_threshold: f64 = 1.25, in 1 .. 100, "Growth of the bandwidth per round below which STARTUP considers the pipe full", "tcp_bbr.c, bbr_full_bw_thresh";
        full_bandwidth_rounds: u64 = 3, in 1 .. 10000, "Rounds without such growth that end STARTUP", "tcp_bbr.c, bbr_full_bw_cnt";
        min_rtt_filter: Duration = Duration::from_seconds(10), "Lifetime of the minimum RTT estimate; PROBE_RTT follows", "tcp_bbr.c, bbr_min_rtt_win_sec";
        probe_rtt_time: Duration = Duration::from_milliseconds(200), "Minimum time in PROBE_RTT; 0 disables it", "tcp_bbr.c, bbr_probe_rtt_mode_ms";
        least_window: u64 = 4, in 1 .. 1000, "Minimum window, in segments; PROBE_RTT uses it", "tcp_bbr.c, bbr_cwnd_min_target";
        pacing_margin: f64 = 0.01, in 0 .. 0.5, "Share by which the pacing rate is below that of the gain", "tcp_bbr.c, bbr_pacing_margin_percent";
        extra_acked_gain: f64 = 1.0, in 0 .. 100, "Multiple of the estimated ACK aggregation that is added to the window", "tcp_bbr.c, bbr_extra_acked_gain";
        rules: Rules = Rules::Published, "Whose rules: linux has the long-term bandwidth of paths with policers; only a smaller RTT renews the minimum, which begins with that of the handshake; the data in flight are those in the network when the next segment departs; the maximum bandwidth is approximate; gains are in 1/256; ns3 has its rate sample, its recovery and its window, and all flows begin PROBE_BW in the same phase", "Cardwell et al. 2016; ns-3 tcp-bbr.cc, tcp-rate-ops.cc and tcp-socket-base.cc; Linux 6.1 tcp_bbr.c, bbr_lt_bw_sampling, bbr_update_min_rtt, bbr_init and bbr_packets_in_net_at_edt; lib/win_minmax.c";
    }
}

/// Number of phases of PROBE_BW (tcp_bbr.c, CYCLE_LEN): one probes for bandwidth, one drains, the others pace at the
/// estimate.
const PHASES: u64 = 8;

/// Number of phases in which PROBE_BW may start: all but the draining one (tcp_bbr.c, bbr_cycle_rand).
const FIRST_PHASES: u64 = 7;

/// The BDP in segments before the first RTT sample (Linux TCP_INIT_CWND).
const INITIAL_SEGMENTS: u64 = 10;

/// The rate, in bytes per second, below which a quantum is one segment instead of two (tcp_bbr.c, bbr_min_tso_rate).
const LOW_RATE: f64 = 1_200_000.0 / 8.0;

/// The duration of a quantum at the pacing rate, in seconds (Linux sk_pacing_shift, 2^-10), and its maximum size in
/// bytes and segments (tcp_bbr.c, bbr_tso_segs_goal: GSO_MAX_SIZE less a header, seven bits).
const QUANTUM_TIME: f64 = 1.0 / 1024.0;
const QUANTUM_BYTES: f64 = 65_535.0 - 320.0;
const QUANTUM_SEGMENTS: u64 = 127;

/// Rounds in each half of the aggregation filter (tcp_bbr.c, bbr_extra_acked_win_rtts).
const AGGREGATION_ROUNDS: u64 = 5;

/// The maximum addition to the window for aggregation, in seconds at the estimated bandwidth (tcp_bbr.c,
/// bbr_extra_acked_max_us).
const AGGREGATION_TIME: f64 = 0.1;

/// Number of segments after which the count for aggregation restarts (tcp_bbr.c, bbr_ack_epoch_acked_reset_thresh).
const AGGREGATION_SEGMENTS: u64 = 1 << 20;

/// The modes of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: u64 },
    ProbeRtt,
}

/// The filter of BtlBw.
#[derive(Clone, Debug)]
enum Bandwidth {
    Exact(WindowedMaximum),
    Running(RunningMaximum),
}

impl Bandwidth {
    fn update(&mut self, rate: f64, round: u64, rounds: u64) {
        match self {
            Bandwidth::Exact(maximum) => maximum.update(rate, round, rounds),
            Bandwidth::Running(maximum) => maximum.update(rate, round, rounds),
        }
    }

    fn get(&self) -> f64 {
        match self {
            Bandwidth::Exact(maximum) => maximum.get(),
            Bandwidth::Running(maximum) => maximum.get(),
        }
    }
}

/// The BBR version 1 congestion control.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: Arc<BbrParameters>,
    state: Box<State>,
}

#[derive(Clone, Debug)]
struct State {
    random: Random,
    mode: Mode,
    /// When the current phase of PROBE_BW began.
    phase_start: Time,
    rounds: Rounds,
    /// Whether this acknowledgement starts a round.
    round_start: bool,
    /// BtlBw, in bytes of payload per second.
    bandwidth: Bandwidth,
    min_rtt: Option<Duration>,
    min_rtt_since: Time,
    /// The baseline bandwidth of STARTUP, and the number of rounds without sufficient growth.
    full_bandwidth: f64,
    full_bandwidth_rounds: u64,
    is_full: bool,
    probe_rtt: ProbeRtt,
    /// By the rules of Linux.
    long_term: Option<LongTerm>,
    /// By the rules of ns-3.
    ns3: Option<Socket>,
    held_back: HeldBack,
    prior: PriorWindow,
    /// Whether packet conservation applies: in the first round of a recovery.
    conserves: bool,
    restarts_from_idle: bool,
    pacing_rate: PacingRate,
    aggregation: Aggregation,
    /// The maximum excess in this span of rounds and in the previous one, in bytes, and the number of rounds in this
    /// span.
    excess: [u64; 2],
    excess_rounds: u64,
}

impl Listed for Bbr {
    const ABOUT: About = About {
        name: "bbr",
        aliases: &["bbr1", "bbrv1", "tcp-bbr"],
        title: "BBR version 1",
        class: "model",
        year: 2016,
        source: "Linux 5.x net/ipv4/tcp_bbr.c; Cardwell et al., ACM Queue 14 (2016)",
        deviations: "no long-term bandwidth estimate for policers (lt_bw), except with rules linux; a quantum is a budget that later \
                     acknowledgements may use up, where Linux cuts its packets at once; no packets wait in the host, so \
                     none are subtracted from the data in flight, except with rules linux; the initial window is paced \
                     from its first segment; BtlBw is the exact maximum over its rounds, except with rules linux; times are exact, not in jiffies; with rules ns3, of segments \
                     sent with the same delivery count the last one makes the sample, where ns-3 takes the first; the RTT of a single \
                     delayed acknowledgement may become the minimum RTT",
    };
}

impl Bbr {
    pub(super) fn new(parameters: Arc<BbrParameters>) -> Bbr {
        let state = State {
            random: Random::stream(0, Purpose::CongestionControl, 0),
            mode: Mode::Startup,
            phase_start: Time::ZERO,
            rounds: Rounds::default(),
            round_start: false,
            bandwidth: match parameters.rules {
                Rules::Published | Rules::Ns3 => Bandwidth::Exact(WindowedMaximum::default()),
                Rules::Linux => Bandwidth::Running(RunningMaximum::default()),
            },
            min_rtt: None,
            min_rtt_since: Time::ZERO,
            full_bandwidth: 0.0,
            full_bandwidth_rounds: 0,
            is_full: false,
            probe_rtt: ProbeRtt::default(),
            long_term: (parameters.rules == Rules::Linux).then(LongTerm::default),
            ns3: (parameters.rules == Rules::Ns3).then(Socket::default),
            held_back: HeldBack::default(),
            prior: PriorWindow::default(),
            conserves: false,
            restarts_from_idle: false,
            pacing_rate: PacingRate::default(),
            aggregation: Aggregation::default(),
            excess: [0; 2],
            excess_rounds: 0,
        };
        Bbr { parameters, state: Box::new(state) }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state.mode {
            Mode::Startup => self.high_gain(),
            Mode::Drain => self.drain_gain(),
            Mode::ProbeBw { .. } if self.long_term_bandwidth().is_some() => 1.0,
            Mode::ProbeBw { phase: 0 } => self.parameters.probing_gain,
            Mode::ProbeBw { phase: 1 } => self.parameters.draining_gain,
            Mode::ProbeBw { .. } | Mode::ProbeRtt => 1.0,
        }
    }

    fn long_term_bandwidth(&self) -> Option<f64> {
        self.state.long_term.as_ref()?.bandwidth()
    }

    /// The bandwidth to send at: BtlBw, or the long-term bandwidth (tcp_bbr.c, bbr_bw).
    fn bandwidth(&self) -> f64 {
        self.long_term_bandwidth().unwrap_or_else(|| self.state.bandwidth.get())
    }

    fn high_gain(&self) -> f64 {
        let gain = self.parameters.high_gain;
        if self.is_linux() { linux::high_gain(gain) } else { gain }
    }

    fn drain_gain(&self) -> f64 {
        let gain = self.parameters.high_gain;
        if self.is_linux() { linux::drain_gain(gain) } else { 1.0 / gain }
    }

    fn is_linux(&self) -> bool {
        self.parameters.rules == Rules::Linux
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state.mode {
            Mode::Startup | Mode::Drain => self.high_gain(),
            Mode::ProbeBw { .. } => self.parameters.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// The pacing rate for this gain and bandwidth.
    fn paced(&self, gain: f64, bandwidth: f64) -> f64 {
        gain * bandwidth * (1.0 - self.parameters.pacing_margin)
    }

    /// The pacing rate before the first delivery: one window per round-trip time.
    fn first_pacing_rate(&self, window: &Window, srtt: Duration) -> f64 {
        self.paced(self.high_gain(), window.cwnd as f64 / model::assumed_rtt(srtt))
    }

    /// A multiple of the BDP, in segments, rounded up.
    fn bdp(&self, bandwidth: f64, gain: f64, mss: u64) -> u64 {
        let Some(min_rtt) = self.state.min_rtt else { return INITIAL_SEGMENTS };
        let segments = gain * bandwidth * min_rtt.seconds() / mss as f64;
        segments as u64 + u64::from(segments > segments.floor())
    }

    /// The size of a quantum, in segments (tcp_bbr.c, bbr_tso_segs_goal).
    fn quantum(&self, mss: u64) -> u64 {
        if self.state.ns3.is_some() {
            return 1;
        }
        let rate = self.state.pacing_rate.get();
        let least = if rate < LOW_RATE { 1 } else { 2 };
        let segments = (rate * QUANTUM_TIME).min(QUANTUM_BYTES) / mss as f64;
        (segments as u64).clamp(least, QUANTUM_SEGMENTS)
    }

    /// Adds room for quanta at both ends, rounds up to an even number of segments and, while probing, adds two segments
    /// (tcp_bbr.c, bbr_quantization_budget).
    fn with_quanta(&self, segments: u64, mss: u64) -> u64 {
        let segments = (segments + 3 * self.quantum(mss)).next_multiple_of(2);
        if self.state.mode == (Mode::ProbeBw { phase: 0 }) { segments + 2 } else { segments }
    }

    /// The data in flight at a multiple of the BDP, in bytes (tcp_bbr.c, bbr_inflight).
    fn inflight(&self, gain: f64, mss: u64) -> u64 {
        if self.state.ns3.is_some() {
            return self.inflight_of_ns3(gain, mss);
        }
        self.with_quanta(self.bdp(self.state.bandwidth.get(), gain, mss), mss) * mss
    }

    /// The same in ns-3, which counts bytes.
    fn inflight_of_ns3(&self, gain: f64, mss: u64) -> u64 {
        let Some(min_rtt) = self.state.min_rtt else { return INITIAL_SEGMENTS * mss };
        let bdp = gain * self.state.bandwidth.get() * min_rtt.seconds();
        ns3::inflight(bdp, self.state.mode == (Mode::ProbeBw { phase: 0 }), mss)
    }

    /// The data in the network of these in flight. Linux counts those at the departure of the next segment, and while
    /// probing a quantum with it (tcp_bbr.c, bbr_packets_in_net_at_edt).
    fn in_network(&self, in_flight: u64, delivery: &Delivery, mss: u64) -> u64 {
        if !self.is_linux() {
            return in_flight;
        }
        let departing = if self.pacing_gain() > 1.0 { self.quantum(mss) * mss } else { 0 };
        let delivered = self.bandwidth() * delivery.held_back.seconds() / mss as f64;
        (in_flight + departing).saturating_sub(delivered as u64 * mss)
    }

    /// Updates the bandwidth estimate (tcp_bbr.c, bbr_update_bw).
    fn update_bandwidth(&mut self, delivery: &Delivery) {
        if self.state.ns3.is_some() {
            return self.update_bandwidth_of_ns3(delivery);
        }
        let state = &mut *self.state;
        state.round_start = false;
        let Some((sample, rate)) = model::rate_of(delivery) else { return };
        if state.rounds.update(sample.prior_delivered, delivery.total_delivered) {
            state.round_start = true;
            state.conserves = false;
        }
        let is_probing = matches!(state.mode, Mode::ProbeBw { .. });
        let is_limited = state.held_back.is_app_limited(&sample);
        if let Some(long_term) = &mut state.long_term
            && long_term.take(delivery, state.round_start, is_limited, is_probing) == Change::ProbeAgain
        {
            self.enter_probe_bw(delivery.now);
        }
        let state = &mut *self.state;
        if !state.held_back.is_app_limited(&sample) || rate >= state.bandwidth.get() {
            state.bandwidth.update(rate, state.rounds.count, self.parameters.bandwidth_rounds);
        }
    }

    /// The same in ns-3: UpdateBottleneckBandwidth. A sample that shows no rate leaves the round as it is.
    fn update_bandwidth_of_ns3(&mut self, delivery: &Delivery) {
        let state = &mut *self.state;
        let Some(socket) = &mut state.ns3 else { return };
        let held_back = &state.held_back;
        let Some(shown) = socket.take(delivery, |sample| held_back.is_app_limited(sample)) else { return };
        state.round_start = state.rounds.update(shown.prior_delivered, delivery.total_delivered);
        state.conserves &= !state.round_start;
        if !shown.app_limited || shown.rate >= state.bandwidth.get() {
            state.bandwidth.update(shown.rate, state.rounds.count, self.parameters.bandwidth_rounds);
        }
    }

    /// Updates the estimate of ACK aggregation (tcp_bbr.c, bbr_update_ack_aggregation).
    fn update_aggregation(&mut self, window: &Window, delivery: &Delivery) {
        let shows_nothing = match &self.state.ns3 {
            Some(socket) => delivery.delivered == 0 || !socket.shows(),
            None => delivery.rate.is_none_or(|sample| sample.interval.is_none()),
        };
        if shows_nothing {
            return;
        }
        let bandwidth = self.bandwidth();
        let state = &mut *self.state;
        if state.round_start {
            state.excess_rounds += 1;
            if state.excess_rounds >= AGGREGATION_ROUNDS {
                state.excess_rounds = 0;
                state.excess = [0, state.excess[0]];
            }
        }
        if let Some(socket) = &mut state.ns3 {
            state.excess[0] = state.excess[0].max(socket.excess(delivery, bandwidth, window.cwnd));
            return;
        }
        if state.aggregation.delivered + delivery.delivered >= AGGREGATION_SEGMENTS * window.mss {
            state.aggregation.restart(delivery.now);
        }
        let mut excess = state.aggregation.excess(delivery, bandwidth, window.cwnd);
        if self.parameters.rules == Rules::Linux {
            // tcp_bbr.c, bbr_update_ack_aggregation: what was expected is in whole segments, rounded down.
            excess = excess.next_multiple_of(window.mss);
        }
        state.excess[0] = state.excess[0].max(excess);
    }

    /// The addition to the window for ACK aggregation, in segments (tcp_bbr.c, bbr_ack_aggregation_cwnd).
    fn aggregation_budget(&self, mss: u64) -> u64 {
        self.aggregation_in_bytes() / mss
    }

    fn aggregation_in_bytes(&self) -> u64 {
        if !self.state.is_full {
            return 0;
        }
        let excess = self.parameters.extra_acked_gain * self.state.excess[0].max(self.state.excess[1]) as f64;
        let most = self.bandwidth() * AGGREGATION_TIME;
        excess.min(most) as u64
    }

    /// Advances the phase of PROBE_BW when due (tcp_bbr.c, bbr_update_cycle_phase).
    fn update_phase(&mut self, window: &Window, delivery: &Delivery) {
        let Mode::ProbeBw { phase } = self.state.mode else { return };
        if self.ends_phase(window, delivery) {
            self.begin_phase((phase + 1) % PHASES, delivery.now);
        }
    }

    /// Whether the current phase of PROBE_BW ends (tcp_bbr.c, bbr_is_next_cycle_phase).
    fn ends_phase(&self, window: &Window, delivery: &Delivery) -> bool {
        let lasted = delivery.now.since(self.state.phase_start);
        let is_full_length = self.state.min_rtt.is_none_or(|min_rtt| lasted > min_rtt);
        let gain = self.pacing_gain();
        let in_network = self.in_network(delivery.prior_in_flight, delivery, window.mss);
        if gain > 1.0 {
            // The phase lasts until the data in flight reaches the gain, or until a loss shows that the path cannot
            // hold it.
            let lost = if self.state.ns3.is_some() { ns3::lost(delivery) } else { delivery.lost };
            let shows = lost > 0 || in_network >= self.inflight(gain, window.mss);
            is_full_length && shows
        } else if gain < 1.0 {
            is_full_length || in_network <= self.inflight(1.0, window.mss)
        } else {
            is_full_length
        }
    }

    fn begin_phase(&mut self, phase: u64, now: Time) {
        self.state.mode = Mode::ProbeBw { phase };
        self.state.phase_start = now;
    }

    /// Enters PROBE_BW in a random phase, so that flows do not probe at the same time.
    fn enter_probe_bw(&mut self, now: Time) {
        let phases = if self.state.ns3.is_some() { ns3::FIRST_PHASES } else { FIRST_PHASES };
        let draw = (self.state.random.unit() * phases as f64) as u64;
        self.begin_phase((PHASES - draw) % PHASES, now);
    }

    /// Checks whether STARTUP has filled the pipe (tcp_bbr.c, bbr_check_full_bw_reached).
    fn check_full(&mut self, delivery: &Delivery) {
        let state = &mut *self.state;
        let is_app_limited = match &state.ns3 {
            Some(socket) => socket.is_app_limited(),
            None => delivery.rate.is_some_and(|sample| state.held_back.is_app_limited(&sample)),
        };
        if state.is_full || !state.round_start || is_app_limited {
            return;
        }
        if state.bandwidth.get() >= self.parameters.full_bandwidth_threshold * state.full_bandwidth {
            state.full_bandwidth = state.bandwidth.get();
            state.full_bandwidth_rounds = 0;
            return;
        }
        state.full_bandwidth_rounds += 1;
        state.is_full = state.full_bandwidth_rounds >= self.parameters.full_bandwidth_rounds;
    }

    /// Moves from STARTUP to DRAIN and from DRAIN to PROBE_BW when due (tcp_bbr.c, bbr_check_drain).
    fn check_drained(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.state.mode == Mode::Startup && self.state.is_full {
            self.state.mode = Mode::Drain;
            window.ssthresh = self.inflight(1.0, window.mss);
        }
        if self.state.mode == Mode::Drain {
            let in_network = self.in_network(delivery.in_flight, delivery, window.mss);
            if in_network <= self.inflight(1.0, window.mss) {
                self.enter_probe_bw(delivery.now);
            }
        }
    }

    /// Updates the minimum RTT and enters PROBE_RTT when it has expired (tcp_bbr.c, bbr_update_min_rtt).
    fn update_min_rtt(&mut self, window: &mut Window, delivery: &Delivery) {
        let now = delivery.now;
        let has_expired = now.since(self.state.min_rtt_since) > self.parameters.min_rtt_filter;
        let rtt = match &self.state.ns3 {
            Some(socket) => socket.last_rtt(),
            None => delivery.rate.and_then(|sample| sample.rtt),
        };
        if let Some(rtt) = rtt
            && (has_expired || self.state.min_rtt.is_none_or(|min_rtt| self.renews(rtt, min_rtt)))
        {
            self.state.min_rtt = Some(rtt);
            self.state.min_rtt_since = now;
        }
        let may_probe = self.parameters.probe_rtt_time > Duration::ZERO && !self.state.restarts_from_idle;
        if has_expired && may_probe && self.state.mode != Mode::ProbeRtt {
            self.state.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.state.probe_rtt = ProbeRtt::default();
        }
        if self.state.mode == Mode::ProbeRtt {
            self.probe_rtt(window, delivery);
        }
        if delivery.delivered > 0 {
            self.state.restarts_from_idle = false;
        }
    }

    /// Whether a sample renews the minimum RTT. In Linux an equal one did until 5.9.
    fn renews(&self, rtt: Duration, min_rtt: Duration) -> bool {
        match self.parameters.rules {
            Rules::Published | Rules::Ns3 => rtt <= min_rtt,
            Rules::Linux => rtt < min_rtt,
        }
    }

    /// Processes an acknowledgement in PROBE_RTT, which lasts its minimum time and one round at the minimum window.
    fn probe_rtt(&mut self, window: &mut Window, delivery: &Delivery) {
        let state = &mut *self.state;
        state.held_back.extend(delivery);
        let is_reached = delivery.in_flight <= self.parameters.least_window * window.mss;
        let time = self.parameters.probe_rtt_time;
        if state.probe_rtt.advance(delivery, is_reached, time, state.round_start, &mut state.rounds) {
            self.check_probe_rtt_done(window, delivery.now);
        }
    }

    /// Leaves PROBE_RTT when it is over (tcp_bbr.c, bbr_check_probe_rtt_done).
    fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if !self.state.probe_rtt.is_over(now) {
            return;
        }
        self.state.min_rtt_since = now;
        window.cwnd = window.cwnd.max(self.state.prior.cwnd);
        if self.state.is_full {
            self.enter_probe_bw(now);
        } else {
            self.state.mode = Mode::Startup;
        }
    }

    /// Saves the window (tcp_bbr.c, bbr_save_cwnd).
    fn save_cwnd(&mut self, window: &Window) {
        self.state.prior.save(window, self.state.mode == Mode::ProbeRtt);
    }

    /// Updates the pacing rate (tcp_bbr.c, bbr_set_pacing_rate).
    fn set_pacing_rate(&mut self) {
        let rate = self.paced(self.pacing_gain(), self.bandwidth());
        self.state.pacing_rate.follow(rate, self.state.is_full);
    }

    /// The window before it grows towards its target. A loss subtracts the lost bytes. A recovery starts from the data
    /// in flight and restores the window when it ends (tcp_bbr.c, bbr_set_cwnd_to_recover_or_restore).
    fn window_in_recovery(&mut self, window: &Window, delivery: &Delivery) -> u64 {
        let state = &mut *self.state;
        let mut cwnd = window.cwnd.saturating_sub(delivery.lost).max(window.mss);
        if delivery.in_recovery && !state.prior.was_in_recovery {
            state.conserves = true;
            state.rounds.restart(delivery.total_delivered);
            cwnd = delivery.in_flight + delivery.delivered;
        } else if !delivery.in_recovery && state.prior.was_in_recovery {
            state.conserves = false;
            cwnd = cwnd.max(state.prior.cwnd);
        }
        state.prior.was_in_recovery = delivery.in_recovery;
        cwnd
    }

    /// Updates the window (tcp_bbr.c, bbr_set_cwnd).
    fn set_window(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = window.mss;
        let least = self.parameters.least_window * mss;
        if delivery.delivered > 0 && self.state.ns3.is_some() {
            self.set_window_of_ns3(window, delivery);
        } else if delivery.delivered > 0 {
            let cwnd = self.window_in_recovery(window, delivery);
            window.cwnd = if self.state.conserves {
                cwnd.max(delivery.in_flight + delivery.delivered)
            } else {
                self.towards_target(cwnd, delivery, mss).max(least)
            };
        }
        if self.state.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(least);
        }
    }

    /// The same in ns-3: CongestionStateSet, CwndEvent and SetCwnd. What is lost counts in fast recovery only, and its end
    /// sets the window to ssthresh, the data in flight where DRAIN began.
    fn set_window_of_ns3(&mut self, window: &mut Window, delivery: &Delivery) {
        let mss = window.mss;
        let target = self.inflight_of_ns3(self.cwnd_gain(), mss) + self.aggregation_in_bytes();
        let state = &mut *self.state;
        let Some(socket) = &mut state.ns3 else { return };
        let repairs = socket.is_repairing(delivery);
        if repairs && !state.prior.was_in_recovery {
            state.conserves = true;
            window.cwnd = delivery.in_flight + delivery.delivered.max(mss);
        } else if !repairs && state.prior.was_in_recovery {
            state.conserves = false;
            window.cwnd = window.ssthresh.min(u64::from(u32::MAX));
        }
        state.prior.was_in_recovery = repairs;
        if repairs {
            window.cwnd = window.cwnd.saturating_sub(ns3::lost(delivery)).max(mss);
            if state.conserves {
                window.cwnd = window.cwnd.max(delivery.in_flight + delivery.delivered);
                return;
            }
        }
        if state.is_full {
            window.cwnd = ns3::grown(window.cwnd, delivery.delivered).min(target);
        } else if window.cwnd < target || delivery.total_delivered < INITIAL_SEGMENTS * mss {
            window.cwnd += delivery.delivered;
        }
        window.cwnd = window.cwnd.max(self.parameters.least_window * mss);
    }

    /// Grows the window by the bytes delivered. The target is an upper bound only once the pipe is full.
    fn towards_target(&self, cwnd: u64, delivery: &Delivery, mss: u64) -> u64 {
        let segments = self.bdp(self.bandwidth(), self.cwnd_gain(), mss) + self.aggregation_budget(mss);
        let target = self.with_quanta(segments, mss) * mss;
        if self.state.is_full {
            (cwnd + delivery.delivered).min(target)
        } else if cwnd < target || delivery.total_delivered < INITIAL_SEGMENTS * mss {
            cwnd + delivery.delivered
        } else {
            cwnd
        }
    }
}

impl CongestionControl for Bbr {
    /// The window grows only in [`CongestionControl::on_delivery`].
    fn increase(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// tcp_bbr.c, bbr_init: the lifetime of the minimum RTT begins now, by the rules of Linux with that of the handshake.
    fn on_established(&mut self, _window: &mut Window, srtt: Duration, now: Time) {
        self.state.min_rtt_since = now;
        if self.parameters.rules != Rules::Published && srtt > Duration::ZERO {
            self.state.min_rtt = Some(srtt);
        }
    }

    /// tcp_bbr.c, bbr_ssthresh, bbr_set_state and bbr_undo_cwnd. ssthresh is unchanged, since the window does not
    /// depend on it.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => self.save_cwnd(window),
            CongestionEvent::Timeout if self.state.ns3.is_some() => {
                self.state.prior.was_in_recovery = false;
                self.state.round_start = true;
                if let Some(socket) = &mut self.state.ns3 {
                    socket.on_timeout();
                }
            }
            CongestionEvent::Timeout => {
                self.state.prior.was_in_recovery = true;
                self.state.full_bandwidth = 0.0;
            }
            // Whether the pipe is full is determined again.
            CongestionEvent::Spurious => {
                self.state.full_bandwidth = 0.0;
                self.state.full_bandwidth_rounds = 0;
            }
        }
    }

    /// Updates the model and the outputs on each acknowledgement (tcp_bbr.c, bbr_main).
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if self.state.pacing_rate.awaits(delivery.srtt) {
            self.state.pacing_rate.set(self.first_pacing_rate(window, delivery.srtt));
        }
        self.update_bandwidth(delivery);
        self.update_aggregation(window, delivery);
        self.update_phase(window, delivery);
        self.check_full(delivery);
        self.check_drained(window, delivery);
        self.update_min_rtt(window, delivery);
        self.set_pacing_rate();
        self.set_window(window, delivery);
    }

    /// Restarts from idle (tcp_bbr.c, bbr_cwnd_event). The pacing rate is the estimated bandwidth in any phase of
    /// PROBE_BW.
    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.state.restarts_from_idle = true;
        self.state.aggregation.restart(now);
        match self.state.mode {
            Mode::ProbeBw { .. } => self.state.pacing_rate.set(self.paced(1.0, self.bandwidth())),
            Mode::ProbeRtt => self.check_probe_rtt_done(window, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        self.quantum(mss) * mss
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.state.pacing_rate.or_first(|| self.first_pacing_rate(window, srtt)))
    }

    fn take_random(&mut self, random: Random) {
        self.state.random = random;
    }

    fn needs(&self) -> Needs {
        Needs { common_random: self.state.ns3.is_some(), ..model::needs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const MSS: u64 = 1448;

    /// BBR in the phase that probes, as Linux 6.1.192 had it with one flow at 100 Mbit/s: a bandwidth of 139,813 2^-24 segments
    /// a microsecond, a minimum RTT of 40,089 us, and a pacing rate of 14,932,806 bytes a second.
    fn probing(parameters: Value) -> Bbr {
        let parameters = serde_json::from_value(parameters).expect("parameters of bbr");
        let mut bbr = Bbr::new(Arc::new(parameters));
        bbr.state.bandwidth.update(139_813.0 / 16.777_216 * MSS as f64, 1, 10);
        bbr.state.min_rtt = Some(Duration::from_microseconds(40_089));
        bbr.state.pacing_rate.set(14_932_806.0);
        bbr.state.is_full = true;
        bbr.begin_phase(0, Time::ZERO);
        bbr
    }

    /// In the kernel's trace this phase ended with 440 segments in flight, and the next segment was held back for 57 us: with a
    /// quantum of ten they are the 450 of 1.25 BDP with its allowances. By the published rules it takes 450 in flight. What is
    /// delivered until the next segment departs does not count: 12 segments in 1.44 ms.
    #[test]
    fn ends_of_probing() {
        let window = Window { cwnd: 704 * MSS, ssthresh: u64::MAX, mss: MSS };
        let ends = |parameters: &Value, segments: u64, held_back: u64| {
            let delivery = Delivery {
                now: Time::ZERO + Duration::from_microseconds(51_900),
                prior_in_flight: segments * MSS,
                held_back: Duration::from_microseconds(held_back),
                ..Delivery::default()
            };
            probing(parameters.clone()).ends_phase(&window, &delivery)
        };
        let least = |parameters: &Value, held_back| (400..500).find(|segments| ends(parameters, *segments, held_back));
        let linux = json!({"rules": "linux"});
        assert_eq!(least(&linux, 57), Some(440));
        assert_eq!(least(&linux, 1_441), Some(452));
        assert_eq!(least(&json!({}), 57), Some(450));
    }

    /// bbr_init: the minimum RTT expires ten seconds after the connection began (bbr_min_rtt_win_sec), not after the run did.
    #[test]
    fn first_probe_of_the_rtt() {
        let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
        for rules in ["published", "linux", "ns3"] {
            let parameters = serde_json::from_value(json!({"rules": rules})).expect("parameters of bbr");
            let mut bbr = Bbr::new(Arc::new(parameters));
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
            bbr.on_established(&mut window, Duration::from_milliseconds(40), at(12_000));
            let mut probes = |milliseconds| {
                bbr.on_delivery(&mut window, &Delivery { now: at(milliseconds), ..Delivery::default() });
                bbr.state.mode == Mode::ProbeRtt
            };
            assert_eq!([12_041, 22_000, 22_001].map(&mut probes), [false, false, true], "{rules}");
        }
    }

    /// bbr_update_ack_aggregation by hand: at 1000 segments a second, of 30 segments that arrive 5.5 ms after 20 others five were
    /// expected, and 45 of all are in excess. In bytes it is 44.5 segments, of which the window gets 44.
    #[test]
    fn excess_in_segments() {
        for (rules, expected) in [("linux", 45), ("published", 44)] {
            let parameters = serde_json::from_value(json!({"rules": rules})).expect("parameters of bbr");
            let mut bbr = Bbr::new(Arc::new(parameters));
            let window = Window { cwnd: 100 * MSS, ssthresh: u64::MAX, mss: MSS };
            bbr.state.bandwidth.update(1000.0 * MSS as f64, 1, 10);
            bbr.state.is_full = true;
            for (microseconds, segments) in [(1_000_000, 20), (1_005_500, 30)] {
                let interval = Some(Duration::from_milliseconds(1));
                bbr.update_aggregation(
                    &window,
                    &Delivery {
                        now: Time::ZERO + Duration::from_microseconds(microseconds),
                        delivered: segments * MSS,
                        rate: Some(super::super::RateSample { interval, ..Default::default() }),
                        ..Delivery::default()
                    },
                );
            }
            assert_eq!(bbr.aggregation_budget(MSS), expected, "{rules}");
        }
    }

    /// bbr_init: the minimum RTT is that of the handshake until a smaller one comes. Published BBR takes the first of data.
    #[test]
    fn first_minimum_rtt() {
        for (rules, expected) in [("linux", 40), ("published", 41)] {
            let parameters = serde_json::from_value(json!({"rules": rules})).expect("parameters of bbr");
            let mut bbr = Bbr::new(Arc::new(parameters));
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
            bbr.on_established(&mut window, Duration::from_milliseconds(40), Time::ZERO);
            let sample = super::super::RateSample { rtt: Some(Duration::from_milliseconds(41)), ..Default::default() };
            bbr.on_delivery(&mut window, &Delivery { rate: Some(sample), ..Delivery::default() });
            assert_eq!(bbr.state.min_rtt, Some(Duration::from_milliseconds(expected)));
        }
    }
}
