//! Vegas as in the paper, with the deviations of Linux and ns-3; by the rules of Linux, with all of Linux's.

use super::{Rules, VegasParameters, VegasState, linux};
use crate::inner::Tell;
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::round_trips::{RoundEnd, RoundTrip, RoundTrips};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

control! {
    Published(VegasParameters as parameters) {
        is_linux: bool = parameters.rules == Rules::Linux,
        /// Growth in rounds with too few round-trip time samples.
        additive: AdditiveIncrease,
        round_trips: RoundTrips = RoundTrips::new(parameters.rules == Rules::Linux),
        /// Whether slow start increases the window in this round.
        doubling: bool = true,
    }
}

impl Published {
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
        if self.is_linux { linux::backlog(segments, round_trip) } else { segments - round_trip.without_queue(segments) }
    }

    /// Lowers ssthresh, which keeps the reduced window out of slow start: below the window (ns-3 tcp-vegas.cc,
    /// GetSsThresh), or to it (Linux tcp_vegas.c, tcp_vegas_ssthresh).
    fn lower_threshold(&self, window: &mut Window) {
        let below = if self.is_linux { 0 } else { window.mss };
        window.ssthresh = window.ssthresh.min(window.cwnd - below).max(window.least_ssthresh());
    }
}

/// The minimum window: two segments (Linux tcp_vegas.c).
fn least_window(window: &Window) -> u64 {
    2 * window.mss
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        match self.round_trips.end_round(ack) {
            Some(RoundEnd::Measured(round_trip)) => self.adjust(window, round_trip),
            Some(RoundEnd::Unmeasured) => self.additive.increase(window, ack.credit),
            None => {}
        }
    }

    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.additive.restart();
        self.round_trips.abandon_round();
        self.doubling = true;
        let left = (flight_size as f64 * (1.0 - self.parameters.decrease)) as u64;
        window.set_ssthresh(if self.is_linux { left / window.mss * window.mss } else { left });
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.round_trips.on_timeout();
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        self.round_trips.take(ack);
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
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

    fn tell_state(&self, window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let segments = window.cwnd / window.mss;
        let diff = self.round_trips.so_far().map(|round_trip| self.backlog(segments, round_trip) as f64);
        VegasState { base_rtt: self.round_trips.min_rtt().map(Duration::seconds), diff }.tell(tell);
    }
}
