//! When timers expire on a host that keeps them in a hierarchy of wheels, as Linux does (kernel/time/timer.c, calc_wheel_index): never
//! early, and later by up to an eighth of what is waited.

use crate::time::{Duration, Time};

/// The slots of a wheel of which all but one are ahead, and how much coarser each wheel is than the one below (LVL_SIZE,
/// LVL_CLK_SHIFT).
const SLOTS_AHEAD: u64 = 63;
const COARSER: u64 = 8;
/// The number of wheels (LVL_DEPTH).
const WHEELS: u32 = 9;

/// When a timer that was set `wait` before `deadline` expires. A deadline of whole ticks is kept: it has been rounded before.
pub fn expiry(deadline: Time, wait: Duration, tick: Duration) -> Time {
    if tick == Duration::ZERO || deadline == Time::NEVER || deadline.0.is_multiple_of(tick.0) {
        return deadline;
    }
    let ticks = wait.0.div_ceil(tick.0);
    let expires = deadline.0.saturating_sub(wait.0) / tick.0 + ticks;
    let wheel = (0..WHEELS - 1).find(|wheel| ticks < SLOTS_AHEAD * COARSER.pow(*wheel)).unwrap_or(WHEELS - 1);
    let step = COARSER.pow(wheel);
    Time((expires / step + 1) * step * tick.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from kernel/time/timer.c at 1000 ticks a second: up to 62 ms a timer expires a tick after its last one begins, up to
    /// 503 ms with the next multiple of 8 ms, up to 4031 ms of 64 ms. Linux 6.1.192 printed timeouts at multiples of 8 ms only.
    #[test]
    fn steps_of_wheels() {
        let at = |set: u64, wait: u64| {
            let wait = Duration::from_microseconds(wait);
            expiry(Time::ZERO + Duration::from_microseconds(set) + wait, wait, Duration::from_milliseconds(1))
        };
        let expected = [
            (10_500, 40_000, 51),
            (10_500, 39_100, 51),
            (10_500, 62_000, 73),
            (10_500, 63_000, 80),
            (138_500, 222_000, 368),
            (137_500, 222_000, 360),
            (10_500, 504_000, 576),
        ];
        for (set, wait, milliseconds) in expected {
            assert_eq!(at(set, wait), Time::ZERO + Duration::from_milliseconds(milliseconds), "{set} {wait}");
        }
    }
}
