//! What algorithms that model the path have in common: filters, packet-timed rounds and the degree of aggregation.

use super::{Delivery, Needs, RateSample};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// What such an algorithm needs of the sender.
pub fn needs() -> Needs {
    Needs { pacing: true, deliveries: true, governs: true, random: true, ..Needs::default() }
}

/// The round-trip time that the first pacing rate assumes while none is known (tcp_bbr.c,
/// bbr_init_pacing_rate_from_rtt; draft-ietf-ccwg-bbr-06 section 5.6.2).
const NOMINAL_RTT: Duration = Duration::from_milliseconds(1);

/// The smoothed round-trip time in seconds, or what is assumed of it.
pub fn assumed_rtt(srtt: Duration) -> f64 {
    if srtt == Duration::ZERO { NOMINAL_RTT.seconds() } else { srtt.seconds() }
}

/// The sample that an acknowledgement gives, and its rate.
pub fn rate_of(delivery: &Delivery) -> Option<(RateSample, f64)> {
    delivery.rate.and_then(|sample| Some((sample, sample.rate()?)))
}

/// Bytes of payload a second, and as the sender wants it, which asks for it more often than it changes; none before a round trip is
/// known.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacingRate(Option<(f64, Rate)>);

impl PacingRate {
    /// Whether it is still to be set for the first time, and may be.
    pub fn awaits(&self, srtt: Duration) -> bool {
        self.0.is_none() && srtt > Duration::ZERO
    }

    /// This it is.
    pub fn set(&mut self, rate: f64) {
        self.0 = Some((rate, in_bits(rate)));
    }

    /// This it is, but before the pipe is full the rate only rises.
    pub fn follow(&mut self, rate: f64, is_full: bool) {
        if self.0.is_none_or(|(current, _)| rate > current || is_full && rate < current) {
            self.set(rate);
        }
    }

    /// Zero before a round trip is known.
    pub fn get(&self) -> f64 {
        self.0.map_or(0.0, |(rate, _)| rate)
    }

    /// As the sender wants it; `first` before a round trip is known.
    pub fn or_first(&self, first: impl FnOnce() -> f64) -> Rate {
        self.0.map_or_else(|| in_bits(first()), |(_, rate)| rate)
    }
}

fn in_bits(rate: f64) -> Rate {
    Rate(((8.0 * rate) as u64).max(1))
}

/// The window to go back to after a recovery or PROBE_RTT.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorWindow {
    pub cwnd: u64,
    pub was_in_recovery: bool,
}

impl PriorWindow {
    /// Notes the window; one that a recovery or PROBE_RTT has cut says nothing.
    pub fn save(&mut self, window: &Window, is_probing_rtt: bool) {
        let is_cut = self.was_in_recovery || is_probing_rtt;
        self.cwnd = if is_cut { self.cwnd.max(window.cwnd) } else { window.cwnd };
    }
}

/// How far PROBE_RTT has come: it ends after its time and a round with little in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeRtt {
    /// When it may end; none while too much is in flight.
    end: Option<Time>,
    is_round_done: bool,
}

impl ProbeRtt {
    /// An acknowledgement in it, which may begin a round; `is_reached` says whether no more is in flight than should be.
    /// Returns whether the round is done.
    pub fn advance(
        &mut self,
        delivery: &Delivery,
        is_reached: bool,
        time: Duration,
        round_start: bool,
        rounds: &mut Rounds,
    ) -> bool {
        if self.end.is_some() {
            self.is_round_done |= round_start;
            return self.is_round_done;
        }
        if is_reached {
            *self = ProbeRtt { end: Some(delivery.now + time), is_round_done: false };
            rounds.restart(delivery.total_delivered);
        }
        false
    }

    /// Whether its time is over.
    pub fn is_over(&self, now: Time) -> bool {
        self.end.is_some_and(|end| now > end)
    }
}

