//! YeAH-TCP: Baiocchi, Castellani and Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007. While the queue is
//! short, the window grows as that of Scalable TCP. Otherwise it grows as Reno's and drains the queue, unless other
//! flows fill it.

use super::newreno::AdditiveIncrease;
use super::round_trips::{RoundEnd, RoundTrip, RoundTrips};
use super::{Ack, CongestionControl};
use crate::inner::{Tell, flag};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Minimum of the estimated window of a competing Reno flow, in segments: Linux tcp_yeah.c, tcp_yeah_init.
const LEAST_RENO_WINDOW: u64 = 2;

choice! {
    /// Whose base RTT it takes.
    pub enum Rules {
        Published = "published",
        Linux = "linux",
    }
}

parameters! {
    pub struct YeahParameters {
        alpha: u64 = 80, in 0 .. 1000000, "Backlog, in packets, above which the mode is slow and the queue is drained (Q_max in the paper)", "Linux tcp_yeah.c, TCP_YEAH_ALPHA";
        gamma: u64 = 1, in 1 .. 1000000, "Divisor of the backlog that gives the amount drained per round trip", "Linux tcp_yeah.c, TCP_YEAH_GAMMA";
        delta: u64 = 3, in 0 .. 30, "A loss reduces the window by at least 1/2^delta", "Linux tcp_yeah.c, TCP_YEAH_DELTA";
        epsilon: u64 = 1, in 0 .. 30, "Draining the queue reduces the window by at most 1/2^epsilon", "Linux tcp_yeah.c, TCP_YEAH_EPSILON";
        phy: u64 = 8, in 1 .. 1000000, "The mode is slow if the queueing delay exceeds 1/phy of the base RTT", "Linux tcp_yeah.c, TCP_YEAH_PHY";
        rho: u64 = 16, in 0 .. 1000000, "Consecutive slow round trips from which a loss is handled as in Reno", "Linux tcp_yeah.c, TCP_YEAH_RHO";
        zeta: u64 = 50, in 0 .. 1000000, "Fast round trips after which the estimate of a competing Reno window is discarded", "Linux tcp_yeah.c, TCP_YEAH_ZETA";
        scalable_count: u64 = 100, in 1 .. 1000000, "Acknowledged segments per segment of growth in the fast mode", "Linux tcp_yeah.c, TCP_SCALABLE_AI_CNT";
        rules: Rules = Rules::Published, "Whose base RTT: linux forgets it when segments leave while none is in flight", "Linux tcp_yeah.c, tcp_yeah; tcp_vegas.c, tcp_vegas_cwnd_event";
    }
}

inner_state! {
    YeahState {
        phase: "", "mode of the round trip", of ["fast", "slow"];
        base_rtt: "s", "minimum RTT";
        backlog: "segments", "segments in the queue in the last measured round trip (Q)";
        reno_window: "segments", "estimated window of a competing Reno flow";
    }
}

control! {
    Yeah(YeahParameters as parameters) {
        round_trips: RoundTrips = RoundTrips::new(parameters.rules == Rules::Linux),
        /// Increase rule of the slow mode.
        additive: AdditiveIncrease,
        /// Credited bytes that have not yet increased the window in fast mode.
        uncounted: u64,
        /// The backlog of the last measured round, in segments.
        backlog: u64,
        /// Consecutive round trips in slow mode, zero in fast mode.
        slow_rounds: u64,
        /// Round trips in fast mode since the last loss.
        fast_rounds: u64,
        /// The estimated window of a competing Reno flow, in segments. Decongestion does not reduce the window below it.
        reno_window: u64 = LEAST_RENO_WINDOW,
    }
}

about! { Yeah:
    name: "yeah",
    aliases: ["yeah-tcp"],
    state: YeahState,
    title: "YeAH-TCP",
    class: "hybrid",
    year: 2007,
    source: "Baiocchi, Castellani and Vacirca, PFLDnet 2007; constants, counters and estimator of Linux tcp_yeah.c",
    deviations: "as in Linux, backlog and reductions are in whole segments, the fast mode grows at least as fast as \
                 Reno, and a round with fewer than three RTT samples changes nothing; a loss reduces the flight size \
                 (RFC 5681 equation 4); the base RTT is the minimum of all samples, unless rules is linux; with a \
                 stack without timestamps, which times one segment per round, it stays in the fast mode",
}

impl Yeah {
    /// Grows in fast mode by one segment per `scalable_count` segments acknowledged, at least as much as Reno.
    fn grow_fast(&mut self, window: &mut Window, credit: u64) {
        let bytes_for_segment = window.cwnd.min(self.parameters.scalable_count * window.mss);
        self.uncounted += credit;
        window.cwnd += self.uncounted / bytes_for_segment * window.mss;
        self.uncounted %= bytes_for_segment;
    }

