//! BBR version 3: draft-ietf-ccwg-bbr-06 (July 2026). Comments give its sections and names.
//!
//! Like version 1, it paces at a multiple of the bandwidth and limits the data in flight to a multiple of the BDP. In
//! addition, losses bound both. The long-term bound is the data in flight at which a probe lost too much. The
//! short-term bounds, until the next probe, are what was delivered while packets were lost.
//!
//! There is one file for each state of section 5.1 (`startup`, `drain`, `down`, `cruise`, `refill`, `up`, `probe_rtt`):
//! how it is entered, what it does on an acknowledgement and when it is left. [`mode`] defines the allowed
//! transitions. The model of the path is in `path`, its response to losses in `loss` and `bounds`, and the undo of that
//! response in `undo`. `control` derives the pacing rate and the window.

mod bounds;
mod control;
mod cruise;
mod down;
mod drain;
mod loss;
mod mode;
mod path;
mod probe_rtt;
mod refill;
mod startup;
mod undo;
mod up;

use super::model::{self, Aggregation, HeldBack, PacingRate, PriorWindow, ProbeRtt, Rounds, WindowedMaximum};
use super::{Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs, RateSample};
use crate::inner::{Tell, flag};
use crate::random::{Purpose, Random};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

use bounds::Bounds;
use down::Cycle;
use loss::Signals;
use mode::Mode;
use path::MinRtt;
use startup::FullBandwidth;
use undo::Undo;
use up::Slope;

parameters! {
    pub struct Bbr3Parameters {
        startup_pacing_gain: f64 = 2.77, in 1 .. 100, "Pacing gain of Startup", "section 2.5, BBR.StartupPacingGain: 4 ln 2";
        drain_pacing_gain: f64 = 0.5, in 0.01 .. 1, "Pacing gain of Drain", "section 2.5, BBR.DrainPacingGain";
        cwnd_gain: f64 = 2.0, in 1 .. 100, "Limit of the data in flight, as a multiple of the BDP, except in ProbeBW_UP and ProbeRTT", "section 2.6, BBR.DefaultCwndGain";
        up_pacing_gain: f64 = 1.25, in 1 .. 100, "Pacing gain of ProbeBW_UP", "section 5.6.1";
        up_cwnd_gain: f64 = 2.25, in 1 .. 100, "Limit of the data in flight in ProbeBW_UP, as a multiple of the BDP", "section 5.6.1";
        down_pacing_gain: f64 = 0.9, in 0.01 .. 1, "Pacing gain of ProbeBW_DOWN", "section 5.3.3.1";
        loss_threshold: f64 = 0.02, in 0 .. 0.9, "Loss ratio that a bandwidth probe may cause", "section 2.8, BBR.LossThresh";
        beta: f64 = 0.7, in 0 .. 1, "Minimum share of the bounds kept after a round with losses", "section 2.8, BBR.Beta";
        headroom: f64 = 0.15, in 0 .. 1, "Share of the long-term bound left to other flows while cruising", "section 2.8, BBR.Headroom";
        least_window: u64 = 4, in 1 .. 1000, "Minimum window, in segments", "section 2.8, BBR.MinPipeCwnd";
        full_bandwidth_threshold: f64 = 1.25, in 1 .. 100, "Growth of the delivery rate per round below which the pipe is considered full", "section 5.3.1.2";
        full_bandwidth_rounds: u64 = 3, in 1 .. 10000, "Rounds without such growth after which the pipe is considered full", "section 5.3.1.2";
        startup_loss_ranges: u64 = 6, in 1 .. 10000, "Ranges lost in a round with too many losses that end Startup", "section 5.3.1.3, BBRStartupFullLossCnt";
        extra_acked_rounds: u64 = 10, in 1 .. 10000, "Rounds over which the maximum ACK aggregation is taken", "section 2.12, BBR.ExtraAckedFilterLen";
        probe_wait: Duration = Duration::from_seconds(2), "Minimum time between bandwidth probes, unless Reno's time scale is shorter", "section 5.3.3.8.2, T_bbr";
        probe_wait_spread: Duration = Duration::from_seconds(1), "Random time added to probe_wait", "section 5.3.3.8.2, T_bbr";
        reno_rounds: u64 = 63, in 1 .. 1000000, "Maximum rounds between bandwidth probes", "section 5.3.3.8.2, T_reno_bound";
        min_rtt_filter: Duration = Duration::from_seconds(10), "Lifetime of the minimum RTT estimate", "section 2.16.1, BBR.MinRTTFilterLen";
        probe_rtt_interval: Duration = Duration::from_seconds(5), "Time without a new minimum RTT after which ProbeRTT begins", "section 2.16.2, BBR.ProbeRTTInterval";
        probe_rtt_time: Duration = Duration::from_milliseconds(200), "Minimum time in ProbeRTT", "section 2.16.2, BBR.ProbeRTTDuration";
        probe_rtt_cwnd_gain: f64 = 0.5, in 0 .. 1, "Limit of the data in flight in ProbeRTT, as a multiple of the BDP", "section 2.16.2, BBR.ProbeRTTCwndGain";
        pacing_margin: f64 = 0.01, in 0 .. 0.5, "Share by which the pacing rate is below that of the gain", "section 2.5, BBR.PacingMarginPercent";
    }
}

