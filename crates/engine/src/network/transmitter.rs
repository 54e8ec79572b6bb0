//! The transmitter of a link: sends packets one after the other at the link's current rate.

use super::Varying;
use crate::framing::Framing;
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};
use crate::units::Rate;

/// The transmitter of a link. All rates are known in advance, so the end of a transmission is known when it begins.
#[derive(Debug)]
pub struct Transmitter {
    rate: Varying<Rate>,
    framing: Framing,
    /// Only if the rate changes.
    history: Option<Box<History>>,
    /// Until when it has packets to transmit; never if the rate stays at zero.
    pub busy_until: Time,
    /// A packet's size, and how long its transmission takes at the current rate. Traffic has few sizes.
    latest: (u16, Duration),
}

/// What a link whose rate changes can carry.
#[derive(Debug)]
struct History {
    /// Its rates, and from when on, in order of time.
    rates: Box<[(Time, Rate)]>,
    /// When the measuring window opens, and what it had to carry then.
    opens: Time,
    under_way: u128,
}

impl History {
    /// The integral of a value of the rate between two times.
    fn integral(&self, from: Time, to: Time, value: impl Fn(Rate) -> u64) -> u128 {
        let ends = self.rates[1..].iter().map(|(time, _)| *time).chain([Time::NEVER]);
        let pieces = self.rates.iter().zip(ends);
        pieces
            .map(|((start, rate), end)| {
                let period = end.min(to).since((*start).max(from));
                u128::from(value(*rate)) * u128::from(period.0)
            })
            .sum()
    }

    /// What can be carried between two times, in bits times picoseconds per second.
    fn capacity(&self, from: Time, to: Time) -> u128 {
        self.integral(from, to, |rate| rate.0)
    }
}

/// The size of no packet.
const NO_SIZE: u16 = 0;

impl Transmitter {
    /// An idle transmitter of this rate at first, and these changes in order of time.
    pub fn new(first: Rate, changes: impl Iterator<Item = (Time, Rate)> + Clone, framing: Framing) -> Transmitter {
        let is_constant = changes.clone().next().is_none();
        let rates = || std::iter::once((Time::ZERO, first)).chain(changes.clone()).collect();
        Transmitter {
            history: (!is_constant).then(|| Box::new(History { rates: rates(), opens: Time::ZERO, under_way: 0 })),
            rate: Varying::new(first, changes.clone()),
            framing,
            busy_until: Time::ZERO,
            latest: (NO_SIZE, Duration::ZERO),
        }
    }

    /// How long the latest packet's transmission takes, without outages.
    pub fn latest_transmission(&self) -> Duration {
        self.latest.1
    }

    /// Transmits a packet as soon as it is free from `ready` on. Returns when that is done.
    #[inline(always)]
    pub fn transmit(&mut self, size: u16, ready: Time) -> Time {
        let start = ready.max(self.busy_until);
        if self.latest.0 != size {
            self.latest = (size, self.rate.current().transmission_time(self.framing.bytes(u64::from(size))));
        }
        let completion = start + self.latest.1;
        if completion >= self.rate.next_change() {
            return self.transmit_at_changing_rate(size, start);
        }
        self.busy_until = completion;
        completion
    }

    /// Transmits a packet from `start` on. Bits that remain at a change are sent at the new rate.
    #[cold]
    #[inline(never)]
    fn transmit_at_changing_rate(&mut self, size: u16, start: Time) -> Time {
        // In bits times picoseconds per second, so that all arithmetic is exact.
        let mut remaining = u128::from(self.framing.bytes(u64::from(size))) * 8 * u128::from(PICOSECONDS_PER_SECOND);
        let (mut now, mut busy) = (start, Duration::ZERO);
        while remaining > 0 && now < Time::NEVER {
            let rate = self.rate.at(now);
            let until = self.rate.next_change();
            let period = until.since(now);
            let capacity = u128::from(rate.0) * u128::from(period.0);
            let taken = if capacity < remaining {
                now = until;
                period
            } else {
                let taken = Duration(remaining.div_ceil(u128::from(rate.0)) as u64);
                now += taken;
                taken
            };
            remaining = remaining.saturating_sub(capacity);
            if rate > Rate(0) {
                busy = busy + taken;
            }
        }
        self.busy_until = now;
        // Not to be reused for the next packet.
        self.latest = (NO_SIZE, busy);
        now
    }

    /// Is busy for this long as soon as it is free from `ready` on, with something else than packets.
    pub fn occupy(&mut self, time: Duration, ready: Time) {
        self.busy_until = ready.max(self.busy_until) + time;
    }

    /// The time that the packets given to it will take from `now` on, without outages.
    pub fn remaining(&self, now: Time) -> Duration {
        match &self.history {
            Some(history) => Duration(history.integral(now, self.busy_until, |rate| u64::from(rate > Rate(0))) as u64),
            None => self.busy_until.since(now),
        }
    }

    pub fn open_window(&mut self, now: Time) {
        if let Some(history) = &mut self.history {
            (history.opens, history.under_way) = (now, history.capacity(now, self.busy_until));
        }
    }