    /// Selects the mode of the next round and drains the queue. Returns whether it reduced the window.
    fn end_round(&mut self, window: &mut Window, round_trip: RoundTrip) -> bool {
        let YeahParameters { alpha, phy, zeta, .. } = *self.parameters;
        let segments = window.cwnd / window.mss;
        // Q = (RTT - base RTT) cwnd / RTT, rounded down.
        let queueing = round_trip.queueing();
        self.backlog =
            (u128::from(segments) * u128::from(queueing.0) / u128::from(round_trip.min_rtt_of_round.0)) as u64;
        // L = (RTT - base RTT) / base RTT.
        let is_slow = self.backlog > alpha || queueing * phy > round_trip.min_rtt;
        if !is_slow {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > zeta {
                self.reno_window = LEAST_RENO_WINDOW;
                self.fast_rounds = 0;
            }
            return false;
        }
        let decongests = self.backlog > alpha && segments > self.reno_window;
        if decongests {
            self.decongest(window, segments);
        }
        self.slow_rounds += 1;
        self.reno_window = if self.reno_window <= LEAST_RENO_WINDOW {
            (window.cwnd / window.mss / 2).max(LEAST_RENO_WINDOW)
        } else {
            self.reno_window + 1
        };
        decongests
    }

    /// Precautionary decongestion: subtracts the backlog from the window before the queue overflows.
    fn decongest(&mut self, window: &mut Window, segments: u64) {
        let reduction = (self.backlog / self.parameters.gamma).min(segments >> self.parameters.epsilon);
        window.cwnd = (segments - reduction).max(self.reno_window) * window.mss;
        window.ssthresh = window.cwnd;
        self.uncounted = 0;
    }
}

impl CongestionControl for Yeah {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if self.slow_rounds == 0 {
            self.grow_fast(window, ack.credit);
        } else {
            self.additive.increase(window, ack.credit);
        }
        if let Some(RoundEnd::Measured(round_trip)) = self.round_trips.end_round(ack) {
            self.end_round(window, round_trip);
        }
    }

    /// Subtracts the backlog, at least 1/2^delta and at most half of the window, unless other flows seem to have filled
    /// the queue.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.round_trips.abandon_round();
        self.additive.restart();
        self.uncounted = 0;
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(LEAST_RENO_WINDOW);
        let flight = flight_size / window.mss;
        let half = (flight / 2).max(2);
        let reduction = if self.slow_rounds < self.parameters.rho {
            self.backlog.max(flight >> self.parameters.delta).min(half)
        } else {
            half
        };
        window.set_ssthresh(flight_size.saturating_sub(reduction * window.mss));
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.round_trips.on_timeout();
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        self.round_trips.take(ack);
    }

    /// Modes are selected and the queue is drained in slow start too (Linux tcp_yeah.c).
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        match self.round_trips.end_round(ack) {
            Some(RoundEnd::Measured(round_trip)) if self.end_round(window, round_trip) => Some(0),
            _ => None,
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = YeahState {
            phase: Some(flag(self.slow_rounds > 0)),
            base_rtt: self.round_trips.min_rtt().map(Duration::seconds),
            backlog: Some(self.backlog as f64),
            reno_window: Some(self.reno_window as f64),
        };
        state.tell(tell);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::time::Duration;

    const MSS: u64 = 1000;

    /// tcp_vegas.c, tcp_vegas_cwnd_event, by hand: with eight segments and RTTs of 40, then 80 ms, the backlog is four, which a loss
    /// subtracts. If none was in flight in between, Linux takes 80 ms for the base RTT, and a loss subtracts an eighth.
    #[test]
    fn idle_forgets_base() {
        for (rules, left) in [(Rules::Published, 4), (Rules::Linux, 7)] {
            let mut yeah = Yeah::new(Arc::new(YeahParameters { rules, ..YeahParameters::default() }));
            let mut window = Window { cwnd: 8 * MSS, ssthresh: 8 * MSS, mss: MSS };
            for number in 0..20 {
                let (una, rtt) = (number * MSS, if number < 4 { 40 } else { 80 });
                let in_flight = if number == 3 { 0 } else { 4 * MSS };
                let rtt = Some(Duration::from_milliseconds(rtt));
                let ack = Ack { acked: MSS, rtt, una, nxt: una + 4 * MSS, in_flight, ..Ack::default() };
                yeah.on_ack(&window, &ack);
                yeah.increase(&mut window, &ack);
            }
            yeah.reduce(&mut window, 8 * MSS, Time::ZERO);
            assert_eq!(window.ssthresh / MSS, left, "{rules:?}");
        }
    }
}
