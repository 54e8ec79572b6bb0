//! TCP Real: Zhang and Tsaoussidis, "TCP-Real: improving real-time capabilities of TCP over heterogeneous networks",
//! NOSSDAV 2001; Tsaoussidis and Zhang, "TCP-Real: receiver-oriented congestion control", Computer Networks 40 (2002).
//!
//! Data is sent in waves of one window. The rate at which a wave arrives measures the contention on the path. A loss
//! without a decrease of that rate is classified as a transmission error and does not reduce the window. The receiver
//! measures the rate, so that the reverse path has no effect.

use super::newreno::AdditiveIncrease;
use super::{Ack, CongestionControl, CongestionEvent, Needs};
use crate::inner::Tell;
use crate::tcp::window::Window;
use crate::time::Time;

parameters! {
    pub struct RealParameters {
        contention: f64 = 0.125, in 0 .. 1, "Relative drop of the receiving rate from one wave to the next that shows contention", "assumed: the papers' value was not available";
    }
}

inner_state! {
    RealState {
        receiving_rate: "bit/s", "rate at which the latest wave arrived";
    }
}

/// The minimum number of waves between losses that are classified as transmission errors. A queue that overflows does
/// not lower the receiving rate, but causes losses again at once. Without this limit a flow would starve others, which
/// the papers' "friendly" excludes. Assumed.
const WAVES_BETWEEN_ERRORS: u64 = 2;

control! {
    Real(RealParameters as parameters) {
        additive: AdditiveIncrease,
        /// The wave in progress, and the two that arrived last.
        wave: Option<Wave>,
        latest: Option<Received>,
        previous: Option<Received>,
        /// The number of waves that arrived since a loss was classified as a transmission error.
        waves_since_error: u64 = WAVES_BETWEEN_ERRORS,
    }
}

/// A wave in progress.
#[derive(Clone, Copy, Debug)]
struct Wave {
    /// Its level: the window at its start.
    level: u64,
    /// The first sequence number after the wave.
    end: u64,
    /// The sequence number acknowledged at its start, and the arrival time of that data.
    start: u64,
    since: Time,
}

/// A wave that has arrived.
#[derive(Clone, Copy, Debug)]
struct Received {
    level: u64,
    /// The receiving rate, in bytes per second.
    rate: f64,
}

about! { Real:
    name: "real",
    aliases: ["tcp_real", "tcp-real"],
    state: RealState,
    title: "TCP Real",
    class: "hybrid",
    year: 2001,
    source: "Zhang and Tsaoussidis, NOSSDAV 2001; Tsaoussidis and Zhang, Computer Networks 40 (2002); both abstracts only",
    deviations: "only the abstracts were available. Known from them: the receiver measures the receiving rate of \
                 waves; adjustments for loss are cancelled while that rate shows available bandwidth; the algorithm is \
                 TCP-friendly; all else is standard TCP. Assumed: a wave is a window of data and its level is that \
                 window; its rate is taken from its first to its last acknowledgement, by arrival times that the \
                 receiver reports; contention is a rate lower than that of the previous wave, by the share contention, \
                 in a wave of no lower level; a loss or timeout after such a wave halves the window as in Reno, and so \
                 does one in slow start, before two waves are measured, or within two waves of a cancelled loss; any \
                 other leaves ssthresh at the window; marks halve it",
}

impl Real {
    /// Whether the latest wave shows contention. A wave of a lower level is slower in any case and does not.
    fn shows_contention(&self) -> Option<bool> {
        let (latest, previous) = (self.latest?, self.previous?);
        let is_slower = latest.rate < (1.0 - self.parameters.contention) * previous.rate;
        Some(latest.level >= previous.level && is_slower)
    }

    /// Reduces the window to half the flight size (RFC 5681 equation 4).
    fn halve(&mut self, window: &mut Window, flight_size: u64) {
        self.additive.restart();
        window.set_ssthresh(flight_size / 2);
    }
}

impl CongestionControl for Real {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.additive.increase(window, ack.credit);
    }

    /// A transmission error does not reduce the window; congestion halves it. Marks are congestion.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } => {
                // A loss would prolong the wave.
                self.wave = None;
                let is_error = !window.in_slow_start() && self.shows_contention() == Some(false);
                if is_error && self.waves_since_error >= WAVES_BETWEEN_ERRORS {
                    self.waves_since_error = 0;
                    window.set_ssthresh(window.cwnd);
                } else {
                    self.halve(window, flight_size);
                }
            }
            CongestionEvent::Ecn { flight_size, .. } => self.halve(window, flight_size),
            CongestionEvent::Timeout | CongestionEvent::Spurious => {}
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        let Some(arrived) = ack.arrived else { return };
        let Some(Wave { level, end, start, since }) = self.wave else {
            // The wave comprises all data sent until its first acknowledgement, so that data sent together is in the
            // same wave.
            let is_under_way = ack.una < ack.nxt;
            let wave = Wave { level: window.cwnd, end: ack.nxt, start: ack.una, since: arrived };
            self.wave = is_under_way.then_some(wave);
            return;
        };
        if ack.una < end {
            return;
        }
        self.wave = None;
        let time = arrived.since(since).seconds();
        if time > 0.0 {
            self.previous = self.latest;
            self.latest = Some(Received { level, rate: (ack.una - start) as f64 / time });
            self.waves_since_error += 1;
        }
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        RealState { receiving_rate: self.latest.map(|wave| 8.0 * wave.rate) }.tell(tell);
    }
}
