//! Veno: Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE JSAC 21 (2003).
//! A variant of Reno that uses the backlog estimate of Vegas to classify losses as congestion or random, and grows more
//! slowly while there is a backlog.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::veno::VenoSteps;
use super::ns3::Rules;
use super::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

parameters! {
    /// Parameters of Veno.
    pub struct VenoParameters {
        beta: f64 = 3.0, in 0 .. 1000000, "Backlog, in segments, from which the path counts as congested", "Fu and Liew 2003; Linux tcp_veno.c, beta";
        random_loss_factor: f64 = 0.8, in 0 .. 1, "Share of the window kept after a loss while the path is not congested", "Fu and Liew 2003; Linux tcp_veno.c, tcp_veno_ssthresh";
        rules: Rules = Rules::Published, "Whose counting: linux has whole segments, the least RTT between acknowledgements, and slower growth of small windows, whatever the other parameters are; ns3 grows as Reno on a congested path too", "Fu and Liew 2003; Linux tcp_veno.c, tcp_veno_cong_avoid; ns-3 tcp-veno.cc, IncreaseWindow, which counts RTTs anew with each acknowledgement";
    }
}

/// The TCP Veno congestion control.
#[derive(Clone, Debug)]
pub struct Veno {
    parameters: Arc<VenoParameters>,
    growth: Growth,
    /// The base RTT.
    min_rtt: Option<Duration>,
    /// N: the queued part of the window according to the latest RTT sample, in segments.
    backlog: f64,
    /// Whether the next acknowledgement leaves the window unchanged if the path is congested.
    skips: bool,
    /// By the rules of Linux.
    linux: Option<Box<VenoSteps>>,
}

impl Listed for Veno {
    const ABOUT: About = About {
        name: "veno",
        aliases: &[],
        title: "TCP Veno",
        class: "hybrid",
        year: 2003,
        source: "Fu and Liew, IEEE JSAC 21 (2003)",
        deviations: "after a timeout ssthresh follows the same rule as after any loss, as in Linux; with rules linux, the \
                     slow start chosen for the flow is ignored",
    };
}

impl Veno {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<VenoParameters>) -> Veno {
        let linux = (parameters.rules == Rules::Linux).then(Box::default);
        Veno { parameters, growth: Growth::default(), min_rtt: None, backlog: 0.0, skips: false, linux }
    }

    fn is_congested(&self) -> bool {
        self.backlog >= self.parameters.beta
    }
}

impl CongestionControl for Veno {
    /// Grows as Reno, on a congested path only on every other acknowledgement (Fu and Liew 2003).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack);
        }
        if self.is_congested() && self.parameters.rules != Rules::Ns3 {
            self.skips = !self.skips;
            if !self.skips {
                return;
            }
        }
        self.growth.additive(window, 1.0, ack.credit);
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(linux) = &mut self.linux {
            return linux.on_congestion(window, event);
        }
        if let Some(flight_size) = event.flight_size() {
            let left = if self.is_congested() { 0.5 } else { self.parameters.random_loss_factor };
            window.set_ssthresh((left * flight_size as f64) as u64);
        }
    }

    /// In Linux, the acknowledgement that ends slow start grows the window further.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.linux.as_mut()?.increase(window, ack);
        Some(0)
    }

    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        if let Some(linux) = &mut self.linux {
            linux.on_delivery(delivery);
        }
    }

    fn needs(&self) -> Needs {
        Needs { deliveries: self.linux.is_some(), ..Needs::default() }
    }

    /// Updates the backlog: N = (W / BaseRTT - W / RTT) BaseRTT.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.on_ack(ack);
        }
        if let Some(rtt) = ack.rtt {
            let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
            self.min_rtt = Some(min_rtt);
            self.backlog = window.segments() * (1.0 - min_rtt.seconds() / rtt.seconds());
        }
    }
}
