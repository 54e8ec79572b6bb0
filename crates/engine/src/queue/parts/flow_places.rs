//! Places of flows in a discipline's table.

use std::collections::HashMap;

use super::FlowHash;
use crate::numbers::FIRST_ARRIVED;
use crate::packet::Packet;

/// Which entry of a table is whose. A flow of the specification has the same entry for the whole run; a connection that arrives has
/// one from its first packet in the queue to the last, since its number is too great for an index.
#[derive(Clone, Debug, Default)]
pub struct FlowPlaces {
    arrived: HashMap<u64, usize>,
    free: Vec<usize>,
}

impl FlowPlaces {
    /// The entry of a packet's flow.
    pub fn of(&mut self, packet: &Packet) -> usize {
        let key = FlowHash::key(packet);
        if packet.flow < FIRST_ARRIVED {
            return 2 * key as usize;
        }
        let next = self.arrived.len();
        *self.arrived.entry(key).or_insert_with(|| self.free.pop().unwrap_or(2 * next + 1))
    }

    /// Nothing of the packet's flow is queued any more. Returns the entry that is free for another flow, if one is.
    pub fn release(&mut self, packet: &Packet) -> Option<usize> {
        if packet.flow < FIRST_ARRIVED {
            return None;
        }
        let place = self.arrived.remove(&FlowHash::key(packet))?;
        self.free.push(place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet { flow, ..Packet::FULL }
    }

    /// Different flows have different entries while they have packets, and many connections, one after the other, share one.
    #[test]
    fn entries_are_used_again() {
        let mut places = FlowPlaces::default();
        let fixed = [places.of(&packet(0)), places.of(&packet(1))];
        for serial in 0..1000 {
            let first = places.of(&packet(FIRST_ARRIVED + 2 * serial));
            let second = places.of(&packet(FIRST_ARRIVED + 2 * serial + 1));
            assert_eq!(places.of(&packet(FIRST_ARRIVED + 2 * serial)), first);
            assert!(first != second && !fixed.contains(&first) && !fixed.contains(&second) && first.max(second) < 4);
            assert_eq!(places.release(&packet(FIRST_ARRIVED + 2 * serial)), Some(first));
            assert_eq!(places.release(&packet(FIRST_ARRIVED + 2 * serial + 1)), Some(second));
        }
        assert_eq!([places.of(&packet(0)), places.of(&packet(1))], fixed);
        assert_eq!(places.release(&packet(0)), None);
    }
}
