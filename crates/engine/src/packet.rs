//! A packet is a small `Copy` value: what a router and the two ends need, and no bytes of payload.

use crate::time::Time;

/// What a packet is, as bits.
pub mod flags {
    /// Carries payload.
    pub const DATA: u8 = 1;
    /// Carries a cumulative acknowledgement, travels towards the sender.
    pub const ACK: u8 = 1 << 1;
    /// Opens a connection.
    pub const SYN: u8 = 1 << 2;
    /// Ends the sender's stream.
    pub const FIN: u8 = 1 << 3;
    /// ECN-capable transport (RFC 3168).
    pub const ECN_CAPABLE: u8 = 1 << 4;
    /// Congestion experienced (RFC 3168).
    pub const CONGESTION_EXPERIENCED: u8 = 1 << 5;
}

/// Which SACK blocks an acknowledgement carries: a place in the simulation's [`SackPool`], or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackHandle(u32);

impl SackHandle {
    /// No SACK blocks.
    pub const NONE: SackHandle = SackHandle(u32::MAX);
}

/// A packet on the wire. 32 bytes: queues and links hold many.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// First sequence number of the payload, SYN or FIN; the cumulative acknowledgement number in an ACK.
    pub number: u64,
    /// The timestamp option (RFC 7323): the sender's clock when a data packet was sent; the echoed value in an ACK.
    pub stamp: Time,
    /// The flow it belongs to.
    pub flow: u32,
    /// Its place on its path: an index into the network's table of hops.
    pub hop: u32,
    /// SACK blocks of an ACK.
    pub sacks: SackHandle,
    /// Bytes on the wire, all headers included.
    pub size: u16,
    /// See [`flags`].
    pub flags: u8,
}

impl Packet {
    /// Whether every one of `bits` is set.
    pub fn has(&self, bits: u8) -> bool {
        self.flags & bits == bits
    }
}

/// A half-open range of sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First sequence number.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// RFC 2018 section 3: at most four blocks fit into 40 bytes of options, three beside timestamps.
pub const MAXIMUM_SACK_BLOCKS: usize = 4;

/// SACK blocks of one acknowledgement, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Block; MAXIMUM_SACK_BLOCKS],
    length: u8,
}

impl SackBlocks {
    /// Adds a block. The caller keeps to [`MAXIMUM_SACK_BLOCKS`].
    pub fn push(&mut self, block: Block) {
        self.blocks[usize::from(self.length)] = block;
        self.length += 1;
    }

    /// The blocks, the most recent first.
    pub fn as_slice(&self) -> &[Block] {
        &self.blocks[..usize::from(self.length)]
    }
}

/// SACK blocks of the acknowledgements under way. Most acknowledgements have none, so packets carry a handle.
#[derive(Debug, Default)]
pub struct SackPool {
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackPool {
    /// Keeps `blocks` until they are taken.
    pub fn put(&mut self, blocks: SackBlocks) -> SackHandle {
        if blocks.length == 0 {
            return SackHandle::NONE;
        }
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = blocks;
            SackHandle(slot)
        } else {
            self.slots.push(blocks);
            SackHandle(self.slots.len() as u32 - 1)
        }
    }

    /// The blocks of an acknowledgement.
    pub fn blocks(&self, handle: SackHandle) -> &[Block] {
        if handle == SackHandle::NONE { &[] } else { self.slots[handle.0 as usize].as_slice() }
    }

    /// Frees the place of blocks that are no longer needed.
    pub fn release(&mut self, handle: SackHandle) {
        if handle != SackHandle::NONE {
            self.free.push(handle.0);
        }
    }
}