inner_state! {
    Bbr3State {
        phase: "", "BBR.state", of [
            "startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt"
        ];
        max_bw: "bit/s", "maximum delivery rate of the latest two cycles, of payload (BBR.max_bw)";
        bw: "bit/s", "the same within its short-term bound (BBR.bw)";
        bw_shortterm: "bit/s", "short-term bound on the bandwidth, while there is one (BBR.bw_shortterm)";
        inflight_longterm: "B", "long-term bound on the data in flight, once there is one (BBR.inflight_longterm)";
        inflight_shortterm: "B", "short-term bound on the data in flight, while there is one (BBR.inflight_shortterm)";
        min_rtt: "s", "minimum RTT (BBR.min_rtt)";
        pacing_gain: "", "pacing rate as a multiple of BBR.bw (BBR.pacing_gain)";
        cwnd_gain: "", "limit of the data in flight as a multiple of the BDP (BBR.cwnd_gain)";
        pacing_rate: "bit/s", "pacing rate, of payload (C.pacing_rate)";
        extra_acked: "B", "maximum of recent ACK aggregation (BBR.extra_acked)";
        full_bw_now: "", "1 if the pipe is considered full since Startup, or this probe, began; else 0 (BBR.full_bw_now)";
        full_bw_reached: "", "1 once the pipe was considered full, 0 before (BBR.full_bw_reached)";
        round_count: "", "rounds so far (BBR.round_count)";
    }
}

/// No bound on the data in flight.
const UNBOUNDED: u64 = u64::MAX;

control! {
    Bbr3(Bbr3Parameters as parameters) {
        random: Random = Random::stream(0, Purpose::CongestionControl, 0),
        started: bool,
        initial_cwnd: u64,
        /// C.delivered at the latest acknowledgement.
        delivered: u64,
        /// BBR.state, changed only by [`Bbr3::transition_to`].
        mode: Mode = Mode::Startup,
        rounds: Rounds,
        /// Whether this acknowledgement starts a round.
        round_start: bool,
        /// Whether the window was full in the current round and in the previous one.
        cwnd_limited: (bool, bool),
        full_bw: FullBandwidth,
        /// BBR.drain_start_round.
        drain_start_round: u64,
        cycle: Cycle,
        slope: Slope,
        max_bw: WindowedMaximum,
        /// BBR.bw: the bandwidth within its short-term bound, in bytes per second.
        bw: f64,
        bounds: Bounds = Bounds::NONE,
        signals: Signals,
        min_rtt: MinRtt,
        probe_rtt: ProbeRtt,
        held_back: HeldBack,
        idle_restart: bool,
        aggregation: Aggregation,
        extra_acked: WindowedMaximum,
        pacing_rate: PacingRate,
        prior: PriorWindow,
        undo: Undo,
    }
}

/// An acknowledgement with a delivery rate sample.
#[derive(Clone, Copy)]
struct Sampled<'a> {
    delivery: &'a Delivery,
    sample: RateSample,
    /// RS.delivery_rate.
    rate: f64,
    /// RS.is_app_limited.
    app_limited: bool,
}

about! { Bbr3:
    name: "bbr3",
    aliases: ["bbrv3"],
    state: Bbr3State,
    title: "BBR version 3",
    class: "model",
    year: 2026,
    source: "draft-ietf-ccwg-bbr-06",
    deviations: "congestion marks, to which the draft leaves the response open, count as losses; without selective \
                 acknowledgements the rules are the same; an unreliable delivery rate ends no round, as in Linux; a \
                 spurious recovery restores the state from before its first loss, where the draft saves it once more \
                 afterwards; the minimum RTT is measured from the first acknowledged segment, not from the handshake; \
                 segments leave one by one, so that the quanta of segmentation offload count only in the window",
}

