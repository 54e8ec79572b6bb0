//! A property of a link that changes at times known in advance.

use crate::time::Time;

/// A value and its later values. Times are queried in order.
#[derive(Clone, Debug)]
pub struct Varying<T> {
    current: T,
    /// The time of the next change; never if there is none.
    until: Time,
    /// The later changes, the last first.
    later: Vec<(Time, T)>,
}

impl<T: Copy> Varying<T> {
    /// The first value, and the changes in order of time; of two at the same time the later one counts.
    pub fn new(first: T, changes: impl IntoIterator<Item = (Time, T)>) -> Varying<T> {
        let mut later: Vec<(Time, T)> = changes.into_iter().collect();
        later.reverse();
        let until = later.last().map_or(Time::NEVER, |(time, _)| *time);
        Varying { current: first, until, later }
    }

    #[inline(always)]
    pub fn at(&mut self, time: Time) -> T {
        if time >= self.until {
            self.advance(time);
        }
        self.current
    }

    #[cold]
    fn advance(&mut self, time: Time) {
        while let Some((_, value)) = self.later.pop_if(|(moment, _)| *moment <= time) {
            self.current = value;
        }
        self.until = self.later.last().map_or(Time::NEVER, |(time, _)| *time);
    }

    /// The value at the latest time queried.
    pub fn current(&self) -> T {
        self.current
    }

    pub fn next_change(&self) -> Time {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value applies from its time on. Of two changes at the same time the later one applies.
    #[test]
    fn change_times() {
        let mut value = Varying::new('a', [(Time(10), 'b'), (Time(20), 'c'), (Time(20), 'd'), (Time(30), 'e')]);
        let read: String = [0, 9, 10, 19, 20, 25, 40].into_iter().map(|time| value.at(Time(time))).collect();
        assert_eq!(read, "aabbdde");
        assert_eq!(value.next_change(), Time::NEVER);
    }
}
