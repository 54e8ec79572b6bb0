//! Vegas: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13 (1995).
//! The window keeps a few packets in the queue, estimated from the current and the minimum round-trip time.

use std::sync::Arc;

use super::linux::vegas as linux;
use super::newreno::AdditiveIncrease;
use super::ns2::vegas::Ns2Vegas;
use super::round_trips::{RoundEnd, RoundTrip, RoundTrips};
use super::{Ack, CongestionControl, CongestionEvent};
use crate::about::{About, Listed};
use crate::tcp::window::Window;
use crate::time::Time;
use crate::{choice, parameters};

choice! {
    /// Whose rules Vegas follows.
    pub enum VegasRules {
        /// Those of the paper, with the deviations of Linux and ns-3.
        Published = "published",
        /// Those of Linux.
        Linux = "linux",
        /// Those of ns-2.
        Ns2 = "ns2",
    }
}

parameters! {
    /// Parameters of Vegas.
    pub struct VegasParameters {
        alpha: u64 = 2, in 0 .. 1000000, "Backlog, in packets, below which the window grows", "Linux tcp_vegas.c, alpha; Brakmo and Peterson 1995 try 1 and 2";
        beta: u64 = 4, in 0 .. 1000000, "Backlog, in packets, above which the window falls", "Linux tcp_vegas.c, beta; Brakmo and Peterson 1995 try 3 and 4";
        gamma: u64 = 1, in 0 .. 1000000, "Backlog, in packets, above which slow start ends", "Linux tcp_vegas.c, gamma";
        every_other_round: bool = false, "In slow start, double the window only every other round trip", "Linux tcp_vegas.c doubles it every round trip, Brakmo and Peterson 1995 every other";
        rules: VegasRules = VegasRules::Published, "Whose rules: linux divides the queueing delay by the base RTT and rounds down, and forgets the base RTT when segments leave while none is in flight; ns2 takes the mean RTT of a round trip and the segments sent in it, rounds to the nearest, and has slow start every other round trip", "Brakmo and Peterson 1995; Linux tcp_vegas.c, tcp_vegas_cong_avoid and tcp_vegas_cwnd_event; ns-2.35 tcp/tcp-vegas.cc, recv";
        decrease: f64 = 0.5, in 0 .. 1, "Decrease on loss, as a share of the window", "Linux tcp_vegas.c, which takes Reno's; ns-2 tcp-vegas.cc takes a quarter";
    }
}

/// The Vegas congestion control.
#[derive(Clone, Debug)]
pub struct Vegas {
    parameters: Arc<VegasParameters>,
    /// Growth in rounds with too few round-trip time samples.
    additive: AdditiveIncrease,
    round_trips: RoundTrips,
    /// Whether slow start increases the window in this round.
    doubling: bool,
    /// Whether the segments that leave next are the only ones in flight, so that Linux begins anew.
    is_idle: bool,
    /// Instead of all others, with ns-2's rules.
    ns2: Option<Box<Ns2Vegas>>,
}

impl Listed for Vegas {
    const ABOUT: About = About {
        name: "vegas",
        aliases: &["tcp-vegas"],
        title: "Vegas",
        class: "delay",
        year: 1995,
        source: "Brakmo and Peterson, IEEE JSAC 13 (1995); constants and estimator of Linux tcp_vegas.c and ns-3 tcp-vegas.cc",
        deviations: "no retransmission rule of Vegas's own: the stack recovers losses; as in Linux, the actual rate is \
                     the window over the minimum RTT of a round, slow start by default doubles the window every round \
                     trip and falls to the measured rate at its end, and a round with fewer than three RTT samples \
                     follows Reno; as in ns-3, the backlog is in whole packets, rounded up, and with rules linux down; \
                     the base RTT is the minimum of all samples; rules ns2 leave retransmission on an expired \
                     fine-grained timer and the window of two segments after a timeout to the stack; with a stack \
                     without timestamps, which times one segment per round, the window follows Reno",
    };
}

