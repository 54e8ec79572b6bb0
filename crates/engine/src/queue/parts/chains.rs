//! Chains of queues that wait for their turn: each queue is in one chain or in none, and can leave from anywhere.

/// No queue.
const NONE: u32 = u32::MAX;

/// Where a queue stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    chain: Option<u8>,
    before: u32,
    behind: u32,
}

/// `N` chains over the same queues.
#[derive(Clone, Debug)]
pub struct Chains<const N: usize> {
    /// The first and the last of each.
    ends: [(u32, u32); N],
    places: Box<[Place]>,
}

impl<const N: usize> Chains<N> {
    /// Empty chains for so many queues.
    pub fn new(queues: usize) -> Chains<N> {
        let place = Place { chain: None, before: NONE, behind: NONE };
        Chains { ends: [(NONE, NONE); N], places: vec![place; queues].into() }
    }

    /// The first of a chain.
    pub fn first(&self, chain: usize) -> Option<usize> {
        let (first, _) = self.ends[chain];
        (first != NONE).then_some(first as usize)
    }

    /// The chain that a queue is in.
    pub fn chain_of(&self, queue: usize) -> Option<usize> {
        self.places[queue].chain.map(usize::from)
    }

    /// Whether all chains are empty.
    pub fn is_empty(&self) -> bool {
        self.ends.iter().all(|(first, _)| *first == NONE)
    }

    /// Puts a queue at the end of a chain; it leaves the one that it is in.
    pub fn append(&mut self, chain: usize, queue: usize) {
        self.remove(queue);
        let last = self.ends[chain].1;
        self.places[queue] = Place { chain: Some(chain as u8), before: last, behind: NONE };
        self.link(chain, last, queue as u32);
        self.ends[chain].1 = queue as u32;
    }

    /// Takes a queue out of its chain, if it is in one.
    pub fn remove(&mut self, queue: usize) {
        let Place { chain: Some(chain), before, behind } = self.places[queue] else { return };
        let chain = usize::from(chain);
        self.link(chain, before, behind);
        if behind == NONE {
            self.ends[chain].1 = before;
        } else {
            self.places[behind as usize].before = before;
        }
        self.places[queue].chain = None;
    }

    /// Has `queue` follow `before`, or be the first.
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
        /// After any sequence of operations the chains hold the same as one deque each.
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
