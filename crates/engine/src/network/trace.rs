//! What a link can carry, or how long it takes, over time: a recorded trace.

use crate::specification::{Trace, TraceValues};
use crate::time::{Duration, Time};

impl Trace {
    pub fn first(&self) -> u64 {
        match &self.values {
            TraceValues::Steps(steps) => steps.first().map_or(0, |(_, value)| *value),
            TraceValues::Slots { unit, counts, .. } => counts.first().map_or(0, |count| count * unit),
        }
    }

    /// Later values before `end`, and when: over and over again if the trace repeats.
    pub fn changes(&self, end: Time) -> Vec<(Time, u64)> {
        let mut found = Vec::new();
        let (mut begin, mut latest) = (Duration::ZERO, self.first());
        loop {
            for (offset, value) in self.values.iter() {
                let time = Time::ZERO + begin + offset;
                if time >= end {
                    return found;
                }
                if value != latest {
                    found.push((time, value));
                    latest = value;
                }
            }
            if !self.repeats {
                return found;
            }
            begin = begin + self.until;
        }
    }

    pub fn greatest(&self) -> u64 {
        self.values.iter().map(|(_, value)| value).max().unwrap_or(0)
    }

    /// The most changes that it makes before `end`.
    pub fn most_changes(&self, end: Time) -> u64 {
        let cycles = if self.repeats { end.0 / self.until.0.max(1) + 1 } else { 1 };
        cycles.saturating_mul(self.values.len() as u64)
    }

    pub fn fault(&self) -> Option<&'static str> {
        if self.values.len() == 0 {
            return Some("a trace needs a value");
        }
        if let TraceValues::Steps(steps) = &self.values
            && (steps[0].0 != Duration::ZERO || !steps.is_sorted_by(|one, other| one.0 < other.0))
        {
            return Some("the times of a trace begin at zero and grow");
        }
        let ends = self.values.iter().last().map_or(Duration::ZERO, |(time, _)| time);
        (self.until <= ends).then_some("a trace ends after its last value begins")
    }
}

impl TraceValues {
    fn len(&self) -> usize {
        match self {
            TraceValues::Steps(steps) => steps.len(),
            TraceValues::Slots { counts, .. } => counts.len(),
        }
    }

    /// From when on there is which value.
    fn iter(&self) -> impl Iterator<Item = (Duration, u64)> {
        (0..self.len()).map(move |index| match self {
            TraceValues::Steps(steps) => steps[index],
            TraceValues::Slots { step, unit, counts } => (*step * index as u64, counts[index] * unit),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Steps and slots that say the same make the same changes, of which each differs from the value before; between two
        /// changes the value is that of the trace at that time of its cycle.
        #[test]
        fn steps_and_slots(counts in prop::collection::vec(0..4u64, 1..30), repeats: bool, end in 1..200u64) {
            let (step, until) = (Duration(10), Duration(10 * counts.len() as u64));
            let steps = counts.iter().enumerate().map(|(index, count)| (step * index as u64, 7 * count)).collect();
            let of = |values| Trace { name: "a trace".to_owned(), values, until, repeats };
            let (steps, slots) = (of(TraceValues::Steps(steps)), of(TraceValues::Slots { step, unit: 7, counts: counts.clone() }));
            let changes = steps.changes(Time(end));
            prop_assert_eq!(&changes, &slots.changes(Time(end)));
            prop_assert!(changes.len() as u64 <= steps.most_changes(Time(end)));
            prop_assert!(steps.fault().is_none() && slots.fault().is_none());
            let mut value = steps.first();
            for time in 0..end {
                if let Some((_, changed)) = changes.iter().find(|(at, _)| *at == Time(time)) {
                    prop_assert_ne!(value, *changed);
                    value = *changed;
                }
                let index = time as usize / 10;
                let index = if repeats { index % counts.len() } else { index.min(counts.len() - 1) };
                prop_assert_eq!(value, 7 * counts[index]);
            }
        }
    }
}
