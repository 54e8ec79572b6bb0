//! The comparison of CHOKe: the probability of a match is the flow's share of the queue, so no per-flow state is needed
//! (Pan, Prabhakar and Psounis 2000).

use super::{Fifo, FlowHash};
use crate::packet::Packet;
use crate::random::Random;

/// Draws a queued packet at random. Returns its position if it belongs to the same flow as `packet`.
pub fn draw_of_same_flow(packet: &Packet, queue: &Fifo, random: &mut Random) -> Option<u64> {
    let place = random.index(queue.packets());
    let drawn = queue.get(place)?;
    (FlowHash::key(&drawn.packet) == FlowHash::key(packet)).then_some(place)
}