impl Vegas {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<VegasParameters>) -> Vegas {
        let ns2 = (parameters.rules == VegasRules::Ns2).then(Box::default);
        Vegas {
            parameters,
            additive: AdditiveIncrease::default(),
            round_trips: RoundTrips::default(),
            doubling: true,
            is_idle: false,
            ns2,
        }
    }

    /// Keeps the backlog Diff between alpha and beta (Brakmo and Peterson 1995 section III.B).
    fn adjust(&self, window: &mut Window, round_trip: RoundTrip) {
        let segments = window.cwnd / window.mss;
        let diff = self.backlog(segments, round_trip);
        if diff > self.parameters.beta {
            window.cwnd = window.cwnd.saturating_sub(window.mss).max(least_window(window));
            self.lower_threshold(window);
        } else if diff < self.parameters.alpha {
            window.cwnd += window.mss;
        }
        // Linux tcp_vegas.c, tcp_current_ssthresh: as after an idle period that did not reduce the window.
        window.ssthresh = window.ssthresh.max(window.cwnd * 3 / 4);
    }

    /// Ends slow start if the backlog exceeds gamma (Brakmo and Peterson 1995 section III.C). cwnd is then the actual
    /// rate times the base RTT, plus one segment for rounding (Linux tcp_vegas.c).
    fn leave_slow_start(&self, window: &mut Window, round_trip: RoundTrip) -> bool {
        let segments = window.cwnd / window.mss;
        let without_queue = round_trip.without_queue(segments);
        if self.backlog(segments, round_trip) <= self.parameters.gamma {
            return false;
        }
        window.cwnd = window.cwnd.min((without_queue + 1) * window.mss).max(least_window(window));
        self.lower_threshold(window);
        true
    }

    /// Diff: the packets of a window of `segments` that are in the queue.
    fn backlog(&self, segments: u64, round_trip: RoundTrip) -> u64 {
        match self.parameters.rules {
            VegasRules::Published | VegasRules::Ns2 => segments - round_trip.without_queue(segments),
            VegasRules::Linux => linux::backlog(segments, round_trip),
        }
    }

    /// Lowers ssthresh, which keeps the reduced window out of slow start: below the window (ns-3 tcp-vegas.cc,
    /// GetSsThresh), or to it (Linux tcp_vegas.c, tcp_vegas_ssthresh).
    fn lower_threshold(&self, window: &mut Window) {
        let below = match self.parameters.rules {
            VegasRules::Published | VegasRules::Ns2 => window.mss,
            VegasRules::Linux => 0,
        };
        window.ssthresh = window.ssthresh.min(window.cwnd - below).max(window.least_ssthresh());
    }
}

/// The minimum window: two segments (Linux tcp_vegas.c).
fn least_window(window: &Window) -> u64 {
    2 * window.mss
}

impl CongestionControl for Vegas {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(ns2) = &mut self.ns2 {
            ns2.avoid_congestion(window, &self.parameters);
            return;
        }
        match self.round_trips.end_round(ack) {
            Some(RoundEnd::Measured(round_trip)) => self.adjust(window, round_trip),
            Some(RoundEnd::Unmeasured) => self.additive.increase(window, ack.credit),
            None => {}
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(ns2) = &mut self.ns2 {
            ns2.on_congestion(window, event, &self.parameters);
            return;
        }
        // Nothing counts as in flight after a timeout.
        self.is_idle |= event == CongestionEvent::Timeout && self.parameters.rules == VegasRules::Linux;
        if let Some(flight_size) = event.flight_size() {
            self.additive.restart();
            self.round_trips.abandon_round();
            self.doubling = true;
            let left = (flight_size as f64 * (1.0 - self.parameters.decrease)) as u64;
            window.set_ssthresh(match self.parameters.rules {
                VegasRules::Published | VegasRules::Ns2 => left,
                VegasRules::Linux => left / window.mss * window.mss,
            });
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(ns2) = &mut self.ns2 {
            ns2.take(window.mss, ack);
            return;
        }
        if self.is_idle {
            self.round_trips.restart(ack.una - ack.acked);
        }
        self.round_trips.take(ack);
        // Linux tcp_output.c, tcp_event_data_sent: CA_EVENT_TX_START.
        self.is_idle = self.parameters.rules == VegasRules::Linux && ack.in_flight == 0;
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        if let Some(ns2) = &mut self.ns2 {
            ns2.slow_start(window, &self.parameters);
            return Some(0);
        }
        let every_other_round = self.parameters.every_other_round;
        if let Some(end) = self.round_trips.end_round(ack) {
            // With pauses in slow start, the expected and the actual rate refer to the same window only after a pause.
            self.doubling = !(every_other_round && self.doubling);
            if let RoundEnd::Measured(round_trip) = end
                && self.doubling
                && self.leave_slow_start(window, round_trip)
            {
                return Some(0);
            }
        }
        if self.doubling { None } else { Some(0) }
    }
}
