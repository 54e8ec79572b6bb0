//! LEDBAT: RFC 6817. Congestion control for background transfers. The window follows the distance of the one-way
//! queueing delay from a target.

use std::collections::VecDeque;

use super::{Ack, CongestionControl, Needs};
use crate::inner::Tell;
use crate::tcp::window::Window;
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};

parameters! {
    pub struct LedbatParameters {
        target: Duration = Duration::from_milliseconds(100), in 1e9..1e12, "Target queueing delay (TARGET)", "RFC 6817 section 2.5: 100 ms or less";
        gain: f64 = 1.0, in 0 .. 1, "Gain of the window's response to the distance from the target (GAIN)", "RFC 6817 section 2.5";
        allowed_increase: f64 = 1.0, in 0.001 .. 1000, "Segments by which the window may exceed the data in flight (ALLOWED_INCREASE)", "RFC 6817 section 2.5";
        base_history: u64 = 10, in 1 .. 1000, "Minutes for which minimum delays are kept (BASE_HISTORY)", "RFC 6817 section 2.5";
        current_filter: u64 = 4, in 1 .. 1000, "Number of latest samples whose minimum is the current delay (CURRENT_FILTER)", "RFC 6817 section 2.5: at least 4 in a round trip; ns-3 tcp-ledbat.cc, NoiseFilterLen";
        minimum_window: u64 = 2, in 1 .. 1000, "Minimum window, in segments (MIN_CWND)", "RFC 6817 section 2.5";
        begins_with_slow_start: bool = false, "Begin with slow start", "RFC 6817 section 2.4.2 has none; ns-3 tcp-ledbat.cc, SSParam, has it by default";
    }
}

inner_state! {
    LedbatState {
        base_delay: "s", "minimum one-way delay of the minutes that count (MIN(base_delays))";
        queuing_delay: "s", "current delay less the base delay (queuing_delay)";
    }
}

control! {
    Ledbat(LedbatParameters as parameters) {
        /// The minimum delay of each of the last minutes, the current minute at the end.
        base_delays: VecDeque<Duration> = VecDeque::with_capacity(parameters.base_history as usize),
        /// The minute of the last entry of `base_delays`.
        minute: u64,
        /// The latest delays and the times of their reports.
        current_delays: VecDeque<(Time, Duration)> = VecDeque::with_capacity(parameters.current_filter as usize),
        /// The fractional part of the growth, in bytes.
        fraction: f64,
    }
}

about! { Ledbat:
    name: "ledbat",
    state: LedbatState,
    title: "LEDBAT",
    class: "delay",
    year: 2012,
    source: "RFC 6817",
    deviations: "the window changes only on acknowledgements of new data, while it limits the sender, and by the bytes \
                 that the stack credits; FILTER() is MIN, one of the RFC's examples; a loss halves the flight size \
                 (RFC 5681 equation 4), not the window; the stack's retransmission timeout replaces CTO, and after it \
                 the window is one segment until the next acknowledgement; the stack's initial window replaces \
                 INIT_CWND",
}

impl Ledbat {
    /// update_base_delay of RFC 6817 section 2.4.2.
    fn update_base_delay(&mut self, delay: Duration, now: Time) {
        let minute = now.0 / (60 * PICOSECONDS_PER_SECOND);
        match self.base_delays.back_mut() {
            Some(least) if minute == self.minute => *least = delay.min(*least),
            _ => {
                if self.base_delays.len() == self.parameters.base_history as usize {
                    self.base_delays.pop_front();
                }
                self.base_delays.push_back(delay);
                self.minute = minute;
            }
        }
    }

    /// update_current_delay of RFC 6817 section 2.4.2. Samples older than one round trip are removed.
    fn update_current_delay(&mut self, delay: Duration, ack: &Ack) {
        let is_full = |delays: &VecDeque<_>| delays.len() == self.parameters.current_filter as usize;
        while is_full(&self.current_delays)
            || self.current_delays.front().is_some_and(|(told, _)| ack.now.since(*told) > ack.srtt)
        {
            self.current_delays.pop_front();
        }
        self.current_delays.push_back((ack.now, delay));
    }

    /// FILTER(current_delays) - MIN(base_delays), zero before the first sample.
    fn queueing_delay(&self) -> Duration {
        let current = self.current_delays.iter().map(|(_, delay)| *delay).min();
        let base = self.base_delays.iter().copied().min();
        current.unwrap_or(Duration::ZERO) - base.unwrap_or(Duration::ZERO)
    }
}

impl CongestionControl for Ledbat {
    /// RFC 6817 section 2.4.2.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let LedbatParameters { target, gain, allowed_increase, minimum_window, .. } = *self.parameters;
        let off_target = 1.0 - self.queueing_delay().seconds() / target.seconds();
        let change = gain * off_target * ack.credit as f64 * window.mss as f64 / window.cwnd as f64;
        let wanted = (window.cwnd as f64 + self.fraction + change).max(0.0);
        self.fraction = wanted - wanted.floor();
        let flight_size = ack.in_flight + ack.acked;
        let allowed = flight_size + (allowed_increase * window.mss as f64) as u64;
        window.cwnd = (wanted as u64).min(allowed).max(minimum_window * window.mss);
        // Lowering ssthresh keeps the reduced window out of slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    /// Halves the window, down to the minimum window (RFC 6817 section 2.4.2, on data loss).
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        self.fraction = 0.0;
        let least = self.parameters.minimum_window * window.mss;
        window.set_ssthresh((flight_size / 2).max(least).min(window.cwnd));
    }

    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(delay) = ack.one_way_delay {
            self.update_base_delay(delay, ack.now);
            self.update_current_delay(delay, ack);
        }
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        if self.parameters.begins_with_slow_start {
            return None;
        }
        window.ssthresh = window.cwnd;
        Some(ack.credit)
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let base = self.base_delays.iter().min();
        let state = LedbatState {
            base_delay: base.map(|delay| delay.seconds()),
            queuing_delay: base.map(|_| self.queueing_delay().seconds()),
        };
        state.tell(tell);
    }
}
