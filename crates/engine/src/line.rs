//! A first-in-first-out queue.
//!
//! Used instead of a `VecDeque` where all packets of a run are held. It grows by an eighth instead of doubling, so that
//! millions of packets in flight need little more memory than their own size. Removing the first entry gives access to
//! the next at no further cost.

/// A first-in-first-out queue.
#[derive(Clone, Debug)]
pub struct Line<T> {
    slots: Box<[T]>,
    // Narrow, so that two queues share a cache line.
    head: u32,
    length: u32,
}

/// Number of slots below which the capacity doubles when it grows.
const SMALL: usize = 1024;

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line { slots: Box::default(), head: 0, length: 0 }
    }
}

impl<T: Copy> Line<T> {
    pub fn len(&self) -> usize {
        self.length as usize
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn first(&self) -> Option<&T> {
        if self.length == 0 { None } else { Some(&self.slots[self.head as usize]) }
    }

    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.len() == self.slots.len() {
            self.grow(item);
        }
        let slot = self.slot(self.len());
        self.slots[slot] = item;
        self.length += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if self.length == 0 {
            return None;
        }
        let item = self.slots[self.head as usize];
        self.length -= 1;
        self.head += 1;
        if self.head as usize == self.slots.len() {
            self.head = 0;
        }
        Some(item)
    }

    /// The slot of the entry at this position, or of the one that will be behind the last.
    #[inline(always)]
    fn slot(&self, position: usize) -> usize {
        let slot = self.head as usize + position;
        if slot < self.slots.len() { slot } else { slot - self.slots.len() }
    }

    /// The entry at this position, counted from the first.
    pub fn get(&self, position: usize) -> Option<&T> {
        if position < self.len() { Some(&self.slots[self.slot(position)]) } else { None }
    }

    pub fn swap(&mut self, one: usize, other: usize) {
        let (one, other) = (self.slot(one), self.slot(other));
        self.slots.swap(one, other);
    }

    /// Removes the entry at this position. Those behind it move up.
    pub fn remove(&mut self, position: usize) -> Option<T> {
        let removed = *self.get(position)?;
        for behind in position + 1..self.len() {
            let (from, to) = (self.slot(behind), self.slot(behind - 1));
            self.slots[to] = self.slots[from];
        }
        self.length -= 1;
        Some(removed)
    }

    #[cold]
    fn grow(&mut self, filler: T) {
        let slots = self.slots.len();
        let more = if slots < SMALL { slots.max(4) } else { slots / 8 };
        let mut longer = std::mem::take(&mut self.slots).into_vec();
        longer.reserve_exact(more);
        longer.resize(slots + more, filler);
        // The entries from the head on move to the end. The new slots are before them.
        let head = self.head as usize;
        longer.copy_within(head..slots, head + more);
        self.head = if slots == 0 { 0 } else { (head + more) as u32 };
        self.slots = longer.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Any sequence of operations gives the same values as with a `VecDeque`, and a long line has few unused slots.
        #[test]
        fn agrees_with_deque(steps in prop::collection::vec(prop::option::of(1usize..600), 0..60)) {
            let (mut line, mut deque, mut next) = (Line::default(), VecDeque::new(), 0u32);
            let mut longest = 0;
            for step in steps {
                match step {
                    Some(arrivals) => {
                        for _ in 0..arrivals {
                            line.push(next);
                            deque.push_back(next);
                            next += 1;
                        }
                    }
                    None => {
                        for _ in 0..deque.len() / 3 {
                            prop_assert_eq!(line.pop(), deque.pop_front());
                        }
                        let within = deque.len() / 2;
                        prop_assert_eq!(line.get(within), deque.get(within));
                        prop_assert_eq!(line.remove(within), deque.remove(within));
                        prop_assert_eq!(line.remove(deque.len()), None);
                    }
                }
                longest = longest.max(deque.len());
                prop_assert_eq!(line.len(), deque.len());
                prop_assert_eq!(line.first(), deque.front());
            }
            prop_assert!(line.slots.len() <= SMALL.max(longest + longest / 8 + 1).max(2 * longest.min(SMALL)));
            while let Some(item) = deque.pop_front() {
                prop_assert_eq!(line.pop(), Some(item));
            }
            prop_assert!(line.is_empty() && line.pop().is_none());
        }
    }
}
