//! The maximum of a set of values that change. A binary heap records the position of each value in it, so that an
//! update takes logarithmic time.

use std::cmp::Ordering;

/// The position of an owner that is not in the heap.
const OUT: u32 = u32::MAX;

/// The values above zero, with the maximum at the top.
#[derive(Clone, Debug, Default)]
pub struct Highest {
    /// The values and their owners.
    heap: Vec<(u64, u32)>,
    /// The position of each owner's value in the heap.
    places: Vec<u32>,
}

impl Highest {
    /// The owner of the maximum, `None` if all values are zero.
    pub fn owner(&self) -> Option<usize> {
        self.heap.first().map(|(_, owner)| *owner as usize)
    }

    /// Sets the value of an owner. Values that were never set are zero.
    pub fn set(&mut self, owner: usize, value: u64) {
        if owner >= self.places.len() {
            self.places.resize(owner + 1, OUT);
        }
        let place = self.places[owner];
        if place == OUT {
            if value > 0 {
                self.heap.push((value, owner as u32));
                self.rise(self.heap.len() - 1);
            }
            return;
        }
        let place = place as usize;
        if value > 0 {
            let before = std::mem::replace(&mut self.heap[place].0, value);
            match value.cmp(&before) {
                Ordering::Greater => self.rise(place),
                Ordering::Less => self.sink(place),
                Ordering::Equal => {}
            }
            return;
        }
        self.places[owner] = OUT;
        let (removed, _) = self.heap.swap_remove(place);
        if let Some((moved, _)) = self.heap.get(place) {
            if *moved > removed { self.rise(place) } else { self.sink(place) }
        }
    }

    // Slices, so that what is written to one cannot change where the other is.
    fn rise(&mut self, mut place: usize) {
        let (heap, places) = (&mut self.heap[..], &mut self.places[..]);
        let entry = heap[place];
        while place > 0 {
            let above = (place - 1) / 2;
            if heap[above].0 >= entry.0 {
                break;
            }
            put(heap, places, place, heap[above]);
            place = above;
        }
        put(heap, places, place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let (heap, places) = (&mut self.heap[..], &mut self.places[..]);
        let entry = heap[place];
        while let Some((left, _)) = heap.get(2 * place + 1) {
            let right = heap.get(2 * place + 2).map_or(0, |(value, _)| *value);
            // The comparison is unpredictable, so it is computed without a branch.
            let below = 2 * place + 1 + usize::from(right > *left);
            if heap[below].0 <= entry.0 {
                break;
            }
            put(heap, places, place, heap[below]);
            place = below;
        }
        put(heap, places, place, entry);
    }
}

#[inline(always)]
fn put(heap: &mut [(u64, u32)], places: &mut [u32], place: usize, entry: (u64, u32)) {
    heap[place] = entry;
    places[entry.1 as usize] = place as u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of updates the value on top equals the maximum found by a scan.
        #[test]
        fn agrees_with_scan(steps in prop::collection::vec((0usize..20, 0u64..10), 0..300)) {
            let mut highest = Highest::default();
            let mut values = [0; 20];
            for (owner, value) in steps {
                values[owner] = value;
                highest.set(owner, value);
                let greatest = values.iter().max().copied().filter(|greatest| *greatest > 0);
                prop_assert_eq!(highest.owner().map(|owner| values[owner]), greatest);
            }
        }
    }
}
