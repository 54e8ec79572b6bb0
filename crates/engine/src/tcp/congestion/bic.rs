//! BIC: Xu, Harfoush and Rhee, "Binary increase congestion control for fast, long distance networks", INFOCOM 2004,
//! with the constants of Linux net/ipv4/tcp_bic.c. The window approaches the window of the last loss by binary search
//! and probes beyond it. Windows are in segments.

use std::sync::Arc;

use super::growth::Growth;
use super::linux::Rules;
use super::linux::bic::BicSteps;
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::Time;

/// Minimum growth per round trip before the first loss, as a share of the window: Linux tcp_bic.c, bictcp_update.
const LEAST_GROWTH_BEFORE_LOSS: f64 = 0.05;

parameters! {
    /// Parameters of BIC.
    pub struct BicParameters {
        beta: f64 = 819.0 / 1024.0, in 0 .. 1, "Share of the window kept after a loss", "Linux tcp_bic.c, beta; 0.875 in Xu, Harfoush and Rhee 2004";
        max_increment: f64 = 16.0, in 1 .. 1000, "Maximum growth per round trip, in segments: S_max", "Linux tcp_bic.c, max_increment; 32 in Xu, Harfoush and Rhee 2004";
        low_window: f64 = 14.0, in 0 .. 1000000, "Window, in segments, up to which it behaves like Reno", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, low_window";
        smooth_part: f64 = 20.0, in 1 .. 1000, "Round trips spent on the last search_factor segments up to the window of the last loss, and on the first beyond it", "Linux tcp_bic.c, smooth_part; 5 in ns-3's tcp-bic.cc";
        search_factor: f64 = 4.0, in 2 .. 100, "Divisor of the distance to the window of the last loss that gives the growth per round trip", "Linux tcp_bic.c, BICTCP_B; 2 in Xu, Harfoush and Rhee 2004";
        fast_convergence: bool = true, "Lower the target window further after a loss below the window of the previous loss", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, fast_convergence";
        rules: Rules = Rules::Published, "Whose counting: linux grows in whole segments, and faster by the number of segments that an acknowledgement covers", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, bictcp_update and bictcp_acked";
    }
}

/// The BIC congestion control.
#[derive(Clone, Debug)]
pub struct Bic {
    parameters: Arc<BicParameters>,
    growth: Growth,
    /// W_max: the window of the last loss, `None` before the first loss and after a timeout.
    w_max: Option<f64>,
    /// By the rules of Linux.
    linux: Option<Box<BicSteps>>,
}

impl Listed for Bic {
    const ABOUT: About = About {
        name: "bic",
        aliases: &["bic-tcp"],
        title: "BIC",
        class: "loss",
        year: 2004,
        source: "Xu, Harfoush and Rhee, INFOCOM 2004; Linux net/ipv4/tcp_bic.c",
        deviations: "follows Linux, which covers a quarter of the distance where the paper halves it; the window grows \
                     by fractions of a segment per credited segment, whatever an acknowledgement covers; with \
                     rules = \"linux\" it also grows in whole segments and, as in Linux, twice as fast if \
                     acknowledgements cover two segments; no initial ssthresh of 100 segments, which older versions of Linux \
                     had",
    };
}

impl Bic {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<BicParameters>) -> Bic {
        let linux = (parameters.rules == Rules::Linux).then(Box::default);
        Bic { parameters, growth: Growth::default(), w_max: None, linux }
    }

    /// The growth per round trip, in segments (Linux tcp_bic.c, bictcp_update).
    fn increase_in_a_round(&self, w: f64) -> f64 {
        let BicParameters { max_increment, low_window, smooth_part, search_factor, .. } = *self.parameters;
        if w <= low_window {
            return 1.0;
        }
        let Some(w_max) = self.w_max else {
            return (w / (search_factor - 1.0)).min(max_increment).max(LEAST_GROWTH_BEFORE_LOSS * w);
        };
        let smooth = search_factor / smooth_part;
        if w < w_max {
            let step = (w_max - w) / search_factor;
            if step <= 1.0 { smooth } else { step.min(max_increment) }
        } else if w < w_max + search_factor {
            smooth
        } else {
            ((w - w_max) / (search_factor - 1.0)).min(max_increment)
        }
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64) {
        if let Some(linux) = &mut self.linux {
            return linux.reduce(window, flight_size, &self.parameters);
        }
        let BicParameters { beta, low_window, fast_convergence, .. } = *self.parameters;
        let w = window.segments();
        let gives_way = fast_convergence && self.w_max.is_some_and(|w_max| w < w_max);
        self.w_max = Some(if gives_way { w * (1.0 + beta) / 2.0 } else { w });
        let left = if w <= low_window { 0.5 } else { beta };
        window.set_ssthresh((left * flight_size as f64) as u64);
    }
}

impl CongestionControl for Bic {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            return linux.increase(window, ack, &self.parameters);
        }
        let segments = self.increase_in_a_round(window.segments());
        self.growth.additive(window, segments, ack.credit);
    }

    /// A timeout restarts the search (Linux tcp_bic.c, bictcp_state).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                self.reduce(window, flight_size)
            }
            CongestionEvent::Timeout => {
                self.w_max = None;
                if let Some(linux) = &mut self.linux {
                    linux.on_timeout();
                }
            }
            CongestionEvent::Spurious => {}
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            linux.on_ack(window, ack);
        }
    }
}
