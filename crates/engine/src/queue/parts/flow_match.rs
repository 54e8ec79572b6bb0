//! CHOKe's comparison: a flow is known by its share of the queue, without any state (Pan, Prabhakar and Psounis 2000).

use super::{Fifo, FlowHash};
use crate::packet::Packet;
use crate::random::Random;

/// Draws one of the packets queued: its place in line if it is of the same flow as this one.
pub fn draw_of_same_flow(packet: &Packet, queue: &Fifo, random: &mut Random) -> Option<u64> {
    let place = random.index(queue.packets());
    let drawn = queue.get(place)?;
    (FlowHash::key(&drawn.packet) == FlowHash::key(packet)).then_some(place)
}