impl Bbr3 {
    /// Changes the state.
    fn transition_to(&mut self, next: Mode) {
        debug_assert!(self.mode.may_become(next), "{:?} does not lead to {next:?}", self.mode);
        self.mode = next;
    }

    /// SaveCwnd() of section 5.6.4.4.
    fn save_cwnd(&mut self, window: &Window) {
        self.prior.save(window, self.mode == Mode::ProbeRtt);
    }

    /// C.is_cwnd_limited: whether the window was full at any time in the last round.
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.0 || self.cwnd_limited.1
    }

    fn start(&mut self, window: &Window, delivery: &Delivery) {
        if !self.started {
            self.started = true;
            self.initial_cwnd = window.cwnd;
            self.min_rtt.start(delivery.now);
            self.aggregation.restart(delivery.now);
        }
        if self.pacing_rate.awaits(delivery.srtt) {
            self.pacing_rate.set(self.first_pacing_rate(window, delivery.srtt));
        }
    }

    /// UpdateModelAndState() of section 5.2.3.
    fn update_model_and_state(&mut self, window: &mut Window, ack: &Sampled) {
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
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }

    /// UpdateProbeBWCyclePhase() of section 5.3.3.9.
    fn update_probe_bw(&mut self, window: &Window, ack: &Sampled) {
        if !self.full_bw.reached || self.adapt_long_term_model(window, ack) {
            return;
        }
        match self.mode {
            Mode::Down => self.update_down(window, ack),
            Mode::Cruise => self.update_cruise(window, ack),
            Mode::Refill => self.update_refill(window, ack),
            Mode::Up => self.update_up(window, ack),
            Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }
}

impl CongestionControl for Bbr3 {
    /// The window grows only in [`CongestionControl::on_delivery`].
    fn increase(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// OnEnterFastRecovery() and OnEnterRTO() of section 5.6.4.4. ssthresh is unchanged, since the window does not
    /// depend on it. Marks are handled on delivery.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { .. } => self.save_state(window, now),
            CongestionEvent::Ecn { .. } => {}
            CongestionEvent::Timeout => self.prior.was_in_recovery = true,
            CongestionEvent::Spurious => self.handle_spurious_loss(window),
        }
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        self.handle_lost_segment(window, lost);
    }

    /// UpdateOnACK() of section 5.2.3.
    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.start(window, delivery);
        self.delivered = delivery.total_delivered;
        self.cwnd_limited.0 |= delivery.prior_in_flight + window.mss > window.cwnd;
        if delivery.marked > 0 {
            self.handle_marks(window, delivery);
        }
        if let Some((sample, rate)) = model::rate_of(delivery) {
            let app_limited = self.held_back.is_app_limited(&sample);
            self.update_model_and_state(window, &Sampled { delivery, sample, rate, app_limited });
            self.set_pacing_rate(self.pacing_gain());
        }
        self.follow_recovery(window, delivery);
        self.set_cwnd(window, delivery);
    }

    /// HandleRestartFromIdle() of section 5.4.1.
    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(window, now, self.delivered);
        }
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        self.quantum(mss)
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        Some(self.pacing_rate.or_first(|| self.first_pacing_rate(window, srtt)))
    }

    fn take_random(&mut self, random: Random) {
        self.random = random;
    }

    fn needs(&self) -> Needs {
        model::needs()
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let known = |rate: f64| Some(8.0 * rate).filter(|rate| *rate > 0.0);
        let bound = |bytes: u64| (bytes != UNBOUNDED).then_some(bytes as f64);
        let state = Bbr3State {
            phase: Some(f64::from(self.mode as u8)),
            max_bw: known(self.max_bw.get()),
            bw: known(self.bw),
            bw_shortterm: known(self.bounds.bw_shortterm),
            inflight_longterm: bound(self.bounds.inflight_longterm),
            inflight_shortterm: bound(self.bounds.inflight_shortterm),
            min_rtt: self.min_rtt.value.map(Duration::seconds),
            pacing_gain: Some(self.pacing_gain()),
            cwnd_gain: Some(self.cwnd_gain()),
            pacing_rate: known(self.pacing_rate.get()),
            extra_acked: Some(self.extra_acked.get()),
            full_bw_now: Some(flag(self.full_bw.now)),
            full_bw_reached: Some(flag(self.full_bw.reached)),
            round_count: Some(self.rounds.count as f64),
        };
        state.tell(tell);
    }
}
