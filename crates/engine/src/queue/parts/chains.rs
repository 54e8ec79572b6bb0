//! Linked lists of queues waiting for service. Each queue is in at most one list and can be removed from any position.

const NONE: u32 = u32::MAX;

/// The position of a queue.
// Aligned, so that none stands on two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Place {
    chain: Option<u8>,
    before: u32,
    behind: u32,
    /// See [`Chains::credit`].
    credit: i64,
}

/// `N` linked lists over the same queues.
#[derive(Clone, Debug)]
pub struct Chains<const N: usize> {
    /// The first and last queue of each list.
    ends: [(u32, u32); N],
    places: Box<[Place]>,
}

impl<const N: usize> Chains<N> {
    pub fn new(queues: usize) -> Chains<N> {
        let place = Place { chain: None, before: NONE, behind: NONE, credit: 0 };
        Chains { ends: [(NONE, NONE); N], places: vec![place; queues].into() }
    }

    /// What a queue may send, in bytes, for disciplines that give credit. It is next to what is changed with it.
    pub fn credit(&self, queue: usize) -> i64 {
        self.places[queue].credit
    }

    pub fn credit_mut(&mut self, queue: usize) -> &mut i64 {
        &mut self.places[queue].credit
    }

    pub fn first(&self, chain: usize) -> Option<usize> {
        let (first, _) = self.ends[chain];
        (first != NONE).then_some(first as usize)
    }

    pub fn chain_of(&self, queue: usize) -> Option<usize> {
        self.places[queue].chain.map(usize::from)
    }

    pub fn is_empty(&self) -> bool {
        self.ends.iter().all(|(first, _)| *first == NONE)
    }

    /// Appends a queue to a list, after removing it from its current one.
    #[inline(always)]
    pub fn append(&mut self, chain: usize, queue: usize) {
        self.remove(queue);
        let last = self.ends[chain].1;
        let place = &mut self.places[queue];
        *place = Place { chain: Some(chain as u8), before: last, behind: NONE, credit: place.credit };
        self.link(chain, last, queue as u32);
        self.ends[chain].1 = queue as u32;
    }

    /// Removes a queue from its list, if any.
    #[inline(always)]
    pub fn remove(&mut self, queue: usize) {
        let Place { chain: Some(chain), before, behind, .. } = self.places[queue] else { return };
        let chain = usize::from(chain);
        self.link(chain, before, behind);
        if behind == NONE {
            self.ends[chain].1 = before;
        } else {
            self.places[behind as usize].before = before;
        }
        self.places[queue].chain = None;
    }

    /// Makes `queue` the successor of `before`, or the first of the list.
    fn link(&mut self, chain: usize, before: u32, queue: u32) {
        if before == NONE {
            self.ends[chain].0 = queue;
        } else {
            self.places[before as usize].behind = queue;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// After any sequence of operations, each list equals a deque that has undergone the same operations.
        #[test]
        fn agree_with_deques(steps in prop::collection::vec((0usize..8, prop::option::of(0usize..2)), 0..200)) {
            let mut chains: Chains<2> = Chains::new(8);
            let mut deques = [VecDeque::new(), VecDeque::new()];
            for (queue, chain) in steps {
                for deque in &mut deques {
                    deque.retain(|waiting| *waiting != queue);
                }
                match chain {
                    Some(chain) => {
                        chains.append(chain, queue);
                        deques[chain].push_back(queue);
                    }
                    None => chains.remove(queue),
                }
                prop_assert_eq!(chains.chain_of(queue), chain);
                for (chain, deque) in deques.iter().enumerate() {
                    prop_assert_eq!(chains.first(chain), deque.front().copied());
                }
            }
            for (chain, deque) in deques.iter().enumerate() {
                for queue in deque {
                    prop_assert_eq!(chains.first(chain), Some(*queue));
                    chains.remove(*queue);
                }
            }
            prop_assert!(chains.is_empty());
        }
    }
}
