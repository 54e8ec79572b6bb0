//! AFpFT, approximate fairness through partial finish time: Eshete and Jiang, "Approximate fairness through limited flow
//! list", ITC 23 (2011). One queue for all flows, in which a packet's place follows from a tag: when fair queueing would
//! finish it.

use super::parts::{FlowHash, Ranking};
use super::{Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::parameters;

parameters! {
    /// AFpFT has nothing to set but its limit.
    pub struct AfpftParameters {}
}

/// See the module.
#[derive(Debug)]
pub struct Afpft {
    limit: Limit,
    queue: Ranking,
    /// The tag of the packet sent last.
    virtual_time: u64,
    /// By flow, the tag of its latest packet. Only those ahead of the virtual time matter, which are the flows that exceed
    /// their share.
    finish_times: Vec<u64>,
}

impl Afpft {
    /// What it is.
    pub const ABOUT: About = About {
        name: "afpft",
        aliases: &["approximate_fairness_through_partial_finish_time"],
        title: "AFpFT",
        class: "scheduler",
        year: 2011,
        source: "Eshete and Jiang, ITC 23 (2011); its use with TCP: Eshete, Jiang and Landmark, AINTEC 2012",
        departures: "only the abstract was at hand: a tag defines a packet's place in one queue, and is computed by the router \
                     next to the source for all flows, by inner routers for a list of those above their fair share. Assumed \
                     are the finish times of self-clocked fair queueing (Golestani, INFOCOM 1994), in bytes and with equal \
                     weights, at every router for all flows, which comes to the same as a list that has room for all above \
                     their share; and that at the limit the packet with the latest tag goes",
    };

    /// An empty queue.
    pub fn new(limit: Limit, _parameters: AfpftParameters) -> Afpft {
        Afpft { limit, queue: Ranking::default(), virtual_time: 0, finish_times: Vec::new() }
    }

    /// Of a packet's flow.
    fn finish_time(&mut self, packet: &Packet) -> &mut u64 {
        let flow = FlowHash::key(packet) as usize;
        if flow >= self.finish_times.len() {
            self.finish_times.resize(flow + 1, 0);
        }
        &mut self.finish_times[flow]
    }

    fn has_room_for(&self, size: u64) -> bool {
        !self.limit.would_be_exceeded(self.queue.packets() + 1, self.queue.bytes() + size)
    }
}

impl QueueDiscipline for Afpft {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        let size = u64::from(packet.size);
        let tag = self.virtual_time.max(*self.finish_time(&packet)) + size;
        while !self.has_room_for(size) {
            if self.queue.greatest().is_none_or(|last| last.tag() <= tag) {
                context.drop(packet, DropCause::Overflow, None);
                return;
            }
            let last = self.queue.pop_greatest().expect("there is a greatest");
            // As if it had never come.
            *self.finish_time(&last.queued.packet) = last.tag() - u64::from(last.queued.packet.size);
            context.drop(last.queued.packet, DropCause::Overflow, Some(last.queued.since));
        }
        *self.finish_time(&packet) = tag;
        self.queue.push(tag, Queued { packet, since: context.now });
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        let first = self.queue.pop_least()?;
        self.virtual_time = first.tag();
        Some(first.queued)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn is_at_rest(&self) -> bool {
        self.queue.packets() == 0
    }
}
