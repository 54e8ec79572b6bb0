//! Hybla: Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22 (2004). The window grows per unit of time as that of a flow with a
//! reference round-trip time, which is shorter by the factor rho.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::Rules;
use super::linux::hybla::HyblaSteps;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The rho from which the growth per segment in slow start, 2^rho - 1, exceeds any window.
const GREATEST_EXPONENT: f64 = 32.0;

parameters! {
    /// Parameters of Hybla.
    pub struct HyblaParameters {
        rtt0: Duration = Duration::from_milliseconds(25), in 1e9 .. 1e14, "Reference round-trip time RTT0, up to which it behaves like Reno", "Caini and Firrincieli 2004; Linux tcp_hybla.c, rtt0";
        slow_start_ceiling: u64 = 65535, in 2 .. 1000000000, "Maximum window of slow start, in segments", "Linux tcp_hybla.c, hybla_init, snd_cwnd_clamp";
        rules: Rules = Rules::Published, "Whose counting: linux counts acknowledgements, rho in eighths, and has an initial window of rho segments", "Caini and Firrincieli 2004; Linux tcp_hybla.c, hybla_cong_avoid, hybla_recalc_param and hybla_init";
    }
}

/// The TCP Hybla congestion control.
#[derive(Clone, Debug)]
pub struct Hybla {
    parameters: Arc<HyblaParameters>,
    growth: Growth,
    min_rtt: Option<Duration>,
    /// By the rules of Linux.
    linux: Option<Box<HyblaSteps>>,
}

impl Listed for Hybla {
    const ABOUT: About = About {
        name: "hybla",
        aliases: &["tcp-hybla"],
        title: "TCP Hybla",
        class: "loss",
        year: 2004,
        source: "Caini and Firrincieli, International Journal of Satellite Communications and Networking 22 (2004)",
        deviations: "rho follows the minimum RTT, as in ns-3 and, smoothed, in Linux; neither the initial window nor \
                     ssthresh is multiplied by rho; with rules = \"linux\" an acknowledgement counts once, however many \
                     segments it covers, and the initial window is rho; packets are not paced, although the paper recommends it; the slow \
                     start chosen for the flow is ignored",
    };
}

impl Hybla {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<HyblaParameters>) -> Hybla {
        let linux = (parameters.rules == Rules::Linux).then(Box::default);
        Hybla { parameters, growth: Growth::default(), min_rtt: None, linux }
    }

    /// rho = RTT / RTT0, at least one.
    fn rho(&self) -> f64 {
        self.min_rtt.map_or(1.0, |rtt| (rtt.seconds() / self.parameters.rtt0.seconds()).max(1.0))
    }
}

impl CongestionControl for Hybla {
    /// Increases the window by rho^2 / W for each credited segment.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack);
        }
        let rho = self.rho();
        let bytes = rho * rho * ack.credit as f64 / window.segments();
        self.growth.add(window, bytes);
    }

    /// Reduces the window to half the flight size, as Reno does.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.on_congestion(window, event);
        } else if let Some(flight_size) = event.flight_size() {
            window.set_ssthresh(flight_size / 2);
        }
    }

    fn on_established(&mut self, window: &mut Window, srtt: Duration, _now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.on_established(window, srtt, self.parameters.rtt0);
        }
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.on_ack(ack, self.parameters.rtt0);
        }
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
    }

    /// Increases the window by 2^rho - 1 segments for each credited segment.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        if let Some(linux) = &mut self.linux {
            return Some(linux.increase_in_slow_start(window, ack, &self.parameters));
        }
        let factor = libm::exp2(self.rho().min(GREATEST_EXPONENT)) - 1.0;
        let ceiling = window.ssthresh.min(self.parameters.slow_start_ceiling * window.mss);
        let room = ceiling.saturating_sub(window.cwnd) as f64;
        let wanted = factor * ack.credit as f64;
        self.growth.add(window, wanted.min(room));
        Some(((wanted - room).max(0.0) / factor) as u64)
    }
}
