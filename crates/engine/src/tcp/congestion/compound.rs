//! Compound TCP: the window is the sum of New Reno's loss window and a delay window that grows quickly while there is
//! no queue. From Tan, Song, Zhang and Sridharan, "A Compound TCP Approach for High-speed and Long Distance Networks",
//! INFOCOM 2006, with the estimator, the rounds and the tuning of gamma from draft-sridharan-tcpm-ctcp-02.

use std::sync::Arc;

use super::linux::compound::CompoundModule;
use super::newreno::AdditiveIncrease;
use super::ns3::compound::CompoundRounds;
use super::ns3::compound_2014::Compound2014;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::{choice, parameters};

choice! {
    /// How gamma is determined.
    pub enum GammaRule {
        /// Always the configured value.
        Fixed = "fixed",
        /// The configured value until the first loss, then tuned by emulating a Reno flow.
        Tuned = "tuned",
    }
}

choice! {
    /// Whose arithmetic Compound follows.
    pub enum CompoundRules {
        /// That of Tan et al. 2006 and the draft.
        Published = "published",
        /// That of the module for Linux, which ns-2 has too.
        Linux = "linux",
        /// That of the module for ns-3 of NITK Surathkal.
        Ns3 = "ns3",
        /// That of Zhou's module for ns-3.
        Ns3Of2014 = "ns3-2014",
    }
}

parameters! {
    /// Parameters of Compound.
    pub struct CompoundParameters {
        alpha: f64 = 0.125, in 0 .. 1, "Factor of the delay window's increase", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 3";
        beta: f64 = 0.5, in 0 .. 1, "Decrease of the window on loss", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 3";
        k: f64 = 0.75, in 0 .. 1, "Exponent of the delay window's increase", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 4";
        zeta: f64 = 1.0, in 0 .. 1000, "Share of the backlog by which the delay window falls each round; 0.03 in the module of the rules ns3-2014", "draft-sridharan-tcpm-ctcp-02 section 3, there called eta; C. Zhou's tcp-compound.cc (2014)";
        gamma: f64 = 30.0, in 0 .. 1000000, "Backlog, in packets, from which the delay window falls", "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02 section 5";
        gamma_rule: GammaRule = GammaRule::Tuned, "Whether gamma is fixed or tuned on every loss", "draft-sridharan-tcpm-ctcp-02 section 5, which replaces the fixed gamma of Tan et al. 2006";
        gamma_low: f64 = 5.0, in 0 .. 1000000, "Minimum gamma that tuning sets", "draft-sridharan-tcpm-ctcp-02 section 5";
        gamma_high: f64 = 30.0, in 0 .. 1000000, "Maximum gamma that tuning sets", "draft-sridharan-tcpm-ctcp-02 section 5";
        lambda: f64 = 0.25, in 0 .. 1, "Weight of a new sample in the tuning of gamma; 0.5 in the first module for Linux that has it", "L. Andrew's tcp_compound.c 1.3 for Linux and ns-2 (2008), and of December 2007, LAMBDA_SHIFT; the draft names no value";
        low_window: u64 = 38, in 0 .. 1000000, "Window, in segments, up to which there is no delay window; with the rules ns3-2014 the loss window, with linux and ns3 without effect", "draft-sridharan-tcpm-ctcp-02 sections 2 and 6";
        rules: CompoundRules = CompoundRules::Published, "Whose arithmetic: linux has no delay window after a loss but one in slow start, compares the least RTT of a round trip with the segments sent in it, and counts whole segments; ns3 grows the window by alpha W^k bytes a round trip, W in bytes, the loss window by a W-th segment a round trip, and has neither low window nor tuning of gamma; ns3-2014 has no delay window after a loss, and no round trip ends where an acknowledgement covers two segments at its end", "Tan et al. 2006; tcp_compound.c of Castellani, Hemminger and Andrew for Linux (2006 and 2007) and ns-2.35, tcp_compound_cong_avoid; tcp-compound.cc of NITK Surathkal for ns-3 (2017), IncreaseWindow and GetSsThresh; tcp-compound.cc of C. Zhou for ns-3.21 (2014), NewAck";
    }
}

