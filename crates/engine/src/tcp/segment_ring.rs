//! Something about each segment between SND.UNA and SND.NXT, found by the segment's index: a ring of a power of two of slots,
//! which doubles when the window needs more.
//!
//! Packets that wait are kept in a [`Line`](crate::line::Line) instead, which has no indices and grows by less.

use std::ops::{Index, IndexMut};

/// Slots of a new ring.
const FIRST_SLOTS: usize = 16;

/// See the module. Segments further apart than the slots share one, so [`SegmentRing::hold`] comes before a new index is used.
#[derive(Clone, Debug)]
pub struct SegmentRing<T> {
    slots: Vec<T>,
}

impl<T: Copy + Default> SegmentRing<T> {
    /// A ring of defaults.
    pub fn new() -> SegmentRing<T> {
        SegmentRing { slots: vec![T::default(); FIRST_SLOTS] }
    }

    /// Makes room for the segment `index`, while those from `una` on stay.
    #[inline(always)]
    pub fn hold(&mut self, una: u64, index: u64) {
        if index - una >= self.slots.len() as u64 {
            self.grow(una, index);
        }
    }

    #[cold]
    fn grow(&mut self, una: u64, index: u64) {
        let count = (index - una + 1).next_power_of_two() as usize;
        let mut wider = SegmentRing { slots: vec![T::default(); count] };
        // What was held lies within the old slots.
        for held in una..una + self.slots.len() as u64 {
            wider[held] = self[held];
        }
        *self = wider;
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
        /// However the window moves and grows, each segment in it keeps what was noted of it.
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
