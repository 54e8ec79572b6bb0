//! HighSpeed TCP: RFC 3649. Windows are in segments, as in its equations.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::hstcp::HighSpeedSteps;
use super::ns3::Rules;
use super::ns3::hstcp::HighSpeedRows;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::Time;

/// The last window of the table of RFC 3649 appendix B. From six times this window on, the formula for b(w) is
/// negative.
const LAST_ROW: f64 = 94_717.0;

parameters! {
    /// Parameters of HighSpeed TCP.
    pub struct HighSpeedParameters {
        low_window: f64 = 38.0, in 2 .. 10000, "Window, in segments, up to which it behaves like Reno: Low_Window", "RFC 3649 section 5";
        high_window: f64 = 83000.0, in 20000 .. 1000000000, "Window, in segments, whose decrease is high_decrease: High_Window", "RFC 3649 section 5";
        high_decrease: f64 = 0.1, in 0 .. 0.5, "Decrease on loss, as a share of the window, at high_window: High_Decrease", "RFC 3649 section 7";
        p_factor: f64 = 0.078, in 0.001 .. 1, "Loss rate at which the average window would be one segment, by the response function p(w)", "RFC 3649, p(w) = 0.078 / w^1.2";
        p_exponent: f64 = 1.2, in 1 .. 2, "Exponent by which the response function p(w) falls with the window", "RFC 3649, p(w) = 0.078 / w^1.2";
        rules: Rules = Rules::Published, "Whose counting, a(w) and b(w): linux counts acknowledgements and has whole numbers, of the table of appendix B; ns3 has those numbers too, and counts segments", "RFC 3649 section 5; Linux tcp_highspeed.c, hstcp_cong_avoid and hstcp_ssthresh; ns-3 tcp-highspeed.cc, CongestionAvoidance and GetSsThresh";
    }
}

/// The HighSpeed TCP congestion control.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    parameters: Arc<HighSpeedParameters>,
    growth: Growth,
    /// By the rules of Linux.
    linux: Option<HighSpeedSteps>,
    /// By the rules of ns-3.
    ns3: Option<HighSpeedRows>,
}

impl Listed for HighSpeed {
    const ABOUT: About = About {
        name: "hstcp",
        aliases: &["highspeed", "hs-tcp", "hs_tcp"],
        title: "HighSpeed TCP",
        class: "loss",
        year: 2003,
        source: "RFC 3649",
        deviations: "a(w) and b(w) follow the formulas of section 7, not the rounded table of appendix B, and a(w) is at \
                     least Reno's one segment; beyond the end of that table b(w) is constant and a(w) keeps growing \
                     (Linux keeps both at the last row); with rules = \"linux\" both are the table's, and an \
                     acknowledgement counts once, however many segments it covers; with rules = \"ns3\" both are the table's; slow start is the one chosen for the flow, without limited slow \
                     start (RFC 3742)",
    };
}

impl HighSpeed {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<HighSpeedParameters>) -> HighSpeed {
        let linux = (parameters.rules == Rules::Linux).then(HighSpeedSteps::default);
        let ns3 = (parameters.rules == Rules::Ns3).then(HighSpeedRows::default);
        HighSpeed { parameters, growth: Growth::default(), linux, ns3 }
    }

    /// b(w): the share by which a loss reduces the window, logarithmic in the window between Reno's 0.5 and
    /// High_Decrease (section 7).
    fn decrease(&self, w: f64) -> f64 {
        let HighSpeedParameters { low_window, high_window, high_decrease, .. } = *self.parameters;
        if w <= low_window {
            return 0.5;
        }
        let w = w.min(high_window.max(LAST_ROW));
        let height = libm::log(w / low_window) / libm::log(high_window / low_window);
        ((high_decrease - 0.5) * height + 0.5).max(0.0)
    }

    /// a(w): the growth per round trip, in segments, that gives an average window of w at the loss rate p(w) (section
    /// 7).
    fn increase_in_a_round(&self, w: f64) -> f64 {
        let HighSpeedParameters { low_window, p_factor, p_exponent, .. } = *self.parameters;
        if w <= low_window {
            return 1.0;
        }
        let p = p_factor / libm::pow(w, p_exponent);
        let b = self.decrease(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl CongestionControl for HighSpeed {
    /// Increases the window by a(w) / w for each acknowledged segment: w + a(w) / w (section 5).
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window);
        }
        if let Some(ns3) = &mut self.ns3 {
            return ns3.increase(window, ack.credit);
        }
        let segments = self.increase_in_a_round(window.segments());
        self.growth.additive(window, segments, ack.credit);
    }

    /// Reduces the window to (1 - b(w)) w (section 5).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        let Some(flight_size) = event.flight_size() else { return };
        if let Some(mut linux) = self.linux.take() {
            linux.reduce(window, flight_size, |w| self.decrease(w));
            self.linux = Some(linux);
            return;
        }
        if let Some(ns3) = &self.ns3 {
            return ns3.reduce(window, flight_size, |w| self.decrease(w));
        }
        let left = 1.0 - self.decrease(window.segments());
        window.set_ssthresh((left * flight_size as f64) as u64);
    }
}
