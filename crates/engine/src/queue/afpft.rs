//! AFpFT, approximate fairness through partial finish time: Eshete and Jiang, "Approximate fairness through limited
//! flow list", ITC 23 (2011). All flows share one queue, sorted by tag. A packet's tag is its finish time under fair
//! queueing.

use super::parts::{Fifo, FlowPlaces, Highest};
use super::{Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;

parameters! {
    pub struct AfpftParameters {}
}

state! {
    /// The AFpFT queue discipline. The tags of a flow increase from packet to packet. Each flow therefore has a FIFO of its
    /// own, and only the heads are sorted.
    pub Afpft(limit: Limit, _parameters: AfpftParameters) {
        limit: Limit = limit,
        flows: Vec<Flow>,
        /// Which of these is whose.
        places: FlowPlaces,
        packets: u64,
        bytes: u64,
        /// The tag of the packet sent last.
        virtual_time: u64,
        /// The flows with packets queued. The value is higher the lower the tag of the flow's head.
        heads: Highest,
        /// The flows with packets queued, by the tag of their last packet. Created when the limit is first reached.
        tails: Option<Highest>,
    }
}

#[derive(Clone, Debug, Default)]
struct Flow {
    line: Fifo,
    /// The tag of the flow's latest packet. It matters only while it exceeds the virtual time, that is, while the flow
    /// exceeds its fair share.
    finish_time: u64,
}

impl Flow {
    /// The tag of the head, `None` if the queue is empty. Each packet behind the head adds its size to the tag.
    fn tag_of_head(&self) -> Option<u64> {
        let head = self.line.get(0)?;
        Some(self.finish_time - self.line.bytes() + u64::from(head.packet.size))
    }
}

about! { Afpft:
    name: "afpft",
    aliases: ["approximate_fairness_through_partial_finish_time"],
    title: "AFpFT",
    class: "scheduler",
    year: 2011,
    source: "Eshete and Jiang, ITC 23 (2011); its use with TCP: Eshete, Jiang and Landmark, AINTEC 2012",
    deviations: "only the abstract was available: a tag defines a packet's place in one queue; the router next to the \
                 source computes it for all flows, inner routers for a list of flows above their fair share. Assumed: \
                 tags are the finish times of self-clocked fair queueing (Golestani, INFOCOM 1994), in bytes and with \
                 equal weights, at every router for all flows, which is equivalent to a list with room for all flows \
                 above their share; at the limit the packet with the latest tag is dropped",
}

impl Afpft {
    fn has_room_for(&self, size: u64) -> bool {
        !self.limit.would_be_exceeded(self.packets + 1, self.bytes + size)
    }

    /// Updates the rank of a flow whose head has changed.
    fn rank_head(&mut self, index: usize) {
        self.heads.set(index, self.flows[index].tag_of_head().map_or(0, |tag| u64::MAX - tag));
    }

    /// Updates the rank of a flow whose tail has changed.
    fn rank_tail(&mut self, index: usize) {
        let flow = &self.flows[index];
        if let Some(tails) = &mut self.tails {
            tails.set(index, if flow.line.packets() > 0 { flow.finish_time } else { 0 });
        }
    }

    /// The flow with the queued packet of the highest tag, `None` if no packet is queued.
    fn last(&mut self) -> Option<usize> {
        let tails = self.tails.get_or_insert_with(|| {
            let mut tails = Highest::default();
            for (index, flow) in self.flows.iter().enumerate().filter(|(_, flow)| flow.line.packets() > 0) {
                tails.set(index, flow.finish_time);
            }
            tails
        });
        tails.owner()
    }

    /// An empty flow's finish time is not above the virtual time, so that its entry may be another's.
    fn release_if_empty(&mut self, index: usize, packet: &Packet) {
        if self.flows[index].line.packets() == 0
            && let Some(place) = self.places.release(packet)
        {
            self.flows[place] = Flow::default();
        }
    }

    fn count_leaving(&mut self, queued: &Queued) {
        self.packets -= 1;
        self.bytes -= u64::from(queued.packet.size);
    }
}

impl QueueDiscipline for Afpft {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        let size = u64::from(packet.size);
        let index = self.places.of(&packet);
        if index >= self.flows.len() {
            self.flows.resize(index + 1, Flow::default());
        }
        let tag = self.virtual_time.max(self.flows[index].finish_time) + size;
        while !self.has_room_for(size) {
            let Some(last) = self.last().filter(|last| self.flows[*last].finish_time > tag) else {
                self.release_if_empty(index, &packet);
                context.drop(packet, DropCause::Overflow, None);
                return;
            };
            let flow = &mut self.flows[last];
            let Some(dropped) = flow.line.remove(flow.line.packets() - 1) else { return };
            // The dropped packet no longer counts towards the flow's finish time.
            flow.finish_time -= u64::from(dropped.packet.size);
            self.count_leaving(&dropped);
            self.rank_head(last);
            self.rank_tail(last);
            self.release_if_empty(last, &dropped.packet);
            context.drop(dropped.packet, DropCause::Overflow, Some(dropped.since));
        }
        let flow = &mut self.flows[index];
        let was_empty = flow.line.packets() == 0;
        flow.finish_time = tag;
        flow.line.push(packet, context.now);
        self.packets += 1;
        self.bytes += size;
        if was_empty {
            self.rank_head(index);
        }
        self.rank_tail(index);
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        let index = self.heads.owner()?;
        let flow = &mut self.flows[index];
        self.virtual_time = flow.tag_of_head()?;
        let sent = flow.line.pop()?;
        let is_empty = flow.line.packets() == 0;
        self.count_leaving(&sent);
        self.rank_head(index);
        if is_empty {
            self.rank_tail(index);
            self.release_if_empty(index, &sent.packet);
        }
        Some(sent)
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_at_rest(&self) -> bool {
        self.packets == 0
    }
}