/// The Compound TCP congestion control.
#[derive(Clone, Debug)]
pub struct Compound {
    parameters: Arc<CompoundParameters>,
    /// Increase rule of the loss window, which is the window less the delay window.
    additive: AdditiveIncrease,
    /// The delay window, in bytes.
    dwnd: u64,
    /// The current backlog threshold, in segments.
    gamma: f64,
    /// The backlog of an emulated Reno flow at the end of the last round, in segments. `None` after a loss.
    diff_reno: Option<f64>,
    /// The base RTT.
    min_rtt: Option<Duration>,
    round: Option<Round>,
    /// By the rules of a module instead.
    module: Option<Box<Module>>,
}

/// The state of a module of which Compound follows the rules.
#[derive(Clone, Debug)]
enum Module {
    Linux(CompoundModule),
    Ns3(CompoundRounds),
    Ns3Of2014(Compound2014),
}

impl Module {
    fn new(parameters: &CompoundParameters) -> Option<Box<Module>> {
        let module = match parameters.rules {
            CompoundRules::Published => return None,
            CompoundRules::Linux => Module::Linux(CompoundModule::new(parameters)),
            CompoundRules::Ns3 => Module::Ns3(CompoundRounds::new()),
            CompoundRules::Ns3Of2014 => Module::Ns3Of2014(Compound2014::default()),
        };
        Some(Box::new(module))
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        match self {
            Module::Linux(module) => module.on_ack(window, ack),
            Module::Ns3(module) => module.on_ack(window, ack),
            Module::Ns3Of2014(module) => module.on_ack(ack),
        }
    }

    fn increase(&mut self, window: &mut Window, ack: &Ack, parameters: &CompoundParameters) {
        match self {
            Module::Linux(module) => module.increase(window, ack, parameters),
            Module::Ns3(module) => module.increase(window, ack, parameters),
            Module::Ns3Of2014(module) => module.increase(window, ack, parameters),
        }
    }

    /// Grows the window in slow start, unless the module leaves that to the stack.
    fn increase_in_slow_start(
        &mut self,
        window: &mut Window,
        ack: &Ack,
        parameters: &CompoundParameters,
    ) -> Option<u64> {
        if let Module::Ns3Of2014(_) = self {
            return None;
        }
        self.increase(window, ack, parameters);
        Some(0)
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, parameters: &CompoundParameters) {
        match self {
            Module::Linux(module) => module.reduce(window, parameters),
            Module::Ns3(module) => module.reduce(window, parameters.beta),
            Module::Ns3Of2014(module) => module.reduce(window, flight_size),
        }
    }

    fn time_out(&mut self, window: &Window) {
        match self {
            Module::Linux(module) => module.time_out(),
            Module::Ns3(module) => module.time_out(window),
            Module::Ns3Of2014(module) => module.forget(),
        }
    }
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number after the round.
    end: u64,
    /// The window at its start, in bytes.
    window: u64,
}

impl Listed for Compound {
    const ABOUT: About = About {
        name: "compound",
        aliases: &["c-tcp", "ctcp"],
        title: "Compound TCP",
        class: "hybrid",
        year: 2006,
        source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
        deviations: "the delay window grows with the total window to the power k, as in the paper, not with its own \
                     size, as in the draft; when the window is at most the low window, the delay window becomes part of \
                     the loss window, so that a loss halves the window, as in Reno; reductions apply to the flight size \
                     (RFC 5681 equation 4), which the two windows share in proportion; the base RTT is the minimum \
                     sample since the last timeout; rules = \"ns3\" is a module for ns-3, with its overflows of 32-bit windows; \
                     rules = \"linux\" is a module as ns-2 runs it, which never begins anew after a pause; rules = \
                     \"ns3-2014\" is another for ns-3, in whose recovery the delay window is kept there and not here",
    };
}