    /// The share of its capacity that it used in the measuring window, which ends now; `bytes` were given to it in the window. None if
    /// its rate never changes or it carries more than packets. Outages are no idle time.
    pub fn use_of_changing_rate(&self, bytes: u64, now: Time) -> Option<f64> {
        let history = self.history.as_ref().filter(|_| self.framing == Framing::default())?;
        let offered = history.capacity(history.opens, now);
        let given = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND) + history.under_way;
        // What is left when no later rate is known is never carried.
        let carried = given.saturating_sub(history.capacity(now, self.busy_until)).min(offered);
        Some(if offered == 0 { 0.0 } else { carried as f64 / offered as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a link of these rates can send before a moment, in picobits: the integral of its rate.
    fn capacity(rates: &[(u64, u64)], moment: u64) -> u128 {
        let ends = rates.iter().skip(1).map(|(from, _)| *from).chain([u64::MAX]);
        let pieces = rates.iter().zip(ends);
        pieces.map(|((from, rate), to)| u128::from(*rate) * u128::from(to.min(moment).saturating_sub(*from))).sum()
    }

    /// For how long its rate is above zero between two moments.
    fn uptime(rates: &[(u64, u64)], start: u64, end: u64) -> u64 {
        let up: Vec<(u64, u64)> = rates.iter().map(|(from, rate)| (*from, u64::from(*rate > 0))).collect();
        (capacity(&up, end) - capacity(&up, start)) as u64
    }

    fn transmitter(rates: &[(u64, u64)]) -> Transmitter {
        Transmitter::new(
            Rate(rates[0].1),
            rates[1..].iter().map(|(time, rate)| (Time(*time), Rate(*rate))),
            Framing::default(),
        )
    }

    /// Rates that change up to eleven times within ten seconds, from 1 bit/s to 10 Gbit/s and often zero. The last is not.
    fn rates() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let rate = || prop_oneof![1..100u64, 1_000_000..10_000_000_000u64];
        let changes =
            prop::collection::btree_map(0..10 * PICOSECONDS_PER_SECOND, prop_oneof![2 => rate(), 1 => Just(0)], 0..11);
        (rate(), changes, rate()).prop_map(|(first, changes, last)| {
            let changes = changes.into_iter().chain([(10 * PICOSECONDS_PER_SECOND, last)]);
            [(0, first)].into_iter().chain(changes).collect()
        })
    }

    proptest! {
        /// A packet's transmission ends as soon as the integral of the rate from its beginning is its size. The time that it
        /// takes, and the time that remains at any moment, are those in which the rate is above zero.
        #[test]
        fn integral_of_rate(
            rates in rates(),
            packets in prop::collection::vec((1..=1500u16, 0..PICOSECONDS_PER_SECOND), 1..50),
            share in 0.0..1.2f64,
        ) {
            let mut transmitter = transmitter(&rates);
            let (mut ready, mut free) = (0, 0);
            for (size, gap) in packets {
                ready += gap;
                let start = free.max(ready);
                free = transmitter.transmit(size, Time(ready)).0;
                let sent = |end: u64| capacity(&rates, end) - capacity(&rates, start);
                let bits = u128::from(size) * 8 * u128::from(PICOSECONDS_PER_SECOND);
                prop_assert!(sent(free) >= bits && sent(free - 1) < bits, "{} bytes from {} to {}", size, start, free);
                prop_assert_eq!(transmitter.latest_transmission().0, uptime(&rates, start, free));
            }
            let now = (free as f64 * share) as u64;
            prop_assert_eq!(transmitter.remaining(Time(now)).0, uptime(&rates, now.min(free), free));
        }
    }

    /// Half a packet at 8 Mbit/s takes 0.5 ms, the other half at 1 Mbit/s takes 4 ms. An outage between them delays it by
    /// its length.
    #[test]
    fn half_sent_packet() {
        let (us, megabit) = (1_000_000, 1_000_000);
        let mut slower = transmitter(&[(0, 8 * megabit), (500 * us, megabit)]);
        assert_eq!(slower.transmit(1000, Time::ZERO), Time(4500 * us));
        let mut interrupted = transmitter(&[(0, 8 * megabit), (500 * us, 0), (9500 * us, megabit)]);
        assert_eq!(interrupted.transmit(1000, Time::ZERO), Time(13_500 * us));
        assert_eq!(interrupted.latest_transmission(), Duration(4500 * us));
        assert_eq!(interrupted.transmit(1000, Time::ZERO), Time(21_500 * us));
    }

    /// A link that goes down for good completes what it has sent by then, and nothing else. Its use ends there.
    #[test]
    fn down_for_good() {
        let mut transmitter = transmitter(&[(0, 8000), (2_500_000_000_000, 0)]);
        let ends = [0; 4].map(|ready| transmitter.transmit(1000, Time(ready)).seconds());
        let never = Time::NEVER.seconds();
        assert_eq!(ends, [1.0, 2.0, never, never]);
        assert_eq!(transmitter.latest_transmission(), Duration::ZERO);
        assert_eq!(transmitter.remaining(Time(2 * PICOSECONDS_PER_SECOND)), Duration(PICOSECONDS_PER_SECOND / 2));
    }
}
