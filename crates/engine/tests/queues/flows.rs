//! Packets of many flows, for disciplines that distinguish flows.

use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{DropCause, QueueDiscipline, Queued};
use sojourn_engine::time::Time;

use super::bench::{Bench, packet};

/// A packet of a flow, identified by a number.
pub fn numbered(flow: u32, number: u64, size: u16, flags: u8) -> Packet {
    Packet { flow, number, ..packet(size, flags) }
}

/// The number of queued packets of each flow, computed from arrivals and departures.
pub struct Tally<const N: usize>(pub [u64; N]);

impl<const N: usize> Tally<N> {
    pub fn enqueue<Q: QueueDiscipline>(&mut self, bench: &mut Bench<Q>, now: Time, packet: Packet) {
        let before = bench.outcome.dropped.len();
        bench.enqueue(now, packet);
        self.0[packet.flow as usize] += 1;
        self.forget(bench, before);
    }

    pub fn dequeue<Q: QueueDiscipline>(&mut self, bench: &mut Bench<Q>, now: Time) -> Option<Queued> {
        let before = bench.outcome.dropped.len();
        let sent = bench.dequeue(now);
        if let Some(sent) = &sent {
            self.0[sent.packet.flow as usize] -= 1;
        }
        self.forget(bench, before);
        sent
    }

    fn forget<Q>(&mut self, bench: &Bench<Q>, before: usize) {
        for dropped in &bench.outcome.dropped[before..] {
            self.0[dropped.packet.flow as usize] -= 1;
        }
    }
}

/// The numbers of the dropped packets of a flow, in the order of the drops.
pub fn dropped<Q>(bench: &Bench<Q>, flow: u32, cause: DropCause) -> Vec<u64> {
    let of_flow = bench.outcome.dropped.iter().filter(|drop| drop.packet.flow == flow && drop.cause == cause);
    of_flow.map(|drop| drop.packet.number).collect()
}
