//! The set-associative hash of CAKE: a flow may use any of eight queues, so that flows share a queue only if a set is
//! full.

use crate::queue::FlowHash;
use crate::random::Random;

/// Queues in a set (Linux, net/sched/sch_cake.c, `CAKE_SET_WAYS`).
const WAYS: usize = 8;

/// Stands for no flow.
const NOBODY: u64 = u64::MAX;

state! {
    /// The assignment of flows to queues, of which there are a multiple of eight.
    pub SetHash(queues: usize) {
        hash: FlowHash,
        /// For each queue, the key of its latest flow.
        keys: Box<[u64]> = vec![NOBODY; queues].into(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The queue already assigned to the flow and in use.
    Own(usize),
    /// A queue that was idle or that the flow now shares with another flow.
    Other(usize),
}

impl SetHash {
    pub fn find(&mut self, key: u64, is_used: impl Fn(usize) -> bool, random: &mut Random) -> Found {
        let first = self.hash.bucket_of(key, self.keys.len() as u64, random) as usize;
        if self.keys[first] == key && is_used(first) {
            return Found::Own(first);
        }
        let set = first - first % WAYS;
        let ways = || (0..WAYS).map(|way| set + (first + way) % WAYS);
        let own = ways().find(|queue| self.keys[*queue] == key);
        let queue = own.or_else(|| ways().find(|queue| !is_used(*queue))).unwrap_or(first);
        self.keys[queue] = key;
        if own.is_some() && is_used(queue) { Found::Own(queue) } else { Found::Other(queue) }
    }
}