/// The maximum of recent values, over a number of rounds or cycles.
#[derive(Clone, Debug, Default)]
pub struct WindowedMaximum {
    /// Values that are greatest until a greater one comes or those before have aged: values fall, times rise.
    candidates: Vec<(f64, u64)>,
    greatest: f64,
}

impl WindowedMaximum {
    /// Takes in a value and forgets those that are more than `age` old.
    pub fn update(&mut self, value: f64, time: u64, age: u64) {
        while self.candidates.last().is_some_and(|(other, _)| *other <= value) {
            self.candidates.pop();
        }
        if self.candidates.last().is_none_or(|(_, other)| *other < time) {
            self.candidates.push((value, time));
        }
        while self.candidates.first().is_some_and(|(_, other)| time - other > age) {
            self.candidates.remove(0);
        }
        self.greatest = self.candidates.first().map_or(0.0, |(value, _)| *value);
    }

    /// Zero before the first value.
    pub fn get(&self) -> f64 {
        self.greatest
    }
}

/// Packet-timed rounds: one ends when a segment is acknowledged that was sent after it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Bytes delivered in all when the round began.
    began_at: u64,
    /// Rounds so far.
    pub count: u64,
}

impl Rounds {
    /// Whether a sample ends the round, of a segment sent when so many bytes had been delivered.
    pub fn update(&mut self, prior_delivered: u64, total_delivered: u64) -> bool {
        let ends = prior_delivered >= self.began_at;
        if ends {
            self.restart(total_delivered);
            self.count += 1;
        }
        ends
    }

    /// A round begins now, and none is counted.
    pub fn restart(&mut self, total_delivered: u64) {
        self.began_at = total_delivered;
    }
}

/// How many bytes arrive beyond what the estimated bandwidth explains, because acknowledgements come in lumps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    since: Time,
    pub delivered: u64,
}

impl Aggregation {
    /// Counting begins anew.
    pub fn restart(&mut self, now: Time) {
        *self = Aggregation { since: now, delivered: 0 };
    }

    /// The excess, at most the window; counting begins anew when there is none.
    pub fn excess(&mut self, delivery: &Delivery, bandwidth: f64, cwnd: u64) -> u64 {
        let mut expected = (bandwidth * delivery.now.since(self.since).seconds()) as u64;
        if self.delivered <= expected {
            self.restart(delivery.now);
            expected = 0;
        }
        self.delivered += delivery.delivered;
        (self.delivered - expected).min(cwnd)
    }
}

/// What was sent while the algorithm itself held the window down, in bytes delivered in all when it was sent: samples
/// of it count as limited, as if the application had left the window unused.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeldBack {
    span: Option<(u64, u64)>,
}

impl HeldBack {
    /// The window is held down now.
    pub fn extend(&mut self, delivery: &Delivery) {
        let end = delivery.total_delivered + delivery.in_flight;
        let start = self.span.filter(|(_, last)| delivery.total_delivered <= *last);
        self.span = Some((start.map_or(delivery.total_delivered, |(first, _)| first), end));
    }

    /// Whether a sample tells of the sender rather than of the path.
    pub fn is_app_limited(&self, sample: &RateSample) -> bool {
        let held = self.span.is_some_and(|(first, last)| (first..=last).contains(&sample.prior_delivered));
        sample.app_limited || held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The filter's maximum is that of all values within the window.
        #[test]
        fn windowed_maximum(
            steps in proptest::collection::vec((0..50u32, 0..3u64), 1..100),
            age in 0..8u64,
        ) {
            let (mut filter, mut seen, mut time) = (WindowedMaximum::default(), Vec::new(), 0);
            for (value, step) in steps {
                time += step;
                filter.update(f64::from(value), time, age);
                seen.push((value, time));
                let late = seen.iter().filter(|(_, other)| time - other <= age).map(|(value, _)| *value);
                prop_assert_eq!(Some(filter.get() as u32), late.max());
            }
        }
    }
}
