//! A TCP connection: a sender at one host, a receiver at the other, and the packets between them.

use crate::packet::{Block, Packet, SackBlocks, SackHandle, SackPool, flags};
use crate::tcp::profile::StackProfile;
use crate::tcp::receiver::{Receiver, ReceiverProfile, Response};
use crate::tcp::scoreboard::FIRST_DATA;
use crate::tcp::sender::{Address, Sender};
use crate::time::Time;

/// Both ends of a connection.
#[derive(Debug)]
pub struct Connection {
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    receiver_profile: ReceiverProfile,
    /// Where acknowledgements begin their path.
    return_address: Address,
    segment_overhead: u64,
    syn_size: u64,
    /// Bytes of an acknowledgement by its number of SACK blocks.
    ack_sizes: [u16; crate::packet::MAXIMUM_SACK_BLOCKS + 1],
}

impl Connection {
    /// A connection that is not yet open.
    pub fn new(sender: Sender, profile: &StackProfile, return_address: Address) -> Connection {
        Connection {
            sender,
            receiver: Receiver::new(FIRST_DATA),
            receiver_profile: profile.receiver(),
            return_address,
            segment_overhead: profile.segment_overhead(),
            syn_size: profile.syn_size(),
            ack_sizes: std::array::from_fn(|blocks| profile.ack_size(blocks) as u16),
        }
    }

    /// Payload bytes handed to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered(FIRST_DATA)
    }

    /// A packet of the connection arrived at one of its ends.
    pub fn on_packet(&mut self, packet: &Packet, now: Time, sacks: &mut SackPool, outbox: &mut Vec<Packet>) {
        if packet.has(flags::ACK) {
            let blocks = sacks.take(packet.sacks);
            if packet.has(flags::SYN) {
                self.sender.on_syn_ack(packet.stamp, now, outbox);
            } else {
                self.sender.on_ack(packet.number, &blocks, packet.stamp, now, outbox);
            }
        } else if packet.has(flags::SYN) {
            outbox.push(self.reply(0, packet.stamp, self.syn_size as u16, flags::SYN | flags::ACK));
        } else {
            let fin = packet.has(flags::FIN);
            let payload = u64::from(packet.size) - self.segment_overhead;
            let block = Block { start: packet.number, end: packet.number + payload + u64::from(fin) };
            if self.receiver.on_segment(block, fin, packet.stamp, now, &self.receiver_profile) == Response::Acknowledge
            {
                self.acknowledge(sacks, outbox);
            }
        }
    }

    /// Sends the acknowledgement that is owed.
    pub fn acknowledge(&mut self, sacks: &mut SackPool, outbox: &mut Vec<Packet>) {
        let blocks: SackBlocks = self.receiver.on_ack_sent(&self.receiver_profile);
        let size = self.ack_sizes[blocks.as_slice().len()];
        let mut ack = self.reply(self.receiver.rcv_nxt(), self.receiver.echo(), size, flags::ACK);
        ack.sacks = sacks.put(blocks);
        outbox.push(ack);
    }

    fn reply(&self, number: u64, echo: Time, size: u16, flags: u8) -> Packet {
        Packet {
            number,
            stamp: echo,
            flow: self.return_address.flow,
            hop: self.return_address.first_hop,
            sacks: SackHandle::NONE,
            size,
            flags,
        }
    }
}
