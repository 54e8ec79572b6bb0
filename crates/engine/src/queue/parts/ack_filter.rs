//! ACK filtering: a newer cumulative acknowledgement makes older ones of its connection needless that wait in the same queue
//! (RFC 3449 section 5.2.1; Linux net/sched/sch_cake.c, `cake_ack_filter`).

use super::Fifo;
use crate::packet::{Packet, flags};

choice! {
    /// Which acknowledgements a newer one removes.
    pub enum AckFilter {
        Off = "off",
        /// The oldest, if another remains besides the newest.
        Conservative = "conservative",
        /// The oldest, also if it is the only one and no packet of its connection is between it and the newest.
        Aggressive = "aggressive",
    }
}

impl AckFilter {
    /// The position of the acknowledgement that the packet at the tail of a queue makes needless.
    ///
    /// An acknowledgement is needed if it has options, such as SACK blocks, if its number is not below that of the tail, since
    /// senders count duplicates, or if the echo of congestion (ECE) changes after it.
    pub fn needless(self, line: &Fifo) -> Option<u64> {
        let tail = line.packets().checked_sub(1)?;
        let newest = line.get(tail)?.packet;
        if self == AckFilter::Off || !is_pure(&newest) {
            return None;
        }
        let mut found: Option<(u64, Packet)> = None;
        let (mut count, mut latest) = (0, None);
        for position in 0..tail {
            let packet = line.get(position)?.packet;
            if packet.flow != newest.flow || !packet.has(flags::ACK) {
                continue;
            }
            latest = Some(position);
            if found.is_some_and(|(_, oldest)| !echo_is_same(&oldest, &packet)) {
                found = None;
                count -= 1;
            }
            if !is_pure(&packet) || packet.options.has_options() || packet.number >= newest.number {
                continue;
            }
            let (oldest, _) = *found.get_or_insert((position, packet));
            count += 1;
            if count > 1 {
                return Some(oldest);
            }
        }
        let (oldest, packet) = found?;
        let is_next = latest == Some(oldest) && echo_is_same(&packet, &newest);
        (self == AckFilter::Aggressive && is_next).then_some(oldest)
    }
}

/// Whether a packet is an acknowledgement and nothing else.
fn is_pure(packet: &Packet) -> bool {
    packet.flags & (flags::ACK | flags::DATA | flags::SYN | flags::FIN) == flags::ACK
}

fn echo_is_same(one: &Packet, other: &Packet) -> bool {
    (one.flags ^ other.flags) & flags::ECN_ECHO == 0
}
