//! CUBIC: RFC 9438. Windows are in segments, as in its equations. The window itself grows by whole bytes.

use std::sync::Arc;

use super::linux::cubic::CubicSteps;
use super::ns3::cubic::CubicCount;
use super::ns3::cubic_module::CubicModule;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::{choice, parameters};

choice! {
    /// Whose arithmetic CUBIC follows.
    pub enum CubicRules {
        /// That of RFC 9438.
        Published = "published",
        /// That of Linux 6.1.
        Linux = "linux",
        /// That of ns-3.48.
        Ns3 = "ns3",
        /// That of a module for earlier releases of ns-3.
        Ns3Module = "ns3-2014",
    }
}

parameters! {
    /// Parameters of CUBIC.
    pub struct CubicParameters {
        c: f64 = 0.4, in 0.001 .. 1000.0, "Aggressiveness C of the window increase function, in segments per cubed second", "RFC 9438 sections 4.1.1 and 5.1";
        beta: f64 = 0.7, in 0 .. 1, "Multiplicative decrease factor", "RFC 9438 section 4.6";
        beta_ecn: f64 = 0.85, in 0 .. 1, "Multiplicative decrease factor after marks, if the stack sets abe = true", "RFC 8511 section 3.1";
        fast_convergence: bool = true, "Lower W_max further after a loss below the previous W_max", "RFC 9438 section 4.7";
        reno_friendly: bool = true, "Keep the window at least as large as Reno's estimated window", "RFC 9438 section 4.3";
        greatest_target: f64 = 1.5, in 1 .. 1000, "Greatest target of a round trip, in windows; with the rules published", "RFC 9438 section 4.2";
        slowest_start: u64 = 20, in 1 .. 1000000, "Segments acknowledged for one of growth, at most, before the first loss; with the rules linux and ns3", "Linux tcp_cubic.c, bictcp_update; ns-3 tcp-cubic.cc, CntClamp";
        rtt_settling: Duration = Duration::from_seconds(1), in 0 .. 1e15, "Time after a loss from whose end on RTTs may lower the minimum RTT; with the rules linux and ns3", "Linux tcp_cubic.c, cubictcp_acked: HZ";
        rules: CubicRules = CubicRules::Published, "Whose arithmetic: linux and ns3 grow in whole segments, by at least 5 % a round trip before the first loss, and their estimate of Reno keeps below one segment a round trip; ns3 cuts cwnd and not the flight size; ns3-2014 counts acknowledgements and has no fast convergence", "RFC 9438; Linux tcp_cubic.c, bictcp_update; ns-3 tcp-cubic.cc, Update and GetSsThresh; Levasseur, Claypool and Kinicki, WNS3 2014, tcp-cubic.cc for ns-3.27, CubicUpdate and GetSsThresh";
    }
}

/// The CUBIC congestion control.
#[derive(Clone, Debug)]
pub struct Cubic {
    parameters: Arc<CubicParameters>,
    /// W_max, undefined before the first congestion event and after a timeout.
    w_max: Option<f64>,
    /// The window when ssthresh was last set. Zero before, so that W_est exceeds it (section 4.10).
    cwnd_prior: f64,
    /// The current congestion avoidance stage.
    epoch: Option<Epoch>,
    /// Before the latest loss, until a later event forbids to restore it.
    before_loss: Option<Box<Saved>>,
    /// By other rules than the published ones.
    counted: Option<Box<Counted>>,
}