impl Compound {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<CompoundParameters>) -> Compound {
        Compound {
            gamma: parameters.gamma,
            module: Module::new(&parameters),
            parameters,
            additive: AdditiveIncrease::default(),
            dwnd: 0,
            diff_reno: None,
            min_rtt: None,
            round: None,
        }
    }

    /// Updates the delay window after a round (Tan et al. 2006; draft section 3).
    fn end_round(&mut self, window: &mut Window, round: Round, srtt: Duration) {
        let Some(min_rtt) = self.min_rtt else { return };
        let mss = window.mss as f64;
        let win = round.window as f64 / mss;
        if win <= self.parameters.low_window as f64 {
            self.dwnd = 0;
            return;
        }
        // (expected - actual) base RTT, with expected = win / base RTT and actual = win / srtt, for a window of one
        // segment.
        let backlog = (1.0 - min_rtt.seconds() / srtt.seconds()).max(0.0);
        let diff = win * backlog;
        self.diff_reno = Some((win - self.dwnd as f64 / mss) * backlog);

        let change = if diff < self.gamma {
            (self.parameters.alpha * libm::pow(win, self.parameters.k) - 1.0).max(0.0)
        } else {
            -self.parameters.zeta * diff
        };
        let dwnd = (self.dwnd as f64 + change * mss).round() as u64;
        window.cwnd = window.cwnd - self.dwnd + dwnd;
        // Lowering ssthresh keeps the reduced window out of slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.dwnd = dwnd;
    }

    /// Halves the loss window and reduces the sum to 1 - beta of its value (Tan et al. 2006).
    fn reduce(&mut self, window: &mut Window, flight_size: u64) {
        self.tune_gamma();
        self.round = None;
        let loss_window = window.cwnd.saturating_sub(self.dwnd);
        let loss_flight = u128::from(flight_size) * u128::from(loss_window) / u128::from(window.cwnd);
        self.additive.restart();
        let loss_window = window.half(loss_flight as u64);
        let sum = loss_window.max((flight_size as f64 * (1.0 - self.parameters.beta)) as u64);
        self.dwnd = sum - loss_window;
        window.set_ssthresh(sum);
    }

    /// Tunes gamma to a value below the backlog of a Reno flow (draft section 5).
    fn tune_gamma(&mut self) {
        let CompoundParameters { gamma_rule, gamma_low, gamma_high, lambda, .. } = *self.parameters;
        if let Some(diff_reno) = self.diff_reno.take()
            && gamma_rule == GammaRule::Tuned
        {
            let sample = 0.75 * diff_reno;
            self.gamma = (self.gamma * (1.0 - lambda) + lambda * sample).max(gamma_low).min(gamma_high);
        }
    }
}

impl CongestionControl for Compound {
    /// The loss window grows by one segment per round: draft equation 2.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(module) = self.module.as_deref_mut() {
            return module.increase(window, ack, &self.parameters);
        }
        self.additive.increase(window, ack.credit);
        match self.round {
            Some(round) if ack.una <= round.end => return,
            Some(round) => self.end_round(window, round, ack.srtt),
            // The window after a recovery can have any value.
            None => self.dwnd = self.dwnd.min(window.cwnd.saturating_sub(window.least_ssthresh())),
        }
        self.round = Some(Round { end: ack.nxt, window: window.cwnd });
    }

    /// After a timeout the delay window is zero, as in slow start, and the path may have changed (draft section 3).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(module) = self.module.as_deref_mut() {
            match event {
                CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                    module.reduce(window, flight_size, &self.parameters)
                }
                CongestionEvent::Timeout => module.time_out(window),
                CongestionEvent::Spurious => {}
            }
            return;
        }
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                self.reduce(window, flight_size)
            }
            CongestionEvent::Timeout => {
                self.dwnd = 0;
                self.min_rtt = None;
            }
            CongestionEvent::Spurious => {}
        }
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.module.as_deref_mut()?.increase_in_slow_start(window, ack, &self.parameters)
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(module) = self.module.as_deref_mut() {
            return module.on_ack(window, ack);
        }
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }
}
