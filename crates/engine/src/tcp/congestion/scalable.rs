//! Scalable TCP: Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM SIGCOMM CCR 33
//! (2003).

use std::sync::Arc;

use super::growth::Growth;
use super::linux::Rules;
use super::linux::scalable::ScalableSteps;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::Time;

parameters! {
    /// Parameters of Scalable TCP.
    pub struct ScalableParameters {
        a: f64 = 0.01, in 0 .. 1, "Growth per acknowledged segment, in segments", "Kelly 2003; Linux tcp_scalable.c, TCP_SCALABLE_AI_CNT";
        b: f64 = 0.125, in 0 .. 1, "Decrease on loss, as a share of the window", "Kelly 2003; Linux tcp_scalable.c, TCP_SCALABLE_MD_SCALE";
        rules: Rules = Rules::Published, "Whose counting: linux grows in whole segments", "Kelly 2003; Linux tcp_scalable.c, tcp_scalable_cong_avoid and tcp_scalable_ssthresh";
    }
}

/// The Scalable TCP congestion control.
#[derive(Clone, Debug)]
pub struct Scalable {
    parameters: Arc<ScalableParameters>,
    growth: Growth,
    /// By the rules of Linux.
    linux: Option<ScalableSteps>,
}

impl Listed for Scalable {
    const ABOUT: About = About {
        name: "scalable",
        aliases: &["stcp"],
        title: "Scalable TCP",
        class: "loss",
        year: 2003,
        source: "Kelly, ACM SIGCOMM CCR 33 (2003)",
        deviations: "the window grows as in Reno while that is faster, up to 1/a segments, and b applies to windows of \
                     any size, both as in Linux tcp_scalable.c; the paper uses Reno for windows below a fixed size",
    };
}

impl Scalable {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<ScalableParameters>) -> Scalable {
        let linux = (parameters.rules == Rules::Linux).then(ScalableSteps::default);
        Scalable { parameters, growth: Growth::default(), linux }
    }
}

impl CongestionControl for Scalable {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack, self.parameters.a);
        }
        let segments = (self.parameters.a * window.segments()).max(1.0);
        self.growth.additive(window, segments, ack.credit);
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        let Some(flight_size) = event.flight_size() else { return };
        if let Some(linux) = &mut self.linux {
            linux.reduce(window, flight_size, self.parameters.b);
        } else {
            window.set_ssthresh(((1.0 - self.parameters.b) * flight_size as f64) as u64);
        }
    }
}
