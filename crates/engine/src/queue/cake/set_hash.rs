//! CAKE's hash: a flow may have any queue of a set of eight, so that flows share a queue only when a set is full.

use crate::queue::FlowHash;
use crate::random::Random;

/// Queues in a set (Linux, net/sched/sch_cake.c, `CAKE_SET_WAYS`).
const WAYS: usize = 8;

/// No flow.
const NOBODY: u64 = u64::MAX;

/// Which flow has which queue.
#[derive(Debug)]
pub struct SetHash {
    hash: FlowHash,
    /// By queue: the key of the flow that had it last.
    keys: Box<[u64]>,
}

/// Where a flow's packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// To the queue that the flow has, which is in use.
    Own(usize),
    /// To one that was idle, or that it now shares with another flow.
    Other(usize),
}

impl SetHash {
    /// So many queues, a multiple of eight.
    pub fn new(queues: usize) -> SetHash {
        SetHash { hash: FlowHash::default(), keys: vec![NOBODY; queues].into() }
    }

    /// The queue for the flow of this key.
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
