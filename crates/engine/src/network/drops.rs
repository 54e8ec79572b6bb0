//! What became of packets that reached no host.

use crate::numbers::Numbers;
use crate::packet::{OptionsPool, Packet, flags};

/// Packets that queues dropped or links lost.
#[derive(Debug)]
pub struct Drops {
    pub total: u64,
    /// The data packets of each flow of the specification among them, since the measuring window opened.
    pub data: Vec<u64>,
    numbers: Numbers,
}

impl Drops {
    pub fn new(flows: usize, numbers: Numbers) -> Drops {
        Drops { total: 0, data: vec![0; flows], numbers }
    }

    /// A packet is no more; frees what it held.
    pub fn drop(&mut self, packet: &Packet, options: &mut OptionsPool) {
        self.total += 1;
        self.data[self.numbers.row(packet.flow)] += u64::from(packet.flags & flags::DATA);
        options.release(packet.options);
    }

    pub fn open_window(&mut self) {
        self.data.fill(0);
    }
}