/// The variables that a spurious loss gives back (section 4.9.2).
#[derive(Clone, Debug)]
struct Saved {
    w_max: Option<f64>,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// CUBIC in whole segments.
#[derive(Clone, Debug)]
enum Counted {
    Linux(CubicSteps),
    Ns3(CubicCount),
    Ns3Module(CubicModule),
}

#[derive(Clone, Debug)]
struct Epoch {
    start: Time,
    k: f64,
    /// W_max of this stage.
    plateau: f64,
    w_est: f64,
    /// The fractional part of the growth, in bytes.
    fraction: f64,
    last_ack: Time,
    /// Whether the latest acknowledgement was allowed to increase the window.
    growing: bool,
}

impl Epoch {
    /// Starts a stage with cwnd_epoch = `cwnd` (section 4.2).
    fn new(w_max: f64, cwnd: f64, c: f64, now: Time) -> Epoch {
        let plateau = w_max.max(cwnd);
        Epoch {
            start: now,
            k: libm::cbrt((plateau - cwnd) / c),
            plateau,
            w_est: cwnd,
            fraction: 0.0,
            last_ack: now,
            growing: true,
        }
    }

    /// The window increase function, Figure 1.
    fn w_cubic(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

impl Listed for Cubic {
    const ABOUT: About = About {
        name: "cubic",
        aliases: &["tcp-cubic"],
        title: "CUBIC",
        class: "loss",
        year: 2023,
        source: "RFC 9438",
        deviations: "the window grows per credited segment, not per acknowledgement as in section 4.4: a stack that \
                     counts acknowledgements credits one segment for each, as in the RFC; a stack that counts bytes \
                     behaves like Linux; W_est grows by the same credit and so estimates Reno on the same stack; where \
                     W_cubic < W_est < cwnd the window waits for W_est and does not fall to it; a stage that starts \
                     above W_max has its plateau there (K = 0); a loss is known to be spurious (section 4.9) only with \
                     recovery = \"rack\", and RFC 4015's change of the timer after a spurious timeout is left out; rules = \
                     \"linux\" is the arithmetic of Linux 6.1, where a spurious loss gives back cwnd and ssthresh alone, \
                     an estimate of Reno never grows by more than 0.53 segments a round trip and the window by at least \
                     5 % before the first loss; rules = \"ns3\" is that of ns-3.48, whose time does not stop while the \
                     window is not used; rules = \"ns3-2014\" takes the RTTs that the stack gives, where that \
                     module takes timestamps",
    };
}

impl Cubic {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<CubicParameters>) -> Cubic {
        let counted = match parameters.rules {
            CubicRules::Published => None,
            CubicRules::Linux => Some(Box::new(Counted::Linux(CubicSteps::default()))),
            CubicRules::Ns3 => Some(Box::new(Counted::Ns3(CubicCount::default()))),
            CubicRules::Ns3Module => Some(Box::new(Counted::Ns3Module(CubicModule::new()))),
        };
        Cubic { parameters, w_max: None, cwnd_prior: 0.0, epoch: None, before_loss: None, counted }
    }

    /// Saves what the reduction after a loss changes.
    fn save(&mut self) {
        let saved = Saved { w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch.clone() };
        match &mut self.before_loss {
            Some(before) => **before = saved,
            None => self.before_loss = Some(Box::new(saved)),
        }
    }

    /// Restores it, unless the window was already larger than before the loss, so that the sender had nothing to set back.
    fn restore(&mut self, window: &Window) {
        let Some(saved) = self.before_loss.take() else { return };
        if window.segments() <= self.cwnd_prior {
            // The window that the loss reduced was in use.
            let epoch = saved.epoch.map(|epoch| Epoch { growing: true, ..epoch });
            (self.w_max, self.cwnd_prior, self.epoch) = (saved.w_max, saved.cwnd_prior, epoch);
        }
    }

    /// Reduces the window to this share of the flight size.
    fn reduce(&mut self, beta: f64, window: &mut Window, flight_size: u64) {
        let fast_convergence = self.parameters.fast_convergence;
        match self.counted.as_deref_mut() {
            None => {}
            Some(Counted::Linux(steps)) => return steps.reduce(window, flight_size, beta, fast_convergence),
            Some(Counted::Ns3(count)) => return count.reduce(window, beta, fast_convergence),
            Some(Counted::Ns3Module(module)) => return module.reduce(window, beta),
        }
        let cwnd = window.segments();
        let gives_way = fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if gives_way { cwnd * (1.0 + beta) / 2.0 } else { cwnd });
        self.cwnd_prior = cwnd;
        self.epoch = None;
        window.set_ssthresh((flight_size as f64 * beta) as u64);
    }
}

impl CongestionControl for Cubic {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        match self.counted.as_deref_mut() {
            None => {}
            Some(Counted::Linux(steps)) => return steps.increase(window, ack, &self.parameters),
            Some(Counted::Ns3(count)) => return count.increase(window, ack, &self.parameters),
            Some(Counted::Ns3Module(module)) => return module.increase(window, ack, &self.parameters),
        }
        let CubicParameters { c, beta, reno_friendly, greatest_target, .. } = *self.parameters;
        let mss = window.mss as f64;
        let epoch = self.epoch.get_or_insert_with(|| {
            let cwnd = window.segments();
            // Sections 4.8 and 4.10: an undefined W_max is set to the first window of this stage.
            Epoch::new(*self.w_max.get_or_insert(cwnd), cwnd, c, ack.now)
        });
        let cwnd = window.segments() + epoch.fraction / mss;
        let windows_acked = ack.credit as f64 / window.cwnd as f64;
        let t = ack.now.since(epoch.start).seconds();

        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * windows_acked;
        let growth = if reno_friendly && epoch.w_cubic(t, c) < epoch.w_est {
            (epoch.w_est - cwnd).max(0.0)
        } else {
            let target = epoch.w_cubic(t + ack.srtt.seconds(), c).clamp(cwnd, greatest_target * cwnd);
            // An acknowledgement of more than a window does not exceed the target.
            (target - cwnd) * windows_acked.min(1.0)
        };

