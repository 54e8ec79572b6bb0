//! Simulated time in integer picoseconds, so that a byte at 1 Gbit/s (8000 ps) is exact and a run is identical on every
//! machine. A `u64` holds 213 days.

use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A duration in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Duration(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An instant that no run reaches.
    pub const NEVER: Time = Time(u64::MAX);

    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }

    /// The time since `earlier`, zero if `earlier` is in the future.
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    pub const ZERO: Duration = Duration(0);

    pub const fn from_seconds(seconds: u64) -> Duration {
        Duration(seconds * PICOSECONDS_PER_SECOND)
    }

    pub const fn from_milliseconds(milliseconds: u64) -> Duration {
        Duration(milliseconds * (PICOSECONDS_PER_SECOND / 1_000))
    }

    pub const fn from_microseconds(microseconds: u64) -> Duration {
        Duration(microseconds * (PICOSECONDS_PER_SECOND / 1_000_000))
    }

    /// The nearest duration to a number of seconds. Negative numbers give zero.
    pub fn from_seconds_f64(seconds: f64) -> Duration {
        let picoseconds = seconds * PICOSECONDS_PER_SECOND as f64;
        // `f64::round` is a call into the C library on processors before SSE4.1; the fraction is exact. These also convert signed
        // integers in one instruction, and unsigned ones in many.
        if picoseconds < i64::MAX as f64 {
            let whole = (picoseconds as i64).max(0);
            return Duration(whole as u64 + u64::from(picoseconds - whole as f64 >= 0.5));
        }
        Duration(picoseconds as u64)
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(duration.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Seconds are converted to the picoseconds that `f64::round` gives, with halves rounded away from zero.
        #[test]
        fn rounding_of_seconds(seconds in prop_oneof![-1.0..1e7f64, 0.0..1e-10f64]) {
            let rounded = (seconds * PICOSECONDS_PER_SECOND as f64).round() as u64;
            prop_assert_eq!(Duration::from_seconds_f64(seconds), Duration(rounded));
        }
    }

    /// Infinity saturates. NaN and negative numbers give zero.
    #[test]
    fn extreme_seconds() {
        assert_eq!(Duration::from_seconds_f64(f64::INFINITY), Duration(u64::MAX));
        assert_eq!(Duration::from_seconds_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_seconds_f64(-1.0), Duration::ZERO);
    }
}
