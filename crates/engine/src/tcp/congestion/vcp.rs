//! VCP, the variable-structure congestion control protocol: Xia, Subramanian, Stoica and Kalyanaraman, "One more bit is
//! enough", SIGCOMM 2005. Routers (the queue discipline `vcp`) encode the load of the path in two bits. The sender
//! increases its window multiplicatively at low load and additively at high load, and decreases it at overload.

use super::growth::Growth;
use super::{Ack, CongestionControl, Needs};
use crate::packet::LoadFactor;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

parameters! {
    pub struct VcpParameters {
        xi: f64 = 0.0625, in 0 .. 1, "Growth per t_rho at low load", "the authors' ns-2 vcp-src.cc: 0.25 (1 / 0.8 - 1)";
        alpha: f64 = 1.0, in 0 .. 1000, "Growth per round trip of typical_rtt at high load, in segments", "Xia et al. 2005; the authors' ns-2 vcp-src.h";
        beta: f64 = 0.875, in 0 .. 1, "Share of the window kept at overload", "Xia et al. 2005; the authors' ns-2 vcp-src.h";
        load_interval: Duration = Duration::from_milliseconds(200), in 1e6 .. 1e18, "The routers' measuring interval (t_rho), which scales multiplicative growth and sets the wait after a decrease", "Xia et al. 2005";
        typical_rtt: Duration = Duration::from_milliseconds(100), in 1e6 .. 1e18, "RTT to which additive growth is scaled (t_d)", "the authors' ns-2 vcp-src.h, TYPICAL_RTT";
    }
}

/// The round-trip time, in units of the typical one, below which additive growth is scaled linearly and not by the
/// square (the authors' ns-2 vcp-src.h, `RTT_LEFT_BY_TD`).
const SHORT: f64 = 0.2;
/// The round-trip time, in units of the typical one, above which additive growth is scaled linearly
/// (`RTT_RIGHT_BY_TD`).
const LONG: f64 = 5.0;
/// The maximum number of measuring intervals that a round trip counts for (`MAX_RTT_BY_TRHO`).
const MOST_INTERVALS: f64 = 2.5;

/// The response to an acknowledgement.
enum Action {
    MultiplicativeIncrease,
    AdditiveIncrease,
    MultiplicativeDecrease,
    Freeze,
}

control! {
    Vcp(VcpParameters as parameters) {
        growth: Growth,
        /// When the effect of the latest decrease is in the routers' load factor, and when it is echoed.
        decrease: Option<Decrease>,
    }
}

#[derive(Clone, Copy, Debug)]
struct Decrease {
    measured: Time,
    echoed: Time,
}

about! { Vcp:
    name: "vcp",
    aliases: ["variable_structure"],
    title: "VCP",
    class: "marks",
    year: 2005,
    source: "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005",
    deviations: "constants, RTT scaling and the wait after a decrease, with their bounds, are those of the authors' \
                 ns-2 code, but its timer ticks of 10 ms and the pacing of small windows are left out; delayed \
                 acknowledgements echo the code of the latest segment, where the receiver of that code acknowledges \
                 each segment; a sender that does not use its window keeps it",
}

impl Vcp {
    /// The response to the load factor. After a decrease, overload is ignored until the routers have measured the
    /// effect and the receiver has echoed it: the window is first frozen, then grows as at high load.
    fn action(&mut self, ack: &Ack) -> Action {
        match ack.load_factor.unwrap_or(LoadFactor::Low) {
            LoadFactor::Low => Action::MultiplicativeIncrease,
            LoadFactor::High => Action::AdditiveIncrease,
            LoadFactor::Overload => match self.decrease {
                Some(decrease) if ack.now < decrease.measured => Action::Freeze,
                Some(decrease) if ack.now < decrease.echoed => Action::AdditiveIncrease,
                _ => {
                    let measured = ack.now + self.parameters.load_interval;
                    self.decrease = Some(Decrease { measured, echoed: measured + ack.srtt });
                    Action::MultiplicativeDecrease
                }
            },
        }
    }

    /// The growth per segment at low load: (1 + xi)^(rtt / t_rho) - 1, at most that of slow start.
    fn multiplicative(&self, srtt: Duration) -> f64 {
        let intervals = srtt.seconds() / self.parameters.load_interval.seconds();
        (libm::pow(1.0 + self.parameters.xi, intervals.min(MOST_INTERVALS)) - 1.0).min(1.0)
    }

    /// The growth per window at high load, in segments. It increases with the square of the round-trip time, so that
    /// flows with different round-trip times converge to the same rate.
    fn additive(&self, srtt: Duration) -> f64 {
        let scaled = srtt.seconds() / self.parameters.typical_rtt.seconds();
        let square = match scaled {
            _ if scaled <= SHORT => scaled * SHORT,
            _ if scaled <= LONG => scaled * scaled,
            _ => scaled - LONG + LONG * LONG,
        };
        self.parameters.alpha * square
    }

    fn react(&mut self, window: &mut Window, ack: &Ack) {
        match self.action(ack) {
            Action::MultiplicativeIncrease => {
                let growth = self.multiplicative(ack.srtt) * ack.credit as f64;
                self.growth.add(window, growth);
            }
            Action::AdditiveIncrease => {
                let segments = self.additive(ack.srtt);
                self.growth.additive(window, segments, ack.credit);
            }
            Action::MultiplicativeDecrease => {
                window.cwnd = ((self.parameters.beta * window.cwnd as f64) as u64).max(window.mss);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            }
            Action::Freeze => {}
        }
    }
}

impl CongestionControl for Vcp {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.react(window, ack);
    }

    /// The response to losses is that of Reno (the authors' ns-2 vcp-src.cc, `slowdown`).
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        window.set_ssthresh(flight_size / 2);
    }

    /// There is no slow start. The load factor alone determines the growth.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.react(window, ack);
        Some(0)
    }

    fn needs(&self) -> Needs {
        Needs { load_factor: true, ..Needs::default() }
    }
}
