//! Deficit round robin that serves new queues first: the scheduler of FQ-CoDel (RFC 8290 section 4.2).

use super::Chains;

/// The list of new queues: active, within their first quantum.
const NEW: usize = 0;
/// The list of all other active queues.
const OLD: usize = 1;

/// The order of service. A queue may exceed its credit by less than one packet.
#[derive(Clone, Debug)]
pub struct Rotation {
    chains: Chains<2>,
}

impl Rotation {
    pub fn new(queues: usize) -> Rotation {
        Rotation { chains: Chains::new(queues) }
    }

    /// Activates a queue, unless it is active, as a new queue with this credit.
    pub fn join(&mut self, queue: usize, credit: u64) {
        self.join_chain(NEW, queue, credit);
    }

    /// Activates a queue, unless it is active, behind all active queues.
    pub fn join_last(&mut self, queue: usize, credit: u64) {
        self.join_chain(OLD, queue, credit);
    }

    #[inline(always)]
    fn join_chain(&mut self, chain: usize, queue: usize, credit: u64) {
        if self.chains.chain_of(queue).is_none() {
            self.chains.append(chain, queue);
            *self.chains.credit_mut(queue) = credit as i64;
        }
    }

    /// The next queue to serve. A queue without credit gets another quantum and moves behind the old queues.
    #[inline(always)]
    pub fn turn(&mut self, quantum: u64) -> Option<usize> {
        loop {
            let queue = self.first()?;
            let credit = self.chains.credit_mut(queue);
            if *credit > 0 {
                return Some(queue);
            }
            *credit += quantum as i64;
            self.chains.append(OLD, queue);
        }
    }

    /// Ends the turn of a queue that had no packet to send. A new queue becomes old, which keeps it from becoming new
    /// again at once and delaying the old queues. An old queue becomes inactive.
    pub fn pass(&mut self, queue: usize) {
        if self.is_new(queue) {
            self.chains.append(OLD, queue);
        } else {
            self.chains.remove(queue);
        }
    }

    /// Deactivates a queue.
    pub fn leave(&mut self, queue: usize) {
        self.chains.remove(queue);
    }

    /// Subtracts the bytes sent from a queue's credit.
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        *self.chains.credit_mut(queue) -= bytes as i64;
    }

    /// The first queue in the order of service, whatever its credit.
    pub fn first(&self) -> Option<usize> {
        self.chains.first(NEW).or_else(|| self.chains.first(OLD))
    }

    /// The credit of a queue, in bytes.
    pub fn credit(&self, queue: usize) -> i64 {
        self.chains.credit(queue)
    }

    pub fn is_active(&self, queue: usize) -> bool {
        self.chains.chain_of(queue).is_some()
    }

    /// Whether a queue is active and within its first quantum.
    pub fn is_new(&self, queue: usize) -> bool {
        self.chains.chain_of(queue) == Some(NEW)
    }

    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}
