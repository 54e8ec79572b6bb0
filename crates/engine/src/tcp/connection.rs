//! A TCP connection: a sender at one host, a receiver at the other, and the packets between them.

use std::sync::Arc;

use crate::packet::{Block, Packet, SackBlocks, SackHandle, SackPool, flags};
use crate::tcp::profile::StackProfile;
use crate::tcp::receiver::{Receiver, Response};
use crate::tcp::scoreboard::FIRST_DATA;
use crate::tcp::sender::{Address, Sender};
use crate::time::Time;

/// Both ends of a connection.
#[derive(Debug)]
pub struct Connection {
    /// The receiving end.
    pub receiver: Receiver,
    profile: Arc<StackProfile>,
    /// Where acknowledgements begin their path.
    return_address: Address,
    /// The sending end.
    pub sender: Sender,
}

impl Connection {
    /// A connection that is not yet open.
    pub fn new(sender: Sender, profile: Arc<StackProfile>, return_address: Address) -> Connection {
        Connection { receiver: Receiver::new(FIRST_DATA), profile, return_address, sender }
    }

    /// Payload bytes handed to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered(FIRST_DATA)
    }

    /// A data packet or the SYN arrived at the receiver, which may answer.
    pub fn on_data(&mut self, packet: &Packet, now: Time, sacks: &mut SackPool) -> Option<Packet> {
        if packet.has(flags::SYN) {
            return Some(self.reply(0, packet.stamp, self.profile.syn_size(), flags::SYN | flags::ACK));
        }
        let fin = packet.has(flags::FIN);
        let payload = u64::from(packet.size) - self.profile.segment_overhead();
        let block = Block { start: packet.number, end: packet.number + payload + u64::from(fin) };
        match self.receiver.on_segment(block, fin, packet.stamp, now, &self.profile.receiver()) {
            Response::Acknowledge => Some(self.acknowledge(sacks)),
            Response::Delay => None,
        }
    }

    /// An acknowledgement arrived at the sender.
    pub fn on_ack(&mut self, packet: &Packet, now: Time, sacks: &mut SackPool, outbox: &mut Vec<Packet>) {
        if packet.has(flags::SYN) {
            self.sender.on_syn_ack(packet.stamp, now, outbox);
        } else {
            self.sender.on_ack(packet.number, sacks.blocks(packet.sacks), packet.stamp, now, outbox);
        }
        sacks.release(packet.sacks);
    }

    /// The acknowledgement that is owed.
    pub fn acknowledge(&mut self, sacks: &mut SackPool) -> Packet {
        let blocks: SackBlocks = self.receiver.on_ack_sent(&self.profile.receiver());
        let size = self.profile.ack_size(blocks.as_slice().len());
        let mut ack = self.reply(self.receiver.rcv_nxt(), self.receiver.echo(), size, flags::ACK);
        ack.sacks = sacks.put(blocks);
        ack
    }

    fn reply(&self, number: u64, echo: Time, size: u64, flags: u8) -> Packet {
        Packet {
            number,
            stamp: echo,
            flow: self.return_address.flow,
            hop: self.return_address.first_hop,
            sacks: SackHandle::NONE,
            size: size as u16,
            flags,
        }
    }
}
