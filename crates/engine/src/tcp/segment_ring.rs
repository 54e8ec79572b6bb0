//! A value for each segment between SND.UNA and SND.NXT, indexed by segment: a ring with a power of two of slots, which
//! doubles when the window needs more.
//!
//! Queued packets are kept in a [`Line`](crate::line::Line) instead, which has no indices and grows by smaller steps.

use std::ops::{Index, IndexMut};

/// Number of slots of a new ring.
const FIRST_SLOTS: usize = 16;

/// A value per segment. Segments further apart than the number of slots share a slot, so [`SegmentRing::hold`] must be
/// called before a new index is used.
#[derive(Clone, Debug)]
pub struct SegmentRing<T> {
    slots: Box<[T]>,
}

impl<T: Copy + Default> SegmentRing<T> {
    pub fn new() -> SegmentRing<T> {
        SegmentRing { slots: vec![T::default(); FIRST_SLOTS].into() }
    }

    /// Makes room for segment `index` while keeping those from `una` on.
    #[inline(always)]
    pub fn hold(&mut self, una: u64, index: u64) {
        if index - una >= self.slots.len() as u64 {
            self.grow(una, index);
        }
    }

    #[cold]
    fn grow(&mut self, una: u64, index: u64) {
        let (before, count) = (self.slots.len(), (index - una + 1).next_power_of_two() as usize);
        // In place: long ones are moved by the operating system, which copies nothing.
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.reserve_exact(count - before);
        slots.resize(count, T::default());
        self.slots = slots.into();
        // The held segments lay within the old slots. Those whose slot is another now move up.
        for held in una..una + before as u64 {
            self[held] = self.slots[held as usize & (before - 1)];
        }
    }
}

impl<T> Index<u64> for SegmentRing<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: u64) -> &T {
        &self.slots[index as usize & (self.slots.len() - 1)]
    }
}

impl<T> IndexMut<u64> for SegmentRing<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: u64) -> &mut T {
        let mask = self.slots.len() - 1;
        &mut self.slots[index as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// However the window moves and grows, each segment in it keeps its value.
        #[test]
        fn keeps_the_window(steps in prop::collection::vec((0u64..100, 0u64..100), 0..60)) {
            let (mut ring, mut map, mut una, mut nxt) = (SegmentRing::new(), BTreeMap::new(), 0u64, 0u64);
            for (sent, acknowledged) in steps {
                for _ in 0..sent {
                    ring.hold(una, nxt);
                    ring[nxt] = 3 * nxt + 1;
                    map.insert(nxt, 3 * nxt + 1);
                    nxt += 1;
                }
                una = (una + acknowledged).min(nxt);
                map = map.split_off(&una);
                for (index, value) in &map {
                    prop_assert_eq!(ring[*index], *value);
                }
            }
        }
    }
}