        let bytes = growth * mss + epoch.fraction;
        window.cwnd += bytes as u64;
        epoch.fraction = bytes - bytes.floor();
        epoch.growing = true;
    }

    fn on_idle(&mut self, _window: &mut Window, idle: Duration, now: Time) {
        if let Some(Counted::Linux(steps)) = self.counted.as_deref_mut() {
            steps.on_idle(idle, now);
        }
    }

    /// Sections 4.6 to 4.9. For marks, RFC 8511 section 3.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        let CubicParameters { beta, beta_ecn, .. } = *self.parameters;
        match event {
            CongestionEvent::Loss { flight_size } => {
                if self.counted.is_none() {
                    self.save();
                }
                self.reduce(beta, window, flight_size);
            }
            CongestionEvent::Ecn { flight_size, abe } => {
                self.before_loss = None;
                self.reduce(if abe { beta_ecn } else { beta }, window, flight_size);
            }
            // The next stage sets its own W_max.
            CongestionEvent::Timeout => {
                self.w_max = None;
                self.epoch = None;
                match self.counted.as_deref_mut() {
                    None => {}
                    Some(Counted::Linux(steps)) => steps.reset(),
                    Some(Counted::Ns3(count)) => count.reset(),
                    Some(Counted::Ns3Module(module)) => module.time_out(),
                }
            }
            CongestionEvent::Spurious => self.restore(window),
        }
    }

    /// Excludes from t the time in which the window was not fully used (sections 4.2 and 5.8): from an acknowledgement
    /// that was not allowed to increase the window until the next one.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(counted) = self.counted.as_deref_mut() {
            let settling = self.parameters.rtt_settling;
            if let Counted::Ns3Module(module) = counted {
                return module.on_ack(window, ack, settling);
            }
            let Some(rtt) = ack.rtt else { return };
            match counted {
                Counted::Linux(steps) => steps.take_rtt(rtt, ack.now, settling),
                Counted::Ns3(count) => count.take_rtt(rtt, ack.now, settling),
                Counted::Ns3Module(_) => {}
            }
        } else if let Some(epoch) = &mut self.epoch {
            if !epoch.growing {
                epoch.start += ack.now.since(epoch.last_ack);
            }
            epoch.last_ack = ack.now;
            epoch.growing = false;
        }
    }
}
