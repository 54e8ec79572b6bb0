//! Time as Linux's modules see it: in whole ticks of its clock, and in microseconds.

use crate::time::{Duration, Time};

/// Ticks a second: HZ of a kernel that is built for measurements, as that of the backend `linux`. Debian's has 250.
pub const HZ: u64 = 1000;

/// A tick, in picoseconds.
const TICK: u64 = 1_000_000_000_000 / HZ;

/// The tick of a time: `tcp_jiffies32`.
pub fn ticks(now: Time) -> u64 {
    now.since(Time::ZERO).0 / TICK
}

/// A duration in ticks, rounded up: include/linux/jiffies.h, `usecs_to_jiffies`.
pub fn ticks_of(duration: Duration) -> u64 {
    duration.0.div_ceil(TICK)
}

/// A duration in whole microseconds.
pub fn microseconds(duration: Duration) -> u64 {
    duration.0 / 1_000_000
}
