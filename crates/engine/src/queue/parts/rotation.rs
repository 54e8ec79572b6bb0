//! Deficit round robin in which a queue that was idle goes first: the scheduler of FQ-CoDel (RFC 8290 section 4.2).

use super::Chains;

/// Queues that became active, until they have had their quantum.
const NEW: usize = 0;
/// All others that are active.
const OLD: usize = 1;

/// Whose turn it is. A queue may overdraw its credit by less than a packet.
#[derive(Clone, Debug)]
pub struct Rotation {
    chains: Chains<2>,
    /// By queue: bytes that it may still send in its turn.
    credits: Box<[i64]>,
}

impl Rotation {
    /// A rotation without active queues.
    pub fn new(queues: usize) -> Rotation {
        Rotation { chains: Chains::new(queues), credits: vec![0; queues].into() }
    }

    /// A packet came to this queue: if it is not active it becomes so, with this credit, ahead of the old queues.
    pub fn join(&mut self, queue: usize, credit: u64) {
        self.join_chain(NEW, queue, credit);
    }

    /// The same, but behind all that are active.
    pub fn join_last(&mut self, queue: usize, credit: u64) {
        self.join_chain(OLD, queue, credit);
    }

    #[inline(always)]
    fn join_chain(&mut self, chain: usize, queue: usize, credit: u64) {
        if self.chains.chain_of(queue).is_none() {
            self.chains.append(chain, queue);
            self.credits[queue] = credit as i64;
        }
    }

    /// The queue whose turn it is. One that has used its credit up gets another quantum and goes behind the old queues.
    pub fn turn(&mut self, quantum: u64) -> Option<usize> {
        loop {
            let queue = self.first()?;
            if self.credits[queue] > 0 {
                return Some(queue);
            }
            self.credits[queue] += quantum as i64;
            self.chains.append(OLD, queue);
        }
    }

    /// The queue whose turn it was had nothing to send. A new one becomes old, so that it does not return as new at once and delay
    /// the old ones; an old one is no longer active.
    pub fn pass(&mut self, queue: usize) {
        if self.is_new(queue) {
            self.chains.append(OLD, queue);
        } else {
            self.chains.remove(queue);
        }
    }

    /// Ends a queue's activity at once.
    pub fn leave(&mut self, queue: usize) {
        self.chains.remove(queue);
    }

    /// A queue has sent so many bytes.
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        self.credits[queue] -= bytes as i64;
    }

    /// The first of the rotation, whatever its credit.
    pub fn first(&self) -> Option<usize> {
        self.chains.first(NEW).or_else(|| self.chains.first(OLD))
    }

    /// The credit of a queue, in bytes.
    pub fn credit(&self, queue: usize) -> i64 {
        self.credits[queue]
    }

    /// Whether a queue is active.
    pub fn is_active(&self, queue: usize) -> bool {
        self.chains.chain_of(queue).is_some()
    }

    /// Whether it is active and has not had its first quantum.
    pub fn is_new(&self, queue: usize) -> bool {
        self.chains.chain_of(queue) == Some(NEW)
    }

    /// Whether no queue is active.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}
